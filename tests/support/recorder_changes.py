"""Changes of the recorder that tests ask for by name, made in a fork of its host before a program."""

from types import FrameType
from typing import Any

from gradbox.gradient_check import function_check
from gradbox.recorder.probes.frames import Frames
from gradbox.recorder.probes.graph import AutogradGraph
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.value_encoder import ValueEncoder
from gradbox.wire.records import StatementRecord
from server.worker import program_run


def show_everything() -> None:
    """Have the value of every expression shown."""

    def expressions(_: list[Any], rows: list[StatementRecord]) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(rows) if row["kind"] == "Expr")

    setattr(program_run, "statements_with_pasted_output", expressions)  # noqa: B010


def give_time_to_judge_functions() -> None:
    """Have a program's own Functions judged however slow the machine is."""
    function_check.MAX_SECONDS, function_check.MAX_WALL_SECONDS = 60.0, 600.0


def overlook_statements() -> None:
    """Have no statement's frames observed."""
    Frames.observe_statement_effects = lambda *_: True


def print_count_of_walked_nodes() -> None:
    """Have the program's output end with how often a node was asked for its slots."""
    _print_count_of_calls(AutogradGraph, "_observe_saved_slots")


def print_count_of_encoded_objects() -> None:
    """Have the program's output end with how often an object was looked through."""
    _print_count_of_calls(ValueEncoder, "_encode_object")


def _print_count_of_calls(owner: type, name: str) -> None:
    called = 0
    call, record_end = getattr(owner, name), Recorder.record_end_step

    def count_and_call(*arguments: Any) -> Any:
        nonlocal called
        called += 1
        return call(*arguments)

    def print_count(self: Recorder, line: int, frame: FrameType | None = None) -> None:
        self.record_output("stdout", f"{called}\n")
        record_end(self, line, frame)

    setattr(owner, name, count_and_call)
    Recorder.record_end_step = print_count
