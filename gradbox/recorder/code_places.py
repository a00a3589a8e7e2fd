"""Finds the file, line and text of code that has no steps, such as a module that is not recorded, when it did
something."""

import linecache
import sysconfig
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import torch

from gradbox.recorder.stack import (
    is_in_unstepped_call,
    is_program_code,
    is_recorder_frame,
    traceback_entries_of_begun_calls,
)
from gradbox.wire import entities

_TORCH_FOLDER = torch.__path__[0] + "/"
_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + "/"

MAX_LINE_CHARACTERS = 200
"""Characters of a line of code that are recorded."""


class CodePlace(NamedTuple):
    """A line of code that is running.

    module: the name under which its module is imported; "" if it can't be imported
    """

    code: CodeType
    line: int
    module: str


def unrecorded_caller(frame: FrameType | None) -> CodePlace | None:
    """The line of code without steps that asked torch for something; None if the program itself did.

    Frames of torch, the recorder and the standard library are skipped, and so is code whose text is not known, such as
    that of `exec`.

    frame: a frame of torch or the recorder, or the one that called it
    """
    while frame is not None:
        code = frame.f_code
        if is_program_code(code) and not is_in_unstepped_call(frame):
            return None
        if is_of_user_or_package(frame, frame.f_lineno):
            return code_place(frame, frame.f_lineno)
        frame = frame.f_back
    return None


def place_where_raised(error: BaseException) -> CodePlace | None:
    """The innermost line of code without steps that an exception came from; None if a line of the program
    called torch."""
    place = None
    for entry in traceback_entries_of_begun_calls(error):
        frame = entry.tb_frame
        if is_program_code(frame.f_code):
            place = None
        elif is_of_user_or_package(frame, entry.tb_lineno):
            place = code_place(frame, entry.tb_lineno)
    return place


def is_of_user_or_package(frame: FrameType, line: int | None) -> bool:
    """Whether a frame belongs neither to torch, nor to the standard library or the recorder, and the text of its line
    is known."""
    code = frame.f_code
    if is_torch_code(code) or _is_of_standard_library(code) or is_recorder_frame(frame):
        return False
    return bool(linecache.getline(code.co_filename, line or 0).strip())


def code_place(frame: FrameType, line: int | None) -> CodePlace:
    name = str(frame.f_globals.get("__name__", ""))
    return CodePlace(frame.f_code, line or 0, "" if name == "__main__" else name)


def is_raised_in_torch(error: BaseException) -> bool:
    """Whether the innermost Python code that raised an exception belongs to torch."""
    entries = [entry for entry in traceback_entries_of_begun_calls(error) if not is_recorder_frame(entry.tb_frame)]
    return bool(entries) and is_torch_code(entries[-1].tb_frame.f_code)


def is_torch_code(code: CodeType) -> bool:
    return code.co_filename.startswith(_TORCH_FOLDER)


def _is_of_standard_library(code: CodeType) -> bool:
    name = code.co_filename
    return name.startswith("<frozen") or (name.startswith(_STANDARD_LIBRARY) and "-packages/" not in name)


def code_place_record(place: CodePlace) -> entities.CodePlace:
    """The place as the trace records it, without the user's folders."""
    text = linecache.getline(place.code.co_filename, place.line).strip()
    return {
        "file": Path(place.code.co_filename).name,
        "module": place.module,
        "line": place.line,
        "code": text[:MAX_LINE_CHARACTERS],
    }
