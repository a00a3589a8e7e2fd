"""Follows one frame of uninstrumented code instruction by instruction, and requests its steps from the recorder.

When an instruction of another statement comes, the statement before is over; this separates several statements in a
line and handles statements that span lines. What no trace event tells is not recorded: the value of a bare expression,
of a test, and of what is sent to a generator.
"""

import ast
import gc
from collections.abc import Iterator
from types import FrameType
from typing import Any, Protocol

from gradbox.recorder.instrument import LOOP_STATEMENT_KINDS
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.stack import to_program_line
from gradbox.sessions.statement_table import NO_STATEMENT, SPECIAL_INSTRUCTION, CodeTable, StatementTable
from gradbox.sessions.value_stack import UNREADABLE_VALUE, pending_return_value, value_on_stack

FOR_KINDS = ("For", "AsyncFor")
WITH_KINDS = ("With", "AsyncWith")
TRY_KINDS = ("Try", "TryStar")
BRANCH_KINDS = ("If", "Match")
JUMP_KINDS = ("Break", "Continue")
COMPOUND_KINDS = (*LOOP_STATEMENT_KINDS, *WITH_KINDS, *TRY_KINDS, *BRANCH_KINDS)
KINDS_WITH_STEP_AFTER = (*FOR_KINDS, *WITH_KINDS, *TRY_KINDS)
"""Compound statements that have a step of their own when they are over."""

SUSPENDED = -3


class ThreadTracer(Protocol):
    """What follows the thread; see `LineTracer`."""

    active: bool
    on_root_statement: Any


