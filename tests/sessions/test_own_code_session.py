"""A session in the user's own process: its trace is true, the program runs as without it, and nothing stays behind."""

import functools
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gradbox.sessions import value_stack
from gradbox.wire.trace import Trace
from tests.forks.fork_host import ForkHost
from tests.referee.agreement import Case, Verdict, seeds, verdict
from tests.referee.plain_run import plain_run
from tests.support.tracing import ROOT, events

pytestmark = pytest.mark.slow

HOST = ForkHost("tests.forks.session_host", "SESSION_HOST")
PROGRAMS = sorted((ROOT / "tests/examples/programs").glob("*.py"))
SAMPLE = PROGRAMS[::24]
OF_THE_RUN = re.compile(r"\btmp[a-z0-9_]{8}\b|0x[0-9a-f]+|\b\d{11,}\b")
"""What another run prints otherwise: a folder of `tempfile`, an address."""


@functools.cache
def recorded(source: str, as_it_is: bool, without_values: bool = False) -> dict[str, Any]:
    """What tests.forks.session_host says of a program, with the trace."""
    answer = HOST.ask(source=source, limits={}, as_it_is=as_it_is, without_values=without_values)
    result: dict[str, Any] = pickle.loads(answer)
    head, *rest = (json.loads(line) for line in result["lines"])
    trace = {**head["header"], "steps": [line["step"] for line in rest if "step" in line], **rest[-1]}
    Trace.model_validate(trace)
    return {**result, "trace": trace}


def agrees_with_plain_python(source: str, as_it_is: bool = False) -> None:
    """The trace is true, the program printed and ended as without it, its tensors are the same, nothing is left."""
    result, truth = recorded(source, as_it_is), plain_run(source)
    assert verdict(Case("program", source, source), result["trace"]) == Verdict("agrees")
    assert events(result["trace"], "tracer_fault") == []
    assert result["error"] == truth["error"]
    assert result["left"] == [] == result["with_hooks"]


def case(path: Path) -> Any:
    return pytest.param(path, id=path.stem, marks=() if path in SAMPLE else pytest.mark.exhaustive)


@pytest.mark.parametrize("path", [case(path) for path in PROGRAMS])
def test_a_program_runs_as_without_the_recorder(path: Path) -> None:
    agrees_with_plain_python(path.read_text())


@pytest.mark.parametrize("path", [case(path) for path in PROGRAMS])
def test_uninstrumented_code_gives_a_true_trace(path: Path) -> None:
    agrees_with_plain_python(path.read_text(), as_it_is=True)


def masked(value: Any) -> Any:
    """The value without what another run has otherwise."""
    if isinstance(value, str):
        return OF_THE_RUN.sub("~", value)
    if isinstance(value, dict):
        return {name: masked(part) for name, part in value.items()}
    if isinstance(value, list):
        return [masked(part) for part in value]
    return "~" if type(value) is int and value > 10**10 else value


def steps(source: str, as_it_is: bool) -> list[dict[str, Any]]:
    """The steps of a program, but for what nobody can know of code that runs as it is: see UNKNOWN."""
    trace = recorded(source, as_it_is, without_values=True)["trace"]
    result: list[dict[str, Any]] = masked(trace["steps"])
    for step in result:
        if step["kind"] in ("begin", "end"):
            step["set"].get("f1", {}).pop("line", None)
        elif step["kind"] == "resume":
            step.pop("value", None)
    last = result[-1]
    is_empty = last["kind"] == "end" and not (last["gone"] or last["log"] or any(last["set"].values()))
    return result[:-1] if is_empty else [*result[:-1], {**last, "set": {k: v for k, v in last["set"].items() if v}}]


UNKNOWN = (
    "the value of a bare expression, and of a test before it is decided; tests.forks.session_host records none",
    "what is sent to a generator: the value of a resume",
    "the line of the module's frame before its first statement, and after an exception has ended it",
)

DIFFERENT = {
    "except_star": "the name of an `except*` is unbound by the last statement of its handler",
    "match_statement": "the head of a `match` is over when a case was chosen, and its names are bound",
    "recursion_without_end": "instrumented code counts frames, CPython calls: the last frames are not entered in one of both",  # noqa: E501
}
"""Programs whose steps are not the same both ways, with the reason."""


def seed_programs() -> list[Any]:
    folder = ROOT.parent / "shared/seeds"
    if not folder.is_dir():
        return [pytest.param("", id="seeds", marks=pytest.mark.skip(reason="../shared/seeds is missing"))]
    return [
        pytest.param(case.program, id=case.name, marks=() if k % 48 == 0 else pytest.mark.exhaustive)
        for k, case in enumerate(seeds(folder))
    ]


