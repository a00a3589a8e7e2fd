"""Every fix that is offered, run: it loses the finding, and gives the gradients of a version that was corrected by hand."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.explaining import findings_of_traces
from tests.test_cli import command
from tests.tracing import trace

ROOT = Path(__file__).parent.parent
CORRECTED = ROOT / "tests/corrected"
"""`NAME.py` is what `tests/findings/NAME.py` should have been; `NAME.2.py` another answer that is as right."""
NAMES = sorted(path.stem for path in CORRECTED.glob("*.py") if "." not in path.stem)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built"),
]

Gradients = dict[str, torch.Tensor | None]


def gradients(source: str) -> Gradients:
    """Of every variable that a program leaves: the gradients of tensors and of modules' parameters, by name."""
    variables: dict[str, Any] = {}
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        try:
            exec(compile(source, "program", "exec"), variables)
        finally:
            torch.set_grad_enabled(True)
    found: Gradients = {}
    for name, value in variables.items():
        if isinstance(value, torch.Tensor) and value.requires_grad and (value.is_leaf or value.retains_grad):
            found[name] = value.grad
        elif isinstance(value, torch.nn.Module):
            found |= {f"{name}.{path}": parameter.grad for path, parameter in value.named_parameters()}
    return found


def agree(left: Gradients, right: Gradients) -> bool:
    """Whether what both have is the same, and is something."""
    both = [(left[name], right[name]) for name in left.keys() & right.keys()]
    same = all(
        (a is None and b is None) or (a is not None and b is not None and torch.allclose(a, b, atol=1e-5))
        for a, b in both
    )
    return same and any(a is not None for a, _ in both)


def changed(source: str, edits: list[dict[str, Any]]) -> str:
    """A program with the edits of a fix."""
    by_line = {edit["line"]: edit["new"] for edit in edits}
    lines = [by_line.get(k, text) for k, text in enumerate(source.split("\n"), 1)]
    return "\n".join(text for text in lines if text is not None)


def offered(name: str) -> dict[str, Any]:
    """The first finding of a program, with the fixes that are offered."""
    done = command("explain", "--json", "--fix", str(ROOT / f"tests/findings/{name}.py"))
    assert done.returncode == 0, done.stderr
    finding: dict[str, Any] = json.loads(done.stdout)["findings"][0]
    return finding


def test_there_are_thirty_programs_corrected_by_hand() -> None:
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_a_fix_gives_the_gradients_of_the_corrected_program(name: str) -> None:
    source = (ROOT / f"tests/findings/{name}.py").read_text()
    right = [
        gradients(path.read_text()) for path in sorted(CORRECTED.glob("*.py")) if path.name.partition(".")[0] == name
    ]
    finding = offered(name)
    assert finding["fixes"], finding["text"]
    programs = [changed(source, fix["edits"]) for fix in finding["fixes"]]
    traces = [trace(program) for program in programs]
    for fix, program, run, found in zip(finding["fixes"], programs, traces, findings_of_traces(traces), strict=True):
        assert run["outcome"]["status"] == "finished", program
        assert finding["kind"] not in {other["kind"] for other in found}, program
        assert fix["outcome"] and any(agree(gradients(program), version) for version in right), program
