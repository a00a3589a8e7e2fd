"""Follows one frame of code that runs as it is, instruction by instruction, and asks the recorder for its steps.

Where an instruction of another statement comes, the one before is over: so several statements in a line, and one that goes
over many lines, are told apart. What no event tells is not recorded: the value of a bare expression, of a test, and of what
is sent to a generator.
"""

import ast
import gc
from collections.abc import Iterator
from types import FrameType
from typing import Any, Protocol

from server.worker.in_process.statement_table import NOWHERE, SPECIAL, CodeTable, StatementTable
from server.worker.in_process.value_stack import UNKNOWN
from server.worker.in_process.waiting_return import waiting_value
from server.worker.instrument import LOOPS
from server.worker.recorder import Recorder
from server.worker.stack import program_line

FORS = ("For", "AsyncFor")
WITHS = ("With", "AsyncWith")
TRIES = ("Try", "TryStar")
BRANCHES = ("If", "Match")
JUMPS = ("Break", "Continue")
COMPOUND = (*LOOPS, *WITHS, *TRIES, *BRANCHES)
STEP_AFTER = (*FORS, *WITHS, *TRIES)
"""Compound statements that have a step of their own where they are over."""

ASLEEP = -3


class ThreadTracer(Protocol):
    """Who follows the thread; see `LineTracer`."""

    active: bool
    root_arrives: Any


