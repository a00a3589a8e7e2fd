"""What the picture of a step has to show, worked out from the trace alone, and how its texts are read.

Nothing here comes from the page's code: cells from strides are counted with `itertools`, a number on the picture is
read back as a reader would read it.
"""

import itertools
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.support.tracing import Replay

State = dict[str, dict[str, Any]]

SILENT = {"module", "type", "function", "builtin_function_or_method", "method"}
"""Python's own things that a frame's line does not list."""

ALARMS = ("stale", "changed", "detached")
"""States of a saved slot whose value backward will refuse, or wrongly take."""

SHOWN = 16
"""Items and attributes of an object that its card lists."""


def states(trace: dict[str, Any]) -> Iterator[tuple[State, State]]:
    """The state before and after each step."""
    replay = Replay(trace, -1)
    outer: dict[str, dict[str, Any]] = {}
    for step in trace["steps"]:
        before = joined({uid: {**entity} for uid, entity in replay.state.items()}, outer)
        outer |= {uid: fields["within"] for uid, fields in step["set"].items() if fields.get("within")}
        replay.apply(step)  # it replaces values, changes none
        after = {uid: {k: v for k, v in e.items() if v is not None} for uid, e in replay.state.items()}
        yield before, joined(after, outer)


def joined(state: State, outer: dict[str, dict[str, Any]]) -> State:
    """Without what lies within another storage that is listed: what reads it reads that other one.

    outer: by storage, in which one it lies, and at which byte
    """
    inner = {
        uid: outer[uid]
        for uid, e in of_kind(state, "storage").items()
        if uid in outer
        and e.get("cells")
        and e["cells"].keys() <= (state[outer[uid]["storage"]].get("cells") or {}).keys()
    }

    def moved(e: dict[str, Any]) -> dict[str, Any]:
        place = inner.get(e.get("storage") or "")
        return {**e, "storage": place["storage"], "shift": place["at"] // itemsize(e["dtype"])} if place else e

    return {
        uid: {
            **moved(e),
            **({"saved": {name: moved(slot) for name, slot in e["saved"].items()}} if e.get("saved") else {}),
        }
        for uid, e in state.items()
        if uid not in inner
    }


SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}


def itemsize(dtype: str) -> int:
    """Bytes of an element; the digits of a dtype's name are its bits."""
    return 1 if dtype == "bool" else SIZES[re.sub(r"\D.*", "", dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))]


def geometry(handle: dict[str, Any]) -> tuple[list[int], int, list[int]]:
    """Shape, offset from where its memory begins and strides in elements, also of a numpy array."""
    shift = handle.get("shift", 0)
    if handle["kind"] == "array":
        size = itemsize(handle["dtype"])
        return handle["shape"], shift + handle["at"] // size, [step // size for step in handle["steps"]]
    return handle["shape"], shift + handle["offset"], handle["stride"]


def reads(handle: dict[str, Any]) -> list[tuple[tuple[int, ...], int]]:
    """(index, cell) of every element in logical order."""
    shape, offset, stride = geometry(handle)
    return [
        (index, offset + sum(k * step for k, step in zip(index, stride, strict=True)))
        for index in itertools.product(*map(range, shape))
    ]


def says(text: str, value: Any) -> bool:
    """Whether a number as the picture writes it is this value, exactly or plainly rounded."""
    plain = text.replace("−", "-")
    if isinstance(value, bool) or value is None:
        return plain == str(value)
    if isinstance(value, dict):
        return _says_odd(plain, value)
    shown = Decimal(plain)
    if shown == Decimal(value) or float(plain) == value:
        return math.copysign(1, float(plain)) == math.copysign(1, value)
    # what is rounded shows it: a point or an exponent, and is within half of its last digit
    exponent = shown.as_tuple().exponent
    assert isinstance(exponent, int)
    return bool(re.search(r"[.e]", plain)) and abs(shown - Decimal(value)) <= Decimal((0, (5,), exponent - 1))


