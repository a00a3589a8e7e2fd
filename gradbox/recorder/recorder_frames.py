"""Takes the recorder's own frames out of a traceback or a stack, before the program can print it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch

from gradbox.recorder import introspection
from gradbox.recorder.stack import is_program

PROJECT = Path(__file__).parents[2]
RECORDER_FOLDERS = tuple(
    f"{PROJECT / name}/" for name in ("gradbox/recorder", "gradbox/sessions", "gradbox/gradient_check", "server/worker")
)
"""Where the code lies that observes and runs a program."""

CALLED_BY_KERNELS = torch.__path__[0] + "/_ops.py"
"""Torch's code that our kernels call, where plain Python would go from the program straight into C++."""

MAX_CHAINED = 100
"""Exceptions in a chain of causes that are followed."""


def hide_recorder_frames(error: BaseException | None) -> None:
    """As if the recorder had not been called: of the exception, if there is one, and of those that it came from."""
    for _ in range(MAX_CHAINED):
        if error is None:
            return
        unlink_recorder_frames(introspection.traceback_of(error))
        error = introspection.exception_cause(error)


def unlink_recorder_frames(first: Any) -> None:
    """Leave out of a traceback what is ours. Its first entry, which is the program's, stays."""
    last: TracebackType | None = first
    after_recorder = False
    while last is not None:
        entry = last.tb_next
        while entry is not None and (
            is_recorder_frame(entry.tb_frame) or (after_recorder and is_called_by_kernel(entry.tb_frame))
        ):
            after_recorder, entry = True, entry.tb_next
        after_recorder = False
        if entry is not last.tb_next:
            last.tb_next = entry
        last = entry


def drop_leading_frames(error: BaseException) -> None:
    """Have an exception's traceback begin with the program's first frame, where it has one."""
    position = introspection.traceback_of(error)
    while position is not None and not is_program(position.tb_frame.f_code):
        position = position.tb_next
    if position is not None:
        error.__traceback__ = position


def walk_program_stack(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """`traceback.walk_stack` of a script: the program's module is the outermost, and nothing of ours lies between.

    frame: where to begin; None for the caller of what asks, as `traceback` counts its own frames.
    """
    yield from walk_without_recorder(sys._getframe(4) if frame is None else frame, True)


def walk_whole_stack(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """`traceback.walk_stack` without what is ours. frame: as for `walk_program_stack`."""
    yield from walk_without_recorder(sys._getframe(4) if frame is None else frame, False)


def walk_without_recorder(frame: FrameType | None, to_module: bool) -> Iterator[tuple[FrameType, int]]:
    """The frames from here outwards and their lines, without ours; to_module: as far as the program's module."""
    kernel: list[FrameType] = []  # frames that one of ours may have called
    while frame is not None:
        if is_called_by_kernel(frame):
            kernel.append(frame)
        elif not is_recorder_frame(frame):
            yield from ((caller, caller.f_lineno) for caller in (*kernel, frame))
            kernel.clear()
        else:
            kernel.clear()
        frame = None if to_module and is_module_of_program(frame) else frame.f_back


def is_recorder_frame(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(RECORDER_FOLDERS)


def is_called_by_kernel(frame: FrameType) -> bool:
    return frame.f_code.co_filename == CALLED_BY_KERNELS


def is_module_of_program(frame: FrameType) -> bool:
    return is_program(frame.f_code) and frame.f_code.co_name == "<module>"
