"""What is wrong with the picture of a step, fact by fact: each function names what disagrees with the state of the
trace."""

import itertools
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from tests.pictures import expected_picture
from tests.pictures.expected_picture import State, of_kind, ref

STRETCHES = 96
"""A closed row without numbers shows the means of so many stretches, where it has more cells."""

Picture = dict[str, Any]
Box = list[float]


def by(rows: list[dict[str, Any]], *names: str) -> dict[Any, dict[str, Any]]:
    """Rows by what names them; a name is there once."""
    by_name = {row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row for row in rows}
    assert len(by_name) == len(rows), f"twice among {names}"
    return by_name


def members(picture: Picture) -> set[str]:
    """All that stands in a closed fold, by the mark's own word."""
    return {uid for mark in picture["folds"] for uid in mark["members"]}


def sides(picture: Picture) -> set[str]:
    return {pane["side"] for pane in picture["panes"]}


def storages(picture: Picture, before: State, state: State) -> Iterator[str]:
    """Each drawn cell shows its value, exact or visibly rounded; those whose value changed are marked as written."""
    living = of_kind(state, "storage")
    strips = by(picture["strips"], "uid")
    if extra := strips.keys() - living.keys():
        yield f"strips of what is not there: {extra}"
    if "memory" in sides(picture) and (lost := living.keys() - strips.keys() - members(picture)):
        yield f"storages neither drawn nor in a fold: {sorted(lost)}"
    cells = by(picture["cells"], "key", "dtype")
    rows = by(picture["rows"], "key")
    colours = by(picture["colours"], "uid")
    for uid, strip in strips.items():
        if uid not in living:
            continue
        slim = rows[strip["row"]]["slim"]
        for dtype, values in (living[uid].get("cells") or {}).items():
            mine = {k: cells.get((f"{uid}:{k}", dtype)) for k in range(len(values))}
            if slim and values and not any(mine.values()):
                yield from colour_problems(uid, colours[uid], values)
                continue
            first = first_cells(strip, len(values))
            for k, value in enumerate(values):
                if k in first:
                    yield from cell_problems(mine[k], uid, dtype, k, value, before)
                elif mine[k]:
                    yield f"cell {uid}:{k} is drawn beyond the first {strip['first']}"
            if len(first) < len(values):
                yield from cut_problems(strip, values, state)
            yield from cells_in_order(strip, [cell["box"] if cell else None for cell in mine.values()])
        for dtype, parts in (living[uid].get("windows") or {}).items():
            values = {start + k: value for start, row in parts for k, value in enumerate(row)}
            for (key, of), cell in cells.items():
                if key.startswith(f"{uid}:") and of == dtype:
                    yield from cell_problems(
                        cell, uid, dtype, int(key.split(":")[1]), values[int(key.split(":")[1])], {}
                    )
    for key, _ in cells:
        if key.split(":")[0] not in strips:
            yield f"cell {key} without a strip"


def first_cells(strip: dict[str, Any], n: int) -> set[int]:
    """The cells of n that a strip says it draws: all, or the first columns of the first lines."""
    if strip["first"] is None:
        return set(range(n))
    lines, columns, every = map(int, strip["first"].split())
    return {k for k in range(n) if k % every < columns and k // every < lines}


def cut_problems(strip: dict[str, Any], values: list[Any], state: State) -> Iterator[str]:
    """Where not all cells are drawn, it is said how many are, and the least, mean and greatest of all."""
    lines, columns, _ = map(int, strip["first"].split())
    unread = re.search(r"\+(\d+) cells nobody reads", " ".join(strip["notes"]))
    if unread:
        readers = [e for e in of_kind(state, "tensor", "array").values() if e.get("storage") == strip["uid"]]
        readers += [slot for slot in expected_picture.held(state).values() if slot["storage"] == strip["uid"]]
        read = {cell for reader in readers for _, cell in expected_picture.reads(reader)}
        if int(unread[1]) != len(values) - columns or not read or max(read) >= columns:
            yield f"{strip['uid']} says {unread[0]}, read are {sorted(read)}"
        return
    if lines * columns < min(len(values), 6):
        yield f"{strip['uid']} draws {lines} × {columns} of {len(values)} cells"
    said = " ".join(strip["notes"])
    if f"first {lines} × {columns}" not in said and f"first {lines * columns} of {len(values)}" not in said:
        yield f"{strip['uid']} draws {lines} × {columns} and says {said}"
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values):
        told = re.search(r"min (\S+), mean (\S+), max (\S+)", said)
        truth = (min(numbers), sum(numbers) / len(numbers), max(numbers))
        if not told or not all(
            expected_picture.says(text, value) for text, value in zip(told.groups(), truth, strict=True)
        ):
            yield f"{strip['uid']} says {said}, not {truth}"


