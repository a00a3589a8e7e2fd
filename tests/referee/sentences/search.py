"""Finds the live object of an entity of the trace: the state and the run are gone through together, from the variables
of the frames that run."""

from collections.abc import Iterator
from typing import Any

import torch

from tests.referee.drawn_state import Entity, State
from tests.referee.sentences.paths import Undecided, uid_of

MOST_SEARCHED = 20_000

Pair = tuple[str, Any]
"""A uid, and the live object that it is."""


def search(uid: str, roots: Iterator[Pair], state: State) -> Any:
    """The live object of an entity. Raises Undecided where no name leads there."""
    queue = list(roots)
    seen = set()
    for known, thing in queue:
        if known in seen:
            continue
        if known == uid:
            return thing
        seen.add(known)
        if len(seen) > MOST_SEARCHED:
            break
        queue += parts(state.get(known, {}), thing)
    raise Undecided("what is meant has no name, and was not found")


def parts(entity: Entity, thing: Any) -> Iterator[Pair]:
    """What an entity refers to, each with the live object."""
    match entity.get("kind"):
        case "object":
            yield from parts_of_object(entity, thing)
        case "tensor" if isinstance(thing, torch.Tensor):
            if entity.get("grad_fn"):
                yield entity["grad_fn"], thing.grad_fn
            if entity.get("grad"):
                yield entity["grad"], thing.grad
            if entity.get("base") and thing._base is not None:
                yield entity["base"], thing._base
        case "node" if thing is not None:
            for edge, (target, _) in zip(entity.get("next") or [], thing.next_functions, strict=False):
                if edge and target is not None:
                    yield edge[0], target
            if entity.get("variable"):
                yield entity["variable"], getattr(thing, "variable", None)


def parts_of_object(entity: Entity, thing: Any) -> Iterator[Pair]:
    items = entity.get("items") or []
    if isinstance(thing, dict):
        values: list[Any] = [[key, value] for key, value in thing.items()]
    elif isinstance(thing, list | tuple):
        values = list(thing)
    else:
        values = []
    if len(items) == len(values):
        for item, value in zip(items, values, strict=True):
            if uid_of(item):
                yield uid_of(item) or "", value
            elif isinstance(item, list) and len(item) == 2 and isinstance(value, list):
                yield from ((uid, each) for part, each in zip(item, value, strict=True) if (uid := uid_of(part)))
    own = dict(getattr(thing, "__dict__", None) or {})
    if isinstance(thing, torch.nn.Module):
        own |= {**thing._buffers, **thing._parameters, **thing._modules}
    for name, value in (entity.get("attrs") or {}).items():
        uid = uid_of(value)
        if uid and name in own:
            yield uid, own[name]
