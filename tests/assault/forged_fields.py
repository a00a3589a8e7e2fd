"""Programs that write a line of their own in place of the recorder's, with one field as large as the pipe takes: one
for each field of each line, made from the wire's schema."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter

from gradbox.wire.trace import OutcomeLine, RoundsLine, StepLine
from tests.assault.programs import FIRST, forging, repeated

LARGE_BYTES = 7_500_000
MAX_DEPTH = 7
"""Fields that lie deeper than that are in models that others have, too."""

HOLE = "@@"
"""Stands for the large value in a line."""

LINES: dict[str, tuple[Any, dict[str, Any]]] = {
    "step": (StepLine, {"step": {"i": FIRST, "kind": "statement", "line": 1}}),
    "rounds": (RoundsLine, {}),
    "outcome": (OutcomeLine, {"outcome": {"status": "finished"}}),
}
"""The lines by name, each with what has to stand in it."""


def forged_fields() -> dict[str, str]:
    """The programs, by the name of the field; `{n}` in one stands for a number."""
    programs: dict[str, str] = {}
    for name, (model, given) in LINES.items():
        schema = TypeAdapter(model).json_schema()
        definitions = schema.pop("$defs")
        for place, line, value in forgeries(schema, definitions, given, name, 0):
            before, after = compact(line).split(json.dumps(HOLE))
            data = f"{before.encode()!r} + {value} + {after.encode()!r} + b'\\n'"
            programs.setdefault(place, forging(data))
    return programs


def forgeries(
    schema: dict[str, Any], definitions: dict[str, Any], given: Any, place: str, depth: int
) -> Iterator[tuple[str, Any, str]]:
    """The fields below this place: the name of each, the value with a hole for it, and what fills the hole.

    given: what the value has to hold besides
    """
    if depth > MAX_DEPTH:
        return
    for option in options(schema, definitions):
        if "properties" in option:
            base = {**smallest(option, definitions), **(given or {})}
            for key, field in option["properties"].items():
                inside = f"{place}.{key}"
                for kind, value in large_values(field, definitions).items():
                    yield f"{inside}: {kind}", {**base, key: HOLE}, value
                for found, part, value in forgeries(field, definitions, (given or {}).get(key), inside, depth + 1):
                    yield found, {**base, key: part}, value
        elif option.get("type") == "array" and "items" in option:
            for found, part, value in forgeries(option["items"], definitions, None, f"{place}[]", depth + 1):
                yield found, [part], value
        elif isinstance(option.get("additionalProperties"), dict):
            inner = option["additionalProperties"]
            for found, part, value in forgeries(inner, definitions, None, f"{place}{{}}", depth + 1):
                yield found, {"s1": part}, value


def options(schema: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """The kinds of values that a schema allows."""
    if "$ref" in schema:
        return options(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    alternatives = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    return [kind for part in alternatives for kind in options(part, definitions)] if alternatives else [schema]


def smallest(schema: dict[str, Any], definitions: dict[str, Any], depth: int = 0) -> Any:
    """A valid value with as little as it may have."""
    option = options(schema, definitions)[0]
    if "const" in option or "enum" in option:
        return option.get("const", next(iter(option.get("enum", [None]))))
    if option.get("type") == "object" and depth < MAX_DEPTH:
        fields = option.get("properties", {})
        return {
            key: smallest(fields[key], definitions, depth + 1) for key in option.get("required", []) if key in fields
        }
    if option.get("type") == "string":
        return "s1" if "pattern" in option else ""
    return {"array": [], "integer": option.get("minimum", 0), "number": 0, "boolean": False, "object": {}}.get(
        option.get("type", "null")
    )


def large_values(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, str]:
    """Expressions for the bytes of the largest value of each kind that a field takes, and of a list."""
    kinds = options(schema, definitions)
    items = next((kind["items"] for kind in kinds if "items" in kind), {"const": 1})
    item = compact(smallest(items, definitions))
    large = {"list": f"b'[' + {repeated(item, LARGE_BYTES // (len(item) + 1))} + b']'"}
    for kind in kinds:
        if isinstance(kind.get("additionalProperties"), dict):
            item = compact(smallest(kind["additionalProperties"], definitions))
            pairs = f"""b','.join([b'"s%d":' % k + b'{item}' for k in range({LARGE_BYTES // (len(item) + 11)})])"""
            large["dictionary"] = f"b'{{' + {pairs} + b'}}'"
        elif kind.get("type") == "string":
            large["text"] = f"""b'"' + b'x' * {LARGE_BYTES} + b'"'"""
        elif kind.get("type") in ("integer", "number"):
            large["number"] = f"b'9' * {LARGE_BYTES}"
    return large


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
