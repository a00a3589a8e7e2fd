"""The builder's partials: the palette, the forms of operations, and what they say of operands, held against torch."""

import asyncio
import itertools
import json
import re
from typing import Any

import httpx2 as httpx
import pytest

from server.app import create_app
from server.operations.card_form import CardForm, create_card_form
from server.operations.catalogue import TABLES
from server.operations.operand_kinds import KINDS, OperationRow
from server.operations.shape_rules import SHAPE_RULES, find_shape_mismatch
from server.settings import Settings
from server.templating import MESSAGES
from server.wire.operations import AliveName
from tests.forks.plain_python import run_plain

ROWS = {row.name: (group, row) for group, rows in TABLES.items() for row in rows}
X = AliveName(name="x", kind="tensor", shape=[2, 3], dtype="torch.float32")
W = AliveName(name="w", kind="tensor", shape=[3], dtype="torch.float32", requires_grad=True)
Y = AliveName(name="y", kind="tensor", shape=[2], dtype="torch.float32", requires_grad=True, leaf=False)
LOSS = AliveName(name="loss", kind="tensor", shape=[], dtype="torch.float32", requires_grad=True, leaf=False)
COUNT = AliveName(name="n", kind="tensor", shape=[2], dtype="torch.int64")
NET = AliveName(name="net", kind="module", type="Linear")
ALIVE = [Y, W, X, LOSS, COUNT, NET]
SHAPES: tuple[list[int], ...] = ([], [1], [2], [3], [2, 3], [3, 2], [1, 3], [2, 2, 3], [0])


def ask(path: str, **query: Any) -> httpx.Response:
    async def ask_once() -> httpx.Response:
        transport = httpx.ASGITransport(app=create_app(Settings({})))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, params=query)

    return asyncio.run(ask_once())


def alive(*names: AliveName) -> str:
    return json.dumps([name.model_dump() for name in names])


def form_of(operation: str, written: dict[str, str] | None = None, name: str | None = None) -> Any:
    group, row = ROWS[operation]
    return create_card_form(row, group, ALIVE, written or {}, name)


def test_only_what_a_search_shows_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def count(row: OperationRow, *arguments: Any) -> CardForm:
        made.append(row.name)
        return create_card_form(row, *arguments)

    monkeypatch.setattr("server.routes.builder.create_card_form", count)
    place, shown = alive(X.model_copy(update={"name": "only_here"})), 0
    for q in ("zero_", "zero_", ""):
        page = ask("/builder/palette", alive=place, q=q).text
        before, shown = shown, page.count('role="option"')
        assert len(made) == shown, "each once"
    assert 0 < before < shown == len(ROWS)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_palette_finds_operations_by_name_and_by_sentence_and_fills_in_operands(language: str) -> None:
    everything = ask("/builder/palette", alive=alive(*ALIVE), lang=language)
    assert everything.text.count('role="option"') == len(ROWS)
    found = ask("/builder/palette", alive=alive(*ALIVE), lang=language, q="CLONE").text
    assert 'data-statement="z = y.clone()"' in found and 'data-operation="sum"' not in found
    assert 'data-operation="matmul"' in ask("/builder/palette", lang=language, q="矩阵乘").text
    named = ask("/builder/palette", lang=language, q="exp").text
    assert named.index('data-operation="exp"') < named.index('data-operation="expand"')
    assert MESSAGES[language]["palette_none"] in ask("/builder/palette", lang=language, q="no such thing").text


