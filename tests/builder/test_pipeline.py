"""Pipelines of operations: the source that is made of them, what is said of an item that does not fit, and that they
run."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
from pydantic import TypeAdapter, ValidationError

from gradbox.wire.api import EXAMPLE_PIPELINE, PipelineItem, RunOrPipelineRequest
from gradbox.wire.trace import Trace
from server.app import create_app
from server.operations.catalogue import TABLES
from server.operations.operand_kinds import OperationRow, TemplatePlaceholder
from server.operations.pipeline import pipeline_source
from server.settings import Settings
from server.wire.problems import ProblemError
from tests.referee.agreement import Case, Verdict, verdict
from tests.support.waiting import PATIENT
from tests.support.workers import Workers

Items = list[dict[str, Any]]
MATRIX, VECTOR, LEAF = "[[1., 2., 3.], [4., 5., 6.]]", "[1., 2., 4.]", {"operation": "leaf"}
NUMBERS = {
    "tensor": MATRIX,
    "float tensor": MATRIX,
    "matrix": MATRIX,
    "float matrix": MATRIX,
    "anything": MATRIX,
    "vector": VECTOR,
    "plain tensor": VECTOR,
    "writable tensor": VECTOR,
    "complex tensor": "[1 + 2j, 3 - 1j]",
    "scalar tensor": "3.",
    "boolean tensor": "[True, False]",
    "labels": "[0, 2]",
}
RANDOM_MEMORY = {"empty", "empty_like"}


def made(kind: str, name: str) -> Items:
    """Items that make an operand of a kind."""
    if kind in NUMBERS:
        return [{"operation": "tensor", "operands": {"data": NUMBERS[kind]}, "name": name}]
    leaf, x = {**LEAF, "name": name}, f"{name}_x"
    product = {"operation": "mul", "operands": {"a": x, "b": x}, "name": name}
    network = {"operation": "linear", "name": name}
    trained: Items = [
        *made("matrix", x),
        {"operation": "call", "operands": {"net": name, "a": x}, "name": f"{x}_y"},
        {"operation": "sum", "operands": {"a": f"{x}_y"}, "name": f"{x}_s"},
        {"operation": "backward", "operands": {"loss": f"{x}_s"}},
    ]
    of_leaf = [{"operation": "mul", "operands": {"a": name, "b": name}, "name": x}, *reduced(x, f"{x}_s")]
    back = {"operation": "backward", "operands": {"loss": f"{x}_s"}}
    if kind in ("array", "state"):
        before = made("vector" if kind == "array" else "module", x)
        last = ("numpy", "a") if kind == "array" else ("state_dict", "net")
        return [*before, {"operation": last[0], "operands": {last[1]: x}, "name": name}]
    if kind == "optimizer":
        net = f"{name}_net"
        return [*made("module with grads", net), {"operation": "sgd", "operands": {"net": net}, "name": name}]
    makers: dict[str, Items] = {
        "leaf": [leaf],
        "leaf with grad": [leaf, *of_leaf, back],
        "node": [{**LEAF, "name": x}, product],
        "scalar node": [{**LEAF, "name": x}, *reduced(x, name)],
        "module": [network],
        "module with grads": [network, *trained],
    }
    return makers[kind]


def reduced(name: str, to: str) -> Items:
    return [{"operation": "sum", "operands": {"a": name}, "name": to}]


def items_of(row: OperationRow, k: int) -> Items:
    """The operation with its proposals, and before it what makes its other operands."""
    operands: dict[str, str] = {}
    before: Items = []
    for hole in row.holes:
        operands[hole.name] = operand_of(hole, f"{hole.name}{k}")
        if hole.proposed is None and operands[hole.name] == f"{hole.name}{k}":
            kind = "vector" if hole.sample and "[5., 6., 7.]" in hole.sample else hole.kind
            of_w = row.name in ("grad", "grad_create") and hole.name == "loss"
            before += reduced(operands["w"], operands[hole.name]) if of_w else made(kind, operands[hole.name])
    if row.name == "leaf_step":  # outside of no_grad, a leaf that requires grad can't be written
        before.append({"operation": "freeze", "operands": {"a": operands["w"]}})
    return [*before, {"operation": row.name, "operands": operands}]


def operand_of(hole: TemplatePlaceholder, name: str) -> str:
    if hole.kind == "function":
        return "lambda grad: grad * 2"
    return hole.proposed or name


def parsed(items: Items) -> list[PipelineItem]:
    return TypeAdapter(list[PipelineItem]).validate_python(items)


@pytest.mark.parametrize("group", TABLES)
def test_every_operation_runs_in_a_pipeline_and_agrees_with_plain_python(workers: Workers, group: Any) -> None:
    rows = [row for row in TABLES[group] if row.name not in RANDOM_MEMORY]
    source = pipeline_source(parsed([item for k, row in enumerate(rows) for item in items_of(row, k)]))
    trace = workers.trace(source)
    assert trace["outcome"]["status"] == "finished", (source, trace["outcome"])
    assert trace["program"]["source"] == source
    assert verdict(Case(group, source, source), trace) == Verdict("agrees")


def test_the_source_reads_as_one_would_write_it() -> None:
    items = [
        *EXAMPLE_PIPELINE,
        {"operation": "deepcopy", "operands": {"a": "a"}},
        {"operation": "add_", "operands": {"a": "b.data", "x": -0.5}},
        {"operation": "sum", "operands": {"a": "a * b"}},
    ]
    assert pipeline_source(parsed(items)).splitlines() == [
        "import torch",
        "import copy",
        "",
        "a = torch.tensor([1., 2., 4.], requires_grad=True)",
        "b = a.clone()",
        "loss = b.sum()",
        "loss.backward()",
        "y = copy.deepcopy(a)",
        "b.data.add_(-0.5)",
        "y2 = (a * b).sum()",
    ]


FAULTS: list[tuple[Items, str, str]] = [
    ([{"operation": "klone"}], "pipeline.0.operation", "no operation 'klone'"),
    ([LEAF, {"operation": "clone"}], "pipeline.1.operands.a", "needs this operand"),
    ([LEAF, {"operation": "clone", "operands": {"a": "b"}}], "pipeline.1.operands.a", "makes 'b'"),
    ([LEAF, {"operation": "clone", "operands": {"a": "y", "c": "y"}}], "pipeline.1.operands", "no operand 'c'"),
    ([LEAF, {"operation": "clone", "operands": {"a": "y); (y"}}], "pipeline.1.operands.a", "not one expression"),
    ([LEAF, {"operation": "clone", "operands": {"a": "y\nz"}}], "pipeline.1.operands.a", "not one expression"),
    ([LEAF, {"operation": "clone", "operands": {"a": "y, y"}}], "pipeline.1.operands.a", "not one expression"),
    ([{"operation": "leaf", "operands": {"data": "[1."}}], "pipeline.0.operands.data", "not one expression"),
    ([{"operation": "leaf", "operands": {"data": "'[1.]"}}], "pipeline.0.operands.data", "not one expression"),
    ([{"operation": "zeros", "operands": {"shape": "2, dtype=torch.int"}}], "pipeline.0.operands.shape", "expression"),
    ([{"operation": "leaf", "name": "a b"}], "pipeline.0.name", "not a name"),
    ([{"operation": "leaf", "name": "class"}], "pipeline.0.name", "not a name"),
    ([LEAF, {"operation": "detach_", "operands": {"a": "y"}, "name": "z"}], "pipeline.1.name", "no result"),
    (
        [
            {**LEAF, "name": "a"},
            {"operation": "del", "operands": {"a": "a"}},
            {"operation": "clone", "operands": {"a": "a"}},
        ],
        "pipeline.2.operands.a",
        "makes 'a'",
    ),
]


@pytest.mark.parametrize(("items", "field", "says"), FAULTS)
def test_an_item_that_does_not_fit_is_named(items: Items, field: str, says: str) -> None:
    with pytest.raises(ProblemError) as refused:
        pipeline_source(parsed(items))
    problem = refused.value.problem
    assert (refused.value.status, problem.code, problem.field) == (422, "invalid", field)
    assert says in problem.message and problem.message.startswith(field)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"pipeline": []},
        {"pipeline": EXAMPLE_PIPELINE, "source": "x = 1"},
        {"pipeline": [{}]},
        {"pipeline": [LEAF] * 501},
    ],
)
def test_a_request_has_one_program(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RunOrPipelineRequest.model_validate(body)


def asked(requests: list[tuple[str, str, Any]]) -> Iterator[httpx.Response]:
    """The answers of one server with one worker."""

    async def ask_all() -> list[httpx.Response]:
        app = create_app(Settings({}, workers=1, **PATIENT))
        app.state.services.gallery.scenarios = []
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
                return [await client.request(method, path, json=body) for method, path, body in requests]

    yield from asyncio.run(ask_all())


def test_the_printed_example_runs_and_the_answer_has_its_source() -> None:
    described, wrong = asked([
        ("GET", "/api/openapi.json", None),
        ("POST", "/api/runs", {"pipeline": [*EXAMPLE_PIPELINE, {"operation": "clone"}]}),
    ])  # fmt: skip
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "pipeline.4.operands.a")
    schema = described.json()["components"]["schemas"]["RunOrPipelineRequest"]
    assert schema["oneOf"] == [{"required": ["source"]}, {"required": ["pipeline"]}]
    examples = [*schema["examples"], {"pipeline": schema["properties"]["pipeline"]["examples"][0]}]
    content = described.json()["paths"]["/api/runs"]["post"]["requestBody"]["content"]["application/json"]
    examples += [row["value"] for row in content.get("examples", {}).values()]
    answers = list(asked([("POST", "/api/runs", json.loads(json.dumps(example))) for example in examples]))
    for example, answer in zip(examples, answers, strict=True):
        trace = Trace.model_validate(answer.json())
        assert trace.outcome.status == "finished"
        assert trace.program.source == pipeline_source(parsed(example["pipeline"]))
