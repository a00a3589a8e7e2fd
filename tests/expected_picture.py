"""What the picture of a step has to show, worked out from the trace alone, and what the stage's elements say.

Nothing here comes from the page's code: cells from strides are counted with `itertools`, a number on the picture is
read back as a reader would read it.
"""

import copy
import itertools
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.tracing import Replay

State = dict[str, dict[str, Any]]

MOST = 128
"""A handle of more elements is drawn as an extent."""

SHOWN = 16
"""Items and attributes of an object that its card lists."""

ALL_STEPS = """(n) => {
    const slider = document.querySelector("#slider");
    const stage = document.querySelector("#stage");
    const all = (query, read, root = stage) => [...root.querySelectorAll(query)].map(read);
    const number = (e, ...names) => names.map(name => Number(e.getAttribute(name)));
    const rect = e => e && number(e, "x", "y", "width", "height");
    const box = (e, query) => rect(e.querySelector(query));
    const text = (e, query) => e.querySelector(query)?.textContent ?? null;
    const outline = e => { const b = e.getBBox(); return [b.x, b.y, b.width, b.height]; };
    const path = e => e.getAttribute("d");
    const read = () => ({
        cells: all("[data-cell]", e => ({key: e.dataset.cell, dtype: e.dataset.dtype, value: e.dataset.value,
            text: text(e, ".val"), title: text(e, "title"), box: box(e, ".cell-box"), written: e.classList.contains("written")})),
        handles: all("[data-handle]", e => ({uid: e.dataset.handle, counter: e.dataset.counter ?? null,
            node: e.dataset.nodeRef ?? null, grad: e.dataset.gradRef ?? null, on: e.dataset.on ?? null,
            shape: text(e, ".shape"), role: text(e, ".role"), second: text(e, ".meta"), box: box(e, ".card-box")})),
        beads: all("[data-bead]", e => ({key: e.dataset.bead, reads: e.dataset.reads, index: e.dataset.index,
            dtype: e.dataset.dtype, box: box(e, "rect")})),
        wires: all("[data-wire]", e => ({uid: e.dataset.wire, span: text(e, ".meta"), ways: all(".wire", path, e),
            arms: all(".arm", path, e)})),
        badges: all("[data-counter-badge]", e => ({counter: e.dataset.counterBadge, version: e.dataset.version,
            wearers: e.dataset.wearers, text: text(e, ".badge-text"), box: box(e, ".rail-box"), title: text(e, "title")})),
        tags: all(".tag", e => ({name: e.dataset.name ?? null, frame: e.dataset.frame ?? null, ref: e.dataset.ref,
            path: e.dataset.path ?? null, title: text(e, "title"), box: outline(e.querySelector("path")),
            hidden: e.classList.contains("tucked"), object: e.closest("[data-object]")?.dataset.object ?? null})),
        stems: all(".stem", path),
        chips: all("[data-chip]", e => ({frame: e.dataset.frame, name: e.dataset.name, value: e.dataset.value,
            box: box(e, "rect"), title: text(e, "title")})),
        frames: all("[data-frame-card]", e => ({uid: e.dataset.frameCard, box: box(e, ".frame-box")})),
        objects: all("[data-object]", e => ({uid: e.dataset.object, box: box(e, ".object-box")})),
        items: all("[data-item]", e => ({key: e.dataset.item, to: e.dataset.to ?? null, value: e.dataset.value,
            box: box(e, "rect")})),
        nodes: all("[data-node]", e => ({uid: e.dataset.node, variable: e.dataset.variable ?? null,
            name: text(e, ".node-name"), box: box(e, ".node-box"), marks: [...e.classList]})),
        edges: all("[data-edge]", e => ({key: e.dataset.edge, from: e.dataset.from, to: e.dataset.to,
            way: path(e.querySelector(".edge-line"))})),
        slots: all("[data-slot]", e => ({key: e.dataset.slot, state: e.dataset.savedState,
            storage: e.dataset.savedIn ?? null, text: text(e, "text"), marks: [...e.classList], box: box(e, "rect")})),
        pins: all("[data-pin]", e => ({key: e.dataset.pin, state: e.dataset.state, expected: e.dataset.expected ?? null,
            storage: e.dataset.storage, text: text(e, ".pin-head text"), marks: [...e.classList],
            box: box(e, ".pin-head rect"), bracket: e.querySelector(".pin-line")?.getAttribute("d") ?? null})),
        leaders: all("[data-leader]", e => ({key: e.dataset.leader, way: path(e)})),
        grads: all("[data-grad]", e => ({on: e.dataset.grad, now: e.classList.contains("now"), title: text(e, "title"),
            texts: all("text", t => t.textContent, e), box: box(e, ".chip-back")})),
        gradWires: all("[data-grad-wire]", e => e.dataset.gradWire),
        none: all(".placeholder", e => all("text", t => t.textContent, e)),
        meets: all("[data-meets]", e => e.dataset.meets),
        ghosts: all("[data-ghost]", e => e.dataset.ghost),
        strips: all("[data-storage-strip]", e => e.dataset.storageStrip),
        scale: [...stage.querySelectorAll("svg")].map(e => e.getAttribute("viewBox")),
    });
    const out = [];
    for (let i = 0; i < n; i++) {
        slider.value = String(i);
        slider.dispatchEvent(new Event("input"));
        out.push({...read(), step: Number(document.querySelector("#workbench").dataset.step),
            said: all("#sentences li", e => e.textContent, document)});
    }
    return out;
}"""


def states(trace: dict[str, Any]) -> Iterator[tuple[State, State]]:
    """The state before and after each step."""
    replay = Replay(trace, -1)
    for step in trace["steps"]:
        before = copy.deepcopy(replay.state)
        replay.apply(step)
        yield before, {uid: {k: v for k, v in e.items() if v is not None} for uid, e in replay.state.items()}


SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}


def itemsize(dtype: str) -> int:
    """Bytes of an element; the digits of a dtype's name are its bits."""
    return 1 if dtype == "bool" else SIZES[re.sub(r"\D.*", "", dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))]


def geometry(handle: dict[str, Any]) -> tuple[list[int], int, list[int]]:
    """Shape, offset and strides in elements, also of a numpy array."""
    if handle["kind"] == "array":
        size = itemsize(handle["dtype"])
        return handle["shape"], handle["at"] // size, [step // size for step in handle["steps"]]
    return handle["shape"], handle["offset"], handle["stride"]


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
