"""What every pool offers, whether its programs run on this machine or on others."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from server.pool.askers import Askers
from server.visitors.clients import Client
from server.wire.matrix import Answer, AnswerJob

SERVER_CLIENT = Client("", "")
"""The client of the programs that the server runs of its own accord."""


STARTING = "the workers are starting; try again in some seconds"
"""What `PoolInterface.unavailable_reason` says before the workers were ready, or have failed, for the first time."""


class NoAnswers(Exception):
    """A child that was to answer programs of the server's own ended before it had."""


class PoolQueue(Protocol):
    """How many programs run and wait. client_limit: those of one client that may wait.

    longest_wait_seconds: for which the oldest of those that wait has waited; 0 where none waits.
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
    """A pool. What it does where something fails is told by its methods; one suite of tests holds both pools to it.

    worker_count: how many programs it runs at once. queue: of programs for the CPU; queues: it, as `cpu`, and that of a
    GPU, `gpu`, be there one or not. ready: whether a program would be run now, or as soon as those before it have been.
    devices: those that a program can run on now. versions: of torch, numpy and Python, {} before any is known. layers:
    of confinement, each with why it does not work, or "". booted: whether there are workers. spares: children that wait
    for a job. boots: starts of the process that forks them; pid: of that process, None where it is elsewhere. machines:
    the workers that are alive elsewhere: name, queue, capacity, running, draining, versions.
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
        """Why no program is run on a device now, `cpu` or `cuda`, and what to do, in one line; "" where programs
        are."""

    async def start(self) -> None:
        """Begin to have workers; does not wait for them."""

    async def wait_until_booted(self) -> None:
        """Wait until there are workers. Raises WorkersUnavailable where there are none in time."""

    async def close(self) -> None:
        """End what runs and what waits."""

    async def run_job(
        self,
        job: Job,
        client: Client = SERVER_CLIENT,
        on_position: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
        askers: Askers | None = None,
    ) -> RecordedTrace:
        """The trace of a program, however it ends. Raises Busy, and WorkersUnavailable when no worker can be had.

        on_position: called with the number of programs ahead while it waits, and with -1 when it starts
        stop: once set, ends a started program, with what was recorded. Where the cause of its end was skipped in a long
            loop, it is run once more to show it.
        askers: who wait for it, in the place of the client; each time that others join, the run waits in the best place
            of all. Then the run of the same job will do that another server asks for now.
        """
        ...

    async def run_answer_job(self, job: AnswerJob, client: Client = SERVER_CLIENT) -> list[Answer]:
        """What programs of the server's own answer, in one confined child that records nothing.

        Raises Busy, WorkersUnavailable, and NoAnswers where the child did not come to its end.
        """
        ...

    def cancelled_trace(self, job: Job) -> RecordedTrace:
        """The trace of a program that was cancelled before it started."""
        ...
