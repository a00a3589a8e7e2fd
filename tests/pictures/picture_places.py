"""Where things stand in the picture of a step: in sight, where they were a step ago, and in one order for the whole
run."""

import itertools
from collections.abc import Iterator
from typing import Any

from tests.pictures import expected_picture
from tests.pictures.expected_picture import State, of_kind, ref
from tests.pictures.picture_facts import Picture, by, sides


def in_sight(picture: Picture, state: State, step: dict[str, Any]) -> Iterator[str]:
    """What the step touched is drawn, each with its names, and inside its pane."""
    touched = expected_picture.touched(state, step)
    cards = {card["uid"]: card for card in picture["handles"]}
    tags = {(tag["frame"], tag["name"]): tag for tag in picture["tags"] if tag["name"]}
    seen_nodes = {node["uid"] for node in picture["nodes"] if node["seen"]}
    panes = sides(picture)
    names: dict[str, list[tuple[str, str]]] = {}
    for frame, e in of_kind(state, "frame").items():
        for name, value in e["vars"].items():
            if (to := ref(value)) in touched and state[to]["kind"] in ("tensor", "array"):
                names.setdefault(to, []).append((frame, name))
    wrong = []
    if "memory" in panes:
        for uid, list_ in names.items():
            missing = [name for frame, name in list_ if not (tags.get((frame, name)) or {"seen": False})["seen"]]
            if not (cards.get(uid) or {"seen": False})["seen"] or missing:
                wrong.append(f"{uid} ({', '.join(name for _, name in list_)}) is not in sight")
        yield from wrong[: max(0, len(wrong) - max(0, len(names) - 16))]
        for uid in touched - names.keys():
            if uid in cards and not cards[uid]["seen"] and not names:
                yield f"{uid} is not in sight"
    visit = step.get("visit")
    if visit and "graph" in panes and visit["node"] in state and visit["node"] not in seen_nodes:
        yield f"the visited node {visit['node']} is not in sight"


KEYS = {
    "cells": ("key", "dtype"),
    "handles": ("uid",),
    "nodes": ("uid",),
    "badges": ("counter",),
    "beads": ("key",),
    "strips": ("uid",),
}
LAYOUT = ("storage", "counter", "shape", "offset", "stride", "at", "steps", "dtype", "layout")


def still(past: Picture, now: Picture, before: State, state: State, step: dict[str, Any]) -> Iterator[str]:
    """What the step left alone is where it was in panes that are still, scrolled or not; elsewhere it moves up and down
    alone."""
    scrolled = {pane["side"]: pane["scrolled"] for pane in now["panes"]}
    for pane in past["panes"]:
        scrolled[pane["side"]] = scrolled.get(pane["side"], 0) - pane["scrolled"]
    panes = {pane["side"]: pane["still"] for pane in past["panes"]}
    quiet = {pane["side"]: pane["still"] and panes.get(pane["side"]) for pane in now["panes"]}
    earlier, later = signatures(past, before), signatures(now, state)
    changed_rows = {row for row in {*earlier} | {*later} if earlier.get(row) != later.get(row)}
    touched = expected_picture.touched(state, step)
    for lane, names in KEYS.items():
        side = "graph" if lane == "nodes" else "memory"
        if side not in quiet or side not in panes:
            continue
        old, new = by(past[lane], *names), by(now[lane], *names)
        for key in old.keys() & new.keys():
            a, b = old[key]["box"], new[key]["box"]
            if lane == "nodes":
                if new[key]["docked"] or old[key]["docked"]:
                    continue
            elif lane == "beads":
                uid = key.split(":")[0]
                if uid in touched:
                    continue
            elif new[key]["row"] in changed_rows or old[key]["row"] != new[key]["row"]:
                continue
            uid = (key if isinstance(key, str) else key[0]).split(":")[0]
            if lane == "beads" and any(card["uid"] == uid and card["row"] in changed_rows for card in now["handles"]):
                continue
            if quiet[side] and (abs(a[0] - b[0]) > 0.1 or abs(a[1] - b[1] - scrolled[side]) > 0.1):
                yield f"{lane} {key} moved from {a[:2]} to {b[:2]}"
            elif lane in ("nodes",) and abs(a[0] - b[0]) > 0.1:
                yield f"{lane} {key} moved sideways from {a[0]} to {b[0]}"


def signatures(picture: Picture, state: State) -> dict[str, Any]:
    """By row, all that its own layout depends on: its handles with their names, gradients and pins."""
    names: dict[str, list[str]] = {}
    for tag in picture["tags"]:
        names.setdefault(tag["ref"], []).append(tag["name"] or tag["path"])
    out: dict[str, list[Any]] = {}
    for card in picture["handles"]:
        e = state.get(card["uid"], {})
        out.setdefault(card["row"], []).append(
            [card["uid"], sorted(names.get(card["uid"], [])), e.get("grad"), card["slim"], *(e.get(k) for k in LAYOUT)]
        )
    return {row: sorted(parts, key=str) for row, parts in out.items()}


class Order:
    """The order of rows and of nodes over a run: it never changes."""

    def __init__(self) -> None:
        self.before: dict[str, set[str]] = {}

    def add(self, picture: Picture) -> Iterator[str]:
        rows = sorted(picture["rows"], key=lambda row: row["top"])
        nodes = sorted((node for node in picture["nodes"] if not node["docked"]), key=lambda node: node["box"][1])
        lists = [
            [row["key"] for row in rows if not row["small"]],
            [f"small {row['key']}" for row in rows if row["small"]],
            [node["uid"] for node in nodes],
        ]
        for keys in lists:
            for a, b in itertools.combinations(keys, 2):
                if a in self.before.get(b, ()):
                    yield f"{b} stood above {a}"
                self.before.setdefault(a, set()).add(b)