def colour_problems(uid: str, drawn: dict[str, Any], values: list[Any]) -> Iterator[str]:
    """A closed row without numbers has a colour for the sign of each of its cells; of very many, for stretches of
    them."""
    if len(values) > STRETCHES:
        if any(values) and not drawn["pos"] and not drawn["neg"]:
            yield f"{uid}: neither cells nor colours"
        return
    if drawn["bands"] != 1:
        return
    for sign, wanted in (("pos", lambda value: value > 0), ("neg", lambda value: value < 0)):
        cells = {k for k, value in enumerate(values) if isinstance(value, int | float) and wanted(value)}
        odd = {k for k, value in enumerate(values) if not isinstance(value, int | float)}
        if {round(at * len(values)) for at in drawn[sign]} - odd != cells:
            yield f"{uid}: cells {sorted(cells)} are {sign}, drawn are {drawn[sign]}"


def cells_in_order(strip: dict[str, Any], cells: list[Box | None]) -> Iterator[str]:
    """Cells lie inside their strip, from left to right and line by line."""
    known = [box for box in cells if box]
    for box in known:
        x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
        frames = strip["frames"] or [strip["box"]]
        if not any(left <= x <= left + w and top <= y <= top + h for left, top, w, h in frames):
            yield f"a cell of {strip['uid']} at {box} outside of its strip"
    for a, b in itertools.pairwise(known):
        if not (b[0] > a[0] and abs(a[1] - b[1]) < 0.5) and not (b[1] > a[1] and b[0] <= a[0]):
            yield f"cells of {strip['uid']} at {a} and {b} are not in order"


def cell_problems(
    cell: dict[str, Any] | None, uid: str, dtype: str, k: int, value: Any, before: State
) -> Iterator[str]:
    if cell is None:
        yield f"no cell {uid}:{k} {dtype}"
        return
    if not drawn_as(json.loads(cell["value"]), value):
        yield f"cell {uid}:{k} is {cell['value']}, not {value}"
    if cell["text"] is None:
        if not cell["heat"]:
            yield f"cell {uid}:{k} without a number"
    elif not expected_picture.says(cell["text"], value):
        yield f"cell {uid}:{k} says {cell['text']}, not {value}"
    place, _, told = cell["title"].partition(" = ")
    number, _, kind = told.partition(" · ")
    titled = place == f"{uid}[{k}]" and kind.startswith(dtype.removeprefix("torch."))
    if not titled or not expected_picture.says(number, value):
        yield f"cell {uid}:{k} is titled {cell['title']}"
    if before and cell["written"] != changed(before.get(uid), dtype, k, value):
        yield f"cell {uid}:{k} written: {cell['written']}"


def drawn_as(drawn: Any, value: Any) -> bool:
    """Whether the page read this value; it writes the float 2.795e20 with all its digits, as Python writes an
    integer."""
    if isinstance(value, float) and isinstance(drawn, int) and not isinstance(drawn, bool):
        drawn = float(drawn)
    if isinstance(value, float) and math.isnan(value):
        return drawn is None or math.isnan(drawn)  # which JSON has no number for
    return bool(drawn == value)


