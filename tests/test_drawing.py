"""The picture in a real browser against the trace, for every seed program and scenario, at every step.

What has to be there is worked out in `tests.expected_picture`, from the trace alone; what holds between two steps is stillness.
"""

import json
import re
from typing import Any

import pytest

from tests import expected_picture
from tests.conftest import ROOT
from tests.expected_picture import State, of_kind, ref
from tests.test_page import paste, run

SEEDS = ROOT.parent / "shared/seeds/snippets.json"
FILES = [*sorted((ROOT / "scenarios").glob("*.py")), *sorted((ROOT / "tests/golden").glob("*.py"))]
Picture = dict[str, Any]
Box = list[float]


def sources() -> list[Any]:
    missing = pytest.param(
        "",
        id="seeds",
        marks=pytest.mark.skip(
            reason="../shared/seeds is missing: the pictures of the articles' programs were not checked"
        ),
    )
    seeds = (
        [pytest.param(seed["program"], id=seed["id"]) for seed in json.loads(SEEDS.read_text())]
        if SEEDS.exists()
        else [missing]
    )
    return [*seeds, *(pytest.param(path.read_text(), id=path.stem) for path in FILES)]


@pytest.fixture(scope="module")
def open_page(chromium: Any, site: str) -> Any:
    """One page for all the programs: what one leaves behind must not show in the next."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-US", reduced_motion="reduce")
    page = context.new_page()
    page.goto(site)
    yield page
    context.close()


@pytest.mark.parametrize("source", sources())
def test_every_step_shows_what_the_trace_says(open_page: Any, source: str) -> None:
    paste(open_page, source)
    trace = run(open_page)
    pictures: list[Picture] = open_page.evaluate(expected_picture.ALL_STEPS, len(trace["steps"]))
    previous: Picture | None = None
    for step, picture, (before, state) in zip(trace["steps"], pictures, expected_picture.states(trace), strict=True):
        assert picture["step"] == step["i"]
        storages(picture, before, state, step)
        handles(picture, state)
        counters(picture, state)
        wires(picture, state)
        named(picture, state)
        containers(picture, state)
        graph(picture, state)
        saved(picture, state)
        gradients(picture, state, step)
        apart(picture)
        rightwards(picture)
        assert picture["said"] and all(picture["said"]), (
            f"no sentence at step {step['i']}: {trace['program']['source'].splitlines()[step['line'] - 1]}"
        )
        if previous:
            still(previous, picture, before, state)
        previous = picture


def only(rows: list[dict[str, Any]], *names: str) -> dict[Any, dict[str, Any]]:
    """Rows by what names them; a name is there once."""
    by_name = {row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row for row in rows}
    assert len(by_name) == len(rows), f"twice among {names}"
    return by_name


def storages(picture: Picture, before: State, state: State, step: dict[str, Any]) -> None:
    """Each cell has its value, told exactly or visibly rounded; written are those whose value is another than before."""
    living = of_kind(state, "storage")
    assert {*picture["strips"]} == {*living}
    expected = {
        (f"{uid}:{k}", dtype): (value, changed(before.get(uid), dtype, k, value))
        for uid, storage in living.items()
        for dtype, row in (storage.get("cells") or {}).items()
        for k, value in enumerate(row)
    }
    cells = only(picture["cells"], "key", "dtype")
    big = {uid for uid, storage in living.items() if storage.get("windows")}
    assert {key for key in cells if key[0].split(":")[0] not in big} == {*expected}
    for key, (value, written) in expected.items():
        cell = cells[key]
        assert json.loads(cell["value"]) == value or value != value
        assert expected_picture.says(cell["text"], value), (key, cell["text"], value)
        assert cell["written"] == written, (key, "written")
    for uid in big:
        for dtype, parts in living[uid]["windows"].items():
            values = {start + k: value for start, row in parts for k, value in enumerate(row)}
            for key, cell in cells.items():
                if key[0].startswith(f"{uid}:") and key[1] == dtype:
                    assert expected_picture.says(cell["text"], values[int(key[0].split(":")[1])])
    freed = {uid for uid in step["gone"] if (before.get(uid) or step["set"].get(uid, {})).get("kind") == "storage"}
    assert {*picture["ghosts"]} == freed


def changed(old: dict[str, Any] | None, dtype: str, k: int, value: Any) -> bool:
    """Whether a cell that was there before has another value now; minus zero is another one than zero."""
    row = (old or {}).get("cells", {}).get(dtype) if old else None
    return row is not None and k < len(row) and repr(row[k]) != repr(value)


def handles(picture: Picture, state: State) -> None:
    """Each card says shape, stride, offset, whether it is a leaf and whether it requires grad."""
    cards = only(picture["handles"], "uid")
    living = of_kind(state, "tensor", "array")
    assert {*cards} == {*living}
    for uid, handle in living.items():
        card = cards[uid]
        assert [card["counter"], card["on"], card["node"], card["grad"]] == [
            handle.get(field) for field in ("counter", "storage", "grad_fn", "grad")
        ]
        assert "shape" not in handle or card["shape"] == str(tuple(handle["shape"]))
        assert ("∇" in card["role"]) == bool(handle.get("requires_grad"))
        if handle["kind"] == "array":
            assert handle["dtype"] in card["second"]
            continue
        if "leaf" in handle:
            assert ("leaf" if handle["leaf"] else "node") in card["role"].split(), (uid, card["role"])
        if "stride" in handle:
            numbers = [int(n) for n in re.findall(r"-?\d+", card["second"].removeprefix(handle["dtype"]))]
            assert numbers == [*handle["stride"], handle["offset"]], (uid, card["second"])


def counters(picture: Picture, state: State) -> None:
    """A badge is worn by exactly the handles that share the counter, and says its number."""
    worn: dict[tuple[str, str | None], list[str]] = {}
    for uid, handle in of_kind(state, "tensor").items():
        if handle.get("counter"):
            worn.setdefault((handle["counter"], handle.get("storage")), []).append(uid)
    cards = only(picture["handles"], "uid")
    assert sorted((badge["counter"], int(badge["wearers"])) for badge in picture["badges"]) == sorted(
        (counter, len(wearers)) for (counter, _), wearers in worn.items()
    )
    for badge in picture["badges"]:
        value = state[badge["counter"]]["value"]
        assert int(badge["version"]) == value
        assert int(re.findall(r"\d+", badge["text"])[-1]) == value % 10 ** len(re.findall(r"\d+", badge["text"])[-1])
        level_cards = {uid for uid, card in cards.items() if level(card["box"], badge["box"])}
        assert sorted(level_cards) in [sorted(w) for (counter, _), w in worn.items() if counter == badge["counter"]]


def level(box: Box, of: Box) -> bool:
    """Whether the middle of a box is between the top and the bottom of the other."""
    return of[1] < box[1] + box[3] / 2 < of[1] + of[3]


def wires(picture: Picture, state: State) -> None:
    """A handle's beads lie on the cells that it reads, numbered in logical order; a bigger one says from where to where."""
    cells = {(cell["key"], cell["dtype"]): cell["box"] for cell in picture["cells"]}
    sets = only(picture["wires"], "uid")
    expected = {}
    for uid, handle in of_kind(state, "tensor", "array").items():
        storage = state.get(handle.get("storage") or "", {})
        assert (uid in sets) == bool(storage)
        if not storage:
            continue
        elements = (
            expected_picture.reads(handle) if handle.get("stride") is not None or handle["kind"] == "array" else []
        )
        row = (storage.get("cells") or {}).get(handle["dtype"])
        if len(elements) > expected_picture.MOST or row is None or any(cell >= len(row) for _, cell in elements):
            span = [int(n) for n in re.findall(r"-?\d+(?=[ \]])", sets[uid]["span"] or "")]
            assert not elements or span in ([], [min(c for _, c in elements), max(c for _, c in elements)]), sets[uid][
                "span"
            ]
            continue
        for k, (index, cell) in enumerate(elements):
            expected[f"{uid}:{k}"] = (f"{handle['storage']}:{cell}", ",".join(map(str, index)), handle["dtype"])
    beads = only(picture["beads"], "key")
    assert {key: (bead["reads"], bead["index"], bead["dtype"]) for key, bead in beads.items()} == expected
    for bead in beads.values():
        cell = cells[bead["reads"], bead["dtype"]]
        assert cell[0] <= bead["box"][0] and bead["box"][0] + bead["box"][2] <= cell[0] + cell[2] + 0.01, bead["key"]
    for uid, wire in sets.items():
        mine = [cells[bead["reads"], bead["dtype"]] for key, bead in beads.items() if key.startswith(f"{uid}:")]
        if wire["arms"] and mine:
            ends = sorted(float(re.match(r"M([\d.]+)", arm)[1]) for arm in wire["arms"])
            left, right = min(box[0] for box in mine), max(box[0] + box[2] for box in mine)
            assert left <= ends[0] <= left + 6 and right - 6 <= ends[-1] <= right


