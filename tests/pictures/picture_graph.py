"""What is wrong with the graph of a step, its gradients and its folds, against the trace's state."""

import re
from collections.abc import Iterator
from typing import Any

from tests.pictures import expected_picture
from tests.pictures.expected_picture import ALARMS, State, of_kind
from tests.pictures.picture_facts import Box, Picture, by, members, sides


def gradient_faults(picture: Picture, state: State, steps: list[dict[str, Any]]) -> Iterator[str]:
    """`.grad` stands beside its tensor, is None where it is None, and chips show what visits passed on."""
    tensors = of_kind(state, "tensor")
    for card in picture["handles"]:
        if card["owner"] and state.get(card["owner"], {}).get("grad") != card["uid"]:
            yield f"{card['uid']} is not the gradient of {card['owner']}"
    for row in picture["none"]:
        if tensors.get(row["owner"], {}).get("grad") in state or not tensors.get(row["owner"], {}).get("requires_grad"):
            yield f"{row['owner']} has a gradient, or none to have: {row['title']}"
        path = row["title"].split(".grad ")[0]
        if path and row["owner"] not in expected_picture.resolve(state, path):
            yield f"{row['title']} is not of {row['owner']}"
        if row["text"] not in ("None", "None · freed"):
            yield f"{row['title']}: {row['text']}"
    for row in picture["elsewhere"]:
        if tensors.get(row["owner"], {}).get("grad") != row["to"]:
            yield f"{row['owner']} has no gradient {row['to']}"
    for row in picture["gradNames"]:
        if row["path"] != ".grad" and row["ref"] not in expected_picture.resolve(state, row["path"]):
            yield f"{row['path']} does not lead to {row['ref']}"
    placed = {row["owner"] for lane in ("handles", "none", "elsewhere") for row in picture[lane]}
    small = {row["key"] for row in picture["rows"] if row["small"]}
    for card in picture["handles"]:
        handle = tensors.get(card["uid"])
        open_card = not card["owner"] and not card["quiet"] and card["row"] not in small
        if handle and open_card and handle.get("grad") in state and card["uid"] not in placed:
            yield f"{card['uid']} without the place of its gradient {handle['grad']}"
    drawn_names = {row["ref"] for row in picture["gradNames"]}
    slim = {row["key"] for row in picture["rows"] if row["slim"]} | small
    for card in picture["handles"]:
        if card["owner"] and card["row"] not in slim and card["uid"] not in drawn_names:
            yield f"the gradient {card['uid']} without its name"
    yield from gradient_chips(picture, steps)
    yield from turns(picture, steps)
    yield from links(picture, state, steps[-1])


def turns(picture: Picture, steps: list[dict[str, Any]]) -> Iterator[str]:
    """The node that backward visits says the how-manieth it is; arrows stand where gradients came through."""
    visit = steps[-1].get("visit")
    visits = [step["visit"] for step in steps if step.get("visit")]
    for node in picture["nodes"]:
        if visit and node["uid"] == visit["node"] and node["turn"]:
            k = sum(other["backward"] == visit["backward"] for other in visits)
            if node["turn"] != str(k):
                yield f"{node['uid']} has its turn {node['turn']}, not {k}"
    passed = {f"{v['node']}:{k}" for v in visits for k, grad in enumerate(v["grad_inputs"]) if grad}
    now = {f"{visit['node']}:{k}" for k, grad in enumerate(visit["grad_inputs"]) if grad} if visit else set()
    for edge in picture["edges"]:
        if edge["flow"] != (edge["key"] in now):
            yield f"a gradient is on edge {edge['key']}: {edge['flow']}"
        if edge["arrow"] and edge["key"] not in passed:
            yield f"an arrow on edge {edge['key']}"


