"""What is shown of a bare expression is what a session of Python shows, and showing it changes nothing."""

import ast
import io
import json
import os
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import torch

from gradbox.recorder.displayhook import MAX_CHARACTERS, MAX_VALUES, displayed_repr, statements_with_pasted_output
from tests.support import drawn_scenarios
from tests.support.recorder_changes import show_everything
from tests.support.sampling import every, sampled
from tests.support.tracing import ROOT, trace

pytestmark = pytest.mark.slow

UNWRITTEN = ("layers_with_buffers",)
"""Programs in which torch saves memory that it did not write: no two runs show the same."""

PROGRAMS = [
    *(path for path in sorted((ROOT / "tests/examples/programs").glob("*.py")) if path.stem not in UNWRITTEN),
    *drawn_scenarios.PATHS,
]

VALUES = """\
x = torch.tensor([1., 2.], requires_grad=True)
x
(x * 2).unsqueeze(0)
y = x * 3
y.grad_fn
y.data
view = y[:1]
y.mul_(2)
view
torch.manual_seed(3)
torch.rand(2, 3)
torch.randn(30, 40)
torch.empty(0, 2)
torch.arange(3), [x, {'k': None}], {True}, 1.5, 'a', 2 + 3j, b'x'
torch.tensor([1 + 2j]).conj()
torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.int8), torch.tensor(True)
x.shape, x.dtype, x.device, x.layout, type(x), int
nn.Parameter(torch.ones(1))
nn.Sequential(nn.Linear(2, 1), nn.ReLU())
torch.ones(2, 2).max(0)
torch.eye(2).to_sparse()
torch.ones(1, device='meta')
np.ones(2), np.float32(1)
x.grad
y.sum().backward()
x.grad
for i in range(2):
    i
    with torch.no_grad():
        x + i
torch.rand(1)
10 ** 5000
"""


def transcript(source: str) -> str:
    """As a session, beside every statement of which something is said to have been printed."""
    out = []
    lines = source.splitlines()
    for node in ast.parse(source).body:
        for k in range(node.lineno - 1, node.end_lineno or node.lineno):
            out.append((">>> " if k == node.lineno - 1 else "... ") + lines[k])
        out.append("something")
    return "\n".join(out)


def texts(recorded: dict[str, Any]) -> list[str]:
    return [step["shown"] for step in recorded["steps"] if step.get("shown")]


