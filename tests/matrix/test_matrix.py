"""The matrix: what torch says when it is asked directly, its twins, and that it is measured once."""

import asyncio
import csv
import io
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.matrix.documents import parse_cell_address
from server.matrix.programs import MATRIX_QUESTIONS, MATRIX_ROWS, SITUATIONS, cell_program
from server.matrix.service import (
    FILE_NAME,
    MatrixService,
    cell_programs,
    cells_from_answers,
    create_measurement,
    has_every_cell,
    load_measurement,
    programs_digest,
    store_measurement,
)
from server.pool.local import LocalPool, NoAnswers
from server.settings import Settings
from server.wire.matrix import Answer, AnswerJob, MatrixDocument, Measurement
from server.wire.problems import ProblemError
from tests.forks.plain_python import call_in_plain
from tests.matrix.matrix_referee import every_verdict
from tests.matrix.measured_matrix import keep_measurement
from tests.support.workers import Workers

ROOT = Path(__file__).parents[2]
CELLS = len(MATRIX_ROWS) * len(MATRIX_QUESTIONS) * len(SITUATIONS)
STILL: dict[str, Any] = {"sandbox": "off", "gpu": False}


def lowered(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def fetch(address: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(address, headers=headers or {})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, lowered(response.headers), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, lowered(error.headers), error.read()


@pytest.fixture(scope="module")
def measured(site: str, site_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> MatrixDocument:
    """What the server says, as soon as it has measured."""
    for _ in range(40):
        status, _, body = fetch(f"{site}/matrix.json")
        if status == 200:
            keep_measurement(site_folder, tmp_path_factory)
            return MatrixDocument.model_validate_json(body)
    raise AssertionError(body)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server whose workers know nothing of the matrix."""
    settings = Settings({}, data=str(tmp_path_factory.mktemp("data")), **STILL)
    app = create_app(settings, "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = []
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.mark.slow
def test_every_cell_is_what_torch_says_when_it_is_asked_directly(measured: MatrixDocument) -> None:
    said = call_in_plain(every_verdict)
    cells = {
        (situation, operation.name, name): cell.verdict
        for operation in measured.operations
        for situation, row in operation.cells.items()
        for name, cell in row.items()
    }
    expected = {
        (situation, name, question): verdict
        for situation, rows in said.items()
        for name, row in rows.items()
        for question, verdict in row.items()
    }
    assert len(cells) == CELLS
    assert {key: cells[key] for key in cells if cells[key] != expected[key]} == {}
    assert cells.keys() == expected.keys()


@pytest.mark.slow
def test_a_cell_is_what_its_own_program_prints_on_the_page(measured: MatrixDocument, workers: Workers) -> None:
    """Recorded, as a visitor sees it: one property of each operation, each in another situation."""
    document = {operation.name: operation for operation in measured.operations}
    for k, row in enumerate(MATRIX_ROWS):
        question, situation = MATRIX_QUESTIONS[k % len(MATRIX_QUESTIONS)], SITUATIONS[k * 5 % len(SITUATIONS)]
        program = cell_program(row, question, situation)
        trace = workers.run(program.source)
        cell = document[row.name].cells[situation.key][question.name]
        printed = "".join(
            entry["text"]
            for step in trace.steps
            for entry in step.log or []
            if entry["kind"] == "out" and entry["stream"] == "stdout"
        )
        line = trace.outcome.error.line if trace.outcome.error else None
        raised = f"{trace.outcome.error.type}: {trace.outcome.error.message}" if trace.outcome.error else None
        answer = Answer(printed=printed.rstrip("\n"), line=line, raised=raised and raised.splitlines()[0][:300])
        verdict = program.read_answer(answer, question).verdict
        if (
            question.meta
            and verdict == "raises"
            and document[row.name].cells[situation.key]["handle"].verdict != "raises"
        ):
            verdict = "not_applicable"  # the operation can't be asked of a tensor on meta, and works on others
        assert verdict == cell.verdict, (row.name, question.name, situation.key)


@pytest.mark.slow
def test_a_row_stands_in_the_group_of_what_it_does(measured: MatrixDocument) -> None:
    for operation in measured.operations:
        cells = operation.cells["plain.contiguous.grad"]
        kind = tuple(cells[name].verdict for name in ("handle", "storage", "view"))
        expected = {
            "same": {("no", "no", "no"), ("no", "yes", "no")},
            "share": {("yes", "no", "no")},
            "view": {("yes", "no", "yes")},
            "copy": {("yes", "yes", "no"), ("yes", "not_applicable", "no")},
        }[operation.group]
        assert kind in expected, operation.name


@pytest.mark.slow
def test_json_csv_and_page_have_the_same_cells(site: str, measured: MatrixDocument) -> None:
    lines = list(csv.DictReader(io.StringIO(fetch(f"{site}/matrix.csv")[2].decode())))
    assert len(lines) == CELLS
    document = {operation.name: operation for operation in measured.operations}
    for line in lines:
        key = ".".join(line[name] for name in ("tensor", "memory", "mode"))
        cell = document[line["operation"]].cells[key][line["property"]]
        assert (line["verdict"], line["detail"]) == (cell.verdict, cell.detail)
    for situation in (SITUATIONS[0], SITUATIONS[11]):
        query = f"tensor={situation.tensor}&memory={situation.memory}&mode={situation.mode}"
        page = fetch(f"{site}/matrix?{query}")[2].decode()
        for row in MATRIX_ROWS:
            part = re.search(rf'<tr id="{row.name}".*?</tr>', page, re.S)
            assert part
            cells = document[row.name].cells[situation.key]
            if cells["handle"].verdict == "raises":
                assert 'class="raised"' in part[0] and "data-verdict" not in part[0], row.name
            else:
                shown = re.findall(r'data-verdict="(\w+)"', part[0])
                assert shown == [cells[question.name].verdict for question in MATRIX_QUESTIONS], row.name


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_a_client_with_the_current_matrix_gets_304(site: str) -> None:
    for path in ("/matrix", "/matrix?lang=zh&tensor=node", "/matrix.json", "/matrix.csv"):
        status, headers, _ = fetch(site + path)
        assert status == 200, path
        again = fetch(site + path, {"If-None-Match": headers["etag"]})
        assert again[0] == 304 and again[2] == b"", path
    assert len({fetch(site + path)[1]["etag"] for path in ("/matrix", "/matrix?lang=zh", "/matrix?mode=no_grad")}) == 3
    assert fetch(f"{site}/matrix?tensor=other")[0] == 422


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_the_page_of_a_cell_has_its_program(site: str) -> None:
    page = fetch(f"{site}/matrix/reshape.storage.node.strided.no_grad")[2].decode()
    source = json.loads(re.search(r'id="first">(.*?)</script>', page, re.S)[1])["source"]  # type: ignore[index]
    found = parse_cell_address("reshape.storage.node.strided.no_grad")
    assert found and source == cell_program(*found).source
    for none in ("reshape", "reshape.storage.node.strided", "reshape.x.leaf.contiguous.grad", "%20"):
        assert fetch(f"{site}/matrix/{none}")[0] == 404, none


def test_every_cell_has_a_program_of_its_own() -> None:
    assert len(MATRIX_ROWS) >= 40 and len({row.name for row in MATRIX_ROWS}) == len(MATRIX_ROWS)
    sources = {program.source for situation in SITUATIONS for program in cell_programs(situation)}
    assert len(sources) == CELLS
    for source in sources:
        compile(source, "<program>", "exec")


def answers(verdict: str = "True") -> dict[str, Any]:
    return {
        situation.key: cells_from_answers(situation, [Answer(printed=verdict)] * len(cell_programs(situation)))
        for situation in SITUATIONS
    }


VERSIONS = {"torch": "2", "numpy": "2", "python": "3"}


def test_a_stored_measurement_of_other_versions_or_programs_is_not_used(tmp_path: Path) -> None:
    assert load_measurement(tmp_path, VERSIONS) is None
    whole = create_measurement(VERSIONS, answers())
    store_measurement(tmp_path, whole)
    assert load_measurement(tmp_path, VERSIONS) == whole and has_every_cell(whole)
    assert load_measurement(tmp_path, {**VERSIONS, "torch": "3"}) is None
    for damage in (whole.model_copy(update={"digest": "x"}), whole.model_copy(update={"cells": {}})):
        store_measurement(tmp_path, damage)
        assert load_measurement(tmp_path, VERSIONS) is None
    (tmp_path / FILE_NAME).write_bytes(b'{"versions"')
    assert load_measurement(tmp_path, VERSIONS) is None
    store_measurement(tmp_path / "none", whole)
    assert not (tmp_path / "none").exists() and whole.digest == programs_digest()


class CountingPool(LocalPool):
    """A pool that answers by itself, or fails, and counts how often it is asked."""

    asked = 0
    failing = False

    async def run_answer_job(self, job: AnswerJob, *_: Any) -> list[Answer]:
        self.asked += 1
        if self.failing:
            raise NoAnswers("nothing came")
        return [Answer(printed="True")] * len(job.programs)


def asking(folder: Path, work: Any, *, failing: bool = False) -> int:
    """How often the pool is asked while the work goes on."""

    async def main() -> int:
        pool = CountingPool(Settings({}, **STILL), "tests.support.stand_in_recorder:prepare")
        pool.failing = failing
        await pool.start()
        service = MatrixService(pool, folder)
        try:
            await work(service)
        finally:
            await service.close()
            await pool.close()
        return pool.asked

    return asyncio.run(main())


def test_concurrent_requests_share_one_measurement(tmp_path: Path) -> None:
    async def ask(service: MatrixService) -> None:
        first = await asyncio.gather(*(service.get_measurement() for _ in range(50)))
        assert all(isinstance(one, Measurement) and one is first[0] for one in first)
        assert await service.get_measurement() is first[0]

    once = asking(tmp_path, ask)
    assert once >= len(SITUATIONS)
    assert asking(tmp_path, ask) == 0, "the next server finds it in its folder"


def test_a_measurement_that_failed_is_not_tried_again_at_once(tmp_path: Path) -> None:
    async def ask(service: MatrixService) -> None:
        for _ in range(20):
            with pytest.raises(ProblemError, match="could not be measured"):
                await service.get_measurement()
        assert service.has_failed_recently

    assert asking(tmp_path, ask, failing=True) == 1


def test_the_page_shows_the_progress_and_the_failure_of_the_measurement(client: TestClient) -> None:
    for lang, word in (("en", "could not be measured"), ("zh", "未能测出")):
        for _ in range(3):
            answer = client.get(f"/matrix?lang={lang}")
            if word in answer.text:
                break
            assert answer.headers["refresh"] == "2" and "<progress" in answer.text and answer.status_code == 202
        assert word in answer.text and answer.status_code == 503
        assert answer.headers["cache-control"] == "no-store" and "refresh" not in answer.headers
    for path in ("/matrix.json", "/matrix.csv"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_measured")
        assert int(answer.headers["retry-after"]) >= 1


@pytest.mark.parametrize(
    "accident",
    [
        Answer(line=5, raised="MemoryError: "),
        Answer(line=5, raised="RuntimeError: [enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory"),  # noqa: E501
        Answer(line=2, raised="OSError: [Errno 24] Too many open files"),
        Answer(printed=""),
        Answer(printed="Killed"),
    ],
)  # fmt: skip
def test_a_measurement_with_an_accidental_answer_fails(
    accident: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(self: CountingPool, job: AnswerJob, *_: Any) -> list[Answer]:
        self.asked += 1
        return [Answer(printed="True")] * (len(job.programs) - 1) + [accident]

    monkeypatch.setattr(CountingPool, "run_answer_job", answer)

    async def ask(service: MatrixService) -> None:
        with pytest.raises(ProblemError, match="could not be measured"):
            await service.get_measurement(60)
        assert service.measured is None and not (tmp_path / FILE_NAME).exists()

    assert asking(tmp_path, ask)
