"""The parts of a cluster, started and ended: Redis, PostgreSQL, two web processes on this machine, workers on their
hosts."""

import json
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.measured_server import ROOT, MeasuredServer, ServerProcess
from tests.chaos.settings import SAVING
from tests.chaos_cluster.hosts import Host, NotPermitted, gateway, hosts
from tests.support import postgres
from tests.support.brokers import RedisServer

WEBS, WORKERS = 2, 3
BOOT = 120.0
"""Seconds for a part to be there."""


class Part(MeasuredServer):
    """A web process or a worker.

    command: before `python -m server …`
    variables: of its environment, besides settings
    """

    words: tuple[str, ...] = ()
    """In the place of those that serve."""

    def __init__(self, command: list[str], variables: dict[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self._command, self._variables = command, variables

    def launch(self, arguments: list[str], environment: dict[str, str], log: IO[bytes]) -> ServerProcess:
        words = [sys.executable, "-m", "server", *(self.words or arguments)]
        return subprocess.Popen(
            [*self._command, *words],
            cwd=ROOT,
            env={**environment, **self._variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait_until_ended(self, seconds: float) -> int:
        """Its exit status. Raises subprocess.TimeoutExpired."""
        assert self.process is not None
        return self.process.wait(seconds)


class Worker(Part):
    """A worker on a host."""

    words = ("worker", "--queue", "cpu")

    def __init__(self, host: Host, variables: dict[str, str], **settings: Any) -> None:
        super().__init__(host.command([]), variables, **settings)
        self.host = host

    @property
    def name(self) -> str:
        """What it is called in traces; "" until it takes programs."""
        words = self.log().partition("Gradbox worker ")[2].partition(":")
        return words[0] if words[1] else ""


@dataclass
class Cluster:
    """A site of several processes.

    redis, webs, workers: its parts, which `start_cluster` ends; the workers are those that should be at work, by host
    """

    redis: RedisServer
    webs: list[Part]
    workers: list[Worker]
    parts: list[MeasuredServer]
    ending: ExitStack
    variables: dict[str, str]
    settings: dict[str, Any]

    def start_worker(self, host: Host) -> Worker:
        """Start one; does not wait for it."""
        worker = Worker(host, self.variables, **self.settings)
        self._start(worker)
        return worker

    def start_web(self) -> None:
        web = Part([], self.variables, **self.settings)
        self._start(web)
        self.webs.append(web)

    def _start(self, part: MeasuredServer) -> None:
        self.parts.append(part)
        self.ending.callback(part.__exit__)
        part.start()

    def machines(self, web: Part) -> list[str]:
        """The names of the workers that this web process counts on. Raises OSError."""
        with urllib.request.urlopen(f"http://127.0.0.1:{web.port}/-/status.json", timeout=10) as answer:
            machines = json.load(answer)["workers"]["machines"]
        return sorted(machine["name"] for machine in machines if machine["capacity"] and not machine["draining"])

    def complete(self) -> bool:
        """Whether each web process counts on all workers that should be there, and on no other."""
        names = sorted(worker.name for worker in self.workers)
        try:
            return all(self.machines(web) == names for web in self.webs)
        except OSError:
            return False

    def wait_until_complete(self) -> float:
        """The seconds until it is. Raises AssertionError after `BOOT`."""
        began = time.monotonic()
        while not self.complete():
            ended = [part.log()[-1500:] for part in [*self.webs, *self.workers] if part.process and part.process.poll()]
            assert not ended, f"a part has ended:\n{ended[0]}"
            assert time.monotonic() - began < BOOT, f"not all parts are there after {BOOT:.0f} s"
            time.sleep(0.2)
        return time.monotonic() - began


@contextmanager
def start_cluster(at_once: int) -> Iterator[Cluster]:
    """A cluster whose workers run so many programs at once each. All of it is ended at the end, and removed.

    Raises NotPermitted where there is no Redis or PostgreSQL, or there can be no namespaces, AssertionError where a
    part does not start.
    """
    where = postgres.programs()
    if where is None or shutil.which("redis-server") is None:
        raise NotPermitted("there is no PostgreSQL or no redis-server on this machine")
    with ExitStack() as ending:
        machines = ending.enter_context(hosts(WORKERS))
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="gradbox-chaos-")))
        database = postgres.database(ending.enter_context(postgres.running(where, gateway())), "chaos")
        redis = RedisServer(folder, host=gateway())
        ending.callback(redis.end)
        redis.start()
        settings = {**SAVING, "queue_url": redis.url, "secret": secrets.token_hex(16), "workers": at_once}
        cluster = Cluster(redis, [], [], [], ending, {"DATABASE_URL": database}, settings)
        for _ in range(WEBS):
            cluster.start_web()
        cluster.workers = [cluster.start_worker(host) for host in machines]
        cluster.wait_until_complete()
        yield cluster
