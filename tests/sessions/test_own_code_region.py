"""`gradbox.watch`: a region is recorded as it runs, the rest is not, and nothing of it stays. One process does it
all."""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gradbox.region import program_of_dash_c
from gradbox.showing import PYTEST_VARIABLE
from gradbox.wire.trace import Trace
from tests.forks.forked_script import run_python
from tests.forks.plain_python import call_in_plain
from tests.support.tracing import events

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests/sessions/regions_script.py"
REGIONS = 20
GROWTH = 200
"""Objects that Python itself may have more of: caches of line numbers and the like."""

pytestmark = pytest.mark.slow


@cache
def watched() -> dict[str, Any]:
    in_a_test = {PYTEST_VARIABLE: os.environ[PYTEST_VARIABLE]}  # where a region is neither shown nor written to a file
    _, printed, _ = call_in_plain(run_python, str(ROOT), [str(SCRIPT), str(REGIONS)], in_a_test)
    result: dict[str, Any] = json.loads(printed)
    return result | {name: json.loads(result[name]) for name in ("training", "function")}


def rows(trace: dict[str, Any]) -> list[tuple[str, str]]:
    """The kind and the text of each step."""
    source = trace["program"]["source"].split("\n")
    return [(step["kind"], source[step["line"] - 1].strip()) for step in trace["steps"]]


def test_the_statements_of_a_region_and_of_what_it_calls_are_steps() -> None:
    trace = watched()["training"]
    Trace.model_validate(trace)
    steps = [row for row in rows(trace) if row[0] != "visit"]
    assert steps == [
        ("begin", 'with gradbox.watch("training") as region:'),
        ("head", 'with gradbox.watch("training") as region:'),
        ("call", "value = train(torch.ones(3))"),
        ("statement", "optimizer.zero_grad()"),
        ("statement", "loss = (weight * x).square().mean()"),
        ("statement", "loss.backward()"),
        ("statement", "optimizer.step()"),
        ("return", "return loss.item()"),
        ("statement", "value = train(torch.ones(3))"),
    ]
    assert sum(kind == "visit" for kind, _ in rows(trace)) == 4
    assert events(trace, "tracer_fault") == []


def test_what_was_there_before_is_not_made_by_a_step() -> None:
    first, *rest = watched()["training"]["steps"]
    named = {name: value["ref"] for frame, facts in first["set"].items() if frame[0] == "f"
             for name, value in facts["vars"].items() if isinstance(value, dict) and "ref" in value}  # fmt: skip
    weight = first["set"][named["weight"]]
    assert weight["existed"] and first["set"][weight["storage"]]["existed"] and not first["log"]
    nodes = {facts["name"]: facts for facts in first["set"].values() if facts.get("kind") == "node"}
    states = {name: nodes[name]["saved"]["result"]["state"] for name in ("ExpBackward0", "SigmoidBackward0")}
    assert states == {"ExpBackward0": "unknown", "SigmoidBackward0": "stale"}, (
        "torch is asked; what is silent is not known"
    )
    made = [facts for step in rest for uid, facts in step["set"].items() if uid[0] in "ts" and "kind" in facts]
    assert made and not any("existed" in facts for facts in made)


def test_locals_iterations_and_two_statements_in_a_line() -> None:
    trace = watched()["function"]
    assert [(step["kind"], step.get("iter", [])) for step in trace["steps"]] == [
        ("begin", []), ("head", []), ("statement", []), ("statement", []), ("head", [0]), ("statement", [0]),
        ("head", [1]), ("statement", [1]), ("statement", []),
    ]  # fmt: skip
    frames = {facts["name"]: facts for facts in trace["steps"][0]["set"].values() if facts.get("kind") == "frame"}
    assert "scale" in frames["in_function"]["vars"]


def test_an_error_that_leaves_a_region_is_recorded_and_explained() -> None:
    message, status, kind = watched()["raised"]
    assert message.startswith("one of the variables needed") and (status, kind) == ("raised", "saved_overwritten")


def test_the_traceback_of_an_error_that_leaves_a_region_is_that_of_plain_python() -> None:
    import torch

    from gradbox.region import watch

    def fail() -> None:
        v = torch.ones(3, requires_grad=True).exp()
        v.add_(1)
        v.sum().backward()

    def functions_of(run: Callable[[], None]) -> list[str]:
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
            run()
        return [entry.name for entry in traceback.extract_tb(raised.tb)]

    def recorded() -> None:
        with watch("part", show=False):
            fail()

    assert functions_of(recorded) == ["functions_of", "recorded", *functions_of(fail)[1:]]


