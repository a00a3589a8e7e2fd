"""What is wrong with the saved slots of a step and their pins, against the state of the trace."""

import re
from collections.abc import Iterator
from typing import Any

from tests.pictures import expected_picture
from tests.pictures.expected_picture import ALARMS, State, of_kind
from tests.pictures.picture_beads import near
from tests.pictures.picture_facts import Box, Picture, by, sides, size


def saved_faults(picture: Picture, state: State) -> Iterator[str]:
    """Each saved slot and its pin say the state, the version it expects and where the bytes lie."""
    living = of_kind(state, "node")
    slots, pins = by(picture["slots"], "key"), by(picture["pins"], "key")
    every = {
        f"{uid}:{name}": (slot, bool(node.get("released")))
        for uid, node in living.items()
        for name, slot in (node.get("saved") or {}).items()
    }
    if extra := slots.keys() - every.keys():
        yield f"slots that are not there: {extra}"
    counted = [key for row in picture["moreSlots"] for key in row["keys"]]
    for node in picture["nodes"]:
        names = living.get(node["uid"], {}).get("saved") or {}
        for key in (f"{node['uid']}:{name}" for name in names):
            if not {"accumulate", "shaping"} & {*node["marks"]} and (key in slots) == (key in counted):
                yield f"slot {key} is not drawn once"
    for row in picture["moreSlots"]:
        if row["text"] != f"+{len(row['keys'])}":
            yield f"{row['keys']} are counted as {row['text']}"
    for key in slots.keys() & every.keys():
        yield from slot_problems(key, slots[key], *every[key], state)
    held = expected_picture.held(state)
    if extra := pins.keys() - held.keys():
        yield f"pins of what is not kept: {extra}"
    strips = by(picture["strips"], "uid")
    more = {row["row"]: row for row in picture["morePins"]}
    listed: dict[str, int] = {}
    for key, slot in held.items():
        if key not in pins and slot["storage"] in strips:
            row = strips[slot["storage"]]["row"]
            listed[row] = listed.get(row, 0) + 1
            name = key.split(":", 1)[1]
            if row not in more or f".{name}" not in more[row]["names"]:
                yield f"pin {key} on {slot['storage']} is neither drawn nor counted"
    for row, line in more.items():
        if int(line["count"]) != listed.get(row, 0):
            yield f"{row} counts {line['count']} pins, not {listed.get(row, 0)}"
    cells = {(cell["key"], cell["dtype"]): cell["box"] for cell in picture["cells"]}
    for key in pins.keys() & held.keys():
        yield from pin_problems(key, pins[key], held[key], cells)
    yield from alarms(picture, state, held)


def slot_problems(key: str, drawn: dict[str, Any], slot: dict[str, Any], over: bool, state: State) -> Iterator[str]:
    gone = over or slot["state"] == "freed"
    if drawn["state"] != slot["state"] or drawn["storage"] != slot.get("storage"):
        yield f"slot {key} is {drawn['state']} in {drawn['storage']}"
    look = [mark for mark in drawn["marks"] if mark not in ("slot", "dot", "news")]
    if look != ["freed" if gone else slot["state"]]:
        yield f"slot {key} looks {look}, is {slot['state']}"
    name = key.split(":", 1)[1]
    if not drawn["title"].startswith(name):
        yield f"slot {key} is titled {drawn['title']}"
    said = drawn["title"].removeprefix(f"{name}: ").split(" · ")[0]
    now = state[slot["counter"]]["value"] if slot.get("counter") in state else "?"
    brief = f"{said.split(':')[0]}: v{slot.get('expected', '?')} → v{now}"  # where there is little room
    text = drawn["text"]
    if text not in (None, brief) and not expected_picture.fits(text.removeprefix("keeps "), said):
        yield f"slot {key} says {drawn['text']}"
    if not gone and slot.get("value") is None and not drawn["dot"] and not names_storage(said, slot, state):
        yield f"slot {key} is called {said}, which is not what it keeps"
    if gone:
        if "released" not in drawn["title"]:
            yield f"slot {key} is titled {drawn['title']}"
    elif slot.get("storage"):
        if slot.get("expected") is not None and f"version {slot['expected']}" not in drawn["title"]:
            yield f"slot {key} does not expect v{slot['expected']}: {drawn['title']}"
        if slot["state"] == "stale" and f"now {state[slot['counter']]['value']}" not in drawn["title"]:
            yield f"slot {key} is not stale: {drawn['title']}"
    if drawn["dot"] != (drawn["text"] is None):
        yield f"slot {key} is a dot: {drawn['dot']}"
    if slot["state"] in ALARMS and not gone and drawn["dot"]:
        yield f"slot {key} is {slot['state']} and a dot"


