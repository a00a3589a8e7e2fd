"""Frames of the program: which ones run, what their names are bound to, and which generators are suspended.

Local variables are read without leaving a trace in the dict that the program's `locals()` shares.
"""

import inspect
import weakref
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any, Literal

import torch

from gradbox.recorder.effects import StatementEffects
from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.reachability import MISSING, Reachability, follow_attributes
from gradbox.recorder.stack import frames_outward, is_program_code, stepping_depth
from gradbox.recorder.uids import encode_reference, referenced_object_uid
from gradbox.recorder.value_encoder import ValueEncoder
from gradbox.wire import entities
from gradbox.wire.base import Value

IMPLICIT_NAMES = frozenset(
    ("__builtins__", "__annotations__", "__warningregistry__", "__module__", "__qualname__", "__classcell__", ".0")
)

IMPLICIT_MODULE_NAMES = IMPLICIT_NAMES | {
    "__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__", "__cached__", "__path__",
}  # fmt: skip
"""For an imported module also the names that the import system sets before its code runs."""


class FrameLocals:
    """Reads the locals of frames, which are identified by their uids.

    after_read: called with each function's frame whose locals were read
    """

    def __init__(self) -> None:
        self.after_read: Callable[[FrameType], None] | None = None
        self._shared_locals: dict[str, dict[str, Any]] = {}  # a frame's own dict of locals, as the program last saw it

    def read_locals(self, frame: FrameType, uid: str) -> dict[str, Any]:
        """A frame's variables. CPython keeps one dict per frame for them, the program's `locals()`, which is left
        unchanged."""
        optimized = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        previous = dict(self._shared_locals.get(uid, ())) if optimized else {}
        live_locals = frame.f_locals
        implicit = IMPLICIT_MODULE_NAMES if live_locals is frame.f_globals else IMPLICIT_NAMES
        variables = {
            name: value
            for name, value in dict(live_locals).items()
            if type(name) is str and name not in implicit and name[:1] != "@"  # those are pytest's
        }
        if optimized and self.after_read is not None:
            self.after_read(frame)
        if optimized and type(live_locals) is dict:
            self._shared_locals[uid] = live_locals
            live_locals.clear()
            live_locals.update(previous)
        return variables

    def forget_frame(self, uid: str) -> None:
        """Forget the frame of this uid, which is over."""
        self._shared_locals.pop(uid, None)


FrameState = Literal["running", "suspended"]


class GeneratorSentinel:
    """An object on a suspended frame's stack. It dies when the generator dies."""

    __slots__ = ("__weakref__", "resume")

    def __init__(self, resume: Callable[[Any], Any]) -> None:
        self.resume = resume

    def __call__(self, value: Any) -> Any:
        return self.resume(value)


