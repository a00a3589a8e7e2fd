"""Permalinks as a visitor has them: saving, the page, its twins, limits, and a server killed while it saves."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from gradbox.wire.trace import Trace
from server.app import create_app
from server.settings import Settings
from server.store.tables import saved_programs
from server.wire.saved_programs import Rerun, SavedProgramReply
from tests.chaos.saving import kill_while_saving
from tests.chaos.settings import SAVING
from tests.forks.forked_server import ForkedMeasuredServer
from tests.forks.plain_python import run_plain
from tests.support.databases import DatabaseConfig, DatabaseFactory
from tests.support.sampling import places, sampled
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

pytest_plugins = ["tests.support.databases"]

JSON = {"content-type": "application/json"}
PROGRAM = (
    ">>> a = torch.ones(2, requires_grad=True)\n>>> (a * 2).sum().backward()\n>>> print(a.grad)\ntensor([2., 2.])\n"
)
HOSTILE = "</script><script>alert(1)</script>\"'>\r\nimport os\u2028import sys\x00 coding: utf-7"
FREE: dict[str, Any] = {
    **dict.fromkeys(("request_limit", "rate_limit", "save_limit", "save_address_limit"), "1000000/minute"),
    "picture_wait": PATIENCE,
}


def visiting(database: DatabaseConfig, entry: str | None = None, **settings: Any) -> TestClient:
    configuration = Settings({}, data=str(database.folder), database_url=database.url, **{**FREE, **settings})
    app = create_app(configuration, *([entry] if entry else []))
    app.state.services.gallery.scenarios = app.state.services.gallery.scenarios[:1]
    return TestClient(app, base_url="http://127.0.0.1:8000")


@pytest.fixture(scope="module", params=sampled(["sqlite", "postgresql"], places(0)))
def client(request: pytest.FixtureRequest, new_database: DatabaseFactory) -> Iterator[TestClient]:
    database = new_database(request.param)
    with visiting(database) as client:
        yield client


def saved(client: TestClient, **fields: Any) -> SavedProgramReply:
    answer = client.post("/api/scenarios", json={"source": PROGRAM, **fields})
    assert answer.status_code in (200, 201), answer.text
    return SavedProgramReply.model_validate(answer.json())


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_saving_twice_is_saving_once(client: TestClient) -> None:
    body = {"source": PROGRAM, "title": "Twice", "settings": {"seed": 3}}
    first, second = (client.post("/api/scenarios", json=body) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200) and first.json() == second.json()
    reply = SavedProgramReply.model_validate(first.json())
    assert first.headers["location"] == reply.url == f"/s/{reply.id}" and reply.settings.seed == 3
    assert saved(client, title="Another").id != reply.id


def test_a_saved_program_has_its_json_trace_and_source(client: TestClient) -> None:
    program = saved(client, title="Twins", description="one\ntwo", note="three", language="zh")
    assert client.get(f"/s/{program.id}.json").json() == program.model_dump(mode="json", by_alias=True)
    for accepts in ("gzip", "identity"):
        answer = client.get(f"/s/{program.id}.trace.json", headers={"accept-encoding": accepts})
        trace = Trace.model_validate_json(answer.content)
        assert trace.outcome.status == "finished" and trace.program.pasted == PROGRAM
        assert answer.headers.get("content-encoding", "identity") == accepts
    for suffix in (".json", ".trace.json", ".py"):
        answer = client.get(f"/s/{program.id}{suffix}")
        assert answer.headers["cache-control"] == "public, max-age=60"
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = client.get(f"/s/{program.id}{suffix}", headers={"if-none-match": f'"x", {answer.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        assert client.head(f"/s/{program.id}{suffix}").status_code == 200


@pytest.mark.parametrize("title", ["A title", HOSTILE, "coding: utf-7", "# -*- coding: latin-1 -*-", "\\\n'''\n1/0"])
def test_the_program_runs_whatever_its_title(client: TestClient, title: str, tmp_path: Path) -> None:
    program = saved(client, title=title, description=f"{title}\n{title}", note="\r1/0\x0c1/0\x0b1/0\x851/0")
    answer = client.get(f"/s/{program.id}.py")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    lines = answer.text.split("\n")
    first = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    assert lines[first] == "" and not any(line.startswith("#") for line in lines[first:])
    assert f"# /s/{program.id}" in lines[:first]
    (tmp_path / "program.py").write_bytes(answer.content)
    truth = run_plain(f"import runpy\nrunpy.run_path({str(tmp_path / 'program.py')!r}, run_name='__main__')\n")
    assert (truth["printed"], truth["error"]) == ("tensor([2., 2.])\n", None)


def test_the_page_holds_the_stored_trace_and_every_text_is_text(client: TestClient) -> None:
    program = saved(
        client, title=HOSTILE, description=HOSTILE, note="<img src=x onerror=alert(1)>", source=f"x = 1 # {HOSTILE}"
    )
    fork = saved(client, parent=program.id, title="A fork")
    page = client.get(f"/s/{program.id}")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    assert "<script>alert" not in page.text and "<img src=x" not in page.text and "\0" not in page.text
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page.text
    assert re.search(r"<title>&lt;/script&gt;.* · Gradbox</title>", page.text, re.S)
    island = re.search(r'<script type="application/json" id="first">(.*?)</script>', page.text, re.S)
    assert island is not None
    first = json.loads(island[1])
    assert first["source"] == f"x = 1 # {HOSTILE}" and first["saved"]["id"] == program.id
    assert first["trace_url"] == f"/s/{program.id}.trace.json"
    assert f'<link rel="preload" as="fetch" crossorigin href="{first["trace_url"]}">' in page.text
    assert client.get(first["trace_url"]).json()["outcome"]["status"] == "refused"
    assert f'href="/s/{program.id}"' in client.get(f"/s/{fork.id}").text
    assert "private" in page.headers["cache-control"]


def test_an_unknown_saved_program_is_not_found(client: TestClient) -> None:
    for path in ("7777777777", "x", "7777777777%00", "%ff", "7777777777'--", "a" * 3000):
        for suffix in ("", ".json", ".trace.json", ".py"):
            assert code(client.get(f"/s/{path}{suffix}")) == (404, "no_scenario")
    assert code(client.post("/api/scenarios/7777777777/rerun", headers=JSON)) == (404, "no_scenario")
    assert code(client.get("/s/a/b")) == (404, "not_found")
    assert code(client.post("/s/7777777777.json", headers=JSON)) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "source"),
        ({"source": 1}, 422, "source"),
        ({"source": "x" * 70_000}, 413, "source"),
        ({"source": "x", "title": "x" * 201}, 422, "title"),
        ({"source": "x", "language": "tlh"}, 422, "language"),
        ({"source": "x", "parent": "../x"}, 422, "parent"),
        ({"source": "x", "parent": "7777777777"}, 422, "parent"),
        ({"source": "x", "trace": {}}, 422, "trace"),
        ({"source": "x", "id": "7777777777"}, 422, "id"),
        ({"source": "x", "settings": {"device": "cuda"}}, 422, "device"),
        ({"source": "x", "settings": {"seed": -1}}, 422, "settings.seed"),
        ({"source": "x", "settings": {"focus": {}}}, 422, "settings.focus"),
    ],
)
def test_invalid_content_is_not_saved(client: TestClient, body: dict[str, Any], status: int, field: str) -> None:
    answer = client.post("/api/scenarios", json=body)
    assert (answer.status_code, answer.json()["error"].get("field")) == (status, field)


def test_half_characters_and_zero_bytes_are_saved_as_what_can_be_shown(client: TestClient) -> None:
    body = r'{"source": "x = \"\ud800\u0000\"", "title": "\u0000\u202e\u009bx"}'
    answer = client.post("/api/scenarios", content=body, headers=JSON)
    assert answer.status_code == 201
    document = client.get(answer.headers["location"] + ".json").json()
    assert (document["source"], document["title"]) == ('x = "?\0"', "   x")
    assert client.get(answer.headers["location"]).status_code == 200
    half = client.post("/api/scenarios", content=body.replace("202e", "d800"), headers=JSON)
    assert client.get(half.headers["location"] + ".json").json()["title"] == " ? x"


@pytest.mark.parametrize(("source", "status"), [("import socket", "refused"), ("1/0", "raised"), ("x = (", "refused")])
def test_every_ending_that_is_the_programs_is_saved(client: TestClient, source: str, status: str) -> None:
    program = saved(client, source=source)
    assert client.get(f"/s/{program.id}.trace.json").json()["outcome"]["status"] == status


def test_a_removed_program_says_so_and_can_not_be_saved_again(client: TestClient) -> None:
    program = saved(client, title="To be removed")
    assert client.portal is not None
    assert client.portal.call(client.app.state.services.saved.store.remove_content, program.id)  # type: ignore[attr-defined]
    for suffix in ("", ".json", ".trace.json", ".py"):
        assert code(client.get(f"/s/{program.id}{suffix}")) == (410, "removed")
    assert code(client.post(f"/api/scenarios/{program.id}/rerun", headers=JSON)) == (410, "removed")
    assert code(client.post("/api/scenarios", json={"source": PROGRAM, "title": "To be removed"})) == (410, "removed")
    assert saved(client, parent=program.id).parent == program.id


def test_a_run_with_other_versions_says_what_changed(client: TestClient) -> None:
    program = saved(client, title="To be run again")

    def again() -> Rerun:
        answer = client.post(f"/api/scenarios/{program.id}/rerun", headers=JSON)
        return Rerun.model_validate(answer.json())

    same = again()
    assert (same.changed, same.differs, same.step, same.repeatable) == (False, [], None, True)
    assert same.was == same.now == program.versions

    async def older(change: Any) -> None:
        store = client.app.state.services.saved.store  # type: ignore[attr-defined]
        stored = await store.find_program(program.id)
        trace = json.loads(gzip.decompress(stored.trace))
        change(trace)
        versions = program.versions.model_copy(update={"torch": "1.0"}).model_dump_json()
        new = {"trace": gzip.compress(json.dumps(trace).encode()), "versions": versions, "created": stored.created + 1}
        async with store.database.writing_transaction() as connection:
            await connection.execute(update(saved_programs).where(saved_programs.c.id == program.id).values(**new))

    def cost(trace: Any) -> None:
        trace["cost"]["wall_ms"] = 9999.0
        trace["runtime"]["torch"] = "1.0"

    def step(trace: Any) -> None:
        trace["steps"][2]["line"] = 1

    def printed(trace: Any) -> None:
        out = next(entry for step in trace["steps"] for entry in step["log"] if entry["kind"] == "out")
        out["text"] = "tensor([3., 3.])\n"

    def raised(trace: Any) -> None:
        trace["outcome"] = {"status": "raised", "error": {"type": "E", "message": ""}}

    assert client.portal is not None
    expected: list[tuple[Any, list[str]]] = [(cost, []), (step, ["steps"]), (printed, ["steps", "printed"])]
    for change, differs in [*expected, (raised, ["steps", "printed", "outcome"])]:
        client.portal.call(older, change)
        rerun = again()
        assert (rerun.changed, rerun.differs, rerun.was.torch) == (bool(differs), differs, "1.0")
        assert rerun.step == (2 if differs else None) and rerun.now.torch != "1.0"
    before = client.get(f"/s/{program.id}.trace.json").json()
    assert before["outcome"]["status"] == "raised", "what was saved stays as it is"


def test_a_permalink_opens_when_nothing_can_run(new_database: DatabaseFactory) -> None:
    database = new_database("sqlite")
    with visiting(database) as client:
        program = saved(client, title="For later")
        trace = client.get(f"/s/{program.id}.trace.json").json()
    broken = visiting(database, "tests.support.stand_in_recorder:nothing_like_it", boot=2.0, sandbox="off")
    with broken as client:
        assert client.get("/readyz").status_code == 503
        assert program.id in client.get(f"/s/{program.id}").text
        assert client.get(f"/s/{program.id}.trace.json").json() == trace
        assert saved(client, title="For later") == program
        assert code(client.post("/api/scenarios", json={"source": "x = 1"})) == (503, "no_worker")
        assert code(client.post(f"/api/scenarios/{program.id}/rerun", headers=JSON)) == (503, "no_worker")


def test_the_page_works_when_no_database_answers(tmp_path: Path) -> None:
    database = DatabaseConfig("postgresql://gradbox@127.0.0.1:9/none", tmp_path)
    with visiting(database, "tests.support.stand_in_recorder:prepare", sandbox="off") as client:
        assert client.get("/").status_code == 200
        for answer in (client.get("/s/7777777777"), client.post("/api/scenarios", json={"source": "finish"})):
            assert code(answer) == (503, "no_store") and answer.headers["retry-after"] == "5"


def test_bounds_of_a_visitor_an_address_a_scenario_and_the_disk(new_database: DatabaseFactory) -> None:
    def tries(count: int, fresh: bool = False, **settings: Any) -> list[tuple[int, str]]:
        with visiting(
            new_database("sqlite"), "tests.support.stand_in_recorder:prepare", sandbox="off", **settings
        ) as client:
            answers = []
            for k in range(count):
                if fresh:
                    client.cookies.clear()
                answer = client.post("/api/scenarios", json={"source": "finish", "title": str(k)})
                answers.append((201, "") if answer.status_code == 201 else code(answer))
                if answer.status_code == 429:
                    assert int(answer.headers["retry-after"]) > 50
                    assert re.search("(visitor|address) may ask for [23] saves per minute", answer.text)
            assert client.post("/api/scenarios", json={"source": "finish", "title": "0"}).status_code in (200, 413)
        return answers

    good = (201, "")
    assert tries(4, save_limit="2/minute") == [good] * 2 + [(429, "limited")] * 2
    assert tries(4, fresh=True, save_address_limit="3/minute") == [good] * 3 + [(429, "limited")]
    assert tries(2, scenario=100) == [(413, "too_large")] * 2
    assert tries(3, quota=600)[2] == (507, "full")
    with visiting(
        new_database("sqlite"), "tests.support.stand_in_recorder:prepare", sandbox="off", save_space=700
    ) as client:
        answers = [client.post("/api/scenarios", json={"source": "finish", "title": str(k)}) for k in range(4)]
        assert [answer.status_code for answer in answers] == [201, 201, 429, 429]
        assert "saving 700 bytes of programs per day" in answers[-1].text


def test_an_address_asks_only_so_often(new_database: DatabaseFactory) -> None:
    """Whatever it asks for; the assets of a page do not count."""
    stand_in = "tests.support.stand_in_recorder:prepare"
    with visiting(new_database("sqlite"), stand_in, sandbox="off", request_limit="40/hour") as client:
        answers = [client.get(path) for path in ("/", "/nowhere", "/gallery", "/api/schema") * 3]
        assert [answer.status_code == 429 for answer in answers] == [False] * 10 + [True] * 2
        assert code(answers[-1]) == (429, "limited") and int(answers[-1].headers["retry-after"]) > 50
        assert code(client.post("/api/runs", json={"source": "finish"})) == (429, "limited")
        assert client.get("/healthz").status_code == client.get("/static/dist/style.css").status_code == 200


def test_links_begin_where_the_host_says(new_database: DatabaseFactory) -> None:
    with visiting(
        new_database("sqlite"),
        "tests.support.stand_in_recorder:prepare",
        sandbox="off",
        public_url="https://g.example/",
    ) as client:
        answer = client.post("/api/scenarios", json={"source": "finish"}, headers={"host": "localhost"})
        program = SavedProgramReply.model_validate(answer.json())
        assert program.url == f"https://g.example/s/{program.id}" == answer.headers["location"]
        assert f"# {program.url}\n" in client.get(f"/s/{program.id}.py").text


@pytest.mark.parametrize("kind", sampled(["sqlite", "postgresql"], places(1)))
def test_a_killed_server_has_every_save_that_it_answered(
    kind: str, new_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = new_database(kind)
    monkeypatch.setenv("DATABASE_URL", database.url)
    with ForkedMeasuredServer(**{**SAVING, "data": database.folder}) as site:
        kill_while_saving(site, saves=100, at_once=50, kills=1)
