"""The code with parts in it: outside and inside of them it runs as it would, and its table of locations is as Python
writes it."""

import ast
import sys
import traceback
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from gradbox.script.part_instrumentation import compile_with_watchers, encode_location_table, location_entries
from gradbox.script.script_parts import PartOptions, choose_parts


class Counted:
    """Counts what the code of a part calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def on_part_begin(self) -> None:
        self.calls.append("enter")

    def update_condition(self, value: Any) -> None:
        self.calls.append(value)

    def on_condition_error(self) -> None:
        self.calls.append(type(sys.exc_info()[1]).__name__)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.calls.append("exit" if error[0] is None else "error")


LOOP = """
def f(n):
    for k in range(n):
        if k == 1:
            continue
        if k == 3:
            break
    return k

def g(n):
    while True:
        n -= 1
        1 / n

f(9)
try:
    g(2)
except ZeroDivisionError:
    text = traceback.format_exc()
"""


def lines_run(code: CodeType) -> tuple[list[tuple[str, int | None]], dict[str, Any]]:
    """The lines that Python's trace function is told of, and the namespace that the code leaves."""
    namespace: dict[str, Any] = {"traceback": traceback}
    seen: list[tuple[str, int | None]] = []

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        here = (frame.f_code.co_name, frame.f_lineno)
        if frame.f_code.co_filename != "train.py":
            return None
        if event == "line" and seen[-1:] != [here]:
            seen.append(here)
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        exec(code, namespace)
    finally:
        sys.settrace(before)
    return seen, namespace


def test_the_code_outside_and_inside_of_parts_stays_as_it_is() -> None:
    tree = ast.parse(LOOP)
    plain_lines, plain = lines_run(compile(LOOP, "train.py", "exec"))
    parts = [
        *choose_parts(tree, LOOP, PartOptions((3, 7), (0,)), ""),
        *choose_parts(tree, LOOP, PartOptions((12, 13)), ""),
    ]
    watchers = [Counted(), Counted()]
    code = compile_with_watchers(tree, "train.py", list(zip(parts, watchers, strict=True)), "n > k")
    lines, namespace = lines_run(code)
    assert lines == plain_lines and namespace["text"] == plain["text"] and namespace.keys() == plain.keys()
    assert watchers[0].calls == ["enter", "exit", True] * 4, "also by continue and break"
    assert watchers[1].calls == ["enter", "exit", "NameError", "enter", "error", "NameError"]


def test_tables_of_locations_are_written_as_python_writes_them() -> None:
    waiting = [compile(Path(traceback.__file__).read_text(), "traceback.py", "exec")]
    for code in waiting:
        waiting += [value for value in code.co_consts if isinstance(value, CodeType)]
        again = code.replace(
            co_linetable=encode_location_table(code.co_firstlineno, location_entries(code, list(code.co_positions())))
        )
        assert list(again.co_positions()) == list(code.co_positions())
        assert list(again.co_lines()) == list(code.co_lines())
    assert len(waiting) > 50