UNWRITTEN = ("layers_with_buffers",)
"""Programs in which torch saves memory that it did not write: no two runs show the same."""


def same_both_ways(source: str) -> None:
    instrumented, followed = steps(source, as_it_is=False), steps(source, as_it_is=True)
    for one, other in zip(instrumented, followed, strict=False):
        assert one == other
    assert len(instrumented) == len(followed)


@pytest.mark.parametrize("path", [case(path) for path in PROGRAMS if path.stem not in {*DIFFERENT, *UNWRITTEN}])
def test_steps_are_the_same_both_ways(path: Path) -> None:
    same_both_ways(path.read_text())


@pytest.mark.parametrize("path", sorted((ROOT / "tests/examples/leaving").glob("*.py")), ids=lambda path: path.stem)
def test_frames_are_left_in_the_same_steps_both_ways(path: Path) -> None:
    if path.stem.startswith("return") and value_stack._layout is None:
        pytest.skip(
            "what is returned can't be read from a frame of this Python: there a return is a statement, then a return"
        )
    same_both_ways(path.read_text())


def test_a_return_value_that_cannot_be_read_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on versions of Python whose frames were not tried: no value is guessed."""

    def read(_: int) -> Any:
        return value_stack.value_on_stack(sys._getframe(1))

    monkeypatch.setattr(
        value_stack, "_layout", value_stack.FrameLayout(code=32, frame_object=48, stack_top=64, locals=72)
    )
    assert read(1) is value_stack.UNREADABLE_VALUE
    monkeypatch.setattr(value_stack, "_layout", None)
    assert read(1) is value_stack.UNREADABLE_VALUE


@pytest.mark.parametrize("source", seed_programs())
def test_steps_of_a_seed_are_the_same_both_ways(source: str) -> None:
    same_both_ways(source)


@pytest.mark.parametrize("name", sorted(DIFFERENT))
def test_only_expected_steps_differ_between_both_ways(name: str) -> None:
    """The statements, calls and returns that DIFFERENT speaks of, and nothing else, come at another place or another
    number."""
    source = (ROOT / f"tests/examples/programs/{name}.py").read_text()
    instrumented, followed = steps(source, as_it_is=False), steps(source, as_it_is=True)
    if name != "recursion_without_end" or sys.version_info[:2] != (3, 12):  # which enters as many both ways
        assert instrumented != followed
    returned = {step["stmt"] for step in instrumented if step["kind"] == "return"}

    def others(of: list[dict[str, Any]]) -> list[Any]:
        rows = [(step["kind"], step["stmt"], step["depth"]) for step in of]
        return [row for row in rows if row[0] not in ("call", "return") and row[1] not in returned]

    if name == "recursion_without_end" and sys.version_info >= (3, 13):
        assert others(followed) == [*others(instrumented)[:2], ("end", None, 0)], (
            "Python gives the trace function up there"
        )
    elif name == "recursion_without_end":
        assert others(instrumented) == others(followed)
    else:
        assert [(step["kind"], step["stmt"], step["log"]) for step in instrumented] == [
            (step["kind"], step["stmt"], step["log"]) for step in followed
        ]


@pytest.mark.parametrize("as_it_is", [False, True])
@pytest.mark.parametrize(
    "source",
    [
        "def f(k):\n    return f(k + 1)\nf(0)\n",
        "f = lambda k: f(k + 1)\nf(0)\n",
        "import traceback\ndef f(k):\n    return f(k + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n"
        "    print({line for _, line in traceback.walk_tb(error.__traceback__)})\n    raise\n",
    ],
)
def test_the_call_beyond_the_recursion_limit_is_in_no_traceback(source: str, as_it_is: bool) -> None:
    agrees_with_plain_python(source, as_it_is)
    error = recorded(source, as_it_is)["trace"]["outcome"]["error"]
    called = source[: source.index("f(k + 1)")].count("\n") + 1
    assert error["line"] == called and {entry["line"] for entry in error["stack"][-900:]} == {called}


def test_statements_after_a_colon_have_their_own_columns() -> None:
    source = "import torch\nclass A:\n    def f(self, n):\n        for k in range(n): a = 1; b = 2; c = a + b\n        return c\nA().f(2)\n"  # noqa: E501
    rows = recorded(source, True)["trace"]["program"]["statements"]
    steps = [step for step in recorded(source, True)["trace"]["steps"] if step["line"] == 4]
    columns = [rows[step["stmt"]]["col"] for step in steps if step["kind"] == "statement"]
    assert columns[:3] == [27, 34, 41]
