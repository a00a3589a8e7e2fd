"""Reads the value on top of CPython's evaluation stack in a frame that is being traced, which Python itself gives no
access to.

It is read from the interpreter's memory, on versions whose layout was tested, and only if everything that is known of
the frame is where it should be. It gives the value of a `return` whose frame is not left yet because `with` and
`finally` come first.
"""

import ast
import ctypes
import dis
import functools
import sys
import sysconfig
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradbox.sessions.statement_table import StatementTable

UNREADABLE_VALUE: Any = object()
"""Stands for a value that can't be read."""

_FRAME_IN_OBJECT = 24
"""Bytes from the beginning of a frame object to the pointer to the interpreter's frame."""


@dataclass(frozen=True)
class FrameLayout:
    """Offsets in the interpreter's frame, in bytes from its beginning."""

    code: int
    frame_object: int
    stack_top: int
    locals: int


FRAME_LAYOUTS = {(3, 11): FrameLayout(code=32, frame_object=40, stack_top=64, locals=72)}
"""The layout by version. The stack follows a frame's locals; `stack_top` counts both while a trace function runs, else
it is -1."""

_layout = (
    FRAME_LAYOUTS.get(sys.version_info[:2])
    if sys.implementation.name == "cpython"
    and ctypes.sizeof(ctypes.c_void_p) == 8
    and not hasattr(sys, "gettotalrefcount")
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
    else None
)


def value_on_stack(frame: FrameType, below: int = 0) -> Any:
    """The value computed last in a frame whose trace function runs now, for an opcode, or a value below it;
    UNREADABLE_VALUE if it can't be read."""
    if _layout is None:
        return UNREADABLE_VALUE
    inner = ctypes.c_void_p.from_address(id(frame) + _FRAME_IN_OBJECT).value
    if inner is None:
        return UNREADABLE_VALUE
    code = frame.f_code
    known = {_layout.code: id(code), _layout.frame_object: id(frame)}
    if any(ctypes.c_void_p.from_address(inner + offset).value != value for offset, value in known.items()):
        return UNREADABLE_VALUE
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    first = len(code.co_varnames) + len(cells) + len(code.co_freevars)
    count = ctypes.c_int.from_address(inner + _layout.stack_top).value
    if not first < count <= first + code.co_stacksize:
        return UNREADABLE_VALUE
    place = inner + _layout.locals + (count - 1 - below) * 8
    if count - below <= first or not ctypes.c_void_p.from_address(place).value:
        return UNREADABLE_VALUE  # a NULL, as before the arguments of a call
    return ctypes.py_object.from_address(place).value


_NOP, _SWAP = dis.opmap["NOP"], dis.opmap.get("SWAP", -1)


def pending_return_value(frame: FrameType, table: StatementTable, i: int, next_statement: int) -> Any:
    """The computed value of statement i, a `return`; UNREADABLE_VALUE if it can't be read.

    frame: at the first instruction of `next_statement`, which is an enclosing statement whose `with` is left, or a
        statement in a `finally`; or, with i itself as `next_statement`, at the instruction that drops the exception of
        an enclosing handler
    """
    node = table.syntax_node(i)
    assert isinstance(node, ast.Return)
    if node.value is None:
        return None
    folded = folded_constant(node.value)
    if type(folded) is not tuple and folded is not UNREADABLE_VALUE:
        return folded
    if folded is not UNREADABLE_VALUE:  # it is loaded when the frame leaves, the same one each time
        consts = frame.f_code.co_consts
        return next(
            (const for const in consts if type(const) is type(folded) and repr(const) == repr(folded)), UNREADABLE_VALUE
        )
    if next_statement == i:  # the exception was brought above the value
        return value_on_stack(frame, below=1) if did_last_instruction_keep_with_value(frame) else UNREADABLE_VALUE
    is_kept = (
        does_next_instruction_keep_with_value(frame)
        if next_statement in table.enclosing_statements(i)
        else is_first_statement_of_pending_finally(table, i, next_statement)
    )
    return value_on_stack(frame) if is_kept else UNREADABLE_VALUE


def does_next_instruction_keep_with_value(frame: FrameType) -> bool:
    """Whether the next instruction leaves a `with` that has a value to keep: it moves `__exit__` above that value."""
    code, at = frame.f_code.co_code, frame.f_lasti
    while code[at] == _NOP:
        at += 2
    return code[at] == _SWAP and code[at + 1] == 2


def did_last_instruction_keep_with_value(frame: FrameType) -> bool:
    """Whether the previous instruction moved what is dropped now above a value to keep."""
    code, at = frame.f_code.co_code, frame.f_lasti - 2
    return at >= 0 and code[at] == _SWAP and code[at + 1] == 2


def is_first_statement_of_pending_finally(table: StatementTable, i: int, next_statement: int) -> bool:
    """Whether `next_statement` is the first statement of a `finally` for which statement i waits."""
    around = table.enclosing_blocks(next_statement)
    if not around or around[0][1] != "finalbody":
        return False
    if table.syntax_node(around[0][0]).finalbody[0] is not table.syntax_node(next_statement):  # type: ignore[attr-defined]
        return False
    return any(block == around[0][0] and part != "finalbody" for block, part in table.enclosing_blocks(i))


@functools.lru_cache(maxsize=1024)
def folded_constant(expression: ast.expr) -> Any:
    """The value to which the compiler folds an expression of constants, like `-1`; UNREADABLE_VALUE for others."""
    code = compile(ast.Expression(expression), "", "eval")
    first, *rest = [instruction for instruction in dis.get_instructions(code) if instruction.opname != "RESUME"]
    is_constant = "CONST" in first.opname and [instruction.opname for instruction in rest] in ([], ["RETURN_VALUE"])
    return first.argval if is_constant else UNREADABLE_VALUE