def named(picture: Picture, state: State) -> None:
    """Each name's tag stands at the card of what it refers to, and each path leads to where its tag stands."""
    cards = {row["uid"]: row["box"] for row in [*picture["handles"], *picture["objects"]]}
    bound = {
        (frame, name, to)
        for frame, e in of_kind(state, "frame").items()
        for name, value in e["vars"].items()
        if (to := ref(value)) and to in state and state[to]["kind"] in ("tensor", "array", "object")
    }
    tags = [tag for tag in picture["tags"] if tag["name"] is not None]
    assert sorted((tag["frame"], tag["name"], tag["ref"]) for tag in tags) == sorted(bound)
    for tag in picture["tags"]:
        assert level(tag["box"], cards[tag["ref"]]), (tag["ref"], tag["name"] or tag["path"])
        if tag["path"] == ".grad":  # of a tensor that no name leads to
            assert tag["ref"] in {e.get("grad") for e in of_kind(state, "tensor").values()}
        elif tag["path"] is not None:
            assert tag["ref"] in expected_picture.resolve(state, tag["path"]), (tag["path"], tag["ref"])
    values = {
        (frame, name): value
        for frame, e in of_kind(state, "frame").items()
        for name, value in e["vars"].items()
        if (ref(value) or "")[:1] not in ("t", "a", "o")
        if not re.fullmatch("__.*__", name) and not (isinstance(value, dict) and value.get("py") == "module")
    }
    chips = only(picture["chips"], "frame", "name")
    assert {key: json.loads(chip["value"]) for key, chip in chips.items()} == values
    assert {row["uid"] for row in picture["frames"]} == {*of_kind(state, "frame")}


