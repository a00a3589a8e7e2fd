"""Runs programs on this machine: queues them, enforces their limits, and makes a trace of every run, however it
ended."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from server.pool.askers import Asker, Askers
from server.pool.assembly import Assembler, ChildRecording, cancelled_trace, parse_answers, run_and_assemble_trace
from server.pool.fair_queue import FairQueue
from server.pool.growing_trace import GrowingTrace
from server.pool.interface import SERVER_CLIENT, NoAnswers, ReadTraceSoFar
from server.pool.machine_workers import MachineWorkers
from server.pool.zygote import PREPARE_FUNCTION
from server.settings import Settings
from server.visitors.clients import Client
from server.wire.matrix import Answer, AnswerJob

__all__ = ["LocalPool", "NoAnswers"]


class LocalPool:
    """At most `settings.workers` programs run at once and `settings.queue` wait; beyond that, `run_job` raises
    WorkerQueueFull.

    `server.pool.interface.PoolInterface` documents the properties and methods.
    """

    def __init__(self, settings: Settings, prepare: str = PREPARE_FUNCTION) -> None:
        self._settings = settings
        self._machine = MachineWorkers(settings, prepare)
        self.worker_count, self.zygote = self._machine.count, self._machine.zygote
        self.queue = FairQueue(self.worker_count, settings.queue, classroom=settings.classroom)
        self._gpu_queue = FairQueue(1, settings.queue, classroom=settings.classroom)
        self.queues = {"cpu": self.queue, "gpu": self._gpu_queue}
        self._assembler = Assembler(self.worker_count)

    async def start(self) -> None:
        self._machine.start()
        self._assembler.start()

    @property
    def is_ready(self) -> bool:
        return self.zygote.has_spare and not self.queue.is_full and not self._assembler.failing

    @property
    def has_booted(self) -> bool:
        return self.zygote.is_ready

    @property
    def devices(self) -> tuple[str, ...]:
        return ("cpu", "cuda") if self._machine.is_gpu_ready else ("cpu",)

    @property
    def versions(self) -> Mapping[str, str]:
        return self.zygote.versions

    @property
    def confinement_layers(self) -> Mapping[str, str]:
        return self.zygote.layers

    @property
    def spare_count(self) -> int:
        return self.zygote.spare_count

    @property
    def boot_count(self) -> int:
        return self.zygote.boots

    @property
    def zygote_pid(self) -> int | None:
        return self.zygote.pid

    @property
    def machine_status(self) -> list[dict[str, Any]]:
        return []

    def unavailable_reason(self, device: str) -> str:
        if device != "cpu":
            return self._machine.gpu_unavailable_reason
        return "" if self.has_booted else self.zygote.unavailable_reason

    async def wait_until_booted(self) -> None:
        await self.zygote.wait_until_booted()

    async def close(self) -> None:
        await self._machine.close()
        await self._assembler.close()

    async def run_job(
        self,
        job: Job,
        client: Client = SERVER_CLIENT,
        on_position: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
        askers: Askers | None = None,
        on_growing: Callable[[ReadTraceSoFar], None] | None = None,
    ) -> RecordedTrace:
        stop, askers = stop or asyncio.Event(), Askers.of_client(client) if askers is None else askers
        queue = self._gpu_queue if job.device == "cuda" else self.queue
        has_run = False

        def on_buffer(lines: bytearray) -> None:
            if on_growing is not None:
                on_growing(GrowingTrace(self._assembler, job, self.versions, lines).read)

        async def record_in_turn(job: Job) -> ChildRecording:
            nonlocal has_run
            again, has_run = has_run, True
            # who waits is told nothing of a second run: neither a position nor that there was no place for it
            waiting = Askers(*(Asker(asker.client) for asker in askers)) if again else askers
            async with queue.create_request(waiting, None if again else on_position) as request:
                if on_position is not None and not again:
                    on_position(-1)
                recording = await self._machine.record_job(job, stop, None if again else on_buffer)
                request.was_cut_short = stop.is_set()
                await self._assembler.wait_for_room()
                return recording

        return await run_and_assemble_trace(
            self._assembler, job, record_in_turn, stop, self._settings.log_programs, askers
        )

    async def run_answer_job(self, job: AnswerJob, client: Client = SERVER_CLIENT) -> list[Answer]:
        async with self.queue.create_request(client, None):
            data, ended = await self._machine.record_answers(job)
        return await asyncio.to_thread(parse_answers, job, data, ended)

    def cancelled_trace(self, job: Job) -> RecordedTrace:
        return cancelled_trace(job, self.versions)
