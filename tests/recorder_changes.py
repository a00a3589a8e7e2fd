"""Changes of the recorder that tests ask for by name, made in a fork of its host before a program."""

from types import FrameType
from typing import Any

from gradbox.recorder.probes.frames import Frames
from gradbox.recorder.probes.graph import AutogradGraph
from gradbox.recorder.recorder import Recorder
from gradbox.wire.records import StatementRecord
from server.worker import run


def show_everything() -> None:
    """Have the value of every expression shown."""

    def expressions(_: list[Any], rows: list[StatementRecord]) -> frozenset[int]:
        return frozenset(i for i, row in enumerate(rows) if row["kind"] == "Expr")

    setattr(run, "statements_with_pasted_output", expressions)  # noqa: B010


def overlook_statements() -> None:
    """Have no statement's frames observed."""
    Frames.observe_statement_effects = lambda *_: True


def print_count_of_walked_nodes() -> None:
    """Have the program's output end with how often a node was asked for its slots."""
    asked = 0
    ask, record_end = AutogradGraph._observe_saved_slots, Recorder.record_end_step

    def count_and_ask(self: AutogradGraph, node: Any, uid: str) -> None:
        nonlocal asked
        asked += 1
        ask(self, node, uid)

    def print_count(self: Recorder, line: int, frame: FrameType | None = None) -> None:
        self.record_output("stdout", f"{asked}\n")
        record_end(self, line, frame)

    AutogradGraph._observe_saved_slots = count_and_ask
    Recorder.record_end_step = print_count
