"""The loom by module, held against traces of nets that people train: where what ran stands, what is kept, who wrote
what."""

import re
from functools import cache
from typing import Any

import pytest

from tests.recordings.store import kept_trace
from tests.support.explaining import call_page
from tests.support.tracing import Replay
from tests.views.test_nets import NAMES, deep, traced

# pixels that heads and body have on a saved program's page, the path above and the line of signs below left out
ROOMS = {"1440x900": (1018, 530), "1280x720": (888, 424)}
INSET = 1.01
"""Of a box in its rows."""


def shown(request: dict[str, Any]) -> dict[str, Any]:
    """What the view shows of a trace."""
    result: dict[str, Any] = call_page("views/run_by_module", request)
    return result


def in_room(name: str) -> dict[str, int]:
    width, height = ROOMS[name]
    return {"width": width, "height": height}


@cache
def view(name: str, room: str = "1440x900") -> dict[str, Any]:
    """What it shows of one of the nets."""
    return shown({"trace": traced(name), "room": in_room(room)})


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("name", NAMES)
def test_what_a_step_touched_is_in_sight_without_scrolling(name: str, room: str) -> None:
    facts = view(name, room)
    sights = [seen for seen in facts["sights"] if seen is not None]
    assert len(sights) > 20
    assert sum(sights) >= (0.95 if room == "1440x900" else 0.9) * len(sights)
    assert facts["width"] <= ROOMS[room][0]


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_of_a_call_lies_in_its_column_within_its_span(name: str) -> None:
    facts = view(name)
    columns = [set(column["calls"]) for column in facts["columns"]]
    opened = {call for group in facts["groups"] for call in group["calls"]} | set(facts["bare"])
    checked = 0
    for i, step in enumerate(traced(name)["steps"]):
        for entry in step.get("log") or []:
            if entry["kind"] != "op" or entry.get("call") is None:
                continue
            column = next((k for k, calls in enumerate(columns) if entry["call"] in calls), None)
            if column is None:  # a module that is open has no column of its own
                assert entry["call"] in opened, (i, entry)
                continue
            boxes = [box for section in facts["sections"] for box in section["boxes"] if box["column"] == column]
            ran = [box for box in boxes if box["kind"] != "backward" and i in box["steps"]]
            assert len(ran) == 1, (i, entry)
            above, below = ran[0]["heights"][ran[0]["steps"].index(i)]
            assert above <= ran[0]["y"] + ran[0]["h"] + INSET and below >= ran[0]["y"] - INSET
            checked += 1
    assert checked > 10 or name == "functional_only"  # which calls no module


@pytest.mark.parametrize("name", NAMES)
def test_every_node_that_backward_runs_lies_in_its_column(name: str) -> None:
    facts = view(name)
    steps = traced(name)["steps"]
    visits = 0
    for section in facts["sections"]:
        boxes = [box for box in section["boxes"] if box["kind"] == "backward"]
        for i in range(section["first"], section["last"] + 1):
            visit = steps[i].get("visit")
            column = visit and facts["columnOfNode"].get(visit["node"])
            if column is None:
                continue
            assert [box["column"] for box in boxes if i in box["steps"]] == [column], i
            visits += 1
    assert visits > 10


@pytest.mark.parametrize("name", NAMES)
def test_time_goes_down(name: str) -> None:
    for section in view(name)["sections"]:
        boxes = section["boxes"]
        for box in boxes:
            for later in boxes:
                if box["steps"][-1] < later["steps"][0]:
                    assert box["y"] + box["h"] <= later["y"] + 0.01
        for box in boxes:
            for above, below in box["heights"]:
                assert above <= below and above <= box["y"] + box["h"] + INSET and below >= box["y"] - INSET