def containers(picture: Picture, state: State) -> None:
    """Each object's card lists what it holds, in order."""
    assert {row["uid"] for row in picture["objects"]} == {*of_kind(state, "object")}
    for uid, e in of_kind(state, "object").items():
        rows = [row for row in picture["items"] if row["key"].startswith(f"{uid}:")]
        items = [
            item[1] if isinstance(item, list) else item for item in (e.get("items") or [])[: expected_picture.SHOWN]
        ]
        items += list((e.get("attrs") or {}).values())[: expected_picture.SHOWN]
        assert [json.loads(row["value"]) for row in rows][: len(items)] == items, uid
        assert [row["to"] for row in rows][: len(items)] == [ref(item) for item in items]


def graph(picture: Picture, state: State) -> None:
    """Each node is there, and each edge runs from the node to the input that torch names."""
    nodes = only(picture["nodes"], "uid")
    living = of_kind(state, "node")
    assert {*nodes} == {*living}
    for uid, node in living.items():
        assert nodes[uid]["variable"] == node.get("variable")
        assert re.split(r"::|\.", node["name"])[-1] in nodes[uid]["name"]
        assert ("released" in nodes[uid]["marks"]) == bool(node.get("released"))
    edges = only(picture["edges"], "key")
    assert {key: (edge["from"], edge["to"]) for key, edge in edges.items()} == {
        f"{uid}:{k}": (uid, end[0])
        for uid, node in living.items()
        for k, end in enumerate(node.get("next") or [])
        if end and end[0] in state
    }
    for edge in edges.values():
        points = [float(n) for n in re.findall(r"-?[\d.]+", edge["way"])]
        start, end = nodes[edge["to"]]["box"], nodes[edge["from"]]["box"]
        assert (
            points[0] == pytest.approx(start[0] + start[2], abs=0.02) and start[1] <= points[1] <= start[1] + start[3]
        )
        assert points[-2] == pytest.approx(end[0], abs=0.02) and end[1] <= points[-1] <= end[1] + end[3]
    assert {*picture["meets"]} <= {f"{node['variable']} {uid}" for uid, node in living.items() if node.get("variable")}


