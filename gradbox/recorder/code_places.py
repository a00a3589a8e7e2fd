"""Where code that has no steps, as that of a module which is not recorded, did something: its file, line and text."""

import linecache
import sysconfig
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import torch

from gradbox.recorder.stack import entries_of_begun_calls, is_in_passed_call, is_program_code, is_recorder_frame
from gradbox.wire import entities

_TORCH_FOLDER = torch.__path__[0] + "/"
_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + "/"

MAX_LINE_CHARACTERS = 200
"""Characters of a line of code that are recorded."""


class CodePlace(NamedTuple):
    """A line that runs.

    module: the name by which its module is imported; "" for one that nobody can import
    """

    code: CodeType
    line: int
    module: str


def unrecorded_caller(frame: FrameType | None) -> CodePlace | None:
    """Which line of code without steps asked torch for something; None where the program itself did.

    frame: torch's own, the recorder's, or the one that called it. Frames of these, of the standard library and of code
        whose text is not known, as that of `exec`, are passed over.
    """
    while frame is not None:
        code = frame.f_code
        if is_program_code(code) and not is_in_passed_call(frame):
            return None
        if is_of_user_or_package(frame, frame.f_lineno):
            return code_place(frame, frame.f_lineno)
        frame = frame.f_back
    return None


def place_where_raised(error: BaseException) -> CodePlace | None:
    """Which line of code without steps an exception came from, the innermost; None where a line of the program called
    torch."""
    place = None
    for entry in entries_of_begun_calls(error):
        frame = entry.tb_frame
        if is_program_code(frame.f_code):
            place = None
        elif is_of_user_or_package(frame, entry.tb_lineno):
            place = code_place(frame, entry.tb_lineno)
    return place


def is_of_user_or_package(frame: FrameType, line: int | None) -> bool:
    """Whether a frame is neither of torch, of the standard library nor of the recorder, and has a line whose text is
    known."""
    code = frame.f_code
    if is_torch_code(code) or _is_of_standard_library(code) or is_recorder_frame(frame):
        return False
    return bool(linecache.getline(code.co_filename, line or 0).strip())


def code_place(frame: FrameType, line: int | None) -> CodePlace:
    name = str(frame.f_globals.get("__name__", ""))
    return CodePlace(frame.f_code, line or 0, "" if name == "__main__" else name)


def is_raised_in_torch(error: BaseException) -> bool:
    """Whether the innermost Python code that an exception came from is torch's."""
    entries = [entry for entry in entries_of_begun_calls(error) if not is_recorder_frame(entry.tb_frame)]
    return bool(entries) and is_torch_code(entries[-1].tb_frame.f_code)


def is_torch_code(code: CodeType) -> bool:
    return code.co_filename.startswith(_TORCH_FOLDER)


def _is_of_standard_library(code: CodeType) -> bool:
    name = code.co_filename
    return name.startswith("<frozen") or (name.startswith(_STANDARD_LIBRARY) and "-packages/" not in name)


def code_place_record(place: CodePlace) -> entities.CodePlace:
    """The place as the trace has it: no folder of the user's."""
    text = linecache.getline(place.code.co_filename, place.line).strip()
    return {
        "file": Path(place.code.co_filename).name,
        "module": place.module,
        "line": place.line,
        "code": text[:MAX_LINE_CHARACTERS],
    }
