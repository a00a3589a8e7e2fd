"""The arguments of a sentence as objects of the run."""

from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import numpy
import torch

from tests.referee.drawn_state import State
from tests.referee.sentences.earlier import Was
from tests.referee.sentences.frames import Frames
from tests.referee.sentences.language import Node, Phrase, Text
from tests.referee.sentences.paths import LeadsNowhere, Undecided, live_object, uid_of_path
from tests.referee.sentences.search import search

SCOPES: dict[str, Callable[[dict[str, Any]], str]] = {
    "name_of_module": lambda _: "module",
    "name_of_call": lambda arguments: str(arguments["call"]["name"]),
}
"""Phrases of a name in another function, and where it is read."""

CALL_SCOPES = {"inner": "entered", "outer": "caller"}
"""Where the names of an argument of a call are read."""


class WrongName(Exception):
    """A name that leads to something else than what is meant."""


class Said:
    """A name in a sentence: its text, the entity that is meant, and the scope that it is read in.

    was: it meant that before the step
    """

    def __init__(self, argument: dict[str, Any], scope: str | None) -> None:
        self.text: str = argument["name"]
        self.was: str | None = argument.get("wasOf")
        self.uid: str | None = argument.get("of")
        self.scope = scope


def names_in(argument: Any, scope: str | None = None) -> Iterator[Said]:
    """The names of an argument, and of what is in it."""
    if isinstance(argument, list):
        for each in argument:
            yield from names_in(each, scope)
    elif isinstance(argument, dict) and "name" in argument and "args" not in argument:
        yield Said(argument, scope)
    elif isinstance(argument, dict) and "args" in argument:
        inner = SCOPES[argument["key"]](argument["args"]) if argument["key"] in SCOPES else scope
        for name, each in argument["args"].items():
            yield from names_in(each, CALL_SCOPES[name] if argument["key"] == "call_argument" else inner)


class Arguments(Mapping[str, Any]):
    """Makes objects of the arguments when a claim asks for them.

    old: what names meant before the step, where that is over
    """

    def __init__(
        self, given: dict[str, Any], reader: FrameType, frames: Frames, old: Mapping[str, Was | Exception] | None
    ) -> None:
        self.given, self.reader, self.frames, self.old = given, reader, frames, old

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, name: str) -> Any:
        return self.object(self.given[name], None)

    def object(self, argument: Any, scope: str | None) -> Any:
        """What an argument is."""
        if isinstance(argument, list):
            return [self.object(each, scope) for each in argument]
        if not isinstance(argument, dict) or "$f" in argument:
            return argument
        if "args" not in argument:
            return self.named(Said(argument, scope))
        inner = argument["args"]
        if argument["key"] == "meant_before":
            return self.object(inner["name"], scope)
        if argument["key"] in SCOPES:
            return self.object(inner["name"], SCOPES[argument["key"]](inner))
        if argument.get("of"):
            try:
                return self.found(argument["of"])
            except Undecided:
                return Phrase(argument["key"], {})
        scopes = CALL_SCOPES if argument["key"] == "call_argument" else {}
        return Phrase(
            argument["key"], {name: self.object(each, scopes.get(name, scope)) for name, each in inner.items()}
        )

    def named(self, said: Said) -> Any:
        if said.was is not None and self.old is not None:
            found = self.old[said.text]
            if isinstance(found, Exception):
                raise type(found)(*found.args)
            return found
        if said.uid is not None and said.uid[0] == "n":
            uid = said.uid
            return Node(said.text, lambda: self.found(uid))
        if said.uid is None and said.was is None:
            return Text(said.text)
        if self.old is None and said.uid is not None and self.uid_before(said) not in (said.uid, None):
            return self.found(said.uid)
        return self.led_to(said)

    def uid_before(self, said: Said) -> str | None:
        """What a name of a step means before it: in a loop, perhaps what the iteration before had."""
        entity = self.frames.entity(self.frame_of(said))
        return uid_of_path(said.text, entity, self.frames.state) if entity else None

    def led_to(self, said: Said) -> Any:
        """What a name leads to. Raises LeadsNowhere."""
        frame = self.frame_of(said)
        return live_object(said.text, lambda name: self.frames.variable(frame, name))

    def frame_of(self, said: Said) -> FrameType:
        """The frame in which a name is read."""
        uid, state = said.was or said.uid, self.frames.state
        return self.frames.scoped(
            said.scope, self.reader, lambda frame: uid_of_path(said.text, self.frames.entity(frame), state) == uid
        )

    def found(self, uid: str) -> Any:
        if uid in self.frames.known:
            return self.frames.known[uid]
        return search(uid, self.frames.pairs(self.reader), self.frames.state)

    def hold(self, said: Said) -> Any:
        """What a name leads to. Raises LeadsNowhere or WrongName where that is not what the sentence means."""
        uid = said.was or said.uid or ""
        thing = self.led_to(said)
        entity = self.frames.entity(self.frame_of(said))
        module = next((e for e in self.frames.state.values() if e.get("kind") == "frame" and not e.get("caller")), {})
        # which frame of the trace a lambda's is is not known
        found = uid_of_path(said.text, entity, self.frames.state, module) if entity else None
        hold_entity(said.text, uid, thing, found, self.frames.state)
        return thing


def hold_entity(name: str, uid: str, thing: Any, found: str | None, state: State) -> None:
    """Whether a name leads to the entity that is meant, and the live object can be that. Raises WrongName."""
    if found is not None and found != uid:
        raise WrongName(f"{name} leads to {found}, not to {uid}")
    entity = state.get(uid)
    if entity is None:
        raise WrongName(f"{name} is to be {uid}, which is gone")
    kind, shape = entity.get("kind"), entity.get("shape")
    if kind == "tensor" and not isinstance(thing, torch.Tensor):
        raise WrongName(f"{name} is a {type(thing).__name__}, not a tensor")
    if kind == "array" and not isinstance(thing, numpy.ndarray):
        raise WrongName(f"{name} is a {type(thing).__name__}, not an array")
    if kind in ("tensor", "array") and shape is not None and list(thing.shape) != list(shape):
        raise WrongName(f"{name} has the shape {tuple(thing.shape)}, not {shape}")


__all__ = ["Arguments", "LeadsNowhere", "Said", "Undecided", "WrongName", "names_in"]
