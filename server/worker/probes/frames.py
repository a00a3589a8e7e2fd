"""Frames: which of the program's run, what their names are bound to, and generators that wait."""

import inspect
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

from server.worker.names import Picture, Uids


class Waiting:
    """Stands on a suspended frame's stack; when the generator dies, so does this."""

    __slots__ = ("__weakref__", "resume")

    def __init__(self, resume: Callable[[Any], Any]) -> None:
        self.resume = resume

    def __call__(self, value: Any) -> Any:
        return self.resume(value)


class Frames:
    """The program's frames. `encode` turns a value into the wire's and has it looked at."""

    def __init__(self, uids: Uids, picture: Picture, module: dict[str, Any], encode: Callable[[Any], Any]) -> None:
        self._uids, self._picture, self._module, self._encode = uids, picture, module, encode
        self._hidden = dict(module)
        self._names: dict[tuple[int, Any], str] = {}
        self._suspended: set[str] = set()
        self._waiting: set[str] = set()  # suspended when last seen; one that is not told so was thrown into
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
        return uid

    def entered(self, frame: FrameType) -> None:
        """A call begins: whatever stood at this address is over."""
        uid = self._names.pop(self.key(frame), None)
        if uid is not None:
            self._retire(uid)

    def suspend(self, frame: FrameType, resume: Callable[[Any], Any]) -> Waiting:
        """A generator is about to yield: what waits on its stack tells when it dies."""
        uid = self.uid(frame)
        waiting = Waiting(resume)
        self._suspended.add(uid)
        self._waiting.add(uid)

        def died(_: Any) -> None:
            self._suspended.discard(uid)  # the next look retires it, unless an exception runs it to its end

        waiting.resume = _Resume(resume, weakref.ref(waiting, died))
        return waiting

    def resumed(self, frame: FrameType) -> None:
        self._suspended.discard(self.uid(frame))
        self._waiting.discard(self.uid(frame))

    def thrown_into(self, frame: FrameType) -> bool:
        """Whether this frame was suspended and an exception woke it: `close`, `throw` or the collector."""
        return self.uid(frame) in self._waiting

    def _retire(self, uid: str) -> None:
        self.over.append(uid)
        self._waiting.discard(uid)
        for key in [key for key in self.counts if key[0] == uid]:
            del self.counts[key]

    def look(self, stack: list[FrameType], suspended: str | None) -> None:
        """Tell every frame on the stack; retire those that are neither on it nor suspended.

        suspended: the frame that is yielding, if one is.
        """
        self._tell(
            self.module_uid, "<module>", self._module_vars(), None, stack[0].f_lineno if stack else None, "running"
        )
        seen, caller = {self.module_uid}, self.module_uid
        for frame in stack:
            uid = self.uid(frame)
            if uid == self.module_uid:
                continue
            seen.add(uid)
            state = "suspended" if uid == suspended else "running"
            self._tell(uid, frame.f_code.co_name, self._locals(frame), caller, frame.f_lineno, state)
            caller = uid
        for key, uid in list(self._names.items()):
            if uid not in seen and uid not in self._suspended:
                del self._names[key]
                self._retire(uid)

    def _module_vars(self) -> dict[str, Any]:
        hidden = self._hidden
        return {
            name: value
            for name, value in list(self._module.items())
            if type(name) is str and name not in _IMPLICIT and not (name in hidden and hidden[name] is value)
        }

    def _locals(self, frame: FrameType) -> dict[str, Any]:
        found = frame.f_locals
        out = {k: v for k, v in dict(found).items() if type(k) is str and k not in _IMPLICIT}
        if type(found) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            found.clear()  # CPython keeps this copy with the frame, and with it whatever the program deletes later
        return out

    def _tell(
        self, uid: str, name: str, variables: dict[str, Any], caller: str | None, line: int | None, state: str
    ) -> None:
        now = {name: self._encode(value) for name, value in variables.items()}
        told = self._picture.state.get(uid)
        if told is None:
            facts = {"kind": "frame", "name": name, "caller": caller, "line": line, "state": state, "vars": now}
            self._picture.put(uid, facts)
            return
        before = told["vars"]
        changed = {k: v for k, v in now.items() if k not in before or before[k] != v or type(before[k]) is not type(v)}
        unset = [k for k in before if k not in now]
        told["vars"] = now
        self._picture.put(uid, {"state": state} if line is None else {"line": line, "state": state})
        if changed:
            self._picture.delta(uid, {"vars": changed})
        if unset:
            self._picture.delta(uid, {"unset": unset})


class _Resume:
    """Calls on, and keeps the weak reference that reports the death of the one who waits."""

    def __init__(self, resume: Callable[[Any], Any], ref: Any) -> None:
        self._resume, self._ref = resume, ref

    def __call__(self, value: Any) -> Any:
        return self._resume(value)


_IMPLICIT = frozenset(
    ("__builtins__", "__annotations__", "__warningregistry__", "__module__", "__qualname__", "__classcell__", ".0")
)