def kept_by_trace(name: str) -> list[dict[str, Any]]:
    """Of each storage that nodes keep for backward, parameters left out: the first node that kept it, from when until
    when."""
    parameters: set[str] = set()
    sizes: dict[str, int] = {}
    found: dict[str, dict[str, Any]] = {}
    slots: dict[tuple[str, str], dict[str, Any]] = {}
    for i, step in enumerate(traced(name)["steps"]):
        for uid, fields in (step.get("set") or {}).items():
            if fields.get("type") == "Parameter" and fields.get("storage"):
                parameters.add(fields["storage"])
            if isinstance(fields.get("nbytes"), int):
                sizes[uid] = fields["nbytes"]
            for slot, saved in (fields.get("saved") or {}).items():
                key = (uid, slot)
                storage = (saved or {}).get("storage")
                if storage and key not in slots:
                    slots[key] = {"node": uid, "storage": storage, "birth": i, "released": None}
                elif key in slots and not storage and slots[key]["released"] is None:
                    slots[key]["released"] = i
        for uid in step.get("gone") or []:
            for (node, _), kept in slots.items():
                if node == uid and kept["released"] is None:
                    kept["released"] = i
    for kept in slots.values():
        if kept["storage"] not in parameters and kept["storage"] not in found:
            found[kept["storage"]] = {**kept, "bytes": sizes.get(kept["storage"], 0)}
    return list(found.values())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_and_let_go_is_what_the_trace_says(name: str) -> None:
    facts = view(name)
    kept = kept_by_trace(name)
    total = 0
    for section in facts["sections"]:
        for k in range(section["last"] - section["first"] + 1):
            i = section["first"] + k
            expected: dict[int, list[int]] = {}
            for one in kept:
                column = facts["columnOfNode"].get(one["node"])
                if column is None or not section["first"] <= one["birth"] <= i or not one["bytes"]:
                    continue
                held = expected.setdefault(column, [0, 0])
                held[0] += one["bytes"]
                held[1] += one["bytes"] if one["released"] is None or one["released"] > i else 0
            drawn = {bar["column"]: list(bar["kept"][k].values()) for bar in section["bars"] if bar["kept"][k]["kept"]}
            assert drawn == expected, i
            total += len(expected)
    assert total > 10


@pytest.mark.parametrize("name", NAMES)
def test_gradients_arrive_and_optimizers_write_when_the_trace_says(name: str) -> None:
    facts = view(name)
    steps = traced(name)["steps"]
    arrived = {
        (entry["leaf"], entry["step"])
        for section in facts["sections"]
        for box in section["boxes"]
        for entry in box["arrived"]
    }
    said = {
        (step["visit"]["accumulates"], i)
        for i, step in enumerate(steps)
        if (step.get("visit") or {}).get("accumulates")
    }
    assert arrived <= said
    parameters = {uid for column in facts["columns"] for uid in column["parameters"]}
    assert {each for each in said if each[0] in parameters} <= arrived
    written = {
        (uid, box["step"]) for section in facts["sections"] for box in section["written"] for uid in box["parameters"]
    }
    replay = Replay({"steps": []})
    counters: dict[str, int] = {}
    expected = set()
    for i, step in enumerate(steps):
        replay.apply(step)
        entities = replay.state
        now = {uid: entities[entities[uid]["counter"]]["value"] for uid in parameters if uid in entities}
        stepped = any(
            entry["kind"] == "event" and entry["event"] == "optimizer_stepped" for entry in step.get("log") or []
        )
        if stepped:
            expected |= {(uid, i) for uid, value in now.items() if counters.get(uid, value) != value}
        counters = now
    assert written == expected


def test_a_gpt_is_on_one_screen_in_few_columns_with_its_blocks_to_open() -> None:
    facts = view("gpt")
    names = [name for column in facts["columns"] for name in column["names"]]
    assert names[:2] == ["model.transformer.wte", "model.transformer.wpe"]
    assert {"model.transformer.h.0", "model.transformer.h.3", "model.lm_head"} <= set(names)
    assert facts["height"] <= ROOMS["1440x900"][1]
    assert [section["round"] for section in facts["sections"]] == [
        {"number": 0, "total": 2, "missing": 0},
        {"number": 1, "total": 2, "missing": 0},
    ]


