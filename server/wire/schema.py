"""JSON Schema of the trace, with every entity in its definitions."""

from typing import Any

from pydantic.json_schema import models_json_schema

from server.wire.entities import BY_LETTER
from server.wire.trace import SCHEMA, Trace


def document() -> dict[str, Any]:
    """Draft 2020-12. The entities are definitions: a step's `set` maps a uid to those fields of one that changed."""
    models = [(model, "serialization") for model in (Trace, *BY_LETTER.values())]
    _, definitions = models_json_schema(models, by_alias=True, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    found = definitions["$defs"]
    trace = found.pop("Trace")
    entities = [{"$ref": f"#/$defs/{model.__name__}"} for model in BY_LETTER.values()]
    found["Step"]["properties"]["set"] = {
        "title": "Set",
        "type": "object",
        "additionalProperties": {"anyOf": entities},
        "description": "uid -> the fields that changed; null means absent.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"gradbox:trace:{SCHEMA}",
        **trace,
        "$defs": dict(sorted(found.items())),
    }