def links(picture: Picture, state: State, step: dict[str, Any]) -> Iterator[str]:
    """Each link joins what the trace joins."""
    visit = step.get("visit") or {}
    for link in picture["links"]:
        start, end = re.sub(r"\b(dock|pin|grad) ", r"\1", link["key"]).split(" ")
        node = re.sub(r"^dock", "", start).split(":")[0]
        e = state.get(node, {})
        if link["kind"] == "gradient":
            good = node == visit.get("node") and end in (
                f"grad{visit.get('accumulates')}",
                *expected_grads(state, visit),
            )
        elif link["kind"] == "broken":
            good = expected_picture.held(state).get(start, {}).get("state") in ALARMS
        elif ":" in start:
            good = end == f"pin{start}" or (e.get("saved") or {}).get(start.split(":", 1)[1], {}).get("storage") == end
        else:
            good = (
                state.get(end, {}).get("grad_fn") == node or e.get("variable") == end or end.startswith(f"pin{node}:")
            )
        if not good:
            yield f"a {link['kind']} link {link['key']}"


def expected_grads(state: State, visit: dict[str, Any]) -> list[str]:
    """Where a leaf's gradient may arrive, if not at its place: at itself, or at its gradient's own card."""
    leaf = visit.get("accumulates") or ""
    return [leaf, state.get(leaf, {}).get("grad") or leaf]


def gradient_chips(picture: Picture, steps: list[dict[str, Any]]) -> Iterator[str]:
    visits: dict[str, dict[str, Any]] = {}
    for step in steps:
        if visit := step.get("visit"):
            visits[visit["node"]] = visit
    now = steps[-1].get("visit")
    for chip in picture["grads"]:
        node, _, k = chip["on"].partition(":")
        visit = visits.get(node)
        if visit is None:
            yield f"a gradient at {chip['on']}, which was not visited"
            continue
        sources = [visit["grad_inputs"][int(k)]] if k else visit["grad_outputs"]
        if not any(grad and carries(chip, grad) for grad in sources):
            yield f"the gradient at {chip['on']} says {chip['title']} {chip['texts']}"
        if chip["now"] != (visit is now):
            yield f"the gradient at {chip['on']} is now: {chip['now']}"
    if not now:
        return
    shown = {chip["on"] for chip in picture["grads"] if chip["now"]}
    edges = {edge["key"] for edge in picture["edges"] if edge["flow"]}
    for k, grad in enumerate(now["grad_inputs"]):
        key = f"{now['node']}:{k}"
        if grad and key in edges and key not in shown:
            yield f"the gradient on {key} is not shown"


def carries(chip: dict[str, Any], grad: dict[str, Any]) -> bool:
    """Whether a chip says this gradient: its shape and its first elements."""
    if not chip["title"].startswith(f"gradient {tuple(grad['shape'])} {grad['dtype']}"):
        return False
    cells = grad.get("cells")
    shown = [text for text in chip["texts"] if text not in ("…", "∅")]
    if cells is None:
        return shown in ([], [str(tuple(grad["shape"]))])
    return all(expected_picture.says(text, value) for text, value in zip(shown, cells, strict=False))


def graph_faults(picture: Picture, state: State) -> Iterator[str]:
    """Each node is drawn or in a fold, and each edge runs from the input that torch names to its reader."""
    if "graph" not in sides(picture):
        return
    living = of_kind(state, "node")
    nodes = by(picture["nodes"], "uid")
    folded = members(picture)
    if extra := nodes.keys() - living.keys():
        yield f"nodes that are not there: {extra}"
    if lost := living.keys() - nodes.keys() - folded:
        yield f"nodes neither drawn nor in a fold: {sorted(lost)}"
    for uid in nodes.keys() & living.keys():
        node, drawn = living[uid], nodes[uid]
        if drawn["variable"] != node.get("variable"):
            yield f"node {uid} is of {drawn['variable']}"
        if "accumulate" in drawn["marks"]:
            name = drawn["label"].removeprefix("AccumulateGrad ")
            # what lost its name is called after the name that it had
            former = name.startswith("old ") and not expected_picture.names_of(state, node.get("variable") or "")
            if (
                not former
                and node.get("variable") not in {name, *expected_picture.resolve(state, name)}
                and node.get("variable")
            ):
                yield f"leaf {uid} of {node.get('variable')} is labelled {drawn['label']}"
        else:
            label = re.sub(r"\s\d+$", "", drawn["name"] or "")
            if drawn["name"] is None:
                yield f"node {uid} {node['name']} has no name"
            if (
                drawn["name"] is not None
                and not expected_picture.fits(label, expected_picture.short(node["name"]))
                and not label.endswith("…")
            ):
                yield f"node {uid} {node['name']} is called {drawn['name']}"
            if not drawn["label"].startswith(node["name"]):
                yield f"node {uid} {node['name']} is labelled {drawn['label']}"
            if ("released" in drawn["marks"]) != bool(node.get("released")):
                yield f"node {uid} is released: {node.get('released')}"
    yield from edges(picture, state, nodes)