def test_a_generator_that_an_exception_ends_yields_once() -> None:
    kinds = watched()["thrown"]
    assert kinds.count("yield") == 1


def test_explain_says_why() -> None:
    assert watched()["explained"][0] == "saved_overwritten"


def test_a_cell_that_was_compiled_without_its_indent_has_the_steps_of_its_lines() -> None:
    line, steps, kind, cause = watched()["cell"]
    assert steps == [line + 1, line + 2]
    assert (kind, cause) == ("saved_overwritten", line + 2)


def test_a_limit_ends_the_recording_and_not_the_program() -> None:
    value, outcome, steps = watched()["limited"]
    assert value == 9 and outcome["stopped"]["limit"] == "steps" and steps == 4


def test_a_region_that_cannot_be_recorded_says_why() -> None:
    assert watched()["nested"] == "gradbox: the program is being recorded already"


def test_another_trace_function_gets_the_same_events_beside_a_region() -> None:
    """And the region is recorded: a debugger or a coverage tool may run beside."""
    alone, beside, steps = watched()["traced"]
    assert alone == beside and len(alone) > 12
    assert steps == ["begin", "head", "call", *["statement"] * 3, "call", "yield", "statement", "return", "statement"]


def test_a_debugger_started_in_a_region_ends_the_recording_with_a_message() -> None:
    value, text, printed = watched()["debugged"]
    trace = json.loads(text)
    assert value == 4 and trace["outcome"]["status"] == "finished"
    assert rows(trace)[1:-1] == [
        (
            "head",
            'with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), gradbox.watch("debugged") as region:',  # noqa: E501
        ),
        ("statement", "before = 1"),
        ("call", "after = debugged(before)"),
        ("statement", "y = x + 1"),
    ]
    last = trace["steps"][-1]
    assert [entry for entry in last["log"] if entry["kind"] == "event"] == [
        {"kind": "event", "event": "tracing_taken", "by": "bdb"}
    ]
    assert last["set"]["f1"]["vars"]["after"] == 4, "what had changed by the end is in it"
    assert (
        printed == "gradbox: regions_script.py: debugged: a debugger or the program replaced Python's trace function; "
        "steps after that may be missing\n"
    )


def test_nothing_stays_of_a_region_and_nothing_grows() -> None:
    assert watched()["left"] == watched()["state_after_all"] == []
    (objects, _), (objects_after, _) = watched()["sizes"]
    assert objects_after - objects < GROWTH


def test_a_tensor_without_attributes_gets_no_dictionary_of_them() -> None:
    weight, grad, with_an_attribute = watched()["attribute dictionaries"]
    assert not weight and not grad and with_an_attribute


def test_attributes_of_an_instance_are_kept_where_python_reads_them_fast() -> None:
    names, size_with_shared_keys, size = watched()["pair"]
    assert names == ["first", "options", "second"]
    if sys.version_info < (3, 13):
        assert size > size_with_shared_keys, "a dictionary with the keys of the class is read three times as slowly"
    else:
        assert size == size_with_shared_keys


COMMANDS = [
    (["python", "-c", "x = 1"], "x = 1"),
    (["python", "-W", "error", "-Ic", "x = 1\ny = 2", "-c", "an argument"], "x = 1\ny = 2"),
    (["python", "-X", "dev", "-cx = 1"], "x = 1"),
    (["python", "script.py", "-c", "an argument"], ""),
    (["python", "-m", "module", "-c", "an argument"], ""),
    (["python", "-", "-c", "an argument"], ""),
    (["python"], ""),
]


@pytest.mark.parametrize(("command", "program"), COMMANDS)
def test_the_program_of_a_command_line_is_found(command: list[str], program: str) -> None:
    assert program_of_dash_c(command) == program


REGION_OF_A_COMMAND = """\
import gradbox, torch
with gradbox.watch(show=False) as region:
    x = torch.ones(2)
    y = x + 1
print([region.run.trace["program"]["source"].split("\\n")[step["line"] - 1].strip() for step in region.run.trace["steps"]])
"""  # noqa: E501


def test_a_region_of_python_dash_c_is_recorded() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", REGION_OF_A_COMMAND]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stderr
    assert "'x = torch.ones(2)', 'y = x + 1'" in done.stdout


def test_a_region_of_standard_input_says_why_it_is_not_recorded() -> None:
    naming = "import sys; print(sys._getframe().f_code.co_filename, end='')"
    name = subprocess.run([sys.executable, "-"], input=naming, capture_output=True, text=True, check=True).stdout
    with pytest.raises(OSError, match="write the program to a file"):
        exec(compile(REGION_OF_A_COMMAND, name, "exec"), {"__name__": "__main__"})
