"""The contract: what it takes, what it does not, and that its declarations for JavaScript are current."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from server.wire import api, link, records
from server.wire import trace as models
from server.wire.entities import ENTITIES
from server.wire.schema import document
from server.wire.trace import Step, StepLine, Trace
from tests.tracing import trace

ROOT = Path(__file__).parent.parent


def step(**fields: Any) -> dict[str, Any]:
    return {"i": 0, "kind": "statement", "line": 1, **fields}


def test_a_trace_comes_back_as_it_went() -> None:
    recorded = trace(
        "import torch\nx = torch.tensor([1., float('nan'), 2**70], requires_grad=True)\nx.sum().backward()\n"
    )
    assert json.loads(Trace.model_validate(recorded).model_dump_json(by_alias=True, exclude_unset=True)) == recorded


@pytest.mark.parametrize(
    "fields",
    [
        {"set": {"z1": {}}},
        {"set": {"t1": {"shape": "2"}}},
        {"set": {"s1": {"shape": [2]}}},
        {"set": {"t1": {"offset": "1"}}},
        {"set": {"t1": {"offset": 1.0}}},
        {"set": {"t1": {"leaf": "yes"}}},
        {"set": {"t1": {"quant": {"scheme": "affine", "scale": "1", "zero_point": 0}}}},
        {"set": {"n1": {"next": [["n2", "0"]]}}},
        {"set": {"s1": {"cells": {"torch.complex64": [{"$c": [1, "2"]}]}}}},
        {"set": {"s1": {"windows": {"torch.float32": [["0", [1.0]]]}}}},
        {"set": {"o1": {"splice": [[0, True, []]]}}},
        {"set": {"t0x": {}}},
        {"gone": ["T1"]},
        {"kind": "guess"},
        {"log": [{"kind": "event", "event": "felt"}]},
        {"log": [{"kind": "event", "event": "path_cut", "tensor": "t1", "name": "x", "reason": "mood"}]},
        {"value": {"ref": "nobody"}},
        {"more": 1},
    ],
)
def test_what_is_no_step(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate(step(**fields))


def test_a_tuple_comes_as_a_list() -> None:
    complete = {
        "n1": {"next": [["n2", 0], None]},
        "o1": {"items": [1, ["key", 2.5]], "splice": [[0, 1, [2, ["key", None]]]]},
        "s1": {
            "cells": {"torch.complex64": [{"$c": [1, 2.5]}]},
            "windows": {"torch.float32": [[0, [1.0, {"$f": "nan"}]]]},
        },
    }
    assert Step.model_validate_json(json.dumps(step(set=complete)), strict=True).set == complete


def test_null_means_absent() -> None:
    parsed = Step.model_validate(step(set={"t1": {"grad": None}}))
    assert json.loads(parsed.model_dump_json(exclude_unset=True))["set"] == {"t1": {"grad": None}}


def test_a_line_of_a_million_digits_or_brackets_is_no_step() -> None:
    for text in (b'{"step":{"i":' + b"9" * 10**6 + b"}}", b'{"step":' + b"[" * 200_000):
        with pytest.raises(ValidationError):
            StepLine.model_validate_json(text)


def test_the_schema_knows_every_entity() -> None:
    schema = document()
    assert {entity.__name__ for entity in ENTITIES.values()} <= set(schema["$defs"])
    references = {text.split('"')[0] for text in json.dumps(schema).split("#/$defs/")[1:]}
    assert references <= set(schema["$defs"])


RECORDS = {
    name.removesuffix("Record"): record
    for name, record in {**vars(link), **vars(records)}.items()
    if name.endswith("Record")
}
UNTYPED = {("Program", "notices"), ("Error", "refusals"), ("Error", "repairs"), ("Refusal", "repairs"), ("Step", "set")}
"""Fields of which only one side says what is inside."""


def comparable(schema: Any) -> Any:
    """A field's schema without what only one of a model and its record can say: patterns, defaults, null."""
    if isinstance(schema, list):
        return [comparable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema.removesuffix("Record") if isinstance(schema, str) else schema
    some = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(some) == 1:
        return comparable(some[0])
    left_out = ("title", "default", "pattern", "examples", "minimum", "description")
    return {key: comparable(part) for key, part in schema.items() if key not in left_out} | (
        {"anyOf": comparable(some)} if some else {}
    )


@pytest.mark.parametrize("name", [name for name in RECORDS if name != "Line"])
def test_what_the_tracer_builds_is_declared_as_the_models_have_it(name: str) -> None:
    record = TypeAdapter(RECORDS[name]).json_schema()
    model = TypeAdapter(api.Job if name == "Job" else getattr(models, name)).json_schema()
    assert set(record["properties"]) == set(model["properties"])
    assert set(model.get("required", ())) <= set(record.get("required", ()))
    for field, schema in record["properties"].items():
        if (name, field) not in UNTYPED:
            assert comparable(schema) == comparable(model["properties"][field]), field


@pytest.mark.skipif(not (ROOT / "node_modules").is_dir(), reason="node_modules is not installed")
@pytest.mark.skipif(shutil.which("node") is None and not (ROOT / ".venv/bin/node").exists(), reason="no node")
def test_the_declarations_for_javascript_are_current() -> None:
    path = f"{ROOT}/.venv/bin:{os.environ['PATH']}"
    done = subprocess.run(
        ["npm", "run", "--silent", "types:check"],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr + "\nnpm run types writes them anew"
