"""A run's trace as the server keeps it: the steps as the JSON that a child wrote, everything else as values."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from server.wire.base import Model
from server.wire.trace import Cost, Focus, Header, Outcome, Trace

GZIP_WINDOW_BITS = 31
"""zlib's window bits for a stream with a gzip header."""

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""An address as Python prints it. A child that has rehearsed puts its objects elsewhere than one that has not."""


@dataclass
class RecordedTrace:
    """A trace whose steps are not decoded again: each is the JSON text that was validated.

    steps: one JSON object each, `server.wire.trace.Step`. printed: all that the program printed.
    deterministic: whether the child found nothing in the program that gives it another result each time.
    """

    header: Header
    steps: list[bytes]
    printed: str
    outcome: Outcome
    cost: Cost
    focus: Focus | None = None
    deterministic: bool = False

    def json(self) -> bytes:
        """The whole trace as JSON, without the fields that are absent by default."""
        return b"".join(self._parts())

    def compressed(self) -> bytes:
        """The JSON, gzipped; the same bytes for the same trace. Slow: call it outside of the event loop."""
        # in one call, for each one gives up the interpreter's lock and may wait 5 ms for it; level 6 takes five times as long
        return zlib.compress(self.json(), 1, GZIP_WINDOW_BITS)

    def decoded(self) -> Trace:
        """The trace as a model, every step validated once more."""
        return Trace.model_validate_json(self.json())

    def same_result(self, other: "RecordedTrace") -> bool:
        """Whether both runs printed the same, addresses apart, and ended the same way."""
        return self._result() == other._result()

    def _result(self) -> tuple[str, str, tuple[str, str, int | None] | None]:
        error = self.outcome.error
        cause = (error.type, ADDRESS.sub("", error.message), error.line) if error else None
        return ADDRESS.sub("", self.printed), self.outcome.status, cause

    def _parts(self) -> Iterator[bytes]:
        yield encoded(self.header)[:-1]
        yield b',"steps":['
        yield b",".join(self.steps)
        yield b'],"focus":'
        yield encoded(self.focus) if self.focus is not None else b"null"
        yield b',"outcome":'
        yield encoded(self.outcome)
        yield b',"cost":'
        yield encoded(self.cost)
        yield b"}"


def encoded(value: Model) -> bytes:
    """A wire value as JSON, without the fields that are absent by default."""
    return value.model_dump_json(by_alias=True, exclude_unset=True).encode()
