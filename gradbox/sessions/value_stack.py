"""What CPython computes with in a frame that is being traced: the value on top of its stack, which nothing in Python gives.

It is read from the interpreter's memory, on versions whose layout was tried, and only where all that is known of the frame
stands where it should.
"""

import ctypes
import sys
import sysconfig
from dataclasses import dataclass
from types import FrameType
from typing import Any

UNKNOWN: Any = object()
"""In the place of a value that can't be read."""

_FRAME_IN_OBJECT = 24
"""Bytes from the beginning of a frame object to the pointer to the interpreter's frame."""


@dataclass(frozen=True)
class Layout:
    """Of the interpreter's frame, in bytes from its beginning."""

    code: int
    frame_object: int
    stack_top: int
    locals: int


LAYOUTS = {(3, 11): Layout(code=32, frame_object=40, stack_top=64, locals=72)}
"""By version. Its stack begins behind a frame's locals; `stack_top` counts both while a trace function runs, else it is -1."""

_layout = (
    LAYOUTS.get(sys.version_info[:2])
    if sys.implementation.name == "cpython"
    and ctypes.sizeof(ctypes.c_void_p) == 8
    and not hasattr(sys, "gettotalrefcount")
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
    else None
)


def top_of_stack(frame: FrameType, below: int = 0) -> Any:
    """The value that was computed last in a frame whose trace function runs now, for an opcode, or one that lies below it;
    UNKNOWN where that can't be told.
    """
    if _layout is None:
        return UNKNOWN
    inner = ctypes.c_void_p.from_address(id(frame) + _FRAME_IN_OBJECT).value
    if inner is None:
        return UNKNOWN
    code = frame.f_code
    known = {_layout.code: id(code), _layout.frame_object: id(frame)}
    if any(ctypes.c_void_p.from_address(inner + offset).value != value for offset, value in known.items()):
        return UNKNOWN
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    first = len(code.co_varnames) + len(cells) + len(code.co_freevars)
    count = ctypes.c_int.from_address(inner + _layout.stack_top).value
    if not first < count <= first + code.co_stacksize:
        return UNKNOWN
    place = inner + _layout.locals + (count - 1 - below) * 8
    if count - below <= first or not ctypes.c_void_p.from_address(place).value:
        return UNKNOWN  # a NULL, as before the arguments of a call
    return ctypes.py_object.from_address(place).value