def changed(old: dict[str, Any] | None, dtype: str, k: int, value: Any) -> bool:
    """Whether a cell that was there before has another value now; minus zero is another one than zero."""
    row = (old or {}).get("cells", {}).get(dtype) if old else None
    return row is not None and k < len(row) and repr(row[k]) != repr(value)


def handles(picture: Picture, state: State) -> Iterator[str]:
    """Each card says shape, stride, offset, whether it is a leaf and whether it requires grad; the others are
    counted."""
    living = of_kind(state, "tensor", "array")
    cards = by(picture["handles"], "uid")
    counted = {uid for row in picture["rows"] for uid in re.findall(r"\b[ta]\d+\b", row["quiet"])}
    if extra := cards.keys() - living.keys():
        yield f"cards of what is not there: {extra}"
    beside = {
        uid
        for uid, handle in living.items()
        for card in picture["handles"]
        if card["owner"] and card["on"] and handle.get("storage") == card["on"]
    }
    if "memory" in sides(picture) and (lost := living.keys() - cards.keys() - counted - members(picture) - beside):
        yield f"handles neither drawn nor counted: {sorted(lost)}"
    for uid, card in cards.items():
        if uid in living:
            node = state.get(living[uid].get("grad_fn") or "")
            maker = expected_picture.short(node["name"]) if node else None
            yield from card_problems(uid, card, living[uid], maker)


def is_maker(said: str, maker: str | None) -> bool:
    """Whether a card of little room says the operation, with its number where there are several."""
    return maker is not None and re.fullmatch(rf"{re.escape(maker)}( \d+)?", said) is not None


def card_problems(uid: str, card: dict[str, Any], handle: dict[str, Any], maker: str | None) -> Iterator[str]:
    """maker: the operation that made it. A card of little room says `(3,)` and `Mul` alone..."""
    if card["counter"] != handle.get("counter") or card["on"] != handle.get("storage"):
        yield f"card {uid} counts {card['counter']} on {card['on']}"
    shape = str(tuple(handle["shape"])) if "shape" in handle else None
    if card["owner"]:
        if shape and not card["label"].endswith(shape):
            yield f"gradient {uid} is labelled {card['label']}"
        return
    if [card["node"], card["grad"]] != [handle.get("grad_fn"), handle.get("grad")]:
        yield f"card {uid} refers to {card['node']} and {card['grad']}"
    if shape and not any(expected_picture.fits(card["shape"], text) for text in shape_forms(handle["shape"])):
        yield f"card {uid} says {card['shape']}, not {shape}"
    if shape and f" {shape} " not in card["label"]:
        yield f"card {uid} is labelled {card['label']}"
    tracked = bool(handle.get("requires_grad"))
    if f"requires_grad {tracked}" not in card["label"]:
        yield f"card {uid} is labelled {card['label']}"
    role = card["label"].split(", ")[-2]
    if ("∇" in role) != tracked or ("leaf" in handle and (("leaf" in role.split()) != bool(handle["leaf"]))):
        yield f"card {uid} is labelled {card['label']}"
    if card["role"] is not None and handle["kind"] == "tensor" and "…" not in card["role"]:
        wants = re.search(r"(^| · |wants )\.grad$", card["role"]) is not None
        made = (
            "made by" in card["role"] or card["role"].endswith("node") or is_maker(card["role"].split(" · ")[-1], maker)
        )
        none = card["role"].endswith(("no gradient", "no grad"))
        if (wants, made, none) != (
            tracked and bool(handle.get("leaf")),
            tracked and not handle.get("leaf"),
            not tracked,
        ):
            yield f"card {uid} says {card['role']}"
    if handle["kind"] == "array" or "stride" not in handle:
        return
    second = re.search(r"stride (\(.*?\)) offset (\S+?),", card["label"])
    if not second or second[1] != str(tuple(handle["stride"])) or second[2] != str(handle["offset"]):
        yield f"card {uid} is labelled {card['label']}"


