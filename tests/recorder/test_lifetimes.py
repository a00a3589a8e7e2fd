"""Tensors, storages, nodes and objects die at the same statement traced as plain; weak references are the witness."""

from pathlib import Path

import pytest

from tests.agreement.test_agreement import PROGRAMS
from tests.forks.plain_python import run_plain
from tests.support import random_programs
from tests.support.lifetime_log import install, installed, with_lifetime_log
from tests.support.sampling import every, sampled
from tests.support.tracing import ROOT, events, trace

pytestmark = pytest.mark.slow

FILES = {path.stem: path.read_text() for path in PROGRAMS if path.parent.name != "programs"}
LIVES = {path.stem: path.read_text() for path in sorted((ROOT / "tests/examples/programs").glob("lives_*.py"))}
RANDOM = {f"seed_{seed}": random_programs.program(seed) for seed in range(2000, 2030)}
SOURCES = FILES | LIVES | RANDOM
LIMITS = {"steps": 10**6, "trace": 10**9}


def deaths(printed: str) -> str:
    """Up to the last statement that ended; what dies after it dies with the program."""
    return printed[: printed.rfind("after line")]


def both(source: str, path: Path) -> tuple[str, str]:
    """What the witness says of a program under plain CPython, and under the recorder."""
    path.write_text(with_lifetime_log(source))
    truth, recorded = run_plain(path.read_text(), installed), trace(path.read_text(), install, limits=LIMITS)
    assert recorded["outcome"]["status"] == ("finished" if truth["error"] is None else "raised")
    assert events(recorded, "tracer_fault") == []
    out = [entry for step in recorded["steps"] for entry in step["log"] if entry["kind"] == "out"]
    text = "".join(entry["text"] for entry in out if entry["stream"] == "stdout")
    return deaths(truth["printed"]), deaths(text)


@pytest.mark.parametrize("name", sampled([*SOURCES], every(4)))
def test_objects_die_at_the_same_statement_as_in_plain_python(name: str, tmp_path: Path) -> None:
    truth, recorded = both(SOURCES[name], tmp_path / "program.py")
    assert recorded == truth and "after line" in truth


def test_the_witness_sees_a_saved_storage_freed_by_the_backward_that_needs_it_last(tmp_path: Path) -> None:
    source = (
        "import torch\nx = torch.rand(3, requires_grad=True)\ne = x.exp()\nout = e.sum()\ndel e\n"
        "out.backward(retain_graph=True)\nout.backward()\nkept = x.grad\nx.grad = None\ndel kept\n"
    )
    truth, recorded = both(source, tmp_path / "program.py")
    assert recorded == truth
    assert recorded.splitlines() == [
        *(f"after line {line}" for line in (1, 2, 3, 4)),
        *("Tensor e died", "after line 5", "after line 6", "the storage of e is freed", "after line 7"),
        *("after line 8", "after line 9", "Tensor x.grad died", "the storage of x.grad is freed"),
    ]
