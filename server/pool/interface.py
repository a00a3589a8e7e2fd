"""What every pool offers, whether its programs run on this machine or on others."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from server.pool.askers import Askers
from server.visitors.clients import Client
from server.wire.matrix import Answer, AnswerJob

SERVER_CLIENT = Client("", "")
"""The client of the programs that the server runs of its own accord."""


WORKERS_STARTING_MESSAGE = "the workers are starting; try again in some seconds"
"""What `PoolInterface.unavailable_reason` says before the workers were ready, or have failed, for the first time."""


class NoAnswers(Exception):
    """A child that should answer the server's own programs ended before it had answered."""


ReadTraceSoFar = Callable[[], Awaitable[bytes | None]]
"""Reads the trace of a program that still runs: `server.pool.growing_trace.GrowingTrace.read`."""


class PoolQueue(Protocol):
    """How many programs run and wait.

    client_limit: how many programs of one client may wait
    longest_wait_seconds: how long the oldest waiting program has waited; 0 if none waits
    """

    @property
    def running_count(self) -> int: ...

    @property
    def waiting_count(self) -> int: ...

    @property
    def longest_wait_seconds(self) -> float: ...

    @property
    def client_limit(self) -> int: ...


class PoolInterface(Protocol):
    """A pool of workers. Each method says what it does when something fails; one test suite holds every pool to that.

    worker_count: how many programs it runs at once
    queue: the queue of programs for the CPU
    queues: the queues by name: `cpu`, and `gpu` whether or not there is a GPU
    is_ready: whether a program would run now, or as soon as those ahead of it have run
    has_booted: whether there are workers
    devices: those that a program can run on now
    versions: of torch, numpy and Python; empty before they are known
    confinement_layers: the layers of confinement, each with the reason why it does not work, or ""
    spare_count: children that wait for a job
    boot_count: how often the process that forks children has been started
    zygote_pid: the id of that process; None if it is on another machine
    machine_status: the live workers on other machines: name, queue, capacity, running, draining, versions
    """

    @property
    def worker_count(self) -> int: ...

    @property
    def queue(self) -> PoolQueue: ...

    @property
    def queues(self) -> Mapping[str, PoolQueue]: ...

    @property
    def is_ready(self) -> bool: ...

    @property
    def has_booted(self) -> bool: ...

    @property
    def devices(self) -> tuple[str, ...]: ...

    @property
    def versions(self) -> Mapping[str, str]: ...

    @property
    def confinement_layers(self) -> Mapping[str, str]: ...

    @property
    def spare_count(self) -> int: ...

    @property
    def boot_count(self) -> int: ...

    @property
    def zygote_pid(self) -> int | None: ...

    @property
    def machine_status(self) -> list[dict[str, Any]]: ...

    def unavailable_reason(self, device: str) -> str:
        """Why no program runs on a device (`cpu` or `cuda`) now and what to do, in one line; "" if programs run."""

    async def start(self) -> None:
        """Start the workers without waiting for them."""

    async def wait_until_booted(self) -> None:
        """Wait until there are workers. Raises WorkersUnavailable if none start in time."""

    async def close(self) -> None:
        """End all running and waiting programs."""

    async def run_job(
        self,
        job: Job,
        client: Client = SERVER_CLIENT,
        on_position: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
        askers: Askers | None = None,
        on_growing: Callable[[ReadTraceSoFar], None] | None = None,
    ) -> RecordedTrace:
        """Run a program and return its trace, however it ends. Raises WorkerQueueFull, and WorkersUnavailable if there
        is no worker.

        on_position: called with the number of programs ahead while it waits, and with -1 when it starts
        stop: once set, ends a started program and keeps what was recorded. Where the cause of its end was skipped in a
            long loop, it is run once more to show it.
        askers: who waits for it, instead of the client alone. Whenever others join, the run moves to the best place of
            any of them, and it may serve another server that asks for the same job.
        on_growing: called before the program starts, with what reads its trace as far as it has run. If the program
            is run once more, the trace stays that of the first run.
        """
        ...

    async def run_answer_job(self, job: AnswerJob, client: Client = SERVER_CLIENT) -> list[Answer]:
        """Run the server's own programs in one confined child that records nothing, and return their answers.

        Raises WorkerQueueFull, WorkersUnavailable, and NoAnswers if the child did not come to its end.
        """
        ...

    def cancelled_trace(self, job: Job) -> RecordedTrace:
        """The trace of a program that was cancelled before it started."""
        ...
