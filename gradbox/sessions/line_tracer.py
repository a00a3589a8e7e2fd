"""Records uninstrumented code by turning Python's trace events into the calls that instrumented code makes.

In the program's files there is an event before each instruction; see `FrameTracer`. In other files there are only call
events.
"""

import ctypes
import gc
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType, FunctionType, GeneratorType, MethodType
from typing import Any, NoReturn

from gradbox.recorder.recorder import Recorder
from gradbox.recorder.stack import RECURSION_SLACK, has_steps, is_recorder_frame
from gradbox.sessions.frame_tracer import FrameTracer
from gradbox.sessions.statement_table import NO_STATEMENT, StatementTable
from gradbox.sessions.unstepped_calls import UnsteppedCalls

_locals_to_fast: Any = ctypes.pythonapi.PyFrame_LocalsToFast
DEEP_STACK = 150
"""Frames from which on it is checked whether the program has reached the recursion limit."""

DEBUGGERS = {("bdb", "set_trace"), ("pydevd", "settrace"), ("pydevd", "_locked_settrace")}
"""Functions with which debuggers begin, with their modules. `breakpoint()` and `pdb.set_trace()` call the first one."""

_FRAME_ATTRIBUTES = ("gi_frame", "cr_frame", "ag_frame")


class OwnFiles:
    """The project's files that are followed without being named, each from the first call of one of its functions.

    add_file: returns the statements of a code's file, None if it is not to be followed
    """

    def __init__(self, add_file: Callable[[CodeType], StatementTable | None], unstepped_calls: UnsteppedCalls) -> None:
        self._add_file, self._unstepped_calls = add_file, unstepped_calls
        self._tables: dict[str, StatementTable | None] = {}

    def statement_table_for_call(self, frame: FrameType, recorder: Recorder) -> StatementTable | None:
        """The statements of the file whose function begins with this frame; None if the call is not followed."""
        if frame.f_code.co_name == "<module>":
            return None
        table = self.statement_table_for_code(frame.f_code)
        return None if table is None or self._unstepped_calls.runs_without_steps(frame, recorder) else table

    def statement_table_for_code(self, code: CodeType) -> StatementTable | None:
        """The statements of the file that a code is of; None where it is not to be followed."""
        path = code.co_filename
        if path not in self._tables:
            self._tables[path] = self._add_file(code)
        return self._tables[path]

    def known_tables(self) -> dict[str, StatementTable]:
        """The tables of the files that were followed so far."""
        return {path: table for path, table in self._tables.items() if table is not None}


