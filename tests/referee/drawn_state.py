"""What a trace says: its state after the last step, the tensors that names reach there, and their elements."""

import math
from collections.abc import Iterator
from typing import Any

Entity = dict[str, Any]
State = dict[str, Entity]
Trace = dict[str, Any]

DEEPEST = 4


def replayed(trace: Trace) -> State:
    """The entities by uid after the last step: `set` merged field by field, then `gone` removed, step by step."""
    state: State = {}
    for step in trace.get("steps", []):
        for uid, fields in step.get("set", {}).items():
            merge(state.setdefault(uid, {}), dict(fields))
        for uid in step.get("gone", []):
            state.pop(uid, None)
    return state


def merge(entity: Entity, fields: dict[str, Any]) -> None:
    """Apply the fields of one `set`; `vars`, `unset`, `cells_at` and `splice` are deltas of their own."""
    names, unset = fields.pop("vars", None), fields.pop("unset", None) or ()
    cells_at, splices = fields.pop("cells_at", None) or {}, fields.pop("splice", None) or ()
    entity.update(fields)
    if names is not None:
        entity["vars"] = {**entity.get("vars", {}), **names}
    for name in unset:
        entity.get("vars", {}).pop(name, None)
    for dtype, patch in cells_at.items():
        cells = (entity.get("cells") or {}).get(dtype)
        if cells is not None:
            changed = [patch.get(str(index), cell) for index, cell in enumerate(cells)]
            entity["cells"] = {**entity["cells"], dtype: changed}
    for at, remove, insert in splices:
        items = entity.get("items", [])
        entity["items"] = items[:at] + insert + items[at + remove :]


def module_frame(state: State) -> Entity:
    """The frame that nobody called; empty where there is none."""
    frames = (e for e in state.values() if e.get("kind") == "frame" and e.get("caller") is None)
    return next(frames, {})


def reached(state: State) -> dict[str, str]:
    """The uid of every tensor that the module frame's names reach, by path."""
    return {path: uid for path, uid, entity in reached_entities(state) if entity.get("kind") == "tensor"}


def reached_modes(state: State) -> dict[str, bool | None]:
    """`training` of every object that the module frame's names reach and that is said to be a module, by path."""
    return {path: entity["training"] for path, _, entity in reached_entities(state) if "training" in entity}


def reached_entities(state: State) -> Iterator[tuple[str, str, Entity]]:
    """The path, the uid and the fields of what the module frame's names reach."""
    queue = [(name, value, 0) for name, value in module_frame(state).get("vars", {}).items()]
    for path, value, depth in queue:
        uid = value.get("ref") if isinstance(value, dict) else None
        entity = state.get(uid) if isinstance(uid, str) else None
        if not entity:
            continue
        yield path, str(uid), entity
        if depth < DEEPEST and entity.get("kind") == "object":
            queue += [(f"{path}{suffix}", part, depth + 1) for suffix, part in parts(entity)]


def parts(entity: Entity) -> Iterator[tuple[str, Any]]:
    """What an object holds, each with what is appended to the object's path."""
    for index, item in enumerate(entity.get("items") or []):
        yield (f"[{item[0]!r}]", item[1]) if isinstance(item, list) else (f"[{index}]", item)
    for name, attribute in (entity.get("attrs") or {}).items():
        yield f".{name}", attribute


def number(cell: Any) -> Any:
    """The number that a cell stands for; a complex one is a pair, None is a cell that wasn't recorded."""
    if isinstance(cell, dict):
        if "$f" in cell:
            return float(cell["$f"])
        if "$i" in cell:
            return int(cell["$i"])
        return [number(part) for part in cell["$c"]]
    return int(cell) if isinstance(cell, bool) else cell


def elements(tensor: Entity, state: State) -> list[Any] | None:
    """The tensor's elements, read from its storage's cells as its shape, stride and offset say; None where one is
    missing."""
    shape, stride = tensor.get("shape", []), tensor.get("stride") or []
    if any(size == 0 for size in shape):
        return []
    if len(stride) != len(shape):
        return None
    cells = recorded_cells(state.get(str(tensor.get("storage")), {}), str(tensor.get("dtype")))
    values: list[Any] = []
    for at in positions(shape, stride, tensor["offset"]):
        if cells.get(at) is None:
            return None
        value = signed(number(cells[at]), tensor.get("bits") or ())
        values.extend(value if isinstance(value, list) else [value])
    return values


def recorded_cells(storage: Entity, dtype: str) -> dict[int, Any]:
    """The cells under a dtype by index; of a big storage, those in its windows."""
    cells = (storage.get("cells") or {}).get(dtype)
    if cells is not None:
        return dict(enumerate(cells))
    windows = (storage.get("windows") or {}).get(dtype, [])
    return {start + index: cell for start, run in windows for index, cell in enumerate(run)}


def positions(shape: list[int], stride: list[int], offset: int) -> Iterator[int]:
    """The cell of each element, in logical order."""
    index = [0] * len(shape)
    for _ in range(math.prod(shape)):
        yield offset + sum(i * step for i, step in zip(index, stride, strict=True))
        for dim in reversed(range(len(shape))):
            index[dim] += 1
            if index[dim] < shape[dim]:
                break
            index[dim] = 0


def signed(value: Any, bits: Any) -> Any:
    """The value as a handle with these bits reads it."""
    if "neg" in bits:
        value = [-part for part in value] if isinstance(value, list) else -value
    if "conj" in bits and isinstance(value, list):
        value = [value[0], -value[1]]
    return value


def printed(trace: Trace) -> str:
    """The text on the standard output."""
    return "".join(
        entry["text"]
        for step in trace.get("steps", [])
        for entry in step.get("log", [])
        if entry.get("kind") == "out" and entry.get("stream", "stdout") == "stdout"
    )