def session(source: str) -> list[str]:
    """What plain Python shows, from a child of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        torch.manual_seed(0)
        shown: list[str] = []

        def show(value: Any) -> None:
            if value is not None:
                shown.append(repr(value))

        sys.displayhook = show
        space: dict[str, Any] = {"__name__": "__main__"}
        exec("import torch, numpy as np\nfrom torch import nn", space)
        with redirect_stdout(io.StringIO()):
            for node in ast.parse(source).body:
                try:
                    exec(compile(ast.Interactive([node]), "<program>", "single"), space)
                except ValueError:  # a number that Python itself does not print
                    pass
        os.write(writing, json.dumps(shown).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    lines: list[str] = json.loads(data)
    return lines


def plain(texts: list[str]) -> list[str]:
    return [re.sub("0x[0-9a-f]+", "0x", text) for text in texts]


def test_values_are_shown_as_a_session_shows_them() -> None:
    recorded = trace(transcript(VALUES))
    assert recorded["outcome"]["status"] == "finished", recorded["outcome"]
    assert plain(texts(recorded)) == plain(session(VALUES))
    assert "grad_fn=<AsStridedBackward0>" in "".join(texts(recorded))


def without(recorded: dict[str, Any]) -> dict[str, Any]:
    """Without what is another in each run: addresses, names of temporary files."""
    recorded = json.loads(re.sub(r"0x[0-9a-f]+|/tmp/tmp\w+", "", json.dumps(recorded)))
    for step in recorded["steps"]:
        step.pop("shown", None)
    return {key: recorded[key] for key in ("program", "steps", "outcome")}


@pytest.mark.parametrize("path", sampled(PROGRAMS, every(12)), ids=lambda path: path.stem)
def test_showing_changes_nothing(path: Path) -> None:
    """Of every value, not only where an output stands beside, as in the programs that the referee judges
    (tests/agreement/test_agreement.py).

    Where addresses of dead objects are given anew, plain runs differ among themselves: it has to be one of theirs.
    """
    source = path.read_text()

    plainly: list[dict[str, Any]] = []
    for _ in range(10):
        plainly.append(without(trace(source)))
        if without(trace(source, show_everything)) in plainly:
            return
    raise AssertionError("no plain run gives the trace that a run with every value shown gives")


def test_showing_draws_nothing_and_makes_nothing() -> None:
    source = (
        "torch.manual_seed(1)\nx = torch.rand(3, requires_grad=True)\ny = x[1:]\n{0}\nz = torch.rand(1)\nw = y.exp()\n"
    )
    bare = trace(source.format("y = y"))
    recorded = trace(transcript(source.format("y")))
    assert texts(recorded)[1].startswith("tensor([")
    last = [
        [entry for entry in step["set"].items() if entry[0][0] in "tn"]
        for step in (bare["steps"][-1], recorded["steps"][-1])
    ]
    assert last[0] == last[1]
    assert not [entry for step in recorded["steps"] for entry in step["log"] if entry.get("event") == "tracer_fault"]


def test_none_is_shown_as_nothing_and_functions_show_nothing() -> None:
    recorded = trace("import torch\ndef f():\n    1\n    print(2)\n    return None\nf()  # None\nprint(3)  # 3\n3\n")
    shown_at = {step["line"]: step["shown"] for step in recorded["steps"] if "shown" in step}
    assert set(shown_at) <= {6, 7}


class Own:
    def __repr__(self) -> str:
        raise AssertionError("looking ran the program's code")

    def __len__(self) -> int:
        raise AssertionError("looking ran the program's code")


class Row(list[Any]):
    def __iter__(self) -> Any:
        raise AssertionError("looking ran the program's code")


class Layer(torch.nn.Linear):
    def extra_repr(self) -> str:
        raise AssertionError("looking ran the program's code")


class Silent(torch.nn.Module):
    pass


class Meta(type):
    def __repr__(cls) -> str:
        raise AssertionError("looking ran the program's code")


class Made(metaclass=Meta):
    pass


class Wrapped(torch.Tensor):
    pass


def test_a_value_whose_repr_would_run_the_programs_code_is_not_shown() -> None:
    layer = torch.nn.Linear(1, 1)
    layer.in_features = Own()  # type: ignore[assignment]
    for value in (Own(), [1, Own()], {Own(): 1}, Row(), Layer(1, 1), layer, Made, torch.ones(1).as_subclass(Wrapped),
                  torch.nn.Sequential(Layer(1, 1)), Own().__len__, slice(Own()), Exception(Own())):  # fmt: skip
        assert displayed_repr(value) is None
    assert displayed_repr(Silent()) == "Silent()"
    assert str(displayed_repr(Made())).startswith(f"<{__name__}.Made object at 0x")


def test_a_changed_repr_of_tensors_is_the_programs_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "__repr__", lambda _: "mine")
    assert displayed_repr(torch.ones(1)) is None
    assert displayed_repr(torch.nn.Parameter(torch.ones(1))) is None


def test_a_recursive_or_very_long_value_is_not_shown() -> None:
    deep: list[Any] = []
    deep.append(deep)
    assert displayed_repr(deep) is None
    assert displayed_repr([0] * (MAX_VALUES + 1)) is None
    assert displayed_repr("x" * (MAX_CHARACTERS + 1)) is None
    assert str(displayed_repr(torch.ones(10**6))).count("...") == 1


def test_a_value_is_shown_only_where_the_paste_has_an_output() -> None:
    recorded = trace(">>> 1\n>>> 2\n2\n>>> 3; 4\n3\n")
    assert {step["line"]: step["shown"] for step in recorded["steps"] if "shown" in step} == {2: "2", 3: "4"}
    rows: Any = [{"kind": "Expr", "line": 1, "end_line": 1, "parent": None}]
    assert statements_with_pasted_output([], rows) == frozenset()
