"""A program's standard streams: what it prints and warns about, on its way to the log of a step, and the lines that it
reads."""

import io
from collections.abc import Callable
from typing import Literal

from gradbox.recorder.probes.probe import ProbeContext

Stream = Literal["stdout", "stderr"]


class OutputStream(io.TextIOBase):
    """A text stream that passes everything that is written to it to a function."""

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
    """The bytes of the standard input, with its name."""

    name = "<stdin>"


def input_stream(text: str) -> io.TextIOWrapper:
    """A standard input that reads this text and then ends, like a redirected file."""
    return io.TextIOWrapper(InputBytes(text.encode("utf-8", "replace")), "utf-8")


MAX_LOG_ENTRIES_WITH_WARNINGS = 1000
"""Entries of a step's log after which no more warnings are added."""


class OutputLog:
    """Limits what is printed to a number of characters."""

    def __init__(self, context: ProbeContext, max_chars: int) -> None:
        self._context, self._max_chars = context, max_chars
        self._printed_chars = 0

    def log_output(self, stream: Stream, text: str) -> bool:
        """Log printed text up to the limit. Returns whether all of it was within the limit."""
        room = self._max_chars - self._printed_chars
        self._printed_chars += len(text)
        observation = self._context.observation
        last = observation.log[-1] if observation.log else None
        shown = text[: max(room, 0)]
        shown = shown if shown.isascii() else shown.encode("utf-8", "backslashreplace").decode()
        if last is not None and last["kind"] == "out" and last["stream"] == stream:
            last["text"] += shown
        else:
            observation.append_log_entry({"kind": "out", "stream": stream, "text": shown})
        return room >= len(text)

    def log_warning(self, category: str, text: str) -> None:
        """Log a warning with the name of its class."""
        observation = self._context.observation
        if len(observation.log) < MAX_LOG_ENTRIES_WITH_WARNINGS:
            observation.append_log_entry(
                {"kind": "event", "event": "warning", "category": category, "text": text[:2000]}
            )
