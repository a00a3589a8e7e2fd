"""The catalogue of operations: each entry runs as plain CPython says, has its words, and names others that exist."""

import ast
import asyncio
import html
import json
import re
from typing import Any

import httpx2 as httpx
import pytest

from gradbox.language.paste import normalise_pasted_text
from gradbox.language.policy import parse_and_check_program
from server.app import create_app
from server.gallery.scenarios import LANGUAGES
from server.operations.catalogue import TABLES, create_catalogue, example_program, operation_sentences
from server.operations.operand_kinds import KINDS
from server.settings import Settings
from server.wire.operations import Operations
from tests.referee.agreement import Case, Verdict, verdict
from tests.referee.drawn_state import printed
from tests.referee.plain_run import plain_run
from tests.sharing.test_exports import by_node
from tests.support.workers import Workers

ROWS = [row for rows in TABLES.values() for row in rows]
OPERATIONS = create_catalogue("en").operations
NAMES = [row.name for row in ROWS]
SHOWN = re.compile(r'data-cell="[^"]+"[^>]* data-value="([^"]*)"')
RANDOM_MEMORY = {"empty", "empty_like"}
"""Their numbers are whatever was there."""
LARGER_MEMORY = {"mse"}
"""torch leaves its result in memory that is larger than it; nobody has written the rest."""
WITHOUT_MEMORY = {"for", "def", "class", "del"}
"""Nothing is left in memory after their examples."""


def test_there_are_entries_in_each_group() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 110
    assert all(len(rows) >= 5 for rows in TABLES.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_sibling_is_an_entry_and_no_entry_is_its_own(row: Any) -> None:
    assert set(row.siblings) <= set(NAMES) - {row.name}
    assert len(set(row.siblings)) == len(row.siblings)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_entry_has_one_sentence_and_every_sentence_an_entry(language: Any) -> None:
    texts = operation_sentences(language)
    assert list(texts) == NAMES
    for name, text in texts.items():
        assert text.endswith("." if language == "en" else "。") and len(text) <= 90, name
        assert (language == "zh") == any("\u4e00" <= letter <= "\u9fff" for letter in text), name
    assert len(set(texts.values())) == len(texts)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_template_is_one_statement_whose_holes_are_its_operands(row: Any) -> None:
    names = [hole.name for hole in row.holes]
    assert len(names) == len(set(names))
    for name in [*names, "out"]:
        assert (f"{{{name}}}" in row.template) == (name in names or "{out}" in row.template)
    filled = row.template.format_map({"out": "y"} | {hole.name: hole.proposed or hole.name for hole in row.holes})
    assert len(ast.parse(filled).body) == 1
    assert filled in example_program(row).replace("\n    ", "\n") or filled in example_program(row)


def test_every_kind_is_used_and_has_a_sample_or_is_text_of_the_program() -> None:
    used = {hole.kind for row in ROWS for hole in row.holes}
    assert used == {kind.kind for kind in KINDS}
    text = {kind.kind for kind in KINDS if kind.sample is None}
    for row in ROWS:
        assert all(hole.proposed is not None for hole in row.holes if hole.kind in text), row.name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_example_runs_and_agrees_with_plain_python(workers: Workers, row: Any) -> None:
    source = example_program(row)
    # an example that defines a function or a class, and does no more, is told so
    assert {notice.kind for notice in normalise_pasted_text(source).notices} <= {"uncalled"}
    assert parse_and_check_program(source)[1] == []
    trace = workers.trace(source)
    assert trace["outcome"]["status"] == "finished"
    truth = plain_run(source)
    assert (printed(trace), truth["error"]) == (truth["printed"], None)
    if row.name not in RANDOM_MEMORY:
        assert verdict(Case(row.name, source, source), trace) == Verdict("agrees")


def ask(path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    async def ask_once() -> httpx.Response:
        transport = httpx.ASGITransport(app=create_app(Settings({})))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask_once())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_catalogue_is_answered_in_each_language(language: Any) -> None:
    answer = ask(f"/api/operations?lang={language}")
    assert Operations.model_validate(answer.json()) == create_catalogue(language)
    again = ask(f"/api/operations?lang={language}", {"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert ask(f"/api/operations?lang={language}", {"Accept-Encoding": "identity"}).json() == answer.json()


def test_an_unknown_language_is_an_error() -> None:
    answer = ask("/api/operations?lang=xx")
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "query.lang")


def test_the_printed_example_is_part_of_the_answer() -> None:
    described = ask("/api/openapi.json").json()["paths"]["/api/operations"]["get"]
    assert [parameter["schema"].get("examples") or parameter.get("examples") for parameter in described["parameters"]]
    shown = described["responses"]["200"]["content"]["application/json"]["example"]
    answer = ask("/api/operations?lang=en").json()
    assert [row for row in answer["operations"] if row["name"] == "clone"] == shown["operations"]
    assert all(kind in answer["kinds"] for kind in shown["kinds"])
    assert len(json.dumps(shown)) < 1000


def shown_numbers(svg: str) -> set[float]:
    """Of the cells that are drawn; a complex one has two."""
    return {number for text in SHOWN.findall(svg) for number in numbers_of(json.loads(html.unescape(text)))}


def numbers_of(value: Any) -> list[float]:
    """Of a cell as a trace has it. Memory that nobody wrote may hold what is no number."""
    if isinstance(value, dict):
        return [float(value["$f"])] if "$f" in value else [n for part in value["$c"] for n in numbers_of(part)]
    return [float(value)]


@pytest.mark.slow
def test_every_thumbnail_shows_numbers_that_plain_python_has(workers: Workers) -> None:
    """Of the picture that the palette has beside each entry, drawn from the trace of its example."""
    sources = [example_program(row) for row in ROWS]
    drawn = by_node([["thumbnail", workers.trace(source), "", {}] for source in sources])
    assert {row.name for row, svg in zip(ROWS, drawn, strict=True) if "data-row" not in svg} == WITHOUT_MEMORY
    strange = set()
    for source, row, svg in zip(sources, ROWS, drawn, strict=True):
        tensors = plain_run(source)["tensors"].values()
        numbers = [float(value) for facts in tensors for key in ("values", "grad") for value in facts.get(key) or []]
        if any(shown not in [pytest.approx(number) for number in numbers] for shown in shown_numbers(svg)):
            strange.add(row.name)
    assert strange <= RANDOM_MEMORY | LARGER_MEMORY