def _says_odd(plain: str, value: dict[str, Any]) -> bool:
    if "$f" in value:
        return plain == str(value["$f"])
    if "$i" in value:
        return str(value["$i"]).startswith(plain.rstrip("…"))
    re_, im = re.fullmatch(r"(.*[^e])([+-].*)j", plain).groups()  # type: ignore[union-attr]
    return says(re_, value["$c"][0]) and says(im.lstrip("+"), value["$c"][1])


def resolve(state: State, path: str) -> set[str]:
    """Everything that a path like `net.0.weight.grad` or `xs[1]['k']` may lead to, from any frame."""
    root = re.match(r"[^.\[]+", path)
    uids: set[str] = set()
    for frame in of_kind(state, "frame").values():
        if root and root[0] in frame["vars"]:
            uids |= _walk(state, frame["vars"][root[0]], path[root.end() :])
    return uids


def _walk(state: State, value: Any, rest: str) -> set[str]:
    uid = value.get("ref") if isinstance(value, dict) else value
    if uid not in state:
        return set()
    if not rest:
        return {uid}
    uids: set[str] = set()
    for suffix, part in _parts(state, state[uid]):
        if rest.startswith(suffix):
            uids |= _walk(state, part, rest[len(suffix) :])
    return uids


def _parts(state: State, entity: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What leads on from an entity, with what is written for it; a key that is a tensor is written by its name."""
    for k, item in enumerate(entity.get("items") or []):
        if entity["type"] in ("list", "tuple", "set", "frozenset") or not isinstance(item, list):
            yield f"[{k}]", item
        else:
            key, part = item
            if to := ref(key):
                yield from ((f"[{name}]", part) for name in [to, *names_of(state, to)])
            else:
                yield (f"['{key}']" if isinstance(key, str) else f"[{key}]"), part
    for name, part in (entity.get("attrs") or {}).items():
        yield f".{name}", part
    for name, part in (entity.get("parts") or {}).items():
        yield f".{name}", part
    if entity.get("tangent"):
        yield ".tangent", entity["tangent"]
    if entity.get("wraps"):
        yield ".value", entity["wraps"].get("value")
    if entity.get("grad"):
        yield ".grad", entity["grad"]


def names_of(state: State, uid: str) -> list[str]:
    return [name for e in of_kind(state, "frame").values() for name, value in e["vars"].items() if ref(value) == uid]


def of_kind(state: State, *kinds: str) -> State:
    return {uid: e for uid, e in state.items() if e["kind"] in kinds}


def ref(value: Any) -> str | None:
    return value["ref"] if isinstance(value, dict) and isinstance(value.get("ref"), str) else None


def touched(state: State, step: dict[str, Any]) -> set[str]:
    """What a step made, changed, wrote or visited, what its names now mean, and where its gradients go."""
    out = {
        uid
        for uid, fields in step["set"].items()
        if uid in state and uid[0] in "tasn" and any(field != "held_by" for field in fields)
    }
    for uid, fields in step["set"].items():
        if uid in state and uid[0] == "f":
            out |= {to for name in fields.get("vars", {}) if (to := ref(state[uid]["vars"].get(name))) in state}
    visit = step.get("visit")
    if not visit:
        return out
    edges = state.get(visit["node"], {}).get("next") or []
    targets = [edge[0] for grad, edge in zip(visit["grad_inputs"], edges, strict=False) if grad and edge]
    out |= {uid for uid in [visit["node"], visit.get("accumulates"), *targets] if uid in state}
    return out


def held(state: State) -> dict[str, dict[str, Any]]:
    """Saved slots, by `node:slot`, whose bytes are still kept for backward."""
    return {
        f"{uid}:{name}": slot
        for uid, node in of_kind(state, "node").items()
        for name, slot in (node.get("saved") or {}).items()
        if slot.get("storage") in state and slot["state"] != "freed" and not node.get("released")
    }


def short(name: str) -> str:
    """`Addmm` of `torch::autograd::AddmmBackward0`."""
    return re.sub(r"Backward\d*$", "", re.split(r"::|\.", name)[-1]) or name


def fits(shown: str, whole: str) -> bool:
    """Whether a text is another one, or that one cut at one end with an ellipsis."""
    if "…" not in shown:
        return shown == whole
    head, tail = shown.split("…", 1)
    return whole.startswith(head) and whole.endswith(tail)
