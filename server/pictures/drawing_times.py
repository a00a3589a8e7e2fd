"""How long drawings will probably take: as long as the last one of the same trace, or by the size of the trace."""

from collections import OrderedDict

MAX_KNOWN = 4000
"""Drawings whose time is remembered."""

SECONDS_PER_BYTE = 1e-6
"""What a byte of a trace costs that was not drawn yet. Nothing is learned from other traces: a stranger's, made to take
long, would have all others wait behind the large ones."""

GZIP_MAGIC = b"\x1f\x8b"
GZIP_FACTOR = 8
"""A trace has at least about so many bytes for one of its gzipped form. What is joined of several says less at its end.
"""


def uncompressed_size(data: bytes) -> int:
    """About the bytes of what is drawn from.

    data: gzipped JSON, whose last four bytes are the size of its last part, or JSON
    """
    if data[:2] != GZIP_MAGIC:
        return len(data)
    return max(int.from_bytes(data[-4:], "little"), GZIP_FACTOR * len(data))


class DrawingTimes:
    """The seconds that drawings took, by what was drawn of which trace."""

    def __init__(self) -> None:
        self._seconds: OrderedDict[str, float] = OrderedDict()

    def expected(self, name: str, size: int) -> float:
        """The seconds that a drawing will probably take.

        name: of the trace and of what is drawn of it
        size: bytes of the trace
        """
        return self._seconds.get(name, size * SECONDS_PER_BYTE)

    def count(self, name: str, seconds: float) -> None:
        """Remember how long one took."""
        self._seconds.pop(name, None)
        self._seconds[name] = seconds
        while len(self._seconds) > MAX_KNOWN:
            self._seconds.popitem(last=False)
