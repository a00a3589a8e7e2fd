"""The Python stack as the program knows it: which frames are its own, which have steps, and how deep it may go.

The recorder's own frames are removed from a traceback or a stack before the program can print it.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import get_ident
from types import CodeType, FrameType, TracebackType
from typing import Any

import torch

from gradbox.recorder import introspection

PROGRAM_FILENAME = "<program>"

line_offsets: dict[str, int] = {PROGRAM_FILENAME: 0}
"""For each file of the program, by the name in its code: how many lines of the program's source come before it."""

unstepped_calls: list[tuple[int, CodeType]] = []
"""The call of a program's function that runs without steps, if there is one: the id of its frame, and its code. The
call may be over already; whoever uses this checks for the frame."""

threads_waiting_for_engine: list[tuple[int, FrameType]] = []
"""Threads with the frames in which they wait for torch's engine, the innermost backward last. The engine continues in
another thread if backwards are nested deeply, and always on a GPU."""

_MODULE_CALL = torch.nn.Module._call_impl.__code__

RECURSION_SLACK = 50
"""By how much the interpreter's limit exceeds the program's. A hook needs room for its first frames at the deepest
call."""


def is_recursion_too_deep(recorder_frames: int = 2) -> bool:
    """Whether the function just entered is deeper than the program may go, so that plain CPython would not have entered
    it.

    recorder_frames: frames of the recorder above the function's
    """
    try:
        sys._getframe(recorder_frames + sys.getrecursionlimit() - RECURSION_SLACK)
    except ValueError:
        return False
    return True


def is_program_code(code: CodeType) -> bool:
    """Whether code belongs to one of the program's files."""
    return code.co_filename in line_offsets


def to_program_line(code: CodeType, line: int) -> int:
    """The line of the program's source for a line in the file of this code."""
    return line + line_offsets.get(code.co_filename, 0)


def has_steps(code: CodeType) -> bool:
    """Whether code of the program has steps of its own: the module and functions do; lambdas, comprehensions and
    classes do not."""
    if code.co_filename not in line_offsets:
        return False
    return code.co_name == "<module>" or (
        not code.co_name.startswith("<") and bool(code.co_flags & inspect.CO_OPTIMIZED)
    )


def is_within_module(frame: FrameType) -> bool:
    """Whether a frame runs in a call of a module, whoever made that call."""
    return any(f.f_code is _MODULE_CALL for f in frames_outward(frame))