class FrameTracer:
    """The trace function of one frame. Only the frame refers to it, so it dies with the frame, and it does not keep the
    frame alive.

    `_statement` is the running statement, NO_STATEMENT after an exception; `_last_statement` also covers one that an
    exception ended. `_left_early` holds compound statements that a jump or an exception leaves, after which there is no
    step. `_reached_from_body` says that the statement was reached from its own body. `_ended_handler` is the last
    statement of a handler that is over; what follows may have its position. `_exiting_with` is the `with` whose
    `__exit__` is called for an exception. `_pending_return` is a `return` that waits for `finally` and `with`, and
    `_recorded_return` is the same once it is recorded. `_pending_jump` is a `break` or `continue` that leaves blocks.
    `_sentinel` belongs to a suspended generator.

    other_trace: another tool's trace function for this frame, or None; it gets all events except for instructions
    """

    __slots__ = (
        "__weakref__", "_code", "_ended_handler", "_entered_loop", "_exiting_with", "_is_root", "_last_statement",
        "_left_early",
        "_pending_jump", "_pending_return", "_reached_from_body", "_recorded_return", "_recorder", "_sentinel",
        "_statement", "_statements_or_special", "_suspended_at", "_table", "_thread_tracer", "other_trace",
    )  # fmt: skip

    def __init__(
        self,
        thread_tracer: ThreadTracer,
        recorder: Recorder,
        table: StatementTable,
        frame: FrameType,
        is_root: bool = False,
    ) -> None:
        self._thread_tracer, self._recorder, self._table = thread_tracer, recorder, table
        self._code: CodeTable = table.code_table(frame.f_code)
        self._statements_or_special = self._code.statements_or_special
        self._statement = self._last_statement = self._exiting_with = self._pending_return = NO_STATEMENT
        self._suspended_at = self._pending_jump = self._recorded_return = self._entered_loop = NO_STATEMENT
        self._ended_handler: tuple[int, ...] = ()
        self._left_early: set[int] = set()
        self._reached_from_body = False
        self._sentinel: Any = None
        self._is_root = is_root
        self.other_trace: Any = None

    def belongs_to(self, thread_tracer: ThreadTracer) -> bool:
        return self._thread_tracer is thread_tracer

    def begin_frame(self, frame: FrameType) -> None:
        """Note that the frame is entered: by a call, or because a generator resumes that was created before the tracing
        began."""
        k, resumes = frame.f_lasti // 2, self._code.resumes
        suspended = resumes.get(k) or resumes.get(k + 1, "")  # the latter by an exception that is thrown in
        if not suspended:
            code = frame.f_code
            self._recorder.frames.recorded_lines[id(frame)] = to_program_line(code, self._table.function_line(code))
            self._recorder.on_call(0, frame=frame)
            self._recorder.frames.recorded_lines.clear()
            return
        self.begin_in_running_frame(frame)
        if suspended == "yield":
            self._sentinel = self._recorder.on_resume(0, frame=frame)
            self.mark_resumed()

    def begin_in_running_frame(self, frame: FrameType) -> None:
        """Begin in a frame that runs already, with the statement that is at work."""
        self._statement = self._last_statement = self._code.statements[frame.f_lasti // 2]

    def finish_running_statement(self, frame: FrameType, enclosing: int) -> None:
        """Stop following the frame, though it goes on: what ran in it counts as over.

        enclosing: the statement whose block that was in; NO_STATEMENT for the frame's own block
        """
        if self._statement in (NO_STATEMENT, SUSPENDED):
            return
        if self._table.statement_kind(self._statement) == "Return":
            self._record_step(frame, self._statement)
        else:
            self._finish_statement(frame, enclosing)
        self._statement = NO_STATEMENT

    def finish_statement_in_its_block(self, frame: FrameType) -> None:
        """Count the running statement as over while its block goes on."""
        if self._statement not in (NO_STATEMENT, SUSPENDED):
            enclosing = self._table.enclosing_statements(self._statement)
            self.finish_running_statement(frame, enclosing[0] if enclosing else NO_STATEMENT)

    def mark_resumed(self) -> None:
        """Note that the generator resumes; by an exception if that is the next event."""
        if self._sentinel is not None and self._statement != SUSPENDED:
            self._suspended_at, self._statement = self._statement, SUSPENDED

    def __call__(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "opcode":
            i = self._statements_or_special[frame.f_lasti // 2]
            if i == self._statement or i == NO_STATEMENT:
                return self
            self._on_instruction(frame, frame.f_lasti // 2)
        elif event == "return":
            self._on_return_event(frame, value)
        elif event == "exception":
            self._on_exception_event(frame, value)
        if self.other_trace is not None and event != "opcode":
            self.other_trace = self.other_trace(frame, event, value) or self.other_trace
        return self if self._thread_tracer.active else self.other_trace

    def _on_instruction(self, frame: FrameType, k: int) -> None:
        if self._statement == SUSPENDED:
            self._statement, sentinel, self._sentinel = self._suspended_at, self._sentinel, None
            sentinel(None)
        i = self._code.statements[k]
        if k in self._code.with_handlers:
            self._exiting_with = i
        if k in self._code.reraises:
            if (
                i not in (NO_STATEMENT, self._statement, *self._ended_handler)
                and self._table.statement_kind(i) == "Pass"
            ):
                self._begin_statement(frame, i)  # the last of a `finally`, which has no other instruction
            self._on_exception_propagated(frame)
            return
        if k in self._code.handler_ends:
            self._end_handler(frame, i)
            return
        if i in self._ended_handler:
            return
        loop = self._code.endless_loop_starts.get(k)
        if loop is not None and loop != self._statement:
            self._begin_statement(frame, loop)
        if i not in (NO_STATEMENT, self._statement):
            self._begin_statement(frame, i)

    def _on_exception_propagated(self, frame: FrameType) -> None:
        """Handle the end of a `finally`, or of a `try` with no handler that took the exception."""
        place, asker, self._exiting_with = self._statement, self._exiting_with, NO_STATEMENT
        if (
            asker == place != NO_STATEMENT and not frame.f_code.co_code[frame.f_lasti + 1]
        ):  # a `with` passes on by `RERAISE 2`
            self._left_early.difference_update((place, *self._enclosing_statements_in_handler(place)))
        if place != NO_STATEMENT:
            self._finish_statement(frame, NO_STATEMENT)
            self._left_early.update((place, *self._table.enclosing_statements(place)))
        self._statement = NO_STATEMENT

    def _enclosing_statements_in_handler(self, i: int) -> Iterator[int]:
        """The statements around statement i within the `finally` or handler that contains it, innermost first."""
        for statement, part in self._table.enclosing_blocks(i):
            if part.startswith(("handlers", "finalbody")):
                return
            yield statement

    def _end_handler(self, frame: FrameType, i: int) -> None:
        """Note that a handler is over and its exception dies. That belongs to the `try` statement, not to the handler's
        last one.

        i: the statement whose position the instruction has: the first that `pass`, `break` and the like have
        """
        if i not in (NO_STATEMENT, self._statement, *self._ended_handler):
            self._begin_statement(frame, i)
        last = self._statement
        if last != NO_STATEMENT and self._table.statement_kind(last) == "Return":
            self._record_return(frame, last, last)
        elif NO_STATEMENT == self._pending_return == self._pending_jump and last != NO_STATEMENT:
            around = next(
                (j for j, part in self._table.enclosing_blocks(last) if part.startswith("handlers")), NO_STATEMENT
            )
            if around != NO_STATEMENT and self._table.statement_kind(last) not in JUMP_KINDS:
                self._begin_statement(frame, around)
                self._ended_handler = (last, i)

    def _begin_statement(self, frame: FrameType, i: int) -> None:
        """Note that statement i begins or goes on."""
        if self._statement != NO_STATEMENT:
            self._finish_statement(frame, i)
        place, table = self._last_statement, self._table
        self._ended_handler = ()
        entered = set(table.enclosing_blocks(i))
        if place != NO_STATEMENT:
            entered.difference_update(table.enclosing_blocks(place))
        for statement, part in entered:
            if part.startswith("handlers"):
                self._left_early.difference_update((statement, *table.enclosing_statements(statement)))
            if part.startswith(("handlers", "finalbody")):
                self._recorder.frames.recorded_lines[id(frame)] = table.part_line(statement, part)
                self._recorder.on_caught(frame=frame)
                self._recorder.frames.recorded_lines.clear()
        self._reached_from_body = place != NO_STATEMENT and i in table.enclosing_statements(place)
        if i not in (self._pending_return, place) and not self._reached_from_body:
            for silent in self._code.silent_before.get(i, ()):
                self._record_step(frame, silent)
        if table.statement_kind(i) in LOOP_STATEMENT_KINDS:
            self._pending_jump = NO_STATEMENT
            if place != i and not self._reached_from_body:
                self._recorder.on_loop(i, frame=frame)
                self._entered_loop = i
        self._statement = self._last_statement = i
        if table.statement_kind(i) in JUMP_KINDS:
            self._record_jump(frame, i)
        elif self._pending_jump != NO_STATEMENT and i not in table.enclosing_statements(self._pending_jump):
            self._pending_jump = NO_STATEMENT
        if self._is_root and self._thread_tracer.on_root_statement is not None:
            self._thread_tracer.on_root_statement(i)

    def _finish_statement(self, frame: FrameType, next_statement: int) -> None:
        """Note that the running statement, or its head, is over and that `next_statement` comes next."""
        i, table = self._statement, self._table
        kind = table.statement_kind(i)
        around_next = (
            () if next_statement == NO_STATEMENT else (next_statement, *table.enclosing_statements(next_statement))
        )
        if self._exiting_with == i and i not in around_next:  # the `with` took the exception
            self._left_early.difference_update((i, *table.enclosing_statements(i)))
        self._exiting_with = NO_STATEMENT
        if kind in COMPOUND_KINDS:
            self._record_statement_head(frame, i, kind, next_statement)
        elif kind == "Return":
            self._pending_return = i
            self._left_early.update(table.enclosing_statements(i))
            if next_statement != NO_STATEMENT and not self._record_return(frame, i, next_statement):
                self._record_step(frame, i)
        elif kind == "Raise":
            self._left_early.update(table.enclosing_statements(i))
        elif kind not in JUMP_KINDS:
            self._record_step(frame, i)
        for left in ((i,) if kind in COMPOUND_KINDS else ()) + tuple(table.enclosing_statements(i)):
            if left in around_next:
                break
            if left not in self._left_early and self._is_step_recorded_when_left(left):
                self._record_step(frame, left)
            self._left_early.discard(left)

    def _record_return(self, frame: FrameType, i: int, next_statement: int) -> bool:
        """Record a `return` before `next_statement` runs and the frame is left, if its value can be read (see
        `pending_return_value`). Returns whether it is recorded; if not, it is recorded as a statement now and as a
        return later."""
        if self._recorded_return == i:
            return True
        value = pending_return_value(frame, self._table, i, next_statement)
        if value is UNREADABLE_VALUE:
            return False
        self._recorded_return = i
        self._set_recorded_line(frame, i)
        self._recorder.on_return(i, value, frame=frame)
        self._recorder.frames.recorded_lines.clear()
        return True

    def _record_statement_head(self, frame: FrameType, i: int, kind: str, next_statement: int) -> None:
        part = (
            ""
            if next_statement == NO_STATEMENT
            else next((part for parent, part in self._table.enclosing_blocks(next_statement) if parent == i), "")
        )
        if kind in FOR_KINDS:
            due = part == "body"
        elif kind in WITH_KINDS:
            due = part == "body" and not self._reached_from_body
        else:
            due = kind not in TRY_KINDS and (kind == "While" or not self._reached_from_body)
        if due and next_statement != i:
            if i == self._entered_loop:
                self._entered_loop = NO_STATEMENT
                if kind == "For":
                    self._recorder.register_loop_iterator(i, value_on_stack(frame))
            self._set_recorded_line(frame, i)
            self._recorder.on_head(i, frame=frame)
            self._recorder.frames.recorded_lines.clear()

    def _record_jump(self, frame: FrameType, i: int) -> None:
        """Record a `break` or `continue`, which leaves everything up to its loop.

        Its step comes before what it leaves, because that may run the program's code: `with`, `finally`, a dying
        generator.
        """
        if self._pending_jump != i:
            self._record_step(frame, i)
        self._pending_jump, self._pending_return, self._recorded_return = i, NO_STATEMENT, NO_STATEMENT
        inside = True
        for statement, part in self._table.enclosing_blocks(i):
            if inside and self._table.statement_kind(statement) in LOOP_STATEMENT_KINDS and part == "body":
                inside = False
            if inside:
                self._left_early.add(statement)
            else:
                self._left_early.discard(statement)

    def _is_step_recorded_when_left(self, i: int) -> bool:
        node = self._table.syntax_node(i)
        return type(node).__name__ in KINDS_WITH_STEP_AFTER and not (
            isinstance(node, ast.Try | ast.TryStar) and not node.handlers
        )

    def _record_step(self, frame: FrameType, i: int) -> None:
        self._set_recorded_line(frame, i)
        self._recorder.on_step(i, frame=frame)
        self._recorder.frames.recorded_lines.clear()

    def _set_recorded_line(self, frame: FrameType, i: int) -> None:
        """Set the line for what is recorded now, because the frame is at the next instruction already."""
        self._recorder.frames.recorded_lines[id(frame)] = self._table.statement_line(i)

    def _on_exception_event(self, frame: FrameType, error: Any) -> None:
        k = frame.f_lasti // 2
        if k in self._code.iterations and issubclass(error[0], StopIteration | StopAsyncIteration):
            return  # it only ends a loop
        if self._statement == SUSPENDED:
            self._statement = self._suspended_at
        self._sentinel = None
        place = self._code.statements[k]
        place = self._statement if place == NO_STATEMENT else place
        if place != NO_STATEMENT:
            self._left_early.update((place, *self._table.enclosing_statements(place)))
            self._last_statement = place
        self._ended_handler = ()
        self._statement = self._exiting_with = self._pending_return = self._recorded_return = NO_STATEMENT

    def _on_return_event(self, frame: FrameType, value: Any) -> None:
        k = frame.f_lasti // 2
        if k in self._code.yields and self._statement != NO_STATEMENT:  # else an exception came in where it waited
            i = self._code.statements[k]
            if type(value).__name__ == "async_generator_wrapped_value":
                value = gc.get_referents(value)[0]
            self._sentinel = self._recorder.on_resume(i, frame=frame)
            self._recorder.on_yield(i, value, frame=frame)
            return
        if k in self._code.returns:
            if self._statement != NO_STATEMENT and self._table.statement_kind(self._statement) == "Return":
                self._pending_return = self._statement
            elif self._statement != NO_STATEMENT:
                self._finish_statement(frame, NO_STATEMENT)
            if self._pending_return not in (NO_STATEMENT, self._recorded_return):
                self._set_recorded_line(frame, self._pending_return)
                self._recorder.on_return(self._pending_return, value, frame=frame)
                self._recorder.frames.recorded_lines.clear()
        suspended = k + 1 in self._code.resumes or any(self._code.resumes.get(k + n) for n in (0, 1, 2))
        if self._is_root and not suspended and self._thread_tracer.on_root_statement is not None:
            self._thread_tracer.on_root_statement(NO_STATEMENT)


assert SPECIAL_INSTRUCTION not in (NO_STATEMENT, SUSPENDED)
