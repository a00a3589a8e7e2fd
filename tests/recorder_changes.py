"""Changes of the recorder that tests ask for by name, made in a fork of its host before a program."""

from typing import Any

from gradbox.recorder.probes.frames import Frames
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