def test_a_column_opens_and_closes_and_a_step_opens_nothing() -> None:
    facts = view("gpt")
    block = next(column for column in facts["columns"] if column["names"] == ["model.transformer.h.1"])
    opened = shown({"trace": traced("gpt"), "room": in_room("1440x900"), "opened": [[block["key"], True]]})
    assert [group["name"] for group in opened["groups"]] == ["model.transformer.h.1"]
    names = [name for column in opened["columns"] for name in column["names"]]
    assert {"model.transformer.h.1.attn", "model.transformer.h.1.ln_1"} <= set(names)
    assert opened["width"] <= ROOMS["1440x900"][0]
    closed = shown({"trace": traced("gpt"), "room": in_room("1440x900"), "opened": [[block["key"], False]]})
    assert closed["columns"] == facts["columns"]
    assert facts["layouts"] == len(facts["sections"]), "all steps of a round have one plan"


def test_many_blocks_and_operations_are_few_marks_and_one_plan() -> None:
    traced_blocks = kept_trace(deep(48))
    half = len(traced_blocks["steps"]) // 2
    facts = shown({"trace": traced_blocks, "room": in_room("1440x900"), "drawn": [half]})
    assert facts["layouts"] == 1
    assert len(facts["columnOfNode"]) > 48 * 5
    assert len(facts["columns"]) <= 14 and facts["height"] <= ROOMS["1440x900"][1]
    [folded] = [column for column in facts["columns"] if column["kind"] == "repeat"]
    assert len(folded["names"]) > 30 and f"×{len(folded['names'])}" in facts["svgs"][0]
    assert facts["svgs"][0].count("<g") < 200


THINNED = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(300):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
"""


def test_rounds_that_were_not_recorded_are_counted() -> None:
    thinned = kept_trace(THINNED)
    facts = shown({"trace": thinned, "room": in_room("1440x900"), "drawn": [len(thinned["steps"]) - 1]})
    rounds = [section["round"] for section in facts["sections"] if section["round"]]
    told = thinned["rounds"]
    assert [each["number"] for each in rounds] == [each["n"] for each in told["recorded"]], (
        "as the axis of rounds counts"
    )
    assert rounds[0] == {"number": 0, "total": told["count"], "missing": 0}
    assert sum(each["missing"] + 1 for each in rounds) == rounds[-1]["number"] + 1 > len(rounds)
    assert max(each["missing"] for each in rounds) > 10
    hidden = len(rounds) - facts["svgs"][0].count("Round ") // 2
    assert hidden > 0 and "more round" in facts["svgs"][0], "what there is no room for is counted"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_mark_has_a_sentence(language: str) -> None:
    last = len(traced("gan")["steps"]) - 1
    request = {"trace": traced("gan"), "room": in_room("1440x900"), "language": language, "drawn": [10, 60, last]}
    for svg in shown(request)["svgs"]:
        pressed = re.findall(r'<rect [^>]*role="button"[^>]*>', svg)
        labels = [re.search('aria-label="([^"]*)"', each) for each in pressed]
        assert len(pressed) > 20 and all(labels)
        titles = re.findall("<title>([^<]*)</title>", svg)
        assert len(titles) > len(pressed), "bars and edges have a sentence too"
        for text in titles:
            assert text.endswith("." if language == "en" else "。"), text
            assert "{" not in text and "undefined" not in text and "loom_" not in text, text


def test_what_is_still_to_come_shows_no_number() -> None:
    first = next(i for i, step in enumerate(traced("gpt")["steps"]) if step.get("visit"))
    svg = shown({"trace": traced("gpt"), "room": in_room("1440x900"), "drawn": [first - 1]})["svgs"][0]
    waiting = re.findall(r'<g class="run-box (?:backward|step) waits[^"]*".*?</g>', svg) or re.findall(
        r"<g [^>]*run-box (?:backward|step) waits.*?</g>", svg
    )
    assert waiting and not any("<text" in each and re.search(r"<text[^>]*>[^<]+</text>", each) for each in waiting)
