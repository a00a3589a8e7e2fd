"""A run's trace as the server keeps it: compressed, with the few facts that the server itself reads."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field

from gradbox.wire.limits import Limit
from gradbox.wire.trace import Status, Trace

GZIP_WINDOW_BITS = 31
"""zlib's window bits for a stream with a gzip header."""


@dataclass(frozen=True)
class RecordedTrace:
    """A validated trace, with what a server needs to know about it.

    body: the trace's JSON, gzipped; of a gradient check that of its `GradientCheckReply`
    status, limit: of its outcome
    seconds: how long the run took
    deterministic: whether the program gives the same result each time
    cacheable: whether the same program would give this trace again
    versions: of the libraries that made it
    """

    body: bytes
    status: Status
    seconds: float = 0.0
    limit: Limit | None = None
    deterministic: bool = False
    cacheable: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> bytes:
        """The whole trace as JSON, without the fields that are absent by default."""
        return gzip.decompress(self.body)

    def decoded(self) -> Trace:
        """The trace as a model, validating every step again. Slow: for commands and tests, not for the server."""
        return Trace.model_validate_json(self.json())
