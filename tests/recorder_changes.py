"""Changes of the recorder that tests ask for by name, made in a fork of its host before a program."""

from server.worker import run
from server.worker.probes.frames import Frames


def show_everything() -> None:
    """Have the value of every expression shown."""
    run.expressions_with_output = lambda _, rows: frozenset(i for i, row in enumerate(rows) if row["kind"] == "Expr")


def overlook_statements() -> None:
    """Have no statement's frames observed."""
    Frames.observe_statement = lambda *_: True  # type: ignore[method-assign]