class Frames:
    """The program's frames.

    module: the program's globals
    hidden_names: names of the module that are not the program's; None for all names that it has now, until they are
        bound anew
    iteration_counts: (frame, loop) -> how many iterations the loop has begun since it was entered, from 0
    recorded_lines: frame (its id) -> the line of the statement whose step is recorded, if the frame has moved on to the
        next statement already
    """

    def __init__(
        self,
        context: ProbeContext,
        module: dict[str, Any],
        values: ValueEncoder,
        reachability: Reachability,
        statements: ProgramStatements,
        hidden_names: frozenset[str] | None = None,
    ) -> None:
        self._context, self._delta, self._uids, self._module = context, context.delta, context.uids, module
        self._values, self._reachability = values, reachability
        self._statements = statements
        self._hidden = dict(module) if hidden_names is None else {n: module[n] for n in hidden_names if n in module}
        self._uids_by_key: dict[tuple[int, Any], str] = {}
        self._keys: dict[str, tuple[int, Any]] = {}
        self._running: list[str] = []  # the frames reported as running, but for the module's
        self._depths: dict[str, int] = {}
        self._suspended: set[str] = set()
        self._ever_suspended: set[str] = set()  # when last seen; one that goes on without `resume` was thrown into
        self._ended: set[str] = set()  # suspended frames whose generator died
        self.locals = FrameLocals()
        self.module_uid = context.uids.allocate_uid("f")
        self.iteration_counts: dict[tuple[str, int], int] = {}
        self.recorded_lines: dict[int, int] = {}

    def frame_identity_key(self, frame: FrameType) -> tuple[int, Any]:
        return id(frame), frame.f_code

    def uid_of(self, frame: FrameType) -> str:
        if frame.f_globals is self._module and frame.f_code.co_name == "<module>":
            return self.module_uid
        key = self.frame_identity_key(frame)
        uid = self._uids_by_key.get(key)
        if uid is None:
            uid = self._uids_by_key[key] = self._uids.allocate_uid("f")
            self._keys[uid] = key
        return uid

    def stepping_depth(self, frame: FrameType | None, uid: str) -> int:
        """How many frames with steps lie below this one."""
        depth = self._depths.get(uid)
        if depth is None:
            depth = self._depths[uid] = stepping_depth(frame)
        return depth

    def retire_reused_frame(self, frame: FrameType) -> None:
        """A call begins, so any earlier frame at the same address is over."""
        uid = self._uids_by_key.get(self.frame_identity_key(frame))
        if uid is not None:
            self._retire_frame(uid)

    def suspend_frame(self, frame: FrameType, resume: Callable[[Any], Any]) -> GeneratorSentinel:
        """Note that a generator is about to yield. The sentinel on its stack will die with it."""
        uid = self.uid_of(frame)
        sentinel = GeneratorSentinel(resume)
        self._suspended.add(uid)
        self._ever_suspended.add(uid)

        def on_generator_died(_: Any) -> None:
            self._suspended.discard(uid)
            self._ended.add(uid)  # the next observation retires it, unless an exception runs it to its end

        sentinel.resume = _ResumeCallback(resume, weakref.ref(sentinel, on_generator_died))
        return sentinel

    def resume_frame(self, frame: FrameType) -> None:
        uid = self.uid_of(frame)
        self._suspended.discard(uid)
        self._ever_suspended.discard(uid)
        self._depths.pop(uid, None)

    def was_woken_by_exception(self, frame: FrameType) -> bool:
        """Whether this frame was suspended and an exception resumed it: `close`, `throw` or the garbage collector."""
        return self.uid_of(frame) in self._ever_suspended

    def _retire_frame(self, uid: str) -> None:
        self._context.observation.retired_frames.append(uid)
        self.locals.forget_frame(uid)
        self._ever_suspended.discard(uid)
        self._ended.discard(uid)
        self._depths.pop(uid, None)
        key = self._keys.pop(uid)
        if self._uids_by_key.get(key) == uid:
            del self._uids_by_key[key]
        if uid in self._running:
            self._running.remove(uid)
        for loop in [loop for loop in self.iteration_counts if loop[0] == uid]:
            del self.iteration_counts[loop]
        facts = self._delta.frame_state(uid)
        for name in (facts.get("vars") or ()) if facts is not None else ():
            self._values.objects.set_referenced_objects(f"{uid}.{name}", ())

    def observe_stack(self, stack: list[FrameType], suspended: str | None) -> None:
        """Report every frame on the stack; retire those that are neither on it nor suspended.

        suspended: the uid of the frame that is yielding, if any
        """
        self._update_frame(
            self.module_uid,
            "<module>",
            (),
            self._visible_module_variables(),
            None,
            self._statement_line(stack[0]) if stack else None,
            "running",
        )
        seen, caller = [], self.module_uid
        for frame in stack:
            uid = self.uid_of(frame)
            if uid == self.module_uid:
                continue
            seen.append(uid)
            state: FrameState = "suspended" if uid == suspended else "running"
            self._update_frame(
                uid,
                frame.f_code.co_name,
                frame.f_code.co_freevars,
                self.locals.read_locals(frame, uid),
                caller,
                self._statement_line(frame),
                state,
            )
            caller = uid
        self._running = seen
        alive = {*seen, *self._suspended}
        for uid in [uid for uid in self._uids_by_key.values() if uid not in alive]:
            self._retire_frame(uid)
        self._remove_suspended_frame(suspended)

    def observe_statement_effects(
        self, frame: FrameType, effects: StatementEffects, first_iteration: bool, suspended: str | None
    ) -> bool:
        """Report what a step in this frame may have changed. Returns whether that could be known.

        effects: of its statement
        first_iteration: include what a loop iterates over
        suspended: see `observe_stack`
        """
        uid = self.uid_of(frame)
        if not self._unwind_to_frame(uid):
            return False
        variables = self._reported_variables(uid)
        if variables is None:
            return False
        names = self._module if uid == self.module_uid else self.locals.read_locals(frame, uid)
        free = set(frame.f_code.co_freevars)
        for path in effects.paths:
            iterated_before = not first_iteration and path in effects.iterated_paths and path not in effects.bound_paths
            if uid == self.module_uid or path[0] in names or path[0] in variables:
                self._observe_attribute_path(uid, names, path, effects, iterated_before)
            elif path[0] == "super" and frame.f_code.co_argcount:  # it reaches the first argument without its name
                self._observe_attribute_path(uid, names, frame.f_code.co_varnames[:1], effects, False)
            elif frame.f_globals is self._module:
                self._observe_attribute_path(self.module_uid, self._module, path, effects, iterated_before)
            else:  # of another file, whose globals are not drawn: but what they lead to may be
                end, _ = follow_attributes(dict.get(frame.f_globals, path[0], MISSING), path[1:])
                if end is not MISSING:
                    self._reachability.observe_value(end)
        for name in self._statements.exception_variable_names & variables.keys():
            if name not in names:
                self._unset_variable(uid, name)
        for name in {path[0] for path in effects.bound_paths} & free:
            self._update_enclosing_variable(frame.f_back, name)
        facts: entities.Frame = {
            "line": self._statement_line(frame),
            "state": "suspended" if uid == suspended else "running",
        }
        self._delta.update_entity(uid, facts)
        self._remove_suspended_frame(suspended)
        return not self._reachability.incomplete

    def observe_entered_frame(self, frame: FrameType) -> bool:
        """Report a frame that begins or resumes, and those between it and the step's. Returns whether its caller is
        known."""
        entered: list[FrameType] = []
        for f in frames_outward(frame):
            if is_program_code(f.f_code):
                uid = self.uid_of(f)
                if uid == self.module_uid or uid in self._running:
                    break
                entered.append(f)
        else:
            return False
        caller_uid = uid
        if not self._unwind_to_frame(caller_uid):
            return False
        facts: entities.Frame = {"line": self._statement_line(f)}
        self._delta.update_entity(caller_uid, facts)
        for f in reversed(entered):
            uid = self.uid_of(f)
            self._update_frame(
                uid,
                f.f_code.co_name,
                f.f_code.co_freevars,
                self.locals.read_locals(f, uid),
                caller_uid,
                self._statement_line(f),
                "running",
            )
            self._running.append(uid)
            caller_uid = uid
        return not self._reachability.incomplete

    def _unwind_to_frame(self, uid: str) -> bool:
        """Note that the frames above this one are over or suspended. Returns False if the frame is not known to run."""
        if uid != self.module_uid and uid not in self._running:
            return False
        while self._running and self._running[-1] != uid:
            above = self._running[-1]
            if above in self._suspended:
                self._running.pop()
            else:
                self._retire_frame(above)
        for ended in list(self._ended):
            if ended not in self._running and ended in self._keys:
                self._retire_frame(ended)
        self._ended.clear()
        return True

    def _remove_suspended_frame(self, suspended: str | None) -> None:
        if suspended is not None and suspended in self._running:
            self._running.remove(suspended)

    def _observe_attribute_path(
        self, uid: str, names: dict[str, Any], path: tuple[str, ...], effects: StatementEffects, iterated_before: bool
    ) -> None:
        """Report the variable with which a path begins, and observe what the path leads to."""
        name = path[0]
        recorded = self._reported_variables(uid) or {}
        value = names.get(name, MISSING)
        if value is MISSING or not self._is_variable_visible(uid, name, value):
            self._unset_variable(uid, name)
            return
        objects = self._values.objects
        if iterated_before and name in recorded and (objects.contains(value) or issubclass(type(value), torch.Tensor)):
            return
        end, followed = follow_attributes(value, path[1:])
        if followed and path not in effects.bound_paths and objects.contains(value):
            self._set_variable(uid, name, encode_reference(objects.find_uid(value)))
            self._reachability.observe_value(end)
            return
        self._set_variable(uid, name, self._values.encode(value))
        if followed:
            self._reachability.observe_value(end)
        elif type(value) is FunctionType and (len(path) > 1 or not is_program_code(value.__code__)):
            self._reachability.observe_referents(value)

    def _update_enclosing_variable(self, frame: FrameType | None, name: str) -> None:
        """Report a variable of enclosing functions that was bound, in those that run."""
        for f in frames_outward(frame):
            if is_program_code(f.f_code) and name in (*f.f_code.co_cellvars, *f.f_code.co_freevars):
                uid = self.uid_of(f)
                variables = self.locals.read_locals(f, uid)
                if uid in self._delta.state:
                    if name in variables:
                        self._set_variable(uid, name, self._values.encode(variables[name]))
                    else:
                        self._unset_variable(uid, name)

    def _is_variable_visible(self, uid: str, name: str, value: Any) -> bool:
        if type(name) is not str or name in IMPLICIT_NAMES:
            return False
        return uid != self.module_uid or not (name in self._hidden and self._hidden[name] is value)

    def _reported_variables(self, uid: str) -> dict[str, Value] | None:
        """A frame's variables as reported; None for a frame that was not reported."""
        facts = self._delta.frame_state(uid)
        return None if facts is None else facts["vars"]

    def _set_variable(self, uid: str, name: str, value: Value) -> None:
        if self._delta.set_variable(uid, name, value):
            object_uid = referenced_object_uid(value)
            self._values.objects.set_referenced_objects(f"{uid}.{name}", (object_uid,) if object_uid else ())

    def _unset_variable(self, uid: str, name: str) -> None:
        if self._delta.unset_variable(uid, name):
            self._values.objects.set_referenced_objects(f"{uid}.{name}", ())

    def _visible_module_variables(self) -> dict[str, Any]:
        hidden = self._hidden
        return {
            name: value
            for name, value in list(self._module.items())
            if type(name) is str and name not in IMPLICIT_NAMES and not (name in hidden and hidden[name] is value)
        }

    def _statement_line(self, frame: FrameType) -> int | None:
        return self.recorded_lines.get(id(frame)) or self._statements.line_of_frame(frame)

    def _update_frame(
        self,
        uid: str,
        name: str,
        free: tuple[str, ...],
        variables: dict[str, Any],
        caller: str | None,
        line: int | None,
        state: FrameState,
    ) -> None:
        """Report a frame with all its variables; `free` names those of enclosing functions."""
        facts: entities.Frame
        recorded = self._reported_variables(uid)
        if recorded is None:
            recorded = {}
            facts = {"kind": "frame", "name": name, "caller": caller, "line": line, "state": state, "vars": recorded}
            if own_free := [name for name in free if not name.startswith("__")]:
                facts["free"] = own_free
            self._delta.add_frame(uid, facts)
        else:
            facts = {"state": state} if line is None else {"line": line, "state": state}
            self._delta.update_entity(uid, facts)
        for key in [key for key in recorded if key not in variables]:
            self._unset_variable(uid, key)
        for key, value in variables.items():
            self._set_variable(uid, key, self._values.encode(value))

    def count_iteration(self, frame: FrameType, loop: int) -> str:
        """Count an iteration that a loop begins. Returns the frame's uid."""
        uid = self.uid_of(frame)
        self.iteration_counts[uid, loop] = self.iteration_counts.get((uid, loop), -1) + 1
        return uid

    def reset_iteration_count(self, frame: FrameType, loop: int) -> None:
        """Start counting anew for a loop that begins."""
        self.iteration_counts.pop((self.uid_of(frame), loop), None)


class _ResumeCallback:
    """A callable that passes its call on and keeps the weak reference that reports the death of a suspended
    generator."""

    def __init__(self, resume: Callable[[Any], Any], ref: Any) -> None:
        self._resume, self._ref = resume, ref

    def __call__(self, value: Any) -> Any:
        return self._resume(value)
