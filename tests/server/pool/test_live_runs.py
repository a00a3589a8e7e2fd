"""Runs that typing starts: what they count to, and that one that is superseded frees its worker at once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest

from gradbox.wire.api import RunRequest
from server.app import create_app
from server.http.response_delivery import ClientDisconnected
from server.settings import Settings
from server.visitors.clients import Client
from tests.support.waiting import PATIENCE, PATIENT, eventually

ANN, BOB = Client("ann", "10.0.0.1"), Client("bob", "10.0.0.2")


def with_server(settings: dict[str, Any], act: Callable[[Any, httpx.AsyncClient], Awaitable[None]]) -> None:
    """Do something with a server of one worker, whose programs are words of the stand-in recorder, and a client of
    it."""

    async def serve() -> None:
        app = create_app(
            Settings({}, workers=1, sandbox="off", **PATIENT, **settings), "tests.support.stand_in_recorder:prepare"
        )
        app.state.services.gallery.scenarios = []
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE) as client:
                await act(app.state.services, client)

    asyncio.run(serve())


def test_a_run_whose_request_was_given_up_frees_its_worker() -> None:
    async def act(services: Any, client: httpx.AsyncClient) -> None:
        await client.post("/api/runs", json={"source": "finish"})  # the workers are up
        for k in range(5):
            gone = asyncio.Event()
            run = await services.runs.start_run(RunRequest(source=f"sleep 600{k}"), ANN, live=True)
            waiting = asyncio.ensure_future(services.runs.wait_for_result(run, gone.wait))
            await eventually(lambda: services.pool.queue.running_count == 1)
            gone.set()
            with pytest.raises(ClientDisconnected):
                await waiting
        other = await services.runs.start_run(RunRequest(source="finish other"), BOB)
        result = await asyncio.wait_for(services.runs.wait_for_result(other, asyncio.Event().wait), PATIENCE)
        assert result is not None and result.status == "finished", "the only worker was free again"
        assert (services.pool.queue.running_count, services.pool.queue.waiting_count) == (0, 0)

    with_server({}, act)


def test_runs_while_typing_have_limits_of_their_own() -> None:
    async def act(_: Any, client: httpx.AsyncClient) -> None:
        async def statuses(path: str, name: str) -> list[int]:
            sources = [f"finish {name} {k}" for k in range(3)]
            return [(await client.post(path, json={"source": source})).status_code for source in sources]

        assert await statuses("/api/runs?live=1", "a") == [200, 200, 429]
        assert await statuses("/api/runs", "b") == [200, 429, 429]
        refused = (await client.post("/api/runs?live=1", json={"source": "finish c"})).json()["error"]
        assert refused["code"] == "limited" and "2 live runs per minute" in refused["message"]

    with_server({"live_limit": "2/minute", "rate_limit": "1/minute"}, act)


def test_a_host_may_turn_live_runs_off() -> None:
    async def act(_: Any, client: httpx.AsyncClient) -> None:
        answer = await client.post("/api/runs?live=1", json={"source": "finish"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "live_off")
        assert (await client.post("/api/runs", json={"source": "finish"})).status_code == 200

    with_server({"live": "off"}, act)


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({}, "on"),
        ({"public_url": "https://gradbox.example.org"}, "offered"),
        ({"public_url": "https://gradbox.example.org", "live": "on"}, "on"),
        ({"live": "offered"}, "offered"),
        ({"live": "off"}, "off"),
    ],
)
def test_live_runs_are_on_by_default_on_ones_own_machine(settings: dict[str, str], mode: str) -> None:
    assert Settings({}, **settings).live_mode == mode
