"""Records what passes through the process's own streams and warnings, which still work as usual."""

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gradbox.recorder import stack
from gradbox.recorder.program_streams import Stream
from gradbox.recorder.stack import FILE_CALLED_BY_KERNELS

OutputCallback = Callable[[Stream, str], None]


_recorded_writes: list[Callable[[Any], Any]] = []
"""The recorded `write` of each stream."""


@contextlib.contextmanager
def recorded_stream(
    name: Stream, emit: OutputCallback, before_output: Callable[[Any], None] | None = None
) -> Iterator[None]:
    """Inside the block, what is written to `sys.stdout` or `sys.stderr` is passed to `emit` too. The stream stays the
    same object, unless it takes no attributes; then it is replaced.

    before_output: called with the text before it is passed on
    """
    stream = getattr(sys, name)
    if stream is None:
        yield
        return
    write = stream.write
    if write in _recorded_writes:  # `sys.stdout = sys.stderr`: once is what was printed
        yield
        return

    def recorded_write(text: Any) -> Any:
        if before_output is not None:
            before_output(text)
        written = write(text)
        if type(text) is str:
            emit(name, text)
        elif issubclass(type(text), str):
            emit(name, str.__str__(text))
        return written

    own = getattr(stream, "__dict__", {})
    replaced_write = own.get("write")
    _recorded_writes.append(recorded_write)
    try:
        with _stream_write_replaced(stream, name, recorded_write, replaced_write):
            yield
    finally:
        _recorded_writes.remove(recorded_write)


@contextlib.contextmanager
def _stream_write_replaced(
    stream: Any, name: Stream, recorded_write: Callable[[Any], Any], replaced_write: Any
) -> Iterator[None]:
    """Inside the block, the stream writes with `recorded_write`.

    replaced_write: what it had as an attribute of its own
    """
    try:
        stream.write = recorded_write
    except AttributeError:
        replaced: Any = StreamWithRecordedWrite(stream, recorded_write)
        setattr(sys, name, replaced)
        try:
            yield
        finally:
            if getattr(sys, name) is replaced:
                setattr(sys, name, stream)
        return
    try:
        yield
    finally:
        if getattr(stream, "write", None) is recorded_write:  # else the program put its own there
            if replaced_write is None:
                del stream.write
            else:
                stream.write = replaced_write


class StreamWithRecordedWrite:
    """A stream with another `write`."""

    def __init__(self, stream: Any, write: Callable[[str], Any]) -> None:
        self._stream, self.write = stream, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


@contextlib.contextmanager
def recorded_warnings(record: Callable[[str, str], None], muted: Callable[[], Any]) -> Iterator[None]:
    """Inside the block, warnings that are shown are also passed to `record` as category and text.

    muted: a context in which no output is recorded
    """
    original = warnings.showwarning

    def show(
        message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: str | None = None
    ) -> None:
        if is_recorder_or_kernel_file(
            filename
        ):  # torch's C++ warns in the name of the Python frame that runs, which is a kernel of ours
            frame: Any = sys._getframe(1)
            while frame is not None and (
                is_recorder_or_kernel_file(frame.f_code.co_filename) or frame.f_code.co_filename == warnings.__file__
            ):
                if stack.is_recorder_frame(frame):
                    frame.f_globals.pop("__warningregistry__", None)
                frame = frame.f_back
            if frame is not None:
                registry = frame.f_globals.setdefault("__warningregistry__", {})
                module = frame.f_globals.get("__name__", "<unknown>")
                warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)
                return
        record(category.__name__, str(message))
        with muted():
            original(message, category, filename, lineno, file, line)

    setattr(warnings, "showwarning", show)
    try:
        yield
    finally:
        if warnings.showwarning is show:
            setattr(warnings, "showwarning", original)


def is_recorder_or_kernel_file(filename: str) -> bool:
    """Whether a file belongs to the recorder, or is the file of torch that our kernels call."""
    return (
        filename.startswith(stack.RECORDER_FOLDERS)
        or filename == FILE_CALLED_BY_KERNELS
        or Path(filename) == Path(__file__)
    )
