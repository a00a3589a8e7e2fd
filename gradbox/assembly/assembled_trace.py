"""A trace in the making: the steps as the JSON that a child wrote, everything else as values."""

import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from gradbox.assembly.recorded_trace import GZIP_WINDOW_BITS
from gradbox.wire.base import Model
from gradbox.wire.gradient_check import GradientCheck
from gradbox.wire.limits import REPEATABLE
from gradbox.wire.trace import Cost, Focus, Header, Outcome

REPEATABLE_STATUSES = ("finished", "raised", "refused")
"""Statuses of runs that would end the same way again."""

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""An address as Python prints it. A child that has rehearsed puts its objects elsewhere than one that has not."""


@dataclass
class AssembledTrace:
    """A trace whose steps are not decoded again: each is the JSON text that was validated.

    steps: one JSON object each, `gradbox.wire.trace.Step`. printed: all that the program printed.
    deterministic: whether the child found nothing in the program that gives it another result each time.
    """

    header: Header
    steps: list[bytes]
    printed: str
    outcome: Outcome
    cost: Cost
    focus: Focus | None = None
    deterministic: bool = False
    gradient_check: GradientCheck | None = None

    def json(self) -> bytes:
        """The whole trace as JSON, without the fields that are absent by default."""
        return b"".join(self._json_parts())

    def compressed(self) -> bytes:
        """The JSON, gzipped; the same bytes for the same trace. Slow."""
        compressor = zlib.compressobj(1, wbits=GZIP_WINDOW_BITS)  # level 6 takes five times as long
        return b"".join([*map(compressor.compress, self._json_parts()), compressor.flush()])

    def result_digest(self) -> str:
        """A digest of what the program printed, addresses apart, and how it ended: the same for the same result."""
        error = self.outcome.error
        cause = (error.type, ADDRESS.sub("", error.message), error.line) if error else None
        parts = (ADDRESS.sub("", self.printed), self.outcome.status, cause)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def cacheable(self) -> bool:
        """Whether the same program would give this trace again: it depends on the program and its seed alone."""
        outcome = self.outcome
        if outcome.status == "refused":
            return True
        limit = outcome.stopped.limit if outcome.status == "stopped" and outcome.stopped else None
        if outcome.status not in REPEATABLE_STATUSES and limit not in REPEATABLE:
            return False
        if self.focus is not None and self.focus.repeatable is False:
            return False
        return self.deterministic

    def _json_parts(self) -> Iterator[bytes]:
        yield encode_model(self.header)[:-1]
        yield b',"steps":['
        for i, step in enumerate(self.steps):
            if i:
                yield b","
            yield step
        yield b'],"focus":'
        yield encode_model(self.focus) if self.focus is not None else b"null"
        yield b',"outcome":'
        yield encode_model(self.outcome)
        yield b',"cost":'
        yield encode_model(self.cost)
        if self.gradient_check is not None:
            yield b',"gradient_check":'
            yield encode_model(self.gradient_check)
        yield b"}"


def encode_model(value: Model) -> bytes:
    """A wire value as JSON, without the fields that are absent by default."""
    return value.model_dump_json(by_alias=True, exclude_unset=True).encode()
