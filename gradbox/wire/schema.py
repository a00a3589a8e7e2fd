"""JSON Schema of the trace: every entity, event and value by its name, and the unions of them."""

import json
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from gradbox.wire.base import Number, Value
from gradbox.wire.entities import Entity, Item
from gradbox.wire.events import Event
from gradbox.wire.log import LogEntry
from gradbox.wire.trace import SCHEMA, Trace

UNIONS: dict[str, Any] = {
    "Number": Number,
    "Value": Value,
    "Item": Item,
    "Event": Event,
    "LogEntry": LogEntry,
    "Entity": Entity,
}
"""Unions that have a definition of their own, the inner ones first."""


class Untitled(GenerateJsonSchema):
    """Without a title for every field, which says no more than its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


@cache
def encoded_document() -> bytes:
    """The document as JSON. The first one takes half a second."""
    return json.dumps(schema_document(), separators=(",", ":"), ensure_ascii=False).encode()


def schema_document() -> dict[str, Any]:
    """Draft 2020-12. A step's `set` maps a uid to those fields of its entity that changed; null means absent."""
    adapters: list[Any] = [("Trace", "serialization", TypeAdapter(Trace))]
    adapters += [(name, "serialization", TypeAdapter(union)) for name, union in UNIONS.items()]
    schemas, rest = TypeAdapter.json_schemas(adapters, by_alias=True, schema_generator=Untitled)
    definitions = rest["$defs"] | {name: schemas[name, "serialization"] for name in UNIONS}
    for name in UNIONS:
        union = definitions[name]
        union.pop("discriminator", None)  # its mapping can't name a union inside of a union
        definitions = {
            key: union if key == name else with_named_union(part, union, name) for key, part in definitions.items()
        }
    definitions["Step"]["properties"]["set"] = {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Entity"},
        "description": "uid -> the fields that changed; null means absent.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"gradbox:trace:{SCHEMA}",
        **definitions.pop("Trace"),
        "$defs": dict(sorted(definitions.items())),
    }


def with_named_union(part: Any, union: dict[str, Any], name: str) -> Any:
    """A part of a schema with a reference wherever the union stands."""
    if isinstance(part, dict):
        siblings = {key: part[key] for key in ("default", "description") if key in part}
        if {key: inner for key, inner in part.items() if key not in (*siblings, "discriminator")} == union:
            return {"$ref": f"#/$defs/{name}", **siblings}
        return {key: with_named_union(inner, union, name) for key, inner in part.items()}
    return [with_named_union(inner, union, name) for inner in part] if isinstance(part, list) else part
