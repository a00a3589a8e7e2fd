"""Runs programs on this machine: their queue, their limits, their end, and a trace whatever happens."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from server.pool.assembly import Assembler, cancelled_trace, read_answers, recorded_trace
from server.pool.fair_queue import FairQueue
from server.pool.interface import SERVER_CLIENT, NoAnswers
from server.pool.machine_workers import MachineWorkers
from server.pool.zygote import PREPARE
from server.settings import Settings
from server.visitors.clients import Client
from server.wire.matrix import Answer, AnswerJob

__all__ = ["NoAnswers", "Pool"]


class Pool:
    """At most `settings.workers` programs at once and `settings.queue` that wait; past these, `run` raises Busy.

    What its properties and methods mean is told by `server.pool.interface.PoolInterface`.
    """

    def __init__(self, settings: Settings, prepare: str = PREPARE) -> None:
        self._settings = settings
        self._machine = MachineWorkers(settings, prepare)
        self.workers, self.zygote = self._machine.count, self._machine.zygote
        self.queue = FairQueue(self.workers, settings.queue, classroom=settings.classroom)
        self._gpu_queue = FairQueue(1, settings.queue, classroom=settings.classroom)
        self.queues = {"cpu": self.queue, "gpu": self._gpu_queue}
        self._assembler = Assembler(self.workers)

    async def start(self) -> None:
        self._machine.start()
        self._assembler.start()

    @property
    def ready(self) -> bool:
        return self.zygote.has_spare and not self.queue.full and not self._assembler.failing

    @property
    def booted(self) -> bool:
        return self.zygote.ready

    @property
    def devices(self) -> tuple[str, ...]:
        return ("cpu", "cuda") if self._machine.gpu_ready else ("cpu",)

    @property
    def versions(self) -> Mapping[str, str]:
        return self.zygote.versions

    @property
    def layers(self) -> Mapping[str, str]:
        return self.zygote.layers

    @property
    def spares(self) -> int:
        return self.zygote.spares

    @property
    def boots(self) -> int:
        return self.zygote.boots

    @property
    def pid(self) -> int | None:
        return self.zygote.pid

    @property
    def machines(self) -> list[dict[str, Any]]:
        return []

    def problem(self, device: str) -> str:
        if device != "cpu":
            return self._machine.gpu_problem
        return "" if self.booted else self.zygote.problem

    async def wait_until_booted(self) -> None:
        await self.zygote.wait_until_booted()

    async def close(self) -> None:
        await self._machine.close()
        await self._assembler.close()

    async def run(
        self,
        job: Job,
        client: Client = SERVER_CLIENT,
        on_position: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
        may_join: bool = False,  # noqa: ARG002
    ) -> RecordedTrace:
        stop = stop or asyncio.Event()
        queue = self._gpu_queue if job.device == "cuda" else self.queue
        async with queue.ticket(client, on_position):
            if on_position is not None:
                on_position(-1)
            record = partial(self._machine.record, stop=stop)
            return await recorded_trace(self._assembler, job, record, stop, self._settings.log_programs)

    async def answer(self, job: AnswerJob, client: Client = SERVER_CLIENT) -> list[Answer]:
        async with self.queue.ticket(client, None):
            data, ended = await self._machine.record_answers(job)
        return read_answers(job, data, ended)

    def cancelled_trace(self, job: Job) -> RecordedTrace:
        return cancelled_trace(job, self.versions)
