"""The contract: what it takes, what it does not, and that its declarations for JavaScript are current."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from gradbox.wire import api, gradient_check, records
from gradbox.wire import program as program_models
from gradbox.wire import trace as models
from gradbox.wire.api import RunRequest
from gradbox.wire.base import Model
from gradbox.wire.entities import ENTITIES
from gradbox.wire.program import Program, StatementSyntax
from gradbox.wire.schema import schema_document
from gradbox.wire.trace import MAX_LOOPS, Focus, OutcomeLine, Step, StepLine, Trace
from server.wire import link, matrix
from server.wire.saved_programs import Content, RunSettings
from tests.support.stand_in_recorder import END
from tests.support.tracing import trace

ROOT = Path(__file__).parents[2]


def step(**fields: Any) -> dict[str, Any]:
    return {"i": 0, "kind": "statement", "line": 1, **fields}


def test_a_trace_survives_a_round_trip() -> None:
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
def test_an_invalid_step_is_rejected(fields: dict[str, Any]) -> None:
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


def test_an_explicit_null_is_kept() -> None:
    parsed = Step.model_validate(step(set={"t1": {"grad": None}}))
    assert json.loads(parsed.model_dump_json(exclude_unset=True))["set"] == {"t1": {"grad": None}}


def test_a_line_of_a_million_digits_or_brackets_is_rejected() -> None:
    for text in (b'{"step":{"i":' + b"9" * 10**6 + b"}}", b'{"step":' + b"[" * 200_000):
        with pytest.raises(ValidationError):
            StepLine.model_validate_json(text)


ONE_HASH = 2**61 - 1
"""Python's hash of an integer is its remainder of this: multiples share one, and a dictionary of them is slow."""