def saved(picture: Picture, state: State) -> None:
    """Each saved slot and its pin say the state, the version it expects and where the bytes lie."""
    slots, pins = only(picture["slots"], "key"), only(picture["pins"], "key")
    cells = {(cell["key"], cell["dtype"]): cell["box"] for cell in picture["cells"]}
    every = {
        f"{uid}:{name}": (slot, bool(node.get("released")))
        for uid, node in of_kind(state, "node").items()
        for name, slot in (node.get("saved") or {}).items()
    }
    assert {*slots} == {*every}
    held = {
        key
        for key, (slot, over) in every.items()
        if slot.get("storage") in state and slot["state"] != "freed" and not over
    }
    assert {*pins} == held
    for key, (slot, over) in every.items():
        drawn = slots[key]
        gone = over or slot["state"] == "freed"
        assert drawn["state"] == slot["state"] and drawn["storage"] == slot.get("storage")
        assert [mark for mark in drawn["marks"] if mark != "slot"] == ["freed" if gone else slot["state"]]
        if gone:
            assert "released" in drawn["text"]
        elif slot.get("storage"):
            assert slot["storage"] in drawn["text"]
            if slot.get("expected") is not None:
                assert f"v{slot['expected']}" in drawn["text"]
            if slot["state"] == "stale":
                assert f"v{state[slot['counter']]['value']}" in drawn["text"]
    for key, pin in pins.items():
        slot = every[key][0]
        assert (pin["state"], pin["storage"]) == (slot["state"], slot["storage"])
        assert slot["state"] in pin["marks"]
        assert pin["expected"] == (None if slot.get("expected") is None else str(slot["expected"]))
        assert pin["text"].startswith("v?" if slot.get("expected") is None else f"v{slot['expected']}")
        assert ("≠" in pin["text"]) == (slot["state"] == "changed")
        mine = [
            cells.get((f"{slot['storage']}:{cell}", slot["dtype"]))
            for _, cell in expected_picture.reads({"kind": "tensor", **slot})
        ]
        bracket = re.match(r"M([\d.]+) [\d.]+V[\d.]+H([\d.]+)V", pin["bracket"] or "")
        if bracket and mine and all(mine):
            boxes = [box for box in mine if box]
            if len({box[1] for box in boxes}) == 1:
                assert float(bracket[1]) == pytest.approx(min(box[0] for box in boxes) + 2, abs=0.02)
                assert float(bracket[2]) == pytest.approx(max(box[0] + box[2] for box in boxes) - 2, abs=0.02)
    alarming = {key for key in pins if every[key][0]["state"] in ("stale", "changed", "detached")}
    assert {leader["key"] for leader in picture["leaders"]} == alarming


def gradients(picture: Picture, state: State, step: dict[str, Any]) -> None:
    """`.grad` has its tag at its own card, is None where it is None, and a visit shows what it passes on."""
    tensors = of_kind(state, "tensor")
    owned = {uid: t["grad"] for uid, t in tensors.items() if t.get("grad") in state}
    tagged = {tag["ref"] for tag in picture["tags"] if (tag["path"] or "").endswith(".grad")}
    assert tagged == {*owned.values()}
    assert {*picture["gradWires"]} <= {*owned}
    for texts in picture["none"]:
        assert texts[1] == "None"
        assert texts[0] == ".grad" or [
            uid for uid in expected_picture.resolve(state, texts[0].removesuffix(".grad")) if uid not in owned
        ]
    now = [chip for chip in picture["grads"] if chip["now"]]
    visit = step.get("visit")
    if not visit:
        assert not picture["grads"]
        return
    edges = {edge["key"] for edge in picture["edges"]}
    passed = {f"{visit['node']}:{k}": grad for k, grad in enumerate(visit["grad_inputs"]) if grad}
    for key, grad in passed.items():
        if key in edges and not visit.get("accumulates"):
            assert [True for chip in now if chip["on"] == key and carries(chip, grad)], (key, now)
    for chip in now:
        assert chip["on"].split(":")[0] == visit["node"]
        source = passed.get(chip["on"]) or visit["grad_outputs"][0]
        assert carries(chip, source), (chip, source)


def carries(chip: dict[str, Any], grad: dict[str, Any]) -> bool:
    """Whether a chip says this gradient: its shape and its first elements."""
    if not chip["title"].startswith(f"{tuple(grad['shape'])} {grad['dtype']}"):
        return False
    cells = grad.get("cells")
    shown = [text for text in chip["texts"] if text not in ("…", "∅")]
    return cells is None or all(expected_picture.says(text, value) for text, value in zip(shown, cells, strict=False))