def names_storage(said: str, slot: dict[str, Any], state: State) -> bool:
    """Whether what a slot says names its memory: a name of the program, or a result that has none."""
    handles = {uid for uid, e in of_kind(state, "tensor", "array").items() if e.get("storage") == slot.get("storage")}
    if said.startswith("a result"):
        return not any(expected_picture.names_of(state, uid) for uid in handles)
    name = re.split(r"[: ]", said)[0]
    leads_to = expected_picture.resolve(state, name)
    return bool(leads_to & (handles | {slot.get("tensor")})) or (not leads_to and ("." in name or "[" in name))


def pin_problems(key: str, pin: dict[str, Any], slot: dict[str, Any], cells: dict[Any, Box]) -> Iterator[str]:
    if (pin["state"], pin["storage"]) != (slot["state"], slot["storage"]) or slot["state"] not in pin["marks"]:
        yield f"pin {key} is {pin['state']} on {pin['storage']}"
    expected = slot.get("expected")
    if pin["expected"] != (None if expected is None else str(expected)):
        yield f"pin {key} expects {pin['expected']}"
    if pin["text"] is not None:
        if (
            not re.search(rf"\bv{'[?]' if expected is None else expected}(?!\d)", pin["text"])
            and "…" not in pin["text"]
        ):
            yield f"pin {key} says {pin['text']}"
        if "alarm" in pin["words"] and slot["state"] not in ALARMS:
            yield f"pin {key} is {slot['state']}, its words {pin['words']}"
    if not pin["bracket"] or slot.get("stride") is None or size(slot) > 4096:
        return
    mine = [
        cells.get((f"{slot['storage']}:{cell}", slot["dtype"]))
        for _, cell in expected_picture.reads({"kind": "tensor", **slot})
    ]
    boxes = [box for box in mine if box]
    lines = {round(box[1]) for (cell, _), box in cells.items() if cell.startswith(f"{slot['storage']}:")}
    if len(lines) > 1:
        return  # a strip of several lines is bracketed as a whole
    if boxes and len(boxes) == len(mine) and not near(pin["bracket"], boxes):
        yield f"the bracket of pin {key} at {pin['bracket']}, cells {boxes[0]} … {boxes[-1]}"


def alarms(picture: Picture, state: State, held: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What is broken says so at its storage, and a link joins both ends where both are drawn."""
    drawn = {node["uid"] for node in picture["nodes"]}
    strips = by(picture["strips"], "uid")
    said = {alarm["row"]: alarm["text"] for alarm in picture["alarms"]}
    links = " ".join(link["key"] for link in picture["links"] if link["kind"] == "broken")
    rows = by(picture["rows"], "key")
    for key, slot in held.items():
        if slot["state"] not in ALARMS or slot["storage"] not in strips:
            continue
        row = strips[slot["storage"]]["row"]
        if row == slot["storage"] and not rows[row]["slim"] and not rows[row]["small"] and row not in said:
            yield f"{slot['storage']} does not say that {key} is {slot['state']}"
        elif row in said and not any(version in said[row] for version in versions(state, held, slot["storage"])):
            yield f"{slot['storage']} says {said[row]}"
        node = key.split(":")[0]
        both = len(sides(picture)) == 2 and node in drawn
        if (
            both
            and f"{key} pin {key}" not in links
            and node_in_sight(picture, node)
            and strips[slot["storage"]]["seen"]
        ):
            yield f"no link from {key} to {slot['storage']}"


def versions(state: State, held: dict[str, dict[str, Any]], storage: str) -> set[str]:
    """What may be said of a storage whose saved values are broken: for each of them, what is expected and what is."""
    return {
        text
        for slot in held.values()
        if slot["storage"] == storage and slot["state"] in ALARMS
        for text in (
            f"expects v{slot.get('expected')}, is v{state.get(slot.get('counter') or '', {}).get('value')} now",
            f"kept v{slot.get('expected')}, numbers changed",
        )
    }


def node_in_sight(picture: Picture, uid: str) -> bool:
    return any(node["uid"] == uid and node["seen"] for node in picture["nodes"])
