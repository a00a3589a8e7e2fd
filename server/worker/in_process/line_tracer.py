"""Records code that runs as it is: Python's trace events, turned into the calls that instrumented code makes by itself.

In the program's files each instruction is announced before it runs; see `FrameTracer`. Outside of them only calls are.
"""

import ctypes
import gc
import sys
import weakref
from collections.abc import Callable, Mapping
from types import FrameType, GeneratorType
from typing import Any

from server.worker.in_process.frame_tracer import FrameTracer
from server.worker.in_process.statement_table import NOWHERE, StatementTable
from server.worker.recorder import Recorder
from server.worker.stack import has_steps

_locals_to_fast: Any = ctypes.pythonapi.PyFrame_LocalsToFast
_GENERATORS = ("gi_frame", "cr_frame", "ag_frame")


class LineTracer:
    """Follows one thread from `start` to `stop`.

    tables: by the file name that code has. root_arrives: asked with the statement that begins in the frame of `start`,
    NOWHERE for its end; for True the recording stops, by `stop` of whoever asked for it.
    """

    def __init__(
        self,
        recorder: Recorder,
        tables: Mapping[str, StatementTable],
        root_arrives: Callable[[int], bool] | None = None,
    ) -> None:
        self.recorder, self._tables, self.root_arrives = recorder, tables, root_arrives
        self.active = False
        self._replaced: Any = None
        self._root: FrameType | None = None
        self._root_trace: tuple[Any, bool] = (None, False)
        self._frames: weakref.WeakSet[FrameTracer] = weakref.WeakSet()

    def start(self, frame: FrameType | None) -> None:
        """Follow this frame from the statement that runs in it, and all that it calls. None: only what is called now."""
        self.active, self._replaced = True, sys.gettrace()
        self.recorder.frames.after_locals = forget_locals if sys.version_info < (3, 13) else None
        sys._getframe().f_trace_opcodes = True  # 3.12 asks for it when tracing begins
        self._root = frame
        if frame is not None:
            self._root_trace = frame.f_trace, frame.f_trace_opcodes
            tracer = FrameTracer(self, self.recorder, self._tables[frame.f_code.co_filename], frame, is_root=True)
            tracer.begin_within(frame)
            self._follow(frame, tracer)
        sys.settrace(self._on_call)

    def stop(self) -> None:
        """Follow nothing any more: the trace function of Python and those of all frames are what they were before."""
        if not self.active:
            return
        self.active = False
        sys.settrace(self._replaced)
        self.recorder.frames.after_locals = None
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if type(frame.f_trace) is FrameTracer:
                frame.f_trace, frame.f_trace_opcodes = None, False
            frame = frame.f_back
        if self._root is not None:
            self._root.f_trace, self._root.f_trace_opcodes = self._root_trace
        self._replaced = self._root = None
        self._root_trace = (None, False)
        if self._frames:
            release_suspended()

    def leave(self, frame: FrameType, place: tuple[int, int] | None) -> None:
        """What is followed of this frame is over. place: line and column of the statement in whose block it was, None for
        the frame's own.
        """
        tracer: Any = frame.f_trace
        if self.active and type(tracer) is FrameTracer:
            tracer.leave(frame, NOWHERE if place is None else self._tables[frame.f_code.co_filename].at(*place))

    def _follow(self, frame: FrameType, tracer: FrameTracer) -> None:
        self._frames.add(tracer)
        frame.f_trace, frame.f_trace_opcodes = tracer, True

    def _on_call(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        table = self._tables.get(code.co_filename)
        if table is None or event != "call" or not self.active:
            return None
        if not has_steps(code):
            if code.co_name == "<lambda>":
                self.recorder.on_lambda(frame=frame)
            return None
        known: Any = frame.f_trace
        if type(known) is FrameTracer and known.belongs_to(self):
            known.wake()
            return known
        if not table.is_function(code):
            return None
        tracer = FrameTracer(self, self.recorder, table, frame)
        self._follow(frame, tracer)
        tracer.begin(frame)
        return tracer if self.active else None


def forget_locals(frame: FrameType) -> None:
    """Have CPython forget that the locals of a frame were asked for.

    Before 3.13 it writes what their dict holds back into the frame when a trace function returns, whatever that is by then.
    """
    _locals_to_fast(ctypes.py_object(frame), ctypes.c_int(0))


def release_suspended() -> None:
    """Take our trace functions off the frames of generators that wait."""
    for value in gc.get_objects():
        if type(value) is GeneratorType or type(value).__name__ in ("coroutine", "async_generator"):
            frame = next((getattr(value, name) for name in _GENERATORS if hasattr(value, name)), None)
            if frame is not None and type(frame.f_trace) is FrameTracer:
                frame.f_trace, frame.f_trace_opcodes = None, False
