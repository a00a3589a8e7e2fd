"""The Python stack as the program knows it: which frames are its own, which of them step, and how deep it may go."""

import inspect
import sys
from collections.abc import Iterator
from threading import get_ident
from types import CodeType, FrameType

PROGRAM = "<program>"

line_offsets: dict[str, int] = {PROGRAM: 0}
"""The program's files, by the name that their code has: how many lines of the program's source come before each."""

engine_waits: list[tuple[int, FrameType]] = []
"""Threads and the frames in which they wait for torch's engine, the innermost backward last: the engine goes on in another
thread where backwards are nested deeply, and on a GPU always."""

RECURSION_SLACK = 50
"""How far the interpreter's limit lies above the program's: a hook's first frames need room at the deepest call."""


def too_deep(recorder_frames: int = 2) -> bool:
    """Whether the function just entered lies deeper than the program may go; plain CPython would not have entered it.

    recorder_frames: of the recorder, above the function's.
    """
    try:
        sys._getframe(recorder_frames + sys.getrecursionlimit() - RECURSION_SLACK)
    except ValueError:
        return False
    return True


def is_program(code: CodeType) -> bool:
    """Whether it is code of one of the program's files."""
    return code.co_filename in line_offsets


def program_line(code: CodeType, line: int) -> int:
    """The line of the program's source for a line of the file that the code is of."""
    return line + line_offsets.get(code.co_filename, 0)


def has_steps(code: CodeType) -> bool:
    """Whether code of the program has steps of its own: the module and functions, not lambdas, comprehensions, classes."""
    if code.co_filename not in line_offsets:
        return False
    return code.co_name == "<module>" or (
        not code.co_name.startswith("<") and bool(code.co_flags & inspect.CO_OPTIMIZED)
    )


def frames_outward(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame of this thread and those that wait for it, in this thread and in those that wait for this one."""
    thread, k = get_ident(), len(engine_waits)
    while frame is not None:
        yield frame
        frame = frame.f_back
        if frame is None:
            while k and engine_waits[k - 1][0] == thread:
                k -= 1
            if k:
                k -= 1
                thread, frame = engine_waits[k]


def stepping_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame with steps of its own, from this one outwards."""
    return next((f for f in frames_outward(frame) if has_steps(f.f_code)), None)


def stepping_depth(frame: FrameType | None) -> int:
    """How many frames with steps of their own lie under this one."""
    return max(sum(has_steps(f.f_code) for f in frames_outward(frame)) - 1, 0)


def program_frames(frame: FrameType | None) -> list[FrameType]:
    """The program's frames from this one outwards, the module's first."""
    return [f for f in frames_outward(frame) if f.f_code.co_filename in line_offsets][::-1]
