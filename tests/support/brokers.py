"""A real Redis for as long as tests need one, and workers beside it that run programs for them. A plugin, for its
fixtures."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.forks import prepared_zygotes
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
SECRET = "tests of the cluster"
STAND_IN = "tests.support.stand_in_recorder:prepare"


def free_port() -> int:
    """A free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@dataclass
class RedisServer:
    """A Redis that can be ended and started again, with what it had been told.

    host: where it listens, beside 127.0.0.1
    """

    folder: Path
    port: int = field(default_factory=free_port)
    host: str = "127.0.0.1"
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        hosts = sorted({"127.0.0.1", self.host})
        command = ["redis-server", "--port", str(self.port), "--bind", *hosts, "--dir", str(self.folder)]
        persistence = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""]
        if len(hosts) > 1:  # else it refuses whom it does not find on its own machine
            command += ["--protected-mode", "no"]
        self.process = subprocess.Popen([*command, *persistence], stdout=subprocess.DEVNULL, start_new_session=True)

        def answers() -> bool:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection,
            ):
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            return False

        wait_until(answers)

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it by a signal, and wait for that."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(PATIENCE)


@contextmanager
def running_redis() -> Iterator[RedisServer]:
    """A Redis for one test, which is skipped where this machine has none."""
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server on this machine")
    with tempfile.TemporaryDirectory(prefix="gradbox-redis-") as folder:
        server = RedisServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.end(signal.SIGKILL)


class WorkerProcess:
    """`python -m server worker` for a Redis, with a recorder that stands in.

    variables: settings besides
    """

    def __init__(self, url: str, folder: Path, prepare: str = STAND_IN, **variables: str) -> None:
        settings = {"SANDBOX": "off", "WALL": "60", "GPU": "0", "DATA": str(folder / "data"), **variables}
        environment = {f"GRADBOX_{name}": value for name, value in settings.items()}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.remote_worker", prepare],
            cwd=ROOT,
            env=prepared_zygotes.environment(GRADBOX_QUEUE_URL=url, **environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait_until_ready(self) -> str:
        """Its name, once it takes programs."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        assert line.startswith("Gradbox worker "), line or "the worker ended"
        return line.split()[2].rstrip(":")

    def kill(self) -> None:
        """End it and all that it started, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def end(self) -> None:
        """Ask it to end, and wait for that."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture(scope="session")
def broker() -> Iterator[RedisServer]:
    """A Redis that tests share."""
    with running_redis() as server:
        yield server


@pytest.fixture(scope="session")
def remote_workers(broker: RedisServer) -> Iterator[str]:
    """The URL of a Redis with one worker, of two programs at once."""
    worker = WorkerProcess(broker.url, broker.folder)
    try:
        worker.wait_until_ready()
        yield broker.url
    finally:
        worker.end()
