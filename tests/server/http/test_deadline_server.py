"""The server stops when asked to, whatever its requests are doing."""

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measured_server import free_port
from tests.chaos.server_state import wait_until
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SERVER = """
import asyncio, sys, time
from server.http import deadline_server
from server.http.connections import ConnectionLimiter
deadline_server.GRACE_SECONDS, deadline_server.CANCEL_AFTER_SECONDS, deadline_server.EXIT_AFTER_SECONDS = 0.3, 1, 3

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"begun", "more_body": True})
    {what}

deadline_server.create_server(app, "127.0.0.1", int(sys.argv[1]), ConnectionLimiter()).run()
"""
REQUESTS = {
    "until its client goes": ("while (await receive())['type'] != 'http.disconnect': pass", signal.SIGTERM),
    "without end": ("await asyncio.sleep(1000)", signal.SIGTERM),
    "in a thread": ("await asyncio.to_thread(time.sleep, 1000)", signal.SIGTERM),
    "without letting others have their turn": ("await asyncio.sleep(0.1); time.sleep(1000)", signal.SIGALRM),
    "with a long answer": (
        "await send({'type': 'http.response.body', 'body': bytes(1 << 26)})",
        signal.SIGTERM,
    ),
}
"""What a request does, and the signal that ends the server."""


@pytest.mark.parametrize("name", REQUESTS)
def test_a_server_ends_within_its_deadline_whatever_requests_do(name: str) -> None:
    what, ended_by = REQUESTS[name]
    port = free_port()
    command: Any = [sys.executable, "-c", SERVER.replace("{what}", what), str(port)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as server:
        answers: list[Any] = []

        def begun() -> bool:
            try:
                answers.append(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE))
            except OSError:
                return False
            return bool(answers[-1].read(5) == b"begun")

        wait_until("a request is being served", begun, 60)
        server.terminate()
        assert server.wait(60) == -ended_by
        answers[-1].close()