COUNTS = {
    "of one hash": {str(k * ONE_HASH): 1 for k in range(14_000)},
    "of one hash, few": {str(k * ONE_HASH): 1 for k in range(5)},
    "too many": {str(k): 1 for k in range(MAX_LOOPS + 1)},
    "negative": {"-1": 1},
    "no numbers": {"a": 1},
    "numbers of other scripts": {"٣": 1},
    "of an endless count": {"1": 10**400},
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_loops_are_refused_before_a_dictionary_is_made(name: str) -> None:
    counts = COUNTS[name]
    for model, fields in ((Focus, {"counts": counts}), (OutcomeLine, {**END, "again": counts})):
        with pytest.raises(ValidationError) as refused:
            model.model_validate(fields)
        assert refused.value.error_count() == 1
        with pytest.raises(ValidationError):
            model.model_validate_json(json.dumps(fields))


def test_counts_of_as_many_loops_as_a_program_has_are_taken() -> None:
    counts = {k * 60: 2**40 for k in range(MAX_LOOPS)}
    assert Focus(counts=counts).counts == counts
    assert Focus.model_validate_json(json.dumps({"counts": counts})).counts == counts


@pytest.mark.parametrize(
    "fields",
    [
        {"loop": 1, "iteration": [1] * 65},
        {"loop": 1, "iteration": [10**400]},
        {"loop": 10**400, "iteration": [1]},
        {"storage": "s1", "from": 0, "to": 10**400},
        {"storage": "s1", "from": 0, "to": 1, "step": 10**400},
    ],
)
def test_a_focus_is_bounded(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Focus.model_validate(fields)


@pytest.mark.parametrize("model", [RunRequest, Content, RunSettings, Focus])
def test_many_unknown_fields_are_one_error(model: type[Model]) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate({f"x{k}": 1 for k in range(50_000)})
    assert refused.value.error_count() == 1


@pytest.mark.parametrize("at", ["1024", str(2**32 - 6), "-1", "1e3", "01", "", "length", "__proto__"])
def test_a_cell_is_one_of_those_that_a_storage_lists(at: str) -> None:
    fields = {"kind": "storage", "cells_at": {"float32": {at: 1}}}
    with pytest.raises(ValidationError):
        Step.model_validate(step(set={"s1": fields}))
    Step.model_validate(step(set={"s1": {**fields, "cells_at": {"float32": {"0": 1, "99": 2, "1023": 3}}}}))


@pytest.mark.parametrize(
    "fields",
    [
        {"s1": {"cells": {"float32": [0] * 1025}}},
        {"s1": {"summary": {"float32": {"bins": [0] * 17}}}},
        {"s1": {"summary": {"float32": {"heat": [0] * 65}}}},
        {"o1": {"items": [0] * 201}},
        {"o1": {"splice": [[0, 0, []]] * 2}},
        {"o1": {"splice": [[0, 0, [0] * 201]]}},
        {"o1": {"splice": [[-1, 0, []]]}},
        {"n1": {"next": [["n2", 2**31]]}},
        {"n1": {"next": [["n2", -1]]}},
    ],
)
def test_lists_longer_than_a_recorder_makes_are_rejected(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate(step(set=fields))


@pytest.mark.parametrize("outer", [{"parent": 1}, {"loop": 1}, {"parent": 2}, {"loop": -1}, {"parent": 0, "loop": 1}])
def test_a_statement_must_come_after_the_one_that_contains_it(outer: dict[str, int]) -> None:
    """A page walks outward until there is nothing around."""
    place = {"line": 1, "col": 0, "end_line": 1, "end_col": 1, "kind": "Expr"}
    with pytest.raises(ValidationError):
        Program.model_validate({"source": "x", "statements": [place, {**place, **outer}, place]})
    Program.model_validate({"source": "x", "statements": [place, {**place, "parent": 0, "loop": 0}]})


def test_the_schema_knows_every_entity() -> None:
    schema = schema_document()
    assert {entity.__name__ for entity in ENTITIES.values()} <= set(schema["$defs"])
    references = {text.split('"')[0] for text in json.dumps(schema).split("#/$defs/")[1:]}
    assert references <= set(schema["$defs"])


RECORDS = {
    name.removesuffix("Record"): record
    for name, record in {**vars(link), **vars(records)}.items()
    if name.endswith("Record")
}
UNTYPED = {
    ("Program", "notices"),
    ("Error", "refusals"),
    ("Error", "repairs"),
    ("Refusal", "repairs"),
    ("Step", "set"),
    ("OutcomeLine", "gradient_check"),
}
"""Fields of which only one side says what is inside."""


def comparable(schema: Any) -> Any:
    """A field's schema without what only one of a model and its record can say: patterns, bounds, defaults, null."""
    if isinstance(schema, list):
        return [comparable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema.removesuffix("Record") if isinstance(schema, str) else schema
    some = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(some) == 1:
        return comparable(some[0])
    of_text = ["title", "pattern", "examples", "description"]
    of_values = ["default", "minimum", "maximum", "minLength", "maxLength", "maxItems", "propertyNames"]
    return {key: comparable(part) for key, part in schema.items() if key not in (*of_text, *of_values)} | (
        {"anyOf": comparable(some)} if some else {}
    )


@pytest.mark.parametrize("name", [name for name in RECORDS if name != "Line"])
def test_what_the_tracer_builds_is_declared_as_the_models_have_it(name: str) -> None:
    record = TypeAdapter(RECORDS[name]).json_schema()
    declared = next(module for module in (models, program_models, api, matrix, gradient_check) if hasattr(module, name))
    model = TypeAdapter(getattr(declared, name)).json_schema()
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


@pytest.mark.parametrize("column", ["values", "paths"])
def test_a_dictionary_of_invalid_values_makes_one_report(column: str) -> None:
    columns = {"kinds": ["Pass"], "fields": [""], "parents": [-1], "starts": [0], "ends": [4]}
    with pytest.raises(ValidationError) as refused:
        StatementSyntax.model_validate({**columns, column: {str(k): [1] for k in range(1000)}})
    assert refused.value.error_count() == 1


def test_no_model_asks_for_what_the_oldest_pydantic_lacks() -> None:
    """`fail_fast` on a dictionary came with 2.14: beside an older one nothing could be imported."""

    def asks(schema: object) -> bool:
        if isinstance(schema, dict):
            return (schema.get("type") == "dict" and "fail_fast" in schema) or any(map(asks, schema.values()))
        return isinstance(schema, list | tuple) and any(map(asks, schema))

    assert asks({"a": [{"type": "dict", "fail_fast": True}]})
    assert not asks(Trace.__pydantic_core_schema__) and not asks(StatementSyntax.__pydantic_core_schema__)