def apart(picture: Picture) -> None:
    """No two cards overlap: handles, strips, frames, containers and nodes."""
    boxes = [(row["uid"], row["box"]) for lane in ("handles", "frames", "objects", "nodes") for row in picture[lane]]
    strips: dict[str, Box] = {}
    for cell in picture["cells"]:
        uid = cell["key"].split(":")[0]
        strips[uid] = join(strips.get(uid), cell["box"])
    boxes += strips.items()
    boxes += [
        (f"tag {t['name'] or t['path']} of {t['ref']}", t["box"])
        for t in picture["tags"]
        if not t["hidden"] and not t["object"]
    ]
    boxes += [(f"rail {badge['counter']}", badge["box"]) for badge in picture["badges"]]
    boxes += [(f"pin {pin['key']}", pin["box"]) for pin in picture["pins"]]
    boxes.sort(key=lambda row: row[1][0])
    for at, (name, a) in enumerate(boxes):
        for other, b in boxes[at + 1 :]:
            if b[0] >= a[0] + a[2]:
                break
            assert not overlap(a, b), f"{name} {a} on {other} {b}"


def join(a: Box | None, b: Box) -> Box:
    if a is None:
        return b
    left, top = min(a[0], b[0]), min(a[1], b[1])
    return [left, top, max(a[0] + a[2], b[0] + b[2]) - left, max(a[1] + a[3], b[1] + b[3]) - top]


def overlap(a: Box, b: Box, slack: float = 0.5) -> bool:
    return (
        a[0] + slack < b[0] + b[2]
        and b[0] + slack < a[0] + a[2]
        and a[1] + slack < b[1] + b[3]
        and b[1] + slack < a[1] + a[3]
    )


def rightwards(picture: Picture) -> None:
    """From names to handles to storages, and through the graph, no line runs to the left."""
    paths = [*picture["stems"], *(path for wire in picture["wires"] for path in wire["ways"])]
    paths += [row["way"] for lane in ("edges", "leaders") for row in picture[lane]]
    for path in paths:
        for piece in path.split("M")[1:]:
            at = -1.0
            for letter, numbers in re.findall(r"([A-Za-z]?)([-\d. ]+)", piece):
                values = [float(n) for n in numbers.split()]
                if letter != "V":
                    assert values[-2 if len(values) > 1 else -1] >= at - 0.01 or letter == "h", path
                    at = values[-2 if len(values) > 1 else -1] if letter != "h" else at + values[0]
                assert letter not in ("h", "l") or values[0] >= 0, path


KEYS = {"cells": ("key", "dtype"), "handles": ("uid",), "nodes": ("uid",), "slots": ("key",), "pins": ("key",),
        "frames": ("uid",), "objects": ("uid",), "chips": ("frame", "name"), "items": ("key",), "beads": ("key",)}  # fmt: skip


def still(past: Picture, now: Picture, before: State, state: State) -> None:
    """What was there a step ago is where it was, unless the program gave it another place."""
    assert now["scale"] == past["scale"]
    for lane, names in KEYS.items():
        old, new = only(past[lane], *names), only(now[lane], *names)
        for key in old.keys() & new.keys():
            uid = (key if isinstance(key, str) else key[0]).split(":")[0]
            if lane in ("handles", "beads") and layout_inputs(before[uid]) != layout_inputs(state[uid]):
                continue
            if lane == "pins" and old[key]["storage"] != new[key]["storage"]:
                continue
            touched = any(old[key].get(field) != new[key].get(field) for field in ("state", "text"))
            assert old[key]["box"][: 2 if touched else 4] == new[key]["box"][: 2 if touched else 4], (lane, key)
    old_edges = only(past["edges"], "key")
    for edge in now["edges"]:
        assert old_edges.get(edge["key"], edge)["way"] == edge["way"], edge["key"]
    tags = only([tag for tag in past["tags"] if tag["name"]], "frame", "name", "ref")
    for tag in now["tags"]:
        old_tag = tags.get((tag["frame"], tag["name"], tag["ref"]))
        if (
            old_tag
            and layout_inputs(before[tag["ref"]]) == layout_inputs(state[tag["ref"]])
            and same_names(past, now, tag["ref"])
        ):
            assert old_tag["box"] == tag["box"], tag["title"]


def layout_inputs(entity: dict[str, Any]) -> Any:
    """What the program can change of where a handle stands and what it reads."""
    return [entity.get(k) for k in ("storage", "counter", "shape", "offset", "stride", "at", "steps", "dtype")]


def same_names(past: Picture, now: Picture, uid: str) -> bool:
    """Whether a thing has the same names as a step ago: they stand in one row."""
    return [t["title"] for t in past["tags"] if t["ref"] == uid] == [t["title"] for t in now["tags"] if t["ref"] == uid]
