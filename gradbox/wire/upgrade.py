"""Traces of earlier schemas, made readable: one function for every schema that was raised since the first."""

import gzip
import json
import re
import zlib
from collections.abc import Callable
from typing import Any

from gradbox.wire.trace import SCHEMA

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""By schema: makes a trace of it one of the next schema. Raising `SCHEMA` brings its row, and a stored example in tests/contract."""

HEADER_BYTES = 4096
"""Bytes of a trace in which its schema stands: it is the first of its fields."""

_SCHEMA = re.compile(rb'^\{"schema":\s*(\d{1,9})[,}]')


class NewerSchema(ValueError):
    """A trace of a later schema than this server reads."""

    def __init__(self, schema: int) -> None:
        super().__init__(
            f"the trace has schema {schema}, and this server reads schemas up to {SCHEMA}: update the server"
        )
        self.schema = schema


def upgrade(document: dict[str, Any]) -> dict[str, Any]:
    """A trace, as parsed from its JSON, in the current schema. Raises NewerSchema."""
    schema = document.get("schema", 1)
    if schema > SCHEMA:
        raise NewerSchema(schema)
    for earlier in range(schema, SCHEMA):
        document = UPGRADES[earlier](document) | {"schema": earlier + 1}
    return document


def upgrade_gzip(body: bytes) -> bytes:
    """A stored trace, gzipped JSON, in the current schema; one that is current comes back as it is, unparsed.

    Raises NewerSchema, and what gzip and JSON raise for what is none.
    """
    beginning = zlib.decompressobj(wbits=31).decompress(body, HEADER_BYTES)
    schema = _SCHEMA.match(beginning)
    if schema is not None and int(schema[1]) == SCHEMA:
        return body
    document = upgrade(json.loads(gzip.decompress(body)))
    return gzip.compress(json.dumps(document, ensure_ascii=False).encode(), compresslevel=1, mtime=0)