class FrameTracer:
    """The trace function of one frame, which alone holds on to it: it dies with the frame, and does not keep the frame.

    other: the trace function that another tool has for this frame, None without one; it hears of all but instructions.

    `_statement` is the one that runs, NOWHERE after an exception; `_place` also the one that an exception ended. `_cut`:
    compound statements that a jump or an exception leaves, after which there is no step. `_from_inside`: the statement was
    reached from its own body. `_handled`: the last statement of a handler that is over, whose position what follows may
    have. `_asker`: the `with` whose `__exit__` is asked about an exception. `_returning`: the `return`
    that waits for `finally` and `with`; `_returned` is the same once it is recorded. `_jumping`: the `break` or `continue` that leaves blocks. `_sentinel`: of a generator
    that waits; it dies with it.
    """

    __slots__ = (
        "__weakref__", "_asker", "_asleep_in", "_code", "_cut", "_fast", "_from_inside", "_handled", "_is_root", "_jumping",
        "_place", "_recorder", "_returned", "_returning", "_sentinel", "_statement", "_table", "_thread_tracer", "other",
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
        self._code: CodeTable = table.code(frame.f_code)
        self._fast = self._code.fast
        self._statement = self._place = self._asker = self._returning = self._asleep_in = NOWHERE
        self._jumping = self._returned = NOWHERE
        self._handled: tuple[int, ...] = ()
        self._cut: set[int] = set()
        self._from_inside = False
        self._sentinel: Any = None
        self._is_root = is_root
        self.other: Any = None

    def belongs_to(self, thread_tracer: ThreadTracer) -> bool:
        return self._thread_tracer is thread_tracer

    def begin(self, frame: FrameType) -> None:
        """The frame is entered: a call, or a generator that was made before anybody followed it goes on."""
        k, resumes = frame.f_lasti // 2, self._code.resumes
        suspended = resumes.get(k) or resumes.get(k + 1, "")  # the latter by an exception that is thrown in
        if not suspended:
            code = frame.f_code
            self._recorder.frames.past_lines[id(frame)] = program_line(code, self._table.function_line(code))
            self._recorder.on_call(0, frame=frame)
            self._recorder.frames.past_lines.clear()
            return
        self.begin_within(frame)
        if suspended == "yield":
            self._sentinel = self._recorder.on_resume(0, frame=frame)
            self.wake()

    def begin_within(self, frame: FrameType) -> None:
        """The frame runs already: the statement that is at work is the first."""
        self._statement = self._place = self._code.statements[frame.f_lasti // 2]

    def leave(self, frame: FrameType, around: int) -> None:
        """Nothing of the frame is followed any more, though it goes on: what ran in it is over. around: the statement in
        whose block that was; NOWHERE where it was the frame's own.
        """
        if self._statement in (NOWHERE, ASLEEP):
            return
        if self._table.kind(self._statement) == "Return":
            self._step(frame, self._statement)
        else:
            self._finish(frame, around)
        self._statement = NOWHERE

    def wake(self) -> None:
        """The generator goes on; by an exception, if that is the next event."""
        if self._sentinel is not None and self._statement != ASLEEP:
            self._asleep_in, self._statement = self._statement, ASLEEP

    def __call__(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "opcode":
            i = self._fast[frame.f_lasti // 2]
            if i == self._statement or i == NOWHERE:
                return self
            self._on_instruction(frame, frame.f_lasti // 2)
        elif event == "return":
            self._on_return_event(frame, value)
        elif event == "exception":
            self._on_exception_event(frame, value)
        if self.other is not None and event != "opcode":
            self.other = self.other(frame, event, value) or self.other
        return self if self._thread_tracer.active else self.other

    def _on_instruction(self, frame: FrameType, k: int) -> None:
        if self._statement == ASLEEP:
            self._statement, sentinel, self._sentinel = self._asleep_in, self._sentinel, None
            sentinel(None)
        i = self._code.statements[k]
        if k in self._code.with_handlers:
            self._asker = i
        if k in self._code.reraises:
            if i not in (NOWHERE, self._statement, *self._handled) and self._table.kind(i) == "Pass":
                self._go_to(frame, i)  # the last of a `finally`, which has no other instruction
            self._propagate_exception(frame)
            return
        if k in self._code.handler_ends:
            self._end_handler(frame, i)
            return
        if i in self._handled:
            return
        loop = self._code.endless.get(k)
        if loop is not None and loop != self._statement:
            self._go_to(frame, loop)
        if i not in (NOWHERE, self._statement):
            self._go_to(frame, i)

    def _propagate_exception(self, frame: FrameType) -> None:
        """The end of a `finally`, or nobody who took the exception."""
        place, asker, self._asker = self._statement, self._asker, NOWHERE
        if (
            asker == place != NOWHERE and not frame.f_code.co_code[frame.f_lasti + 1]
        ):  # a `with` passes on by `RERAISE 2`
            self._cut.difference_update((place, *self._around_in_part(place)))
        if place != NOWHERE:
            self._finish(frame, NOWHERE)
            self._cut.update((place, *self._table.around(place)))
        self._statement = NOWHERE

    def _around_in_part(self, i: int) -> Iterator[int]:
        """The statements around statement i within the `finally` or handler that it stands in, innermost first."""
        for statement, part in self._table.enclosing_blocks(i):
            if part.startswith(("handlers", "finalbody")):
                return
            yield statement

    def _end_handler(self, frame: FrameType, i: int) -> None:
        """A handler is over, and its exception dies: that is the `try` statement's, not the last one's in it.

        i: the statement whose position the instruction has: the first that `pass`, `break` and the like have.
        """
        if i not in (NOWHERE, self._statement, *self._handled):
            self._go_to(frame, i)
        last = self._statement
        if last != NOWHERE and self._table.kind(last) == "Return":
            self._record_return(frame, last, last)
        elif NOWHERE == self._returning == self._jumping and last != NOWHERE:
            around = next((j for j, part in self._table.enclosing_blocks(last) if part.startswith("handlers")), NOWHERE)
            if around != NOWHERE and self._table.kind(last) not in JUMPS:
                self._go_to(frame, around)
                self._handled = (last, i)

    def _go_to(self, frame: FrameType, i: int) -> None:
        """Statement i begins, or goes on."""
        if self._statement != NOWHERE:
            self._finish(frame, i)
        place, table = self._place, self._table
        self._handled = ()
        entered = set(table.enclosing_blocks(i))
        if place != NOWHERE:
            entered.difference_update(table.enclosing_blocks(place))
        for statement, part in entered:
            if part.startswith("handlers"):
                self._cut.difference_update((statement, *table.around(statement)))
            if part.startswith(("handlers", "finalbody")):
                self._recorder.frames.past_lines[id(frame)] = table.part_line(statement, part)
                self._recorder.on_caught(frame=frame)
                self._recorder.frames.past_lines.clear()
        self._from_inside = place != NOWHERE and i in table.around(place)
        if i not in (self._returning, place) and not self._from_inside:
            for silent in self._code.silent_before.get(i, ()):
                self._step(frame, silent)
        if table.kind(i) in LOOPS:
            self._jumping = NOWHERE
            if place != i and not self._from_inside:
                self._recorder.on_loop(i, frame=frame)
        self._statement = self._place = i
        if table.kind(i) in JUMPS:
            self._jump(frame, i)
        elif self._jumping != NOWHERE and i not in table.around(self._jumping):
            self._jumping = NOWHERE
        if self._is_root and self._thread_tracer.root_arrives is not None:
            self._thread_tracer.root_arrives(i)

    def _finish(self, frame: FrameType, to: int) -> None:
        """The statement that ran is over, or its head is; `to` comes next."""
        i, table = self._statement, self._table
        kind = table.kind(i)
        around_next = () if to == NOWHERE else (to, *table.around(to))
        if self._asker == i and i not in around_next:  # the `with` took the exception
            self._cut.difference_update((i, *table.around(i)))
        self._asker = NOWHERE
        if kind in COMPOUND:
            self._finish_head(frame, i, kind, to)
        elif kind == "Return":
            self._returning = i
            self._cut.update(table.around(i))
            if to != NOWHERE and not self._record_return(frame, i, to):
                self._step(frame, i)
        elif kind == "Raise":
            self._cut.update(table.around(i))
        elif kind not in JUMPS:
            self._step(frame, i)
        for left in ((i,) if kind in COMPOUND else ()) + tuple(table.around(i)):
            if left in around_next:
                break
            if left not in self._cut and self._has_step_after(left):
                self._step(frame, left)
            self._cut.discard(left)

    def _record_return(self, frame: FrameType, i: int, to: int) -> bool:
        """A `return` has its value, and `to` comes before it leaves, see `waiting_value`: it is a return now where its value
        can be told, which is the answer; else a statement now, and a return when it leaves.
        """
        if self._returned == i:
            return True
        value = waiting_value(frame, self._table, i, to)
        if value is UNKNOWN:
            return False
        self._returned = i
        self._past(frame, i)
        self._recorder.on_return(i, value, frame=frame)
        self._recorder.frames.past_lines.clear()
        return True

    def _finish_head(self, frame: FrameType, i: int, kind: str, to: int) -> None:
        part = (
            ""
            if to == NOWHERE
            else next((part for parent, part in self._table.enclosing_blocks(to) if parent == i), "")
        )
        if kind in FORS:
            due = part == "body"
        elif kind in WITHS:
            due = part == "body" and not self._from_inside
        else:
            due = kind not in TRIES and (kind == "While" or not self._from_inside)
        if due and to != i:
            self._past(frame, i)
            self._recorder.on_head(i, frame=frame)
            self._recorder.frames.past_lines.clear()

    def _jump(self, frame: FrameType, i: int) -> None:
        """`break` or `continue`: it leaves what is around it, up to its loop, whatever else was to be left.

        Its step comes before what it leaves, which may run the program's code: `with`, `finally`, a generator that dies.
        """
        if self._jumping != i:
            self._step(frame, i)
        self._jumping, self._returning, self._returned = i, NOWHERE, NOWHERE
        inside = True
        for statement, part in self._table.enclosing_blocks(i):
            if inside and self._table.kind(statement) in LOOPS and part == "body":
                inside = False
            if inside:
                self._cut.add(statement)
            else:
                self._cut.discard(statement)

    def _has_step_after(self, i: int) -> bool:
        node = self._table.node(i)
        return type(node).__name__ in STEP_AFTER and not (isinstance(node, ast.Try | ast.TryStar) and not node.handlers)

    def _step(self, frame: FrameType, i: int) -> None:
        self._past(frame, i)
        self._recorder.on_step(i, frame=frame)
        self._recorder.frames.past_lines.clear()

    def _past(self, frame: FrameType, i: int) -> None:
        """The frame is at the next instruction already; what is recorded belongs to this statement's line."""
        self._recorder.frames.past_lines[id(frame)] = self._table.line(i)

    def _on_exception_event(self, frame: FrameType, error: Any) -> None:
        k = frame.f_lasti // 2
        if k in self._code.iterations and issubclass(error[0], StopIteration | StopAsyncIteration):
            return  # it only ends a loop
        if self._statement == ASLEEP:
            self._statement = self._asleep_in
        self._sentinel = None
        place = self._code.statements[k]
        place = self._statement if place == NOWHERE else place
        if place != NOWHERE:
            self._cut.update((place, *self._table.around(place)))
            self._place = place
        self._handled = ()
        self._statement = self._asker = self._returning = self._returned = NOWHERE

    def _on_return_event(self, frame: FrameType, value: Any) -> None:
        k = frame.f_lasti // 2
        if k in self._code.yields and self._statement != NOWHERE:  # else an exception came in where it waited
            i = self._code.statements[k]
            if type(value).__name__ == "async_generator_wrapped_value":
                value = gc.get_referents(value)[0]
            self._sentinel = self._recorder.on_resume(i, frame=frame)
            self._recorder.on_yield(i, value, frame=frame)
            return
        if k in self._code.returns:
            if self._statement != NOWHERE and self._table.kind(self._statement) == "Return":
                self._returning = self._statement
            elif self._statement != NOWHERE:
                self._finish(frame, NOWHERE)
            if self._returning not in (NOWHERE, self._returned):
                self._past(frame, self._returning)
                self._recorder.on_return(self._returning, value, frame=frame)
                self._recorder.frames.past_lines.clear()
        suspended = k + 1 in self._code.resumes or any(self._code.resumes.get(k + n) for n in (0, 1, 2))
        if self._is_root and not suspended and self._thread_tracer.root_arrives is not None:
            self._thread_tracer.root_arrives(NOWHERE)


assert SPECIAL not in (NOWHERE, ASLEEP)
