"""Detects the end of a training round in any loop: an optimizer has stepped, and a graph was built since the
last time."""

import ast
import builtins
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch

from gradbox.recorder.code_places import is_torch_code
from gradbox.recorder.probes.optimizer_steps import add_step_listener, remove_step_listener
from gradbox.recorder.stack import PROJECT_FOLDER, frames_outward
from gradbox.sessions.unstepped_code import is_installed_file

_graph_sequence_number: Callable[[], int] = torch.autograd._get_sequence_nr  # type: ignore[attr-defined]
_GRADBOX_FOLDER = f"{PROJECT_FOLDER / 'gradbox'}/"
_locals_to_fast: Any = ctypes.pythonapi.PyFrame_LocalsToFast


class RoundHook:
    """Calls a function at the end of each round of the thread and process that installed it.

    A step of an optimizer ends a round if a node of a graph was made since the last one. Two optimizers that step after
    one backward end one round; so does one that steps after several backwards, and `LBFGS.step` with its closure. A
    step that a `GradScaler` skips ends none.

    on_round_end: called in the step, with the frame that asked for the step
    """

    def __init__(self, on_round_end: Callable[[FrameType], None]) -> None:
        self._on_round_end = on_round_end
        self._thread, self._process = threading.get_ident(), os.getpid()
        self._last_number = -1

    def install(self) -> None:
        self._last_number = _graph_sequence_number()
        add_step_listener(self._note_step)

    def remove(self) -> None:
        remove_step_listener(self._note_step)

    def _note_step(self, *_: Any) -> None:
        if threading.get_ident() != self._thread or os.getpid() != self._process:
            return
        if torch._C._current_graph_task_id() != -1:  # within a backward, whose other nodes are still to run
            return
        if _graph_sequence_number() != self._last_number:
            self._on_round_end(sys._getframe(1))
            self._last_number = _graph_sequence_number()


class ExpressionInUserFrame:
    """An expression that is evaluated in the innermost running function that has its names. The user's functions come
    before installed ones; torch's and Python's own are never used. Raises SyntaxError."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text, mode="eval")
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        self._names = {node.id for node in names} - bound - vars(builtins).keys()
        self._code = compile(tree, "<expression>", "eval")

    def evaluate(self, frame: FrameType | None) -> Any:
        """Evaluate the expression, searching from this frame outwards. Raises what it raises, and NameError if no
        function has its names."""
        for f in frames_outward_user_first(frame):
            variables = copy_locals_of_frame(f)
            if all(name in variables or name in f.f_globals for name in self._names):
                return eval(self._code, {**f.f_globals, **variables})  # as one namespace: a generator's sees no locals
        raise NameError(f"no function that runs has {', '.join(sorted(self._names))}")


def frames_outward_user_first(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames from here outwards without ours, torch's and Python's own: first those of files that are not
    installed, then the others."""
    installed = []
    for f in frames_outward(frame):
        code = f.f_code
        if code.co_filename.startswith((_GRADBOX_FOLDER, "<frozen ")) or is_torch_code(code):
            continue
        if is_installed_file(code.co_filename):
            if "-packages/" in code.co_filename:
                installed.append(f)
        else:
            yield f
    yield from installed


def copy_locals_of_frame(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame. Unlike CPython's own access before 3.13, reading them does not keep them alive."""
    members = frame.f_locals
    variables = dict(members)
    if sys.version_info < (3, 13) and is_function_code(frame.f_code):
        members.clear()
        _locals_to_fast(ctypes.py_object(frame), ctypes.c_int(0))
    return variables


def is_function_code(code: CodeType) -> bool:
    """Whether the code's variables are in its frame and not in a namespace."""
    return bool(code.co_flags & 1)  # CO_OPTIMIZED
