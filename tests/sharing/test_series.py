"""Series of saved programs: the store, what the interface takes and refuses, removal, and texts that stay texts
everywhere."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.__main__ import main
from server.saved.series import SeriesService
from server.store.contents import ContentRemoved, QuotaExceeded, canonical_json
from server.store.repository import ProgramRepository
from server.store.series import SeriesStore
from server.store.stored_traces import count_steps
from server.visitors.clients import Client
from server.visitors.rate_limits import (
    RateLimited,
    RateLimiter,
    SavedBytesLimiter,
    SharedRateLimiter,
    SharedSavedBytesLimiter,
)
from server.wire.saved_programs import MAX_NOTE, MAX_PROGRAMS, Content, SeriesContent, SeriesReply
from tests.server.store.test_store import MADE, WHOLE
from tests.sharing.test_saved_programs import code, saved, visiting
from tests.support.databases import DatabaseConfig, DatabaseFactory

pytestmark = pytest.mark.slow

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[2]
PUBLIC = "https://gradbox.example.org/box"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u2028"
JSON = {"content-type": "application/json"}
needs_page = pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, new_database: DatabaseFactory) -> DatabaseConfig:
    return new_database(request.param)


@pytest.fixture(scope="module")
def client(new_database: DatabaseFactory) -> Iterator[TestClient]:
    settings = {"public_url": PUBLIC, "hosts": "127.0.0.1,gradbox.example.org", "picture_limit": "100000/minute"}
    with visiting(new_database("sqlite"), **settings) as client:
        yield client


def series_of(*programs: str, title: str = "A series") -> str:
    content = SeriesContent(title=title, items=[{"program": id_} for id_ in programs])  # type: ignore[misc]
    return canonical_json(content)


def post(client: TestClient, *items: dict[str, Any], **fields: Any) -> Any:
    return client.post("/api/series", json={"title": "A series", "items": items, **fields})


def made(client: TestClient, *items: dict[str, Any], **fields: Any) -> SeriesReply:
    answer = post(client, *items, **fields)
    assert answer.status_code in (200, 201), answer.text
    return SeriesReply.model_validate(answer.json())


def test_a_series_is_stored_as_it_is_and_taken_back_by_the_host_alone(database: DatabaseConfig) -> None:
    async def work(programs: ProgramRepository) -> None:
        store = SeriesStore(programs.database, 10**6)
        assert (
            await store.find_series("7777777777") is None
            and [entry async for entry in store.iterate_list_entries()] == []
        )
        program, _ = await programs.save_program(canonical_json(Content(source="x = 1", title="One")), WHOLE, MADE)
        text = series_of(program, "7777777777", title="題 \U0001f600")
        id_, new = await store.save_series(text)
        assert new and await store.save_series(text) == (id_, False)
        found = await store.find_series(id_)
        assert found is not None and canonical_json(found.content) == text and text.isascii()
        assert await programs.find_titles([program, "7777777777"]) == {program: "One"}
        assert (await programs.read_totals()).size == len(canonical_json(Content(source="x = 1", title="One"))) + len(
            WHOLE
        ) + len(text)
        assert await programs.remove_content(program) and await programs.find_titles([program]) == {program: None}
        assert (await store.find_series(id_)) == found, "it still names the program"
        assert await store.remove_content(id_, "asked for") and not await store.remove_content(id_)
        for ask in (store.find_series(id_), store.save_series(text)):
            with pytest.raises(ContentRemoved, match="series"):
                await ask
        records = [record async for record in store.iterate_archive_records()]
        assert [(record.content, record.reason) for record in records] == [(None, "asked for")]

    database.do(work)


def test_programs_and_series_share_the_quota(database: DatabaseConfig) -> None:
    program = canonical_json(Content(source="x = 1"))
    series = series_of("7777777777")
    room = len(program) + len(WHOLE) + len(series)

    async def work(programs: ProgramRepository) -> None:
        store = SeriesStore(programs.database, room)
        await programs.save_program(program, WHOLE, MADE)
        await store.save_series(series)
        with pytest.raises(QuotaExceeded):
            await store.save_series(series_of("7777777778", title=""" """))
        with pytest.raises(QuotaExceeded):
            await programs.save_program(canonical_json(Content(source="y")), WHOLE, MADE)

    database.do(work, quota=room)


def test_an_archive_carries_series_too(
    new_database: DatabaseFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(database: DatabaseConfig, *words: str) -> tuple[int, str, str]:
        for name, value in database.environment.items():
            monkeypatch.setenv(name, value)
        return main([*words]), *capsys.readouterr()

    first, second = new_database("sqlite"), new_database("postgresql")
    ids: list[str] = []

    async def fill(programs: ProgramRepository) -> None:
        await programs.save_program(canonical_json(Content(source="x = 1")), WHOLE, MADE)
        store = SeriesStore(programs.database, 10**6)
        ids.extend([(await store.save_series(series_of("7777777777", title=f"{k} \x1b[31m题")))[0] for k in range(2)])
        await store.remove_content(ids[1])

    first.do(fill)
    files = [str(tmp_path / name) for name in ("first", "second")]
    assert command(first, "scenarios", "export", files[0])[0] == 0
    assert command(second, "scenarios", "import", files[0])[:2] == (0, "3 imported, 0 already there\n")
    assert command(second, "scenarios", "export", files[1])[0] == 0
    assert Path(files[0]).read_bytes() == Path(files[1]).read_bytes()
    listed = command(second, "series", "list")[1]
    assert {line[:10] for line in listed.splitlines()} == set(ids) and "(removed)" in listed and "\x1b" not in listed
    assert json.loads(command(second, "series", "show", ids[0])[1])["items"][0]["program"] == "7777777777"
    assert command(second, "series", "show", ids[1])[0] == 1 and command(second, "series", "show", "\x1b")[0] == 1
    assert command(second, "series", "remove", ids[0], "--reason", "spam")[0] == 0
    assert command(second, "series", "remove", ids[0])[0] == 1
    lines = Path(files[0]).read_text().splitlines()
    Path(files[0]).write_text(lines[-1].replace('"kind":"series"', '"kind":"series","x":1') + "\n")
    status, _, error = command(second, "scenarios", "import", files[0])
    assert status == 1 and error.startswith("line 1: not a series")


def test_saving_twice_is_saving_once_and_the_twins_say_it(client: TestClient) -> None:
    one, two = saved(client, title="One"), saved(client, title="Two")
    items: list[dict[str, Any]] = [
        {"program": one.id, "note": "see\nthis", "step": 1},
        {"program": two.id},
        {"program": one.id},
    ]
    first, second = (post(client, *items, description="for a week", language="zh") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200) and first.json() == second.json()
    reply = SeriesReply.model_validate(first.json())
    assert first.headers["location"] == reply.url == f"{PUBLIC}/series/{reply.id}"
    assert [(item.title, item.note, item.step) for item in reply.items] == [
        ("One", "see\nthis", 1),
        ("Two", "", None),
        ("One", "", None),
    ]
    assert client.get(f"/series/{reply.id}.json").json() == first.json()
    for place in ("", "/2", "/3"):
        assert client.get(f"/series/{reply.id}{place}").status_code == 200
        assert client.get(f"/embed/series/{reply.id}{place}").status_code == 200
    assert code(client.get(f"/series/{reply.id}/4")) == (404, "no_item")
    assert code(client.get("/series/7777777777.json")) == (404, "no_series")
    assert client.get("/series/new").headers["content-security-policy"].endswith("; frame-src 'self'")
    assert "frame-ancestors 'self'" in client.get(f"/series/stage/{one.id}").headers["content-security-policy"]


def test_a_wrong_item_is_named_with_its_field(client: TestClient) -> None:
    good = {"program": saved(client).id}
    for items, field in (
        ([good, {"program": "7777777777"}], "items.1.program"),
        ([good, {**good, "step": 10**6}], "items.1.step"),
        ([good, {**good, "step": -1}], "items.1.step"),
        ([good, {"program": "nonsense"}], "items.1.program"),
        ([good, {**good, "note": "x" * (MAX_NOTE + 1)}], "items.1.note"),
        ([], "items"),
        ([good] * (MAX_PROGRAMS + 1), "items"),
    ):
        answer = post(client, *items)
        assert answer.status_code == 422 and answer.json()["error"]["field"] == field, answer.text
    assert post(client, good, title="").json()["error"]["field"] == "title"
    assert made(client, *[good] * MAX_PROGRAMS).items[-1].available
    steps = len(client.get(f"/s/{good['program']}.trace.json").json()["steps"])
    assert post(client, {**good, "step": steps - 1}).status_code in (200, 201)
    assert post(client, {**good, "step": steps}).json()["error"]["code"] == "no_step"


def test_steps_are_counted() -> None:
    assert count_steps(WHOLE) == len(json.loads((ROOT / "tests/contract/schema_1.json").read_bytes())["steps"])


def test_saves_have_the_limits_of_programs(new_database: DatabaseFactory) -> None:
    async def work(programs: ProgramRepository) -> None:
        program, _ = await programs.save_program(canonical_json(Content(source="x = 1")), WHOLE, MADE)
        content = SeriesContent(title="A series", items=[{"program": program}])  # type: ignore[list-item]
        visitor = Client("visitor", "192.0.2.1")
        for limit, space in (("1/minute", 10**6), ("9/minute", 10)):
            limits = RateLimiter(limit, "100/minute", action="save", names=("SAVE_LIMIT", "SAVE_ADDRESS_LIMIT"))
            shared, saved = SharedRateLimiter(limits), SharedSavedBytesLimiter(SavedBytesLimiter(space, 86400))
            service = SeriesService(SeriesStore(programs.database, 10**6), programs, shared, saved)
            with pytest.raises(RateLimited, match="sav"):
                for _ in range(3):
                    await service.save_series(content, visitor)

    new_database("sqlite").do(work)


def test_a_title_that_was_read_before_goes_with_its_program(database: DatabaseConfig) -> None:
    async def work(programs: ProgramRepository) -> None:
        ids = [
            (await programs.save_program(canonical_json(Content(source=f"x = {k}", title=f"{k}")), WHOLE, MADE))[0]
            for k in (1, 2)
        ]
        for _ in range(2):
            assert await programs.find_titles(ids) == {ids[0]: "1", ids[1]: "2"}
        await programs.remove_content(ids[0])
        assert await programs.find_titles([*ids, *ids, "7777777777"]) == {ids[0]: None, ids[1]: "2"}

    database.do(work)


def test_a_file_counts_as_a_picture(new_database: DatabaseFactory) -> None:
    with visiting(new_database("sqlite"), picture_limit="1/minute") as client:
        series = made(client, {"program": saved(client).id})
        client.get(f"/series/{series.id}.html")
        assert code(client.get(f"/series/{series.id}.html")) == (429, "limited")


def test_when_the_host_removes_a_program_the_rest_is_there(new_database: DatabaseFactory) -> None:
    database = new_database("sqlite")
    with visiting(database, picture_limit="100000/minute") as client:
        one, two = saved(client, title="One"), saved(client, title="Two")
        series = made(client, {"program": one.id, "note": "first"}, {"program": two.id, "note": "second"})
        address = f"/series/{series.id}"
        database.do(lambda store: store.remove_content(one.id))
        items = client.get(f"{address}.json").json()["items"]
        assert [(item["available"], item["title"], item["note"]) for item in items] == [
            (False, "", "first"),
            (True, "Two", "second"),
        ]
        told = first_of(client.get(address).text)["series"]
        assert (told["place"], told["removed"]) == (2, 1) and [item["place"] for item in told["items"]] == [2]
        gone = client.get(f"{address}/1")
        assert code(gone) == (410, "removed") and "program 1 of this series" in gone.json()["error"]["message"]
        assert post(client, {"program": one.id}).json()["error"]["field"] == "items.0.program"
        database.do(lambda store: store.remove_content(two.id))
        for tail in ("", ".html"):
            assert code(client.get(f"{address}{tail}")) == (410, "removed")
        database.do(lambda store: SeriesStore(store.database, 10**6).remove_content(series.id))
        assert code(client.get(f"{address}.json")) == (410, "removed")


def first_of(html: str) -> dict[str, Any]:
    """What a page is sent for its script."""
    match = re.search(r'<script type="application/json" id="first">(.*?)</script>', html, re.DOTALL)
    assert match is not None
    told: dict[str, Any] = json.loads(match[1])
    return told


@needs_page
def test_hostile_texts_stay_texts_in_page_frame_file_and_oembed(client: TestClient) -> None:
    program = saved(client, title=HOSTILE)
    fields = {"title": HOSTILE, "description": HOSTILE}
    series = made(client, {"program": program.id, "note": HOSTILE, "step": 1}, **fields)
    for address in (f"/series/{series.id}", f"/embed/series/{series.id}", f"/series/{series.id}.html"):
        answer = client.get(address, headers={"accept": "text/html"})
        assert answer.status_code == 200, answer.text[:500]
        markup = re.sub(r"<script nonce=.*?</script>|<style.*?</style>", "", answer.text, flags=re.DOTALL)
        assert "<script>alert" not in markup and "<img src=x" not in markup and "onerror=alert(2)>" not in markup
    assert "unsafe-eval" not in client.get(f"/series/{series.id}").headers["content-security-policy"]
    answer = client.get("/oembed", params={"url": f"{PUBLIC}/series/{series.id}"}).json()
    assert "<script>" not in answer["html"] and "<img" not in answer["html"] and answer["html"].count("<") == 2


@needs_page
def test_oembed_frames_a_series_at_its_place(client: TestClient) -> None:
    one, two = saved(client, title="One"), saved(client, title="Two")
    series = made(client, {"program": one.id}, {"program": two.id})
    answer = client.get("/oembed", params={"url": f"{series.url}/2?lang=zh", "maxwidth": 400}).json()
    assert f'src="{PUBLIC}/embed/series/{series.id}/2" width="400"' in answer["html"]
    assert (answer["title"], answer["thumbnail_url"]) == ("A series", f"{PUBLIC}/s/{two.id}.card.png")
    assert code(client.get("/oembed", params={"url": f"{series.url}/3"})) == (404, "no_item")
    assert f'type="application/json+oembed" href="{PUBLIC}/oembed' in client.get(f"/series/{series.id}").text


def test_a_page_that_asks_to_predict_has_no_note_in_it(client: TestClient) -> None:
    program = saved(client, title="Guess", description="The answer is fortytwo.")
    series = made(
        client, {"program": program.id, "note": "It becomes seventeen.", "step": 1}, description="Think of elephants."
    )
    for folder in ("series", "embed/series"):
        asked = client.get(f"/{folder}/{series.id}", params={"predict": "1"}).text
        assert not re.search("seventeen|fortytwo|elephants", asked)
        told = first_of(asked)["series"]
        assert told["step"] is None and told["items"][0]["url"].endswith("?predict=1")
        assert first_of(client.get(f"/{folder}/{series.id}").text)["series"]["step"] == 1


@needs_page
def test_the_file_has_each_run_once_and_says_when_it_is_too_large(new_database: DatabaseFactory) -> None:
    with visiting(new_database("sqlite"), picture_limit="100000/minute", series_file=3500) as client:
        one = saved(client, title="One")
        twice = made(client, {"program": one.id, "note": "a"}, {"program": one.id, "note": "b"})
        answer = client.get(f"/series/{twice.id}.html")
        assert answer.status_code == 200 and answer.headers["content-disposition"].startswith("attachment")
        data = first_of(answer.text)
        assert list(data["traces"]) == [one.id] and [item["note"] for item in data["series"]["items"]] == ["a", "b"]
        more = [saved(client, title=f"{k}", source=f"x = torch.ones({k})") for k in range(1, 9)]
        large = made(client, *[{"program": program.id} for program in more])
        answer = client.get(f"/series/{large.id}.html")
        assert code(answer) == (413, "too_large") and "3.5 kB" in answer.json()["error"]["message"]
        assert client.get(f"/series/{large.id}").status_code == 200
