"""Where no program can be run, the server says so, and why, to the operator, to a program and to a visitor."""

import asyncio
import html
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.pool import machine_workers
from server.pool.zygote import WorkersUnavailable, Zygote
from server.settings import Settings
from server.wire.link import WorkerOptions
from tests.support.waiting import PATIENCE, wait_until

PROGRAM = {"source": "x = 1\n"}


def client_of(prepare: str, **settings: object) -> TestClient:
    app = create_app(
        Settings({}, sandbox="off", boot=PATIENCE, **settings), f"tests.server.operating.broken_workers:{prepare}"
    )
    return TestClient(app, base_url="http://127.0.0.1")


def health_after_failure(client: TestClient) -> dict[str, Any]:
    """What /healthz says once the workers have failed to start."""

    def read_health() -> dict[str, Any] | None:
        health: dict[str, Any] = client.get("/healthz").json()
        return health if "do not start" in health["workers"]["cpu"] else None

    return wait_until(read_health, lambda: client.get("/healthz").json()) or {}


REASONS = [
    ("prepare_and_raise", "the disk with torch is gone"),
    ("prepare_with_thread", "the process that forks has a second thread"),
    ("prepare_and_die", "the process that forks them ended"),
]


@pytest.mark.parametrize(("prepare", "reason"), REASONS)
def test_health_says_why_no_program_is_run(prepare: str, reason: str) -> None:
    with client_of(prepare) as client:
        health = health_after_failure(client)
        assert health["status"] == "no workers" and reason in health["workers"]["cpu"]
        ready = client.get("/readyz")
        assert ready.status_code == 503 and reason in ready.json()["why"]


@pytest.mark.parametrize(("prepare", "reason"), [("prepare_slowly", ""), ("prepare_and_hang", "processor time")])
def test_a_busy_machine_has_more_time_to_start_and_a_start_that_hangs_has_not(prepare: str, reason: str) -> None:
    async def failure() -> str:
        options = WorkerOptions(0, "off", 2**30, 10, f"tests.server.operating.broken_workers:{prepare}")
        zygote = Zygote(options, 2.0)
        try:
            await zygote.wait_until_booted()
        except WorkersUnavailable as error:
            return str(error)
        finally:
            await zygote.close()
        return ""

    said = asyncio.run(failure())
    assert reason in said and bool(reason) == bool(said)


def test_a_run_is_refused_with_the_reason() -> None:
    with client_of("prepare_and_raise") as client:
        health_after_failure(client)
        answer = client.post("/api/runs", json=PROGRAM)
        assert answer.status_code == 503 and answer.json()["error"]["code"] == "no_worker"
        assert "the disk with torch is gone" in answer.json()["error"]["message"]


def test_the_page_says_that_no_program_can_be_run() -> None:
    with client_of("prepare_and_raise") as client:
        health_after_failure(client)
        assert "This server can't run programs now" in html.unescape(client.get("/").text)
        assert "无法运行程序" in client.get("/?lang=zh").text
        assert client.get("/gallery").status_code == 200


def test_the_page_says_nothing_of_workers_that_run_programs() -> None:
    app = create_app(Settings({}, sandbox="off"), "tests.support.stand_in_recorder:prepare")
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.post("/api/runs", json={"source": "finish"}).status_code == 200
        assert 'id="no-workers"' not in client.get("/").text
        assert client.get("/healthz").json()["status"] == "ok"


@pytest.fixture
def machine_with_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    async def find_gpus() -> tuple[list[str], int, str]:
        return ["a stand-in"], 8 << 30, ""

    monkeypatch.setattr(machine_workers, "find_gpus", find_gpus)
    yield


def message_for_cuda(client: TestClient, ended: str) -> str:
    """What a program for CUDA is answered, once that has these words."""
    messages = [""]

    def is_answered() -> bool:
        answer = client.post("/api/runs", json={**PROGRAM, "device": "cuda"})
        assert answer.status_code == 422 and answer.json()["error"]["code"] == "no_device"
        messages.append(str(answer.json()["error"]["message"]))
        return ended in messages[-1]

    wait_until(is_answered, lambda: messages[-1])
    return messages[-1]


def test_a_server_that_uses_no_gpu_says_how_to_change_that() -> None:
    with client_of("prepare_and_raise", gpu=False) as client:
        message = message_for_cuda(client, "GRADBOX_GPU=1")
        assert message.startswith("this server has no cuda worker: GRADBOX_GPU is off")


def test_a_machine_without_a_gpu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_workers, "GPU_DEVICES", ("no-such-device",))
    with client_of("prepare_and_raise") as client:
        assert message_for_cuda(client, "this machine has no GPU")


@pytest.mark.usefixtures("machine_with_gpu")
def test_a_gpu_whose_children_end_says_how_they_ended() -> None:
    with client_of("prepare_children_that_raise") as client:
        message = message_for_cuda(client, "does not start")
        assert "the driver is too old" in message
        assert "the driver is too old" in client.get("/healthz").json()["workers"]["cuda"]
