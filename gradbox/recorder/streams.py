"""A program's standard streams: what it prints, on its way into the log, and the lines that it reads."""

import io
from collections.abc import Callable
from typing import Literal

Stream = Literal["stdout", "stderr"]


class OutputStream(io.TextIOBase):
    """A text stream that hands over whatever is written to it."""

    def __init__(self, name: Stream, emit: Callable[[Stream, str], None]) -> None:
        super().__init__()
        self._name, self._emit = name, emit

    @property
    def name(self) -> str:
        return f"<{self._name}>"

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "strict" if self._name == "stdout" else "backslashreplace"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        if type(text) is not str:
            if not issubclass(type(text), str):
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            text = str.__str__(text)
        if self._name == "stdout" and not text.isascii():
            text.encode(self.encoding, self.errors)  # half of a character raises here, as on a stream of bytes
        self._emit(self._name, text)
        return len(text)


class InputBytes(io.BytesIO):
    """The bytes of the standard input, under its name."""

    name = "<stdin>"


def input_stream(text: str) -> io.TextIOWrapper:
    """The standard input that reads this text and then ends, as a file in its place does."""
    return io.TextIOWrapper(InputBytes(text.encode("utf-8", "replace")), "utf-8")