def shape_forms(shape: list[int]) -> list[str]:
    words = shape_words(shape)
    return [words, words.replace(" × ", "×"), str(tuple(shape))]


def shape_words(shape: list[int]) -> str:
    """`3 numbers`, `16 × 1`."""
    if len(shape) == 1:
        return "1 number (1,)" if shape[0] == 1 else f"{shape[0]} numbers"
    return " × ".join(map(str, shape)) if shape else "one number"


def counters(picture: Picture, state: State) -> Iterator[str]:
    """A badge is worn by exactly the handles that share the counter, and says its number."""
    badges = by(picture["badges"], "counter")
    wearers: dict[str, list[str]] = {}
    for uid, handle in of_kind(state, "tensor", "array").items():
        if handle.get("counter"):
            wearers.setdefault(handle["counter"], []).append(uid)
    for counter, badge in badges.items():
        if counter not in state:
            yield f"badge of {counter}, which is not there"
            continue
        value = state[counter]["value"]
        if int(badge["version"]) != value or (
            not (title := badge["title"].splitlines()[0]).endswith(f"= {value}") and f"→ {value}" not in title
        ):
            yield f"badge {counter} says {badge['version']} ({badge['title']}), not {value}"
        if not re.fullmatch(rf"(v|\d+→)?{value}", badge["text"]) and not str(value).endswith(badge["text"].strip("…")):
            yield f"badge {counter} reads {badge['text']}, not {value}"
        if int(badge["wearers"]) != len(wearers[counter]):
            yield f"badge {counter} is worn by {badge['wearers']}, not {wearers[counter]}"
    expected = {slot.get("counter") for slot in expected_picture.held(state).values()}
    told = {uid for uid, counter in of_kind(state, "counter").items() if counter["value"] or uid in expected}
    if extra := badges.keys() - told:
        yield f"badges of what was never written, nor is kept: {sorted(extra)}"
    for card in picture["handles"]:
        if card["counter"] in told and card["counter"] not in badges:
            yield f"{card['uid']} without the badge of {card['counter']}"
        worn = badges.get(card["counter"])
        if worn and not card["owner"] and worn["row"] == card["row"] and not card["quiet"]:
            top, bottom = worn["box"][1], worn["box"][1] + worn["box"][3]
            middle = card["box"][1] + card["box"][3] / 2
            if not top - 1 <= middle <= bottom + 1:
                yield f"{card['uid']} beside the badge of {card['counter']}"


def size(handle: dict[str, Any]) -> int:
    n = 1
    for k in handle.get("shape") or []:
        n *= k
    return n


