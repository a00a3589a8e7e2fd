"""The schema of the trace: as JSON Schema, as the table of events for the page, and with upgrades for traces of earlier
schemas."""

import gzip
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from gradbox.wire.base import Number, Uid, Value
from gradbox.wire.entities import Entity, Item
from gradbox.wire.events import EVENTS, Event, LogEntry
from gradbox.wire.trace import SCHEMA, Trace

UNIONS: dict[str, Any] = {
    "Number": Number,
    "Value": Value,
    "Item": Item,
    "Event": Event,
    "LogEntry": LogEntry,
    "Entity": Entity,
}
"""Unions with definitions of their own, the inner ones first."""


class JsonSchemaWithoutTitles(GenerateJsonSchema):
    """A generator of JSON Schema without titles, which would only repeat the fields' names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


@cache
def encoded_schema_document() -> bytes:
    """The document as JSON. The first call takes half a second."""
    return json.dumps(schema_document(), separators=(",", ":"), ensure_ascii=False).encode()


def schema_document() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12). A step's `set` maps a uid to the fields of its entity that changed; null means
    absent."""
    adapters: list[Any] = [("Trace", "serialization", TypeAdapter(Trace))]
    adapters += [(name, "serialization", TypeAdapter(union)) for name, union in UNIONS.items()]
    schemas, rest = TypeAdapter.json_schemas(adapters, by_alias=True, schema_generator=JsonSchemaWithoutTitles)
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
    """A part of a schema in which each occurrence of the union is replaced by a reference."""
    if isinstance(part, dict):
        siblings = {key: part[key] for key in ("default", "description") if key in part}
        if {key: inner for key, inner in part.items() if key not in (*siblings, "discriminator")} == union:
            return {"$ref": f"#/$defs/{name}", **siblings}
        return {key: with_named_union(inner, union, name) for key, inner in part.items()}
    return [with_named_union(inner, union, name) for inner in part] if isinstance(part, list) else part


def event_table() -> dict[str, dict[str, Any]]:
    """For each event's name its row without the model, and `refs`, the fields that hold a uid."""
    return {
        name: {key: value for key, value in asdict(row).items() if key != "model"} | {"refs": uid_fields(row.model)}
        for name, row in EVENTS.items()
    }


def uid_fields(model: Any) -> list[str]:
    """The fields of an event that hold a uid."""

    def holds_uid(hint: Any) -> bool:
        return hint == Uid or any(holds_uid(part) for part in get_args(hint))

    return [field for field, hint in get_type_hints(model, include_extras=True).items() if holds_uid(hint)]


SCHEMA_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each schema a function that converts a trace to the next schema. Whoever raises `SCHEMA` adds a row here and a
stored example in tests/contract."""

HEADER_BYTES = 4096
"""The first bytes of a trace, which contain its schema, because that is its first field."""

_SCHEMA_PATTERN = re.compile(rb'^\{"schema":\s*(\d{1,9})[,}]')


class NewerSchemaError(ValueError):
    """The trace has a later schema than this server can read."""

    def __init__(self, schema: int) -> None:
        super().__init__(
            f"the trace has schema {schema}, and this server reads schemas up to {SCHEMA}: update the server"
        )
        self.schema = schema


def upgrade_trace(document: dict[str, Any]) -> dict[str, Any]:
    """Convert a trace, as parsed from its JSON, to the current schema. Raises NewerSchemaError."""
    schema = document.get("schema", 1)
    if schema > SCHEMA:
        raise NewerSchemaError(schema)
    for earlier in range(schema, SCHEMA):
        document = SCHEMA_UPGRADES[earlier](document) | {"schema": earlier + 1}
    return document


def upgrade_gzipped_trace(body: bytes) -> bytes:
    """Convert a stored trace, gzipped JSON, to the current schema; a current one is returned as it is, unparsed.

    Raises NewerSchemaError, and what gzip and JSON raise for other data.
    """
    beginning = zlib.decompressobj(wbits=31).decompress(body, HEADER_BYTES)
    schema = _SCHEMA_PATTERN.match(beginning)
    if schema is not None and int(schema[1]) == SCHEMA:
        return body
    document = upgrade_trace(json.loads(gzip.decompress(body)))
    return gzip.compress(json.dumps(document, ensure_ascii=False).encode(), compresslevel=1, mtime=0)
