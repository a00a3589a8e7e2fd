"""Frames: which of the program's run, what their names are bound to, and generators that wait."""

import inspect
import weakref
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

import torch

from server.worker.mentions import Mentions
from server.worker.names import Uids, referred
from server.worker.picture import Picture, unlike
from server.worker.reach import MISSING, Reach, follow
from server.worker.stack import PROGRAM, depth, outwards
from server.worker.values import Values


class Waiting:
    """Stands on a suspended frame's stack; when the generator dies, so does this."""

    __slots__ = ("__weakref__", "resume")

    def __init__(self, resume: Callable[[Any], Any]) -> None:
        self.resume = resume

    def __call__(self, value: Any) -> Any:
        return self.resume(value)


class Frames:
    """The program's frames. fading: names that are unbound without a statement that says so."""

    def __init__(
        self,
        uids: Uids,
        picture: Picture,
        module: dict[str, Any],
        values: Values,
        reach: Reach,
        fading: frozenset[str] = frozenset(),
    ) -> None:
        self._uids, self._picture, self._module = uids, picture, module
        self._values, self._reach = values, reach
        self._fading = fading
        self._hidden = dict(module)
        self._names: dict[tuple[int, Any], str] = {}
        self._keys: dict[str, tuple[int, Any]] = {}
        self._stack: list[str] = []  # the frames told as running, but for the module's
        self._depth: dict[str, int] = {}
        self._suspended: set[str] = set()
        self._waiting: set[str] = set()  # suspended when last seen; one that is not told so was thrown into
        self._ended: set[str] = set()  # suspended frames whose generator died
        self._left: dict[str, dict[str, Any]] = {}  # a frame's own dict of locals, as the program last saw it
        self.over: list[str] = []
        self.module_uid = uids.fresh("f")
        self.counts: dict[tuple[str, int], int] = {}

    def key(self, frame: FrameType) -> tuple[int, Any]:
        return id(frame), frame.f_code

    def uid(self, frame: FrameType) -> str:
        if frame.f_globals is self._module and frame.f_code.co_name == "<module>":
            return self.module_uid
        key = self.key(frame)
        uid = self._names.get(key)
        if uid is None:
            uid = self._names[key] = self._uids.fresh("f")
            self._keys[uid] = key
        return uid

    def depth(self, frame: FrameType | None, uid: str) -> int:
        """How many frames with steps lie under this one."""
        found = self._depth.get(uid)
        if found is None:
            found = self._depth[uid] = depth(frame)
        return found

    def entered(self, frame: FrameType) -> None:
        """A call begins: whatever stood at this address is over."""
        uid = self._names.get(self.key(frame))
        if uid is not None:
            self._retire(uid)

    def suspend(self, frame: FrameType, resume: Callable[[Any], Any]) -> Waiting:
        """A generator is about to yield: what waits on its stack tells when it dies."""
        uid = self.uid(frame)
        waiting = Waiting(resume)
        self._suspended.add(uid)
        self._waiting.add(uid)

        def died(_: Any) -> None:
            self._suspended.discard(uid)
            self._ended.add(uid)  # the next look retires it, unless an exception runs it to its end

        waiting.resume = _Resume(resume, weakref.ref(waiting, died))
        return waiting

    def resumed(self, frame: FrameType) -> None:
        uid = self.uid(frame)
        self._suspended.discard(uid)
        self._waiting.discard(uid)
        self._depth.pop(uid, None)

    def thrown_into(self, frame: FrameType) -> bool:
        """Whether this frame was suspended and an exception woke it: `close`, `throw` or the collector."""
        return self.uid(frame) in self._waiting

    def _retire(self, uid: str) -> None:
        self.over.append(uid)
        self._left.pop(uid, None)
        self._waiting.discard(uid)
        self._ended.discard(uid)
        self._depth.pop(uid, None)
        key = self._keys.pop(uid)
        if self._names.get(key) == uid:
            del self._names[key]
        if uid in self._stack:
            self._stack.remove(uid)
        for loop in [loop for loop in self.counts if loop[0] == uid]:
            del self.counts[loop]
        for name in self._picture.state.get(uid, {}).get("vars", ()):
            self._values.objects.refer(f"{uid}.{name}", ())

    def look(self, stack: list[FrameType], suspended: str | None) -> None:
        """Tell every frame on the stack; retire those that are neither on it nor suspended.

        suspended: the frame that is yielding, if one is.
        """
        self._tell(
            self.module_uid, "<module>", self._module_vars(), None, stack[0].f_lineno if stack else None, "running"
        )
        seen, caller = [], self.module_uid
        for frame in stack:
            uid = self.uid(frame)
            if uid == self.module_uid:
                continue
            seen.append(uid)
            state = "suspended" if uid == suspended else "running"
            self._tell(uid, frame.f_code.co_name, self._locals(frame), caller, frame.f_lineno, state)
            caller = uid
        self._stack = seen
        for uid in list(self._names.values()):
            if uid not in seen and uid not in self._suspended:
                self._retire(uid)
        self._pop(suspended)

    def step(self, frame: FrameType, said: Mentions, first: bool, suspended: str | None) -> bool:
        """Tell what a step in this frame may have changed; whether that could be known.

        said: what its statement mentions. first: what a loop iterates over counts too.
        """
        uid = self.uid(frame)
        if not self._unwind(uid) or uid not in self._picture.state:
            return False
        names = self._module if uid == self.module_uid else self._locals(frame)
        free = set(frame.f_code.co_freevars)
        for path in said.paths:
            passed = not first and path in said.iterates and path not in said.stored
            if uid == self.module_uid or path[0] in names or path[0] in self._picture.state[uid]["vars"]:
                self._mention(uid, names, path, said, passed)
            else:
                self._mention(self.module_uid, self._module, path, said, passed)
        for name in self._fading & self._picture.state[uid]["vars"].keys():
            if name not in names:
                self._set(uid, self._picture.state[uid]["vars"], name, MISSING)
        for name in {path[0] for path in said.stored} & free:
            self._shared(frame.f_back, name)
        state = "suspended" if uid == suspended else "running"
        self._picture.put(uid, {"line": frame.f_lineno, "state": state})
        self._pop(suspended)
        return not self._reach.lost

    def enter(self, frame: FrameType, caller: FrameType | None) -> bool:
        """Tell a frame that begins or goes on, and those between it and the step's; whether its place is known."""
        found: list[FrameType] = []
        for f in outwards(frame):
            if f.f_code.co_filename == PROGRAM:
                uid = self.uid(f)
                if uid == self.module_uid or uid in self._stack:
                    break
                found.append(f)
        else:
            return False
        under = uid
        if not self._unwind(under):
            return False
        if caller is not None:
            self._picture.put(under, {"line": f.f_lineno})
        for f in reversed(found):
            uid = self.uid(f)
            self._tell(uid, f.f_code.co_name, self._locals(f), under, f.f_lineno, "running")
            self._stack.append(uid)
            under = uid
        return not self._reach.lost

    def _unwind(self, uid: str) -> bool:
        """The frames above this one are over, or suspended; False where it is not known to run."""
        if uid != self.module_uid and uid not in self._stack:
            return False
        while self._stack and self._stack[-1] != uid:
            above = self._stack[-1]
            if above in self._suspended:
                self._stack.pop()
            else:
                self._retire(above)
        for ended in list(self._ended):
            if ended not in self._stack and ended in self._keys:
                self._retire(ended)
        self._ended.clear()
        return True

    def _pop(self, suspended: str | None) -> None:
        if suspended is not None and suspended in self._stack:
            self._stack.remove(suspended)

    def _mention(self, uid: str, names: dict[str, Any], path: tuple[str, ...], said: Mentions, passed: bool) -> None:
        """Tell the variable that a path begins with, and look at what the path leads to."""
        name = path[0]
        told = self._picture.state[uid]["vars"]
        value = names.get(name, MISSING)
        if value is MISSING or not self._shown(uid, name, value):
            if name in told:
                self._set(uid, told, name, MISSING)
            return
        objects = self._values.objects
        if passed and name in told and (objects.known(value) or issubclass(type(value), torch.Tensor)):
            return
        end, found = follow(value, path[1:])
        if found and path not in said.stored and objects.known(value):
            self._set(uid, told, name, {"ref": objects.uid(value)})
            self._reach.refresh(end)
            return
        self._set(uid, told, name, self._values.encode(value))
        if found:
            self._reach.refresh(end)
        elif type(value) is FunctionType and len(path) > 1:
            self._reach.behind(value)

    def _shared(self, frame: FrameType | None, name: str) -> None:
        """A variable of enclosing functions was bound: tell it in those that run."""
        for f in outwards(frame):
            if f.f_code.co_filename == PROGRAM and name in (*f.f_code.co_cellvars, *f.f_code.co_freevars):
                uid, found = self.uid(f), self._locals(f)
                if uid in self._picture.state:
                    value = self._values.encode(found[name]) if name in found else MISSING
                    self._set(uid, self._picture.state[uid]["vars"], name, value)

    def _shown(self, uid: str, name: str, value: Any) -> bool:
        if type(name) is not str or name in _IMPLICIT:
            return False
        return uid != self.module_uid or not (name in self._hidden and self._hidden[name] is value)

    def _set(self, uid: str, told: dict[str, Any], name: str, value: Any) -> None:
        """One variable; MISSING unsets it."""
        if value is MISSING:
            if told.pop(name, MISSING) is not MISSING:
                pending = self._picture.set.setdefault(uid, {})
                pending.get("vars", {}).pop(name, None)
                pending.setdefault("unset", []).append(name)
                self._values.objects.refer(f"{uid}.{name}", ())
            return
        before = told.get(name, MISSING)
        if before is not MISSING and before == value and not unlike(before, value):
            return
        told[name] = value
        pending = self._picture.set.setdefault(uid, {})
        pending.setdefault("vars", {})[name] = value
        if name in pending.get("unset", ()):
            pending["unset"].remove(name)
        which = referred(value)
        self._values.objects.refer(f"{uid}.{name}", (which,) if which else ())

    def _module_vars(self) -> dict[str, Any]:
        hidden = self._hidden
        return {
            name: value
            for name, value in list(self._module.items())
            if type(name) is str and name not in _IMPLICIT and not (name in hidden and hidden[name] is value)
        }

    def _locals(self, frame: FrameType) -> dict[str, Any]:
        """A frame's variables. CPython has one dict a frame for them, the program's `locals()`: it is left as it was."""
        shared = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        uid = self.uid(frame)
        left = dict(self._left.get(uid, ())) if shared else {}
        found = frame.f_locals
        out = {k: v for k, v in dict(found).items() if type(k) is str and k not in _IMPLICIT}
        if shared and type(found) is dict:
            self._left[uid] = found
            found.clear()
            found.update(left)
        return out

    def _tell(
        self, uid: str, name: str, variables: dict[str, Any], caller: str | None, line: int | None, state: str
    ) -> None:
        """A frame with all its variables."""
        told = self._picture.state.get(uid)
        if told is None:
            facts: dict[str, Any] = {
                "kind": "frame",
                "name": name,
                "caller": caller,
                "line": line,
                "state": state,
                "vars": {},
            }
            self._picture.put(uid, facts)
            self._picture.set[uid]["vars"] = {}
            told = self._picture.state[uid]
        else:
            self._picture.put(uid, {"state": state} if line is None else {"line": line, "state": state})
        have = told["vars"]
        for key in [key for key in have if key not in variables]:
            self._set(uid, have, key, MISSING)
        for key, value in variables.items():
            self._set(uid, have, key, self._values.encode(value))


class _Resume:
    """Calls on, and keeps the weak reference that reports the death of the one who waits."""

    def __init__(self, resume: Callable[[Any], Any], ref: Any) -> None:
        self._resume, self._ref = resume, ref

    def __call__(self, value: Any) -> Any:
        return self._resume(value)


_IMPLICIT = frozenset(
    ("__builtins__", "__annotations__", "__warningregistry__", "__module__", "__qualname__", "__classcell__", ".0")
)