def frames_outward(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and its callers, in this thread and in the threads that wait for it."""
    thread, k = get_ident(), len(threads_waiting_for_engine)
    while frame is not None:
        yield frame
        frame = frame.f_back
        if frame is None:
            while k and threads_waiting_for_engine[k - 1][0] == thread:
                k -= 1
            if k:
                k -= 1
                thread, frame = threads_waiting_for_engine[k]


def is_in_unstepped_call(frame: FrameType | None) -> bool:
    """Whether this frame runs within a call that passes without steps."""
    if not unstepped_calls:
        return False
    mark, code = unstepped_calls[0]
    return any(id(f) == mark and f.f_code is code for f in frames_outward(frame))


def is_unstepped_call_running(frame: FrameType | None) -> bool:
    """The same of the innermost frame that runs; a call that is over is forgotten, for a new frame may get its id."""
    is_running = is_in_unstepped_call(frame)
    if not is_running:
        unstepped_calls.clear()
    return is_running


def innermost_stepping_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame with steps of its own, from this one outwards."""
    return next((f for f in frames_outward(frame) if has_steps(f.f_code)), None)


def stepping_depth(frame: FrameType | None) -> int:
    """How many frames with steps of their own lie under this one."""
    return max(sum(has_steps(f.f_code) for f in frames_outward(frame)) - 1, 0)


def program_frames(frame: FrameType | None) -> list[FrameType]:
    """The program's frames from this one outwards, beginning with the module's."""
    if threads_waiting_for_engine:
        return [f for f in frames_outward(frame) if f.f_code.co_filename in line_offsets][::-1]
    frames: list[FrameType] = []
    while frame is not None:
        if frame.f_code.co_filename in line_offsets:
            frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


PROJECT_FOLDER = Path(__file__).parents[2]
RECORDER_FOLDERS = tuple(
    f"{PROJECT_FOLDER / name}/"
    for name in ("gradbox/recorder", "gradbox/sessions", "gradbox/gradient_check", "server/worker")
)
"""Folders with the code that observes and runs a program."""

FILE_CALLED_BY_KERNELS = torch.__path__[0] + "/_ops.py"
"""Torch's Python code that our kernels call, where plain Python would go from the program straight into C++."""

MAX_CHAINED_EXCEPTIONS = 100
"""Exceptions in a chain of causes that are followed."""


FUNCTIONS_THAT_REFUSE_CALLS = ("on_call", "on_lambda", "_on_call", "_on_lambda", "_raise_recursion_error")
"""Functions of the recorder that end a call which plain Python would not have begun."""


def traceback_entries_of_begun_calls(error: BaseException) -> list[TracebackType]:
    """An exception's traceback, outermost first, without the call that the recorder refused as too deep."""
    entries = []
    entry = introspection.traceback_of(error)
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    if not entries or not issubclass(type(error), RecursionError):
        return entries
    innermost = entries[-1].tb_frame
    if innermost.f_code.co_name not in FUNCTIONS_THAT_REFUSE_CALLS or not is_recorder_frame(innermost):
        return entries
    while entries and is_recorder_frame(entries[-1].tb_frame):
        entries.pop()
    return entries[:-1]


def hide_recorder_frames(error: BaseException | None) -> None:
    """Remove the recorder's frames from the exception, if there is one, and from those that caused it."""
    for _ in range(MAX_CHAINED_EXCEPTIONS):
        if error is None:
            return
        begun = traceback_entries_of_begun_calls(error)
        if begun:
            begun[-1].tb_next = None
        unlink_recorder_frames(introspection.traceback_of(error))
        error = introspection.exception_cause(error)


def unlink_recorder_frames(first: Any) -> None:
    """Remove our entries from a traceback. Its first entry, which is the program's, stays."""
    last: TracebackType | None = first
    after_recorder = False
    while last is not None:
        entry = last.tb_next
        while entry is not None and (
            is_recorder_frame(entry.tb_frame) or (after_recorder and is_called_by_recording_kernel(entry.tb_frame))
        ):
            after_recorder, entry = True, entry.tb_next
        after_recorder = False
        if entry is not last.tb_next:
            last.tb_next = entry
        last = entry


def drop_frames_before_program(error: BaseException) -> None:
    """Make an exception's traceback begin with the program's first frame, if it has one."""
    position = introspection.traceback_of(error)
    while position is not None and not is_program_code(position.tb_frame.f_code):
        position = position.tb_next
    if position is not None:
        error.__traceback__ = position


def walk_program_stack(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """`traceback.walk_stack` as in a script: the program's module is the outermost frame, and none of ours is included.

    frame: where to begin; None for the caller of the function that asks, as `traceback` counts its own frames
    """
    yield from walk_frames_without_recorder(sys._getframe(4) if frame is None else frame, True)


def walk_stack_without_recorder(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """`traceback.walk_stack` without our frames.

    frame: as for `walk_program_stack`
    """
    yield from walk_frames_without_recorder(sys._getframe(4) if frame is None else frame, False)


def walk_frames_without_recorder(frame: FrameType | None, to_module: bool) -> Iterator[tuple[FrameType, int]]:
    """The frames from here outwards with their lines, without ours.

    to_module: stop at the program's module
    """
    kernel: list[FrameType] = []  # frames that one of ours may have called
    while frame is not None:
        if is_called_by_recording_kernel(frame):
            kernel.append(frame)
        elif not is_recorder_frame(frame):
            yield from ((caller, caller.f_lineno) for caller in (*kernel, frame))
            kernel.clear()
        else:
            kernel.clear()
        frame = None if to_module and is_program_module_frame(frame) else frame.f_back


def is_recorder_frame(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(RECORDER_FOLDERS)


def is_called_by_recording_kernel(frame: FrameType) -> bool:
    return frame.f_code.co_filename == FILE_CALLED_BY_KERNELS


def is_program_module_frame(frame: FrameType) -> bool:
    return is_program_code(frame.f_code) and frame.f_code.co_name == "<module>"
