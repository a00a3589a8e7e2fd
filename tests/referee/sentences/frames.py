"""The frames of the plain run, and those of the trace that they are."""

import builtins
import gc
import inspect
from collections.abc import Callable, Iterator
from itertools import chain
from types import FrameType, GeneratorType
from typing import Any

from tests.referee.drawn_state import Entity, State
from tests.referee.sentences.paths import LeadsNowhere, Undecided, uid_of

FILE = "<program>"


def has_statements(frame: FrameType) -> bool:
    """Whether a frame is the program's module or a function of it that has a name."""
    code = frame.f_code
    if code.co_filename != FILE:
        return False
    return is_module(frame) or (not code.co_name.startswith("<") and bool(code.co_flags & inspect.CO_OPTIMIZED))


def is_module(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>"


def program_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """From a frame outwards, those of the program."""
    return (each for each in outward(frame) if has_statements(each))


def outward(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def variables(frame: FrameType) -> dict[str, Any]:
    """What a frame's names are bound to; the dict that CPython makes for it is emptied, so that it keeps nothing."""
    known = frame.f_locals
    if known is frame.f_globals:
        return known
    found = dict(known)
    known.clear()
    return found


def suspended() -> Iterator[FrameType]:
    """The frames of the program's generators that wait."""
    for thing in gc.get_objects():
        if isinstance(thing, GeneratorType) and thing.gi_frame is not None and has_statements(thing.gi_frame):
            yield thing.gi_frame


class Frames:
    """Which frame of the plain run a frame of the trace is.

    state: of the trace, at the moment
    known: live objects by their uids, at this moment
    inner: the innermost frame of the program that runs; None before the program begins
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.inner: FrameType | None = None
        self.known: dict[str, Any] = {}
        self._ids: dict[str, int] = {}

    def bind(self, uid: str, frame: FrameType) -> None:
        for other in [known for known, number in self._ids.items() if number == id(frame)]:
            del self._ids[other]
        self._ids[uid] = id(frame)

    def uid(self, frame: FrameType) -> str | None:
        """Of the trace's frame that a running one is, if that is known."""
        if is_module(frame):
            return next(
                (uid for uid, e in self.state.items() if e.get("kind") == "frame" and not e.get("caller")), None
            )
        return next((uid for uid, number in self._ids.items() if number == id(frame)), None)

    def entity(self, frame: FrameType) -> Entity:
        return self.state.get(self.uid(frame) or "", {})

    def running(self, uid: str | None) -> FrameType:
        """The frame of the run. Raises Undecided where it does not run."""
        for frame in chain(program_frames(self.inner), suspended()):
            if uid is not None and self.uid(frame) == uid:
                return frame
        raise Undecided("the function does not run")

    def scoped(
        self, scope: str | None, reader: FrameType, fits: Callable[[FrameType], bool] = lambda _: True
    ) -> FrameType:
        """The frame that a sentence reads a name in: the reader's, `entered`, `caller` (which may be a lambda),
        `module`, or that of a call `f()`; of several such calls, one that fits. Raises LeadsNowhere."""
        frames = list(program_frames(self.inner))
        if scope is None:
            return reader
        if scope == "module":
            return frames[-1]
        if scope == "entered":
            return frames[0]
        if scope == "caller":
            return next(each for each in outward(frames[0].f_back) if each.f_code.co_filename == FILE)
        in_file = (each for each in outward(self.inner) if each.f_code.co_filename == FILE)
        calls = [each for each in chain(in_file, suspended()) if f"{each.f_code.co_name}()" == scope]
        found = [each for each in calls if each is not reader]
        if not found:
            raise LeadsNowhere(scope, "no such function runs")
        return next(filter(fits, found), found[0])

    def variable(self, frame: FrameType, name: str) -> Any:
        """What a name is bound to, as a frame reads it. Raises LeadsNowhere."""
        for names in (variables(frame), frame.f_globals, vars(builtins)):
            if name in names:
                return names[name]
        raise LeadsNowhere(name, "no such name")

    def pairs(self, reader: FrameType) -> Iterator[tuple[str, Any]]:
        """The variables of all running frames that are entities, the reader's first."""
        for frame in [reader, *program_frames(self.inner)]:
            values = variables(frame)
            for name, value in (self.entity(frame).get("vars") or {}).items():
                uid = uid_of(value)
                if uid and name in values:
                    yield uid, values[name]
