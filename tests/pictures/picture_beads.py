"""How a picture says which cells a handle reads: beads, underlines and maps, against the state of the trace."""

import re
from collections.abc import Iterator
from typing import Any

from tests.pictures import expected_picture
from tests.pictures.expected_picture import State, of_kind
from tests.pictures.picture_facts import Box, Picture, by, size


def wires(picture: Picture, state: State) -> Iterator[str]:
    """Beads, underlines and maps of a handle lie on the cells that it reads; beads are numbered in logical order."""
    cells = {(cell["key"], cell["dtype"]): cell["box"] for cell in picture["cells"]}
    beads: dict[str, list[dict[str, Any]]] = {}
    for bead in picture["beads"]:
        beads.setdefault(bead["key"].split(":")[0], []).append(bead)
    rows = by(picture["rows"], "key")
    wires = by(picture["wires"], "uid")
    for card in picture["handles"]:
        if card["on"] and not card["owner"] and not card["quiet"] and card["uid"] not in wires:
            yield f"no line from {card['uid']} to {card['on']}"
    for uid, wire in wires.items():
        handle = state[uid]
        strided = handle["kind"] == "array" or handle.get("stride") is not None
        elements = expected_picture.reads(handle) if strided and size(handle) <= 4096 else []
        if wire["beads"]:
            yield from bead_problems(uid, handle, elements, beads[uid], cells)
        mine = [
            (cell, cells.get((f"{handle['storage']}:{cell}", handle["dtype"])))
            for cell in sorted({c for _, c in elements})
        ]
        boxes = [box for _, box in mine if box]
        if not boxes or len(boxes) < len(mine):
            continue
        one_line = len({round(box[1]) for box in boxes}) == 1
        if wire["under"] and one_line and not near(wire["under"][0], boxes):
            yield f"underline of {uid} at {wire['under'][0]}, cells {boxes[0]} … {boxes[-1]}"
        slim = rows[wire["row"]]["slim"]
        if wire["runs"] and (slim or one_line):
            yield from run_problems(uid, wire["runs"], boxes)
        row = rows[wire["row"]]
        if not (wire["beads"] or wire["under"] or wire["runs"] or row["slim"] or row["small"]):
            storage = state[handle["storage"]]
            whole = [cell for _, cell in elements] == [*range(len(storage["cells"].get(handle["dtype"]) or []))]
            alone = sum(e.get("storage") == handle["storage"] for e in of_kind(state, "tensor", "array").values()) == 1
            if len(storage["cells"]) == 1 and not (whole and alone):
                yield f"{uid} does not say which cells it reads"


def near(ends: list[list[float]], boxes: list[Box]) -> bool:
    left, right = min(box[0] for box in boxes), max(box[0] + box[2] for box in boxes)
    (x0, _), (x1, _) = ends
    return left - 0.5 <= x0 <= left + 5 and right - 5 <= x1 <= right + 0.5


def run_problems(uid: str, runs: list[Box], boxes: list[Box]) -> Iterator[str]:
    """Runs cover the cells that are read and no others."""
    covered = sum(run[2] for run in runs)
    wanted = sum(box[2] for box in boxes)
    for box in boxes:
        middle = box[0] + box[2] / 2
        if not any(run[0] - 0.5 <= middle <= run[0] + run[2] + 0.5 for run in runs):
            yield f"{uid} reads a cell at {box} that its map leaves out"
            return
    if covered > wanted + 3 * len(runs):
        yield f"the map of {uid} covers {covered} of {wanted}"


def bead_problems(
    uid: str,
    handle: dict[str, Any],
    elements: list[tuple[tuple[int, ...], int]],
    drawn: list[dict[str, Any]],
    cells: dict[Any, Box],
) -> Iterator[str]:
    expected = {
        f"{uid}:{k}": (f"{handle['storage']}:{cell}", ",".join(map(str, index)), handle["dtype"])
        for k, (index, cell) in enumerate(elements)
    }
    got = {key: (bead["reads"], bead["index"], bead["dtype"]) for key, bead in by(drawn, "key").items()}
    if got != expected:
        yield f"beads of {uid}: {sorted(set(got.items()) ^ set(expected.items()))[:4]}"
    for bead in drawn:
        cell = cells.get((bead["reads"], bead["dtype"]))
        if cell is None or not (
            cell[0] - 0.5 <= bead["box"][0] and bead["box"][0] + bead["box"][2] <= cell[0] + cell[2] + 3.5
        ):
            yield f"bead {bead['key']} at {bead['box']}, its cell at {cell}"
        if bead["text"] is not None and not bead_says(bead["text"], bead["index"]):
            yield f"bead {bead['key']} says {bead['text']}, reads {bead['index']}"


def bead_says(text: str, index: str) -> bool:
    """`y[1,:]`, `[1,:]` and `1,:` are for every index that begins with 1; a scalar's is a dot."""
    if not index:
        return text == "·"
    parts = re.sub(r"^.*\[(.*)\]$", r"\1", text).split(",")
    return len(parts) == len(index.split(",")) and all(
        a in (":", b) for a, b in zip(parts, index.split(","), strict=True)
    )