class LineTracer:
    """Follows one thread from `start` to `stop`. Another tool's trace function, such as a debugger's or that of
    coverage, keeps working: it gets each call, and all events in the frames that it wants.

    tables: by the file name in the code
    on_root_statement: called with the statement that begins in the frame of `start`, NO_STATEMENT for its end; if it
        returns True, the recording stops, and the caller has to call `stop`
    own_files: files of the project, which are added when one of their functions is called
    was_taken: at `stop` the trace function had been replaced or removed, so what had run since was not followed
    """

    def __init__(
        self,
        recorder: Recorder,
        tables: Mapping[str, StatementTable],
        on_root_statement: Callable[[int], bool] | None = None,
        own_files: "OwnFiles | None" = None,
    ) -> None:
        self.recorder, self._tables, self.on_root_statement = recorder, tables, on_root_statement
        self._own_files = own_files
        self.active = False
        self.was_taken, self._taken_by = False, ""
        self._previous_trace: Any = None
        self._trace: Any = self._on_call
        self._root: FrameType | None = None
        self._root_trace: tuple[Any, bool] = (None, False)
        self._frames: weakref.WeakSet[FrameTracer] = weakref.WeakSet()

    def start(self, frame: FrameType | None, waiting: Sequence[FrameType] = ()) -> None:
        """Follow this frame from its running statement on, and everything that it calls. With None, only what is called
        from now on.

        waiting: frames of the program that wait for it; they are followed once they go on
        """
        self.active, self._previous_trace = True, sys.gettrace()
        self.recorder.frames.locals.after_read = forget_locals_of_frame if sys.version_info < (3, 13) else None
        sys._getframe().f_trace_opcodes = True  # 3.12 asks for it when tracing begins
        self._root = frame
        if frame is not None:
            self._root_trace = frame.f_trace, frame.f_trace_opcodes
            tracer = FrameTracer(self, self.recorder, self._tables[frame.f_code.co_filename], frame, is_root=True)
            tracer.begin_in_running_frame(frame)
            self._follow_frame(frame, tracer, frame.f_trace)
        for outer in waiting:
            tracer = FrameTracer(self, self.recorder, self._tables[outer.f_code.co_filename], outer)
            tracer.begin_in_running_frame(outer)
            self._follow_frame(outer, tracer, outer.f_trace)
        sys.settrace(self._trace)

    def stop(self) -> None:
        """Stop following. The trace functions of Python and of running frames are restored."""
        if not self.active:
            return
        self.active = False
        now = sys.gettrace()
        if now is self._trace:  # else a debugger has come, which stays
            sys.settrace(self._previous_trace)
        if sys.getprofile() == self._restore_trace_function:
            sys.setprofile(None)
        else:
            self.was_taken, self._taken_by = now is not self._trace, module_of_trace_function(now)
        self.recorder.frames.locals.after_read = None
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            restore_trace_of_frame(frame)
            frame = frame.f_back
        if self._root is not None:
            self._root.f_trace, self._root.f_trace_opcodes = self._root_trace
        self._previous_trace = self._root = None
        self._root_trace = (None, False)

    def record_if_tracing_was_taken(self) -> bool:
        """After `stop`: if the trace function was taken, note in the next step that statements before it may be
        missing. Returns whether it was."""
        if self.was_taken:
            self.recorder.append_event({"kind": "event", "event": "tracing_taken", "by": self._taken_by or None})
        return self.was_taken

    def release_generators(self) -> None:
        """Release suspended generators after `stop`. Before it, the trace would say that they are over."""
        if self._frames:
            release_suspended_generators()

    def stop_following_frame(self, frame: FrameType, position: tuple[int, int] | None) -> None:
        """Stop following a frame; what was followed of it is over.

        position: line and column of the statement whose block it was in, None for the frame's own block
        """
        tracer: Any = frame.f_trace
        if self.active and type(tracer) is FrameTracer:
            tracer.finish_running_statement(
                frame,
                NO_STATEMENT if position is None else self._tables[frame.f_code.co_filename].statement_at(*position),
            )

    def finish_running_statement(self, frame: FrameType) -> None:
        """Count the running statement of a followed frame as over: its step is recorded now."""
        tracer: Any = frame.f_trace
        if self.active and type(tracer) is FrameTracer:
            tracer.finish_statement_in_its_block(frame)

    def _follow_frame(self, frame: FrameType, tracer: FrameTracer, other_trace: Any) -> None:
        self._frames.add(tracer)
        tracer.other_trace = other_trace
        frame.f_trace, frame.f_trace_opcodes = tracer, True

    def _on_call(self, frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or not self.active:
            return None
        if is_stack_deep() and not can_nest_calls(RECURSION_SLACK - 1):
            self._raise_recursion_error()
        known: Any = frame.f_trace
        other_trace = None if self._previous_trace is None else self._call_other_trace_function(frame)
        code = frame.f_code
        table = self._tables.get(code.co_filename)
        if table is None:
            if (frame.f_globals.get("__name__"), code.co_name) in DEBUGGERS:
                self._stop_if_debugger_begins(frame)
            table = None if self._own_files is None else self._own_files.statement_table_for_call(frame, self.recorder)
            if table is None:
                return other_trace
        if not has_steps(code):
            if code.co_name == "<lambda>":
                self.recorder.on_lambda(frame=frame)
            return other_trace
        if type(known) is FrameTracer and known.belongs_to(self):
            known.other_trace = other_trace
            known.mark_resumed()
            return known
        if not table.is_function_of_file(code):
            return other_trace
        tracer = FrameTracer(self, self.recorder, table, frame)
        self._follow_frame(frame, tracer, other_trace)
        tracer.begin_frame(frame)
        return tracer if self.active else other_trace

    def _stop_if_debugger_begins(self, frame: FrameType) -> None:
        """Stop when a debugger begins: it replaces the trace function, and would otherwise get an event for each
        instruction."""
        self.stop()
        self.was_taken, self._taken_by = True, frame.f_globals["__name__"]

    def _call_other_trace_function(self, frame: FrameType) -> Any:
        """Call the other tool's trace function for a frame that begins or goes on. That function may replace ours."""
        if is_recorder_frame(frame):
            return None
        other_trace = self._previous_trace(frame, "call", None)
        now = sys.gettrace()
        if now is not self._trace:
            self._previous_trace = now
            sys.settrace(self._trace)
        return other_trace

    def _raise_recursion_error(self) -> NoReturn:
        """End a call that plain Python would not have begun, since the limit is raised while a session records.

        Python removes a trace function that raises. A profile function, which is called next, restores it.
        """
        if sys.getprofile() is None:
            sys.setprofile(self._restore_trace_function)
        raise RecursionError("maximum recursion depth exceeded")

    def _restore_trace_function(self, *_: Any) -> None:
        sys.setprofile(None)
        if self.active:
            sys.settrace(self._trace)


def warn_tracing_taken(title: str) -> None:
    """Warn the user on stderr.

    title: what is recorded
    """
    if sys.stderr is not None:
        print(
            f"gradbox: {title}: a debugger or the program replaced Python's trace function; steps after that may be "
            "missing",
            file=sys.stderr,
        )


def module_of_trace_function(function: Any) -> str:
    """The module of a trace function, "" if that is not known."""
    function = function.__func__ if type(function) is MethodType else function
    name = function.__globals__.get("__name__") if type(function) is FunctionType else ""
    return name if type(name) is str else ""


def is_stack_deep() -> bool:
    """Whether the stack is so deep that the recursion limit may be near."""
    try:
        sys._getframe(DEEP_STACK)
    except ValueError:
        return False
    return True


def can_nest_calls(calls: int) -> bool:
    """Whether this many calls can still be nested here."""
    try:
        nest_calls(calls - 1)
    except RecursionError:
        return False
    return True


def nest_calls(calls: int) -> None:
    """Call itself until this many calls are nested."""
    if calls > 1:
        nest_calls(calls - 1)


def restore_trace_of_frame(frame: FrameType) -> None:
    """Restore the other tool's trace function of a frame."""
    tracer: Any = frame.f_trace
    if type(tracer) is FrameTracer:
        frame.f_trace, frame.f_trace_opcodes = tracer.other_trace, False


def forget_locals_of_frame(frame: FrameType) -> None:
    """Make CPython forget that the locals of a frame were read.

    Before 3.13 it writes the content of their dict back into the frame when a trace function returns, even if it is
    outdated.
    """
    _locals_to_fast(ctypes.py_object(frame), ctypes.c_int(0))


def release_suspended_generators() -> None:
    """Remove our trace functions from the frames of suspended generators."""
    for value in gc.get_objects():
        if type(value) is GeneratorType or type(value).__name__ in ("coroutine", "async_generator"):
            frame = next((getattr(value, name) for name in _FRAME_ATTRIBUTES if hasattr(value, name)), None)
            if frame is not None:
                restore_trace_of_frame(frame)
