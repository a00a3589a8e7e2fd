"""Thumbnails of operations, stills of scenarios: drawn from the trace of the example, once, one at a time, and never in
a visitor's way."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from server.app import create_app
from server.gallery.scenarios import load_scenarios
from server.gallery.thumbnails import POLL_INTERVAL, ExampleProgram, ThumbnailNotMade, Thumbnails, scenario_examples
from server.pool.local import LocalPool
from server.services import Services
from server.settings import Settings
from server.visitors.clients import Client
from tests.conftest import ROOT
from tests.sharing.test_exports import needs_page
from tests.support.waiting import PATIENCE, PATIENT

pytestmark = needs_page


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Services]]:
    app = create_app(Settings({}, data=str(folder), sandbox="off", gpu=False, **PATIENT))
    services: Services = app.state.services
    services.gallery.scenarios = []
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client, services


def values(svg: str) -> list[str]:
    """Those of the cells that are drawn, in order."""
    return re.findall(r'data-cell="[^"]+"[^>]* data-value="([^"]*)"', svg)


def test_a_thumbnail_shows_what_the_example_did(tmp_path: Path) -> None:
    async def ask() -> None:
        async with serving(tmp_path) as (client, services):
            for name in ("add_", "backward"):
                await services.gallery.thumbnails.get(name, "light", PATIENCE)
            light = await client.get("/operations/add_.svg")
            assert (light.status_code, light.headers["content-type"]) == (200, "image/svg+xml; charset=utf-8")
            assert values(light.text) == ["2", "-1", "5"]
            assert 'data-name="a"' in light.text and 'data-version="1"' in light.text
            dark = await client.get("/operations/add_.svg?theme=dark")
            assert values(dark.text) == values(light.text) and dark.text != light.text
            backward = (await client.get("/operations/backward.svg")).text
            assert values(backward) == ["1", "2", "4", "2", "4", "8"], "x and x.grad"
            again = await client.get("/operations/add_.svg", headers={"If-None-Match": light.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert (await client.get("/operations/add_.svg?theme=blue")).status_code == 422
            assert (await client.get("/operations/no_such.svg")).status_code == 404

    asyncio.run(ask())


def test_requests_join_one_is_made_at_a_time_and_a_visitors_program_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.gallery.thumbnails.IDLE_WAIT", 1.0)
    runs: list[str] = []
    under_way = most = 0

    async def ask() -> None:
        async with serving(tmp_path) as (_, services):
            run = services.pool.run_job

            async def counted(job: Any) -> Any:
                nonlocal under_way, most
                runs.append(job.source)
                under_way += 1
                most = max(most, under_way)
                try:
                    return await run(job)
                finally:
                    under_way -= 1

            monkeypatch.setattr(services.pool, "run_job", counted)
            assert isinstance(services.pool, LocalPool)
            async with services.pool.queue.create_request(Client("visitor", "192.0.2.1")):
                with pytest.raises(ThumbnailNotMade) as raised:
                    await services.gallery.thumbnails.get("clone", "light", 3 * POLL_INTERVAL)
                assert (raised.value.headers["Retry-After"], runs) == ("2", [])
                assert await services.gallery.thumbnails.get("clone", "light", PATIENCE), (
                    "on a server that is never idle too"
                )
            wanted = ["clone", "detach", "clone", "detach", "clone"]
            made = await asyncio.gather(*(services.gallery.thumbnails.get(name, "light", PATIENCE) for name in wanted))
            assert made[0] is made[2] is made[4] and made[1] is made[3] and made[0] != made[1]
            assert (len(runs), most) == (2, 1)

    asyncio.run(ask())


def test_one_that_is_not_made_yet_is_an_empty_picture_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.routes.exports.MAX_WAIT", 0.01)

    async def ask() -> None:
        async with serving(tmp_path) as (client, services):
            assert isinstance(services.pool, LocalPool)
            async with services.pool.queue.create_request(Client("visitor", "192.0.2.1")):
                early = await client.get("/operations/clone.svg")
            assert (early.status_code, early.headers["retry-after"]) == (202, "2")
            assert (early.headers["cache-control"], values(early.text)) == ("no-store", [])
            await services.gallery.thumbnails.get("clone", "light", PATIENCE)
            made = await client.get("/operations/clone.svg")
            assert made.status_code == 200 and values(made.text)

    asyncio.run(ask())


def test_a_still_shows_the_step_of_its_telling_line(tmp_path: Path) -> None:
    async def ask() -> None:
        async with serving(tmp_path) as (client, services):
            await services.gallery.stills.get("silent", "light", PATIENCE)
            response = await client.get("/gallery/silent.svg")
            assert response.headers["content-type"] == "image/svg+xml; charset=utf-8"
            assert values(response.text) == ["16", "4", "20"], "x as .data changed it, and y"
            still = ExampleProgram("still", examples["silent"].source, 3)
            early = Thumbnails(services.pool, services.renderer, services.settings, {"silent": still})
            assert values((await early.get("silent", "light", PATIENCE)).decode()) == ["2", "4"]
            await early.close()
            assert (await client.get("/gallery/no_such.svg")).status_code == 404

    examples = scenario_examples(load_scenarios(ROOT / "scenarios"))
    asyncio.run(ask())
