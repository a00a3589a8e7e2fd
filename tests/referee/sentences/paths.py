"""Names of a program as sentences write them: `x`, `net.0.weight`, `batch[0]`, `opt.state[w]['step']`, `w.grad`; what
they lead to in a live frame, and in the state of a trace."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import torch

from tests.referee.drawn_state import Entity, State

VARIABLE = re.compile(r"[^.\[]+")
NUMBERS = re.compile(r"-?\d+(, -?\d+)*")

PARTS = ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices")
"""What a tensor of another layout is made of."""


class LeadsNowhere(Exception):
    """A name that leads to nothing: its text, and what is missing."""


class Undecided(Exception):
    """A claim that can't be decided here, with the reason."""


def parts(path: str) -> tuple[str, list[str]]:
    """A path's variable, and what goes on from there: `.grad`, `[0]`, `['a']`. Raises LeadsNowhere for another text."""
    match = VARIABLE.match(path)
    if not match:
        raise LeadsNowhere(path, "no variable")
    at, out = match.end(), []
    while at < len(path):
        end = closing_bracket(path, at) if path[at] == "[" else next_part(path, at + 1)
        out.append(path[at:end])
        at = end
    return match[0], out


def next_part(path: str, begin: int) -> int:
    """Where the attribute that begins here ends."""
    found = re.search(r"[.\[]", path[begin:])
    return begin + found.start() if found else len(path)


def closing_bracket(path: str, begin: int) -> int:
    """After the bracket that closes the one at `begin`; brackets in quotes don't count."""
    depth, quote = 0, ""
    for at in range(begin, len(path)):
        letter = path[at]
        if quote:
            quote = "" if letter == quote and path[at + 1 : at + 2] in ("]", "") else quote
        elif letter in "'\"" and path[at - 1] == "[":
            quote = letter
        else:
            depth += (letter == "[") - (letter == "]")
            if not depth:
                return at + 1
    raise LeadsNowhere(path, "a bracket is open")


def live_object(path: str, variable: Callable[[str], Any]) -> Any:
    """What a path leads to, from the value of its variable. Raises LeadsNowhere."""
    name, rest = parts(path)
    found = variable(name)
    at = 0
    while at < len(rest):
        found, at = live_part(found, rest, at, path, variable)
    return found


def live_part(owner: Any, rest: list[str], at: int, path: str, variable: Callable[[str], Any]) -> tuple[Any, int]:
    """What the next part of a path leads to, and where the path goes on."""
    part = rest[at]
    if part[0] == "[":
        return live_item(owner, part[1:-1], path, variable), at + 1
    name = part[1:]
    own = getattr(owner, "__dict__", None) or {}
    if isinstance(owner, torch.nn.Module):
        own = {**own, **owner._buffers, **owner._parameters, **owner._modules}
    if name in own:
        return own[name], at + 1
    if isinstance(owner, torch.Tensor) and name == "grad":
        return owner.grad if owner.is_leaf or owner.retains_grad else None, at + 1
    if isinstance(owner, torch.Tensor) and owner.layout != torch.strided and name in PARTS:
        return getattr(owner, f"_{name}" if owner.layout == torch.sparse_coo else name)(), at + 1
    if name == "value" and isinstance(owner, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(owner):
        return torch._C._functorch.get_unwrapped(owner), at + 1
    try:
        return getattr(owner, name), at + 1
    except AttributeError:
        raise LeadsNowhere(path, f"no attribute {name}") from None


def live_item(owner: Any, key: str, path: str, variable: Callable[[str], Any]) -> Any:
    """An item of a container, or the element of a tensor."""
    try:
        if isinstance(owner, torch.Tensor | numpy.ndarray):
            return owner[tuple(int(number) for number in key.split(", "))] if key else owner
        if isinstance(owner, Mapping):
            return owner[live_key(key, owner, path, variable)]
        if isinstance(owner, set | frozenset):
            return list(owner)[int(key)]
        return owner[int(key)]
    except (LookupError, TypeError, ValueError):
        raise LeadsNowhere(path, f"no item {key}") from None


def live_key(key: str, owner: Mapping[Any, Any], path: str, variable: Callable[[str], Any]) -> Any:
    """The key of a mapping that a text in brackets means."""
    if key[:1] in "'\"":
        return key[1:-1]
    if re.fullmatch(r"-?\d+", key) and int(key) in owner:
        return int(key)
    constants = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}
    if key in constants:
        return constants[key]
    try:
        return live_object(key, variable)
    except LeadsNowhere:
        for each in owner:
            if str(each) == key:
                return each
        raise Undecided(f"the key {key} of {path} is no name") from None


def uid_of_path(path: str, frame: Entity, state: State, other: Entity | None = None) -> str | None:
    """The uid of what a path leads to in a trace's state, from the variables of a frame; None where it is a plain value
    or leads to nothing.

    other: the frame that has the variables that `frame` does not have: the module's
    """
    name, rest = parts(path)
    variables = frame.get("vars", {})
    if name not in variables and other is not None:
        variables = other.get("vars", {})
    uid = uid_of(variables.get(name))
    while rest and uid is not None:
        entity = state.get(uid, {})
        if rest[0][0] == "[":
            found, rest = item_of(entity, rest[0][1:-1], frame, state, other), rest[1:]
        else:
            attributes = {**(entity.get("attrs") or {}), **(entity.get("parts") or {})}
            attributes |= {name: entity[name] for name in ("grad", "tangent") if entity.get(name)}
            count = next((n for n in range(len(rest), 0, -1) if "".join(rest[:n])[1:] in attributes), 0)
            found, rest = (attributes["".join(rest[:count])[1:]], rest[count:]) if count else (None, [])
        uid = found if isinstance(found, str) and found in state else uid_of(found)
    return uid


def item_of(entity: Entity, key: str, frame: Entity, state: State, other: Entity | None) -> Any:
    """An item of an object of a trace's state, as an encoded value."""
    items = entity.get("items") or []
    pairs = [item for item in items if isinstance(item, list) and len(item) == 2]
    if len(pairs) == len(items):
        for name, value in pairs:
            if text_of_key(name) == key or (uid_of(name) and key_leads_to(key, uid_of(name), frame, state, other)):
                return value
    elif re.fullmatch(r"\d+", key) and int(key) < len(items):
        return items[int(key)]
    return None


def key_leads_to(key: str, uid: str | None, frame: Entity, state: State, other: Entity | None) -> bool:
    try:
        return key == uid or uid_of_path(key, frame, state, other) == uid
    except LeadsNowhere:
        return False


def text_of_key(key: Any) -> str:
    if isinstance(key, str):
        return f"'{key}'"
    if isinstance(key, dict):
        return str(key.get("py", key.get("$i", key.get("ref", "…"))))
    return (
        {None: "null", True: "true", False: "false"}.get(key, str(key))
        if not isinstance(key, int | float) or isinstance(key, bool)
        else str(key)
    )


def uid_of(value: Any) -> str | None:
    """The uid that an encoded value refers to."""
    return value.get("ref") if isinstance(value, dict) else None