@pytest.mark.parametrize("operation", ROWS)
def test_every_operation_has_a_form(operation: str) -> None:
    group, row = ROWS[operation]
    form = create_card_form(row, group, ALIVE, {}, None)
    assert [field.hole.name for field in form.fields] == [hole.name for hole in row.holes]
    assert (form.name is None) == ("{out}" not in row.template)
    assert form.name not in {name.name for name in ALIVE}
    assert form.statement or form.problem
    for field in form.fields:
        assert sum(choice.chosen for choice in field.choices) == (1 if field.choices and field.text else 0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_form_has_its_sentences_in_each_language(language: str) -> None:
    for operation in ("matmul", "backward", "from_numpy", "write_into", "labels" if "labels" in ROWS else "sum_dim"):
        answer = ask(f"/builder/form/{operation}", alive=alive(*ALIVE), lang=language)
        assert answer.status_code == 200
        assert not re.search(r"\{\w+\}", re.sub(r'(hx-\w+|value|data-\w+)="[^"]*"', "", answer.text))


def test_every_reason_has_a_sentence() -> None:
    keys = {f"group_{group}" for group in TABLES} | {"form_missing", "form_text", "form_name"}
    keys |= {key for key in MESSAGES["en"] if key.startswith("fit_")}
    assert all(MESSAGES[language][key] for language in MESSAGES for key in keys)
    said: set[str] = set()
    for operation, left, right in itertools.product(SHAPE_RULES, SHAPES, SHAPES):
        found = find_shape_mismatch(
            operation, {"a": left, "b": right, "loss": left}, {"dim": "4", "n": "9", "shape": "5, 7"}
        )
        said |= {found.key} if found else set()
    assert len(said) > 8 and said <= set(MESSAGES["en"])


def test_a_form_proposes_operands_that_fit_and_explains_those_that_do_not() -> None:
    assert form_of("matmul").statement == "z = x @ w"
    product = form_of("matmul", {"a": "x", "b": "y"})
    assert product.problem.key == "fit_matmul" and product.problem.args == {"left": 3, "right": 2}
    choices = {choice.alive.name: choice for choice in product.fields[1].choices}
    assert choices["y"].impossible and not choices["w"].impossible and "net" not in choices
    assert form_of("backward").statement == "loss.backward()"
    assert form_of("backward", {"loss": "y"}).problem.key == "fit_single"
    assert form_of("backward", {"loss": "x"}).problem.key == "fit_requires_grad"
    assert form_of("call").fields[0].text == "net"
    assert form_of("requires_grad_", {"a": "n"}).problem.key == "fit_floating"
    assert form_of("view", {"a": "x", "shape": "4, -1"}).problem.key == "fit_elements_of"


def test_text_written_into_a_form_is_checked() -> None:
    assert form_of("clone", {"a": "x + 1"}).statement == "z = (x + 1).clone()"
    assert form_of("clone", {"a": "x); import os; (x"}).problem.key == "form_text"
    assert form_of("clone", name="not a name").problem.key == "form_name"
    assert form_of("clone", name="for").statement == ""
    assert form_of("clone", name="best").statement == "best = y.clone()"
    group, row = ROWS["clone"]
    assert create_card_form(row, group, [], {}, None).problem is not None
    unknown = create_card_form(row, group, [AliveName(name="q")], {}, None)
    assert unknown.statement == "y = q.clone()"


def test_an_invalid_list_of_living_names_is_refused() -> None:
    for bad in (
        "{",
        '[{"name": "a b"}]',
        '[{"name": "x", "kind": "soup"}]',
        '[], "more": 1',
        "[" + '{"name": "x"},' * 60,
    ):
        assert ask("/builder/palette", alive=bad).status_code == 422
    assert ask("/builder/form/no_such").status_code == 404
    hostile = ask("/builder/form/clone", alive=alive(X), **{"in.a": '"><script>alert(1)</script>', "out": "<b>"}).text
    assert "<script>" not in hostile and "<b>" not in hostile


def test_every_kind_of_operand_is_known_to_the_form() -> None:
    assert {hole.kind for _, row in ROWS.values() for hole in row.holes} <= {kind.kind for kind in KINDS}


def cases() -> list[tuple[str, dict[str, list[int]], dict[str, str]]]:
    """Operands of each rule, of many shapes, with the texts that go into the other holes."""
    found = []
    for operation, (names, _) in SHAPE_RULES.items():
        texts: list[dict[str, str]] = [{}]
        row = ROWS[operation][1]
        written = {hole.name for hole in row.holes}
        if "dim" in written:
            texts = [{"dim": value} for value in ("-3", "-1", "0", "1", "2")]
        elif "shape" in written:
            texts = [{"shape": value} for value in ("-1", "6", "2, 3", "3, -1", "-1, -1", "0")]
        elif "n" in written:
            texts = [{"n": value} for value in ("-3", "0", "1", "2")]
        for shapes in itertools.product(SHAPES, repeat=len(names)):
            found += [(operation, dict(zip(names, shapes, strict=True)), text) for text in texts]
    return found


def test_torch_raises_exactly_where_a_form_says_that_sizes_do_not_fit() -> None:
    """Every rule on every pair of shapes: one program tries all of them."""
    asked = [case for case in cases() if not (case[0] in {"argmax", "max"} and [0] in case[1].values())]
    lines = ["import torch", "w = torch.ones(3, requires_grad=True)"]
    for number, (operation, shapes, texts) in enumerate(asked):
        row = ROWS[operation][1]
        gradient = operation in {"backward", "backward_retain", "grad", "grad_create"}
        values = {hole.name: texts.get(hole.name, hole.proposed or hole.name) for hole in row.holes} | {"out": "out"}
        made = [f"    {name} = torch.ones({shape}) * {'w.sum()' if gradient else 1}" for name, shape in shapes.items()]
        lines += [
            "try:",
            *made,
            f"    {row.template.format_map(values)}",
            "except Exception:",
            f"    raised.append({number})",
        ]
    source = "\n".join([lines[0], "raised = []", *lines[1:], "print(raised)"]) + "\n"
    raised = set(json.loads(run_plain(source)["printed"]))
    for number, (operation, shapes, texts) in enumerate(asked):
        told = find_shape_mismatch(operation, shapes, texts)
        assert (told is not None) == (number in raised), (operation, shapes, texts, told)