def edges(picture: Picture, state: State, nodes: dict[str, dict[str, Any]]) -> Iterator[str]:
    living = of_kind(state, "node")
    drawn = by(picture["edges"], "key")
    wanted = {
        f"{uid}:{k}": (uid, end[0])
        for uid, node in living.items()
        for k, end in enumerate(node.get("next") or [])
        if end and end[0] in state
    }
    counted = {(fold["at"], uid) for fold in picture["folds"] if fold["at"] for uid in fold["members"]}
    again = {row["uid"] for row in picture["again"]}
    for key, edge in drawn.items():
        if wanted.get(key) != (edge["from"], edge["to"]):
            yield f"edge {key} from {edge['from']} to {edge['to']}"
            continue
        for uid, at in zip((edge["to"], edge["from"]), edge["ends"], strict=True):
            boxes = [row["box"] for row in [*picture["nodes"], *picture["again"]] if row["uid"] == uid]
            boxes += [fold["box"] for fold in picture["folds"] if uid in fold["members"] and not fold["at"]]
            if not any(on_border(at, box) for box in boxes):
                yield f"edge {key} ends at {at}, {uid} stands at {boxes}"
    for key, (reader, to) in wanted.items():
        if key not in drawn and reader in nodes and (to in nodes or to in again) and (reader, to) not in counted:
            hosts = {uid for uid, _ in counted}
            if not any((host, to) in counted and (host, reader) in counted for host in hosts):
                yield f"no edge {key} from {reader} to {to}"


def on_border(at: list[float], box: Box, slack: float = 1.5) -> bool:
    x, y = at
    left, top, width, height = box
    inside = left - slack <= x <= left + width + slack and top - slack <= y <= top + height + slack
    deep = left + slack < x < left + width - slack and top + slack < y < top + height - slack
    return inside and not deep


def fold_faults(picture: Picture, state: State) -> Iterator[str]:
    """A fold counts what it stands for."""
    living = of_kind(state, "node")
    for fold in picture["folds"]:
        numbers = {word: int(n) for n, word in re.findall(r"(\d+) (nodes?|lea(?:f|ves))\b", fold["text"])}
        if fold["key"].startswith("graph ") and fold["members"] and numbers:
            leaves = {uid for uid in fold["members"] if living.get(uid, {}).get("variable")}
            others = {*fold["members"]} - leaves
            got = sum(n for word, n in numbers.items() if word.startswith("node"))
            if got != len(others) or sum(n for word, n in numbers.items() if word.startswith("lea")) != len(leaves):
                yield f"fold {fold['key']} counts {numbers}, has {len(others)} and {len(leaves)}"
        if fold["members"] and any(uid not in state for uid in fold["members"]):
            yield f"fold {fold['key']} has {[uid for uid in fold['members'] if uid not in state]}, which are not there"
        count = re.match(r"[▸▾]?\|?(\d+) ", fold["text"]) or re.search(r"(?:^|\|)(\d+) folded", fold["text"])
        if count and not fold["key"].startswith("graph"):
            keys = {uid for uid in fold["members"] if uid[0] == "s"}
            bare = {uid for uid in fold["members"] if uid[0] in "ta" and not state.get(uid, {}).get("storage")}
            beside = gradient_storages(state, {*fold["members"]})
            if not len(keys | bare) - len(beside) <= int(count[1]) <= len(keys | bare):
                yield f"fold {fold['key']} counts {count[1]}, has {sorted(keys | bare)}"


def gradient_storages(state: State, uids: set[str]) -> set[str]:
    """The storages of the gradients of some tensors."""
    grads = {state[uid].get("grad") for uid in uids if uid in state and uid[0] == "t"}
    return {state[uid].get("storage") or uid for uid in grads if uid in state}
