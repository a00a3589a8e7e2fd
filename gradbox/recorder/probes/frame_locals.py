"""The local variables of a frame, read without leaving a trace in the dict that the program's `locals()` shares."""

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any

IMPLICIT_NAMES = frozenset(
    ("__builtins__", "__annotations__", "__warningregistry__", "__module__", "__qualname__", "__classcell__", ".0")
)

MODULE_NAMES = IMPLICIT_NAMES | {
    "__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__", "__cached__", "__path__",
}  # fmt: skip
"""Of an imported module also what the import system gives it before its code runs."""


class FrameLocals:
    """Reads the locals of frames, which are known by their uids.

    after_read: called with each frame of a function whose locals were read.
    """

    def __init__(self) -> None:
        self.after_read: Callable[[FrameType], None] | None = None
        self._shared_locals: dict[str, dict[str, Any]] = {}  # a frame's own dict of locals, as the program last saw it

    def read(self, frame: FrameType, uid: str) -> dict[str, Any]:
        """A frame's variables. CPython has one dict a frame for them, the program's `locals()`: it is left as it was."""
        optimized = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        previous = dict(self._shared_locals.get(uid, ())) if optimized else {}
        live_locals = frame.f_locals
        implicit = MODULE_NAMES if live_locals is frame.f_globals else IMPLICIT_NAMES
        variables = {k: v for k, v in dict(live_locals).items() if type(k) is str and k not in implicit}
        if optimized and self.after_read is not None:
            self.after_read(frame)
        if optimized and type(live_locals) is dict:
            self._shared_locals[uid] = live_locals
            live_locals.clear()
            live_locals.update(previous)
        return variables

    def forget(self, uid: str) -> None:
        """The frame of this uid is over."""
        self._shared_locals.pop(uid, None)