def named(picture: Picture, state: State) -> Iterator[str]:
    """Each name's tag stands at the card of what it refers to, and each path leads to where its tag stands."""
    cards = {row["uid"]: row for row in picture["handles"]}
    drawn_objects = {row["uid"] for row in picture["objects"]}
    bound = {
        (frame, name, to)
        for frame, e in of_kind(state, "frame").items()
        for name, value in e["vars"].items()
        if (to := ref(value)) and to in state and state[to]["kind"] in ("tensor", "array", "object")
    }
    tags = {(tag["frame"], tag["name"], tag["ref"]) for tag in picture["tags"] if tag["name"] is not None}
    if wrong := tags - bound:
        yield f"names that are not bound: {sorted(wrong)}"
    more = {row["ref"]: row for row in picture["moreNames"]}
    for frame, name, to in sorted(bound - tags):
        if to in drawn_objects:
            yield f"object {to} without its name {name}"
        elif to in cards and not cards[to]["owner"]:
            if name not in (more.get(to) or {"names": ""})["names"].split(", "):
                yield f"{to} without its name {name}"
        elif to not in members(picture) and "memory" in sides(picture):
            yield f"{name} of {frame} means {to}, which is neither drawn nor in a fold"
    for tag in picture["tags"]:
        card = cards.get(tag["ref"])
        first = min(other["box"][1] for other in picture["tags"] if other["ref"] == tag["ref"])
        middle = tag["box"][1] + tag["box"][3] / 2
        if (
            card
            and tag["box"][1] < first + 2
            and not card["box"][1] - 3 <= middle <= card["box"][1] + card["box"][3] + 3
        ):
            yield f"tag {tag['name'] or tag['path']} at {tag['box']}, the card of {tag['ref']} at {card['box']}"
        if card and tag["box"][0] + tag["box"][2] > card["box"][0] + 1:
            yield f"tag {tag['name'] or tag['path']} on the card of {tag['ref']}"
        if tag["path"] is not None and tag["ref"] not in expected_picture.resolve(state, tag["path"]):
            yield f"path {tag['path']} does not lead to {tag['ref']}"
        whole = tag["name"] or tag["path"] or ""
        if not (whole.endswith(tag["text"].removeprefix("…").lstrip(".")) and tag["text"].strip("….")):
            yield f"tag of {whole} says {tag['text']}"
    for row in picture["moreNames"]:
        listed = [name for name in row["names"].split(", ") if name]
        if int(row["count"]) != len(listed):
            yield f"{row['ref']} counts {row['count']} names, lists {listed}"


def values(picture: Picture, state: State) -> Iterator[str]:
    """Plain values of frames are listed, or counted."""
    chips = by(picture["chips"], "frame", "name")
    if "memory" not in sides(picture):
        return
    frames = by(picture["frames"], "uid")
    if frames.keys() != of_kind(state, "frame").keys():
        yield f"frames {sorted(frames)}"
    for uid, e in of_kind(state, "frame").items():
        plain = {
            name: value
            for name, value in e["vars"].items()
            if not ref(value) and not re.fullmatch("__.*__", name)
            if not (isinstance(value, dict) and value.get("py") in expected_picture.SILENT)
        }
        for (_, name), chip in chips.items():
            value = json.loads(chip["value"])
            if isinstance(value, int | float) and not chip_says(chip["text"], value):
                yield f"{name} = {value} says {chip['text']}"
        mine = {name: json.loads(chip["value"]) for (frame, name), chip in chips.items() if frame == uid}
        if wrong := {name for name, value in mine.items() if not drawn_as(value, plain.get(name, ...))}:
            yield f"chips of {uid} that are wrong: {wrong}"
        hidden = max(int(text) for text in frames.get(uid, {"more": ["+0"]})["more"])
        if len(mine) + hidden != len(plain):
            yield f"{uid} lists {len(mine)} values and counts {hidden} of {len(plain)}"


def chip_says(text: str, value: Any) -> bool:
    return "…" in text or expected_picture.says(text, value)


def containers(picture: Picture, state: State) -> Iterator[str]:
    """Each drawn object's line lists what it holds, in order."""
    living = of_kind(state, "object")
    drawn = by(picture["objects"], "uid")
    if extra := drawn.keys() - living.keys():
        yield f"objects that are not there: {extra}"
    for uid in drawn.keys() & living.keys():
        e = living[uid]
        if not expected_picture.fits(drawn[uid]["type"].split(" · ")[0], e.get("type") or "object"):
            yield f"object {uid} is called {drawn[uid]['type']}"
        items = [item[1] if isinstance(item, list) and len(item) == 2 else item for item in e.get("items") or []]
        items += list((e.get("attrs") or {}).values())
        at = iter(items)
        for row in picture["items"]:
            if row["key"].startswith(f"{uid}:") and not row["key"].endswith(":…"):
                value = json.loads(row["value"])
                if not any(drawn_as(value, item) for item in at):
                    yield f"object {uid} does not hold {row['key']} = {row['value']} there"
                if row["to"] != ref(value):
                    yield f"{row['key']} leads to {row['to']}"
