"""The pool whose programs run on other machines: it submits each run and assembles a trace from the lines that come
back."""

import asyncio
import contextlib
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import Job
from server.pool.askers import Askers
from server.pool.assembly import Assembler, ChildRecording, cancelled_trace, parse_answers, run_and_assemble_trace
from server.pool.cache import result_cache_key
from server.pool.growing_trace import GrowingTrace
from server.pool.interface import SERVER_CLIENT, NoAnswers, ReadTraceSoFar
from server.pool.machine_workers import wait_for_any_event
from server.pool.remote import scripts
from server.pool.remote.broker import (
    QUEUE_OF_DEVICE,
    TIMEOUT,
    BrokerError,
    CeleryWakeUpMessages,
    celery_list_key,
    close_broker_connections,
    create_broker_connections,
)
from server.pool.remote.census import LOST_RUN_TIMEOUT, QueueMonitor
from server.pool.remote.messages import (
    RUN_TTL,
    AnswerMessage,
    Message,
    Submission,
    TraceMessage,
    WaitingClientRecord,
    encode_wire_model,
    new_run_name,
    queue_key_prefix,
)
from server.pool.remote.remote_run import (
    LOST_OUTCOME,
    READ_TIMEOUT,
    PositionReporter,
    RemoteRun,
    RunStreamReader,
    decompress_outside_loop,
)
from server.pool.remote.run_signature import create_run_signer
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings
from server.visitors.clients import Client
from server.wire.matrix import Answer, AnswerJob
from server.wire.problems import WorkerQueueFull

MAX_WAIT = 10.0
"""Seconds for which a run waits for the broker or for a first worker before it is refused."""

GPU_MAX_WAIT = 1.0
"""The same for a worker with a GPU, of which there may be none."""

CANCEL_SECONDS = 5.0
"""Seconds that a worker has to end a cancelled run."""

SHUTDOWN_TURNS = 20
"""Turns of the event loop within which everybody who waits for a run notices that the server is shutting down."""

log = logging.getLogger("gradbox.pool")


class BlobStore(Protocol):
    """Keeps lines that are too large for the broker for some minutes, by the name of their run."""

    async def put(self, name: str, body: bytes) -> None: ...

    async def get(self, name: str) -> bytes | None: ...


class RemotePool:
    """`server.pool.interface.PoolInterface` documents the properties and methods.

    Raises WorkersUnavailable when no worker is alive or the broker is unreachable for longer than `MAX_WAIT`.
    """

    def __init__(self, settings: Settings, blobs: BlobStore) -> None:
        self._settings, self._blobs = settings, blobs
        self._broker = create_broker_connections(settings.queue_url)
        self._waiting_broker = create_broker_connections(settings.queue_url, READ_TIMEOUT)
        self._inbox = RunStreamReader(self._waiting_broker)
        self._tokens = CeleryWakeUpMessages()
        self._census = QueueMonitor(self._broker, self._inbox, self._tokens, settings)
        self.queues = self._census.queues
        self.queue = self.queues["cpu"]
        self._assembler = Assembler(max(2, settings.workers))
        self._submit_script, self._leave_script, self._set_askers_script = (
            self._broker.register_script(script)
            for script in (scripts.SUBMIT_SCRIPT, scripts.LEAVE_SCRIPT, scripts.SET_WAITING_CLIENTS_SCRIPT)
        )
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def start(self) -> None:
        self._assembler.start()
        self._spawn_task(self._inbox.read_forever())
        self._spawn_task(self._census.poll_forever())

    async def close(self) -> None:
        self._closed = self._inbox.closed = self._census.closed = True
        for run in list(self._census.runs.values()):
            run.error = None if run.started else WorkersUnavailable("the server is going down")
            run.mark_lost()
        for _ in range(SHUTDOWN_TURNS):
            if self._census.runs:
                await asyncio.sleep(0)
        for task in list(self._tasks):
            if task.get_name() == "leave":
                await asyncio.wait([task], timeout=TIMEOUT)
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=READ_TIMEOUT + 2 * TIMEOUT)
        for broker in (self._broker, self._waiting_broker):
            await close_broker_connections(broker)
        await self._assembler.close()

    @property
    def is_ready(self) -> bool:
        connected = self._inbox.connected_since is not None
        return connected and self.has_booted and not self.queue.is_full and not self._assembler.failing

    @property
    def has_booted(self) -> bool:
        return self.queue.capacity > 0

    @property
    def worker_count(self) -> int:
        return max(1, self.queue.capacity)

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(device for device, queue in QUEUE_OF_DEVICE.items() if device == "cpu" or self._has_workers(queue))

    @property
    def versions(self) -> Mapping[str, str]:
        return self._census.versions

    @property
    def confinement_layers(self) -> Mapping[str, str]:
        return self._census.layers

    @property
    def spare_count(self) -> int:
        return sum(worker.spares for worker in self._census.workers)

    @property
    def boot_count(self) -> int:
        return sum(worker.boots for worker in self._census.workers)

    @property
    def zygote_pid(self) -> int | None:
        return None

    @property
    def machine_status(self) -> list[dict[str, Any]]:
        return [worker.model_dump(exclude={"layers"}) for worker in self._census.workers]

    def unavailable_reason(self, device: str) -> str:
        queue = QUEUE_OF_DEVICE.get(device, device)
        if self._has_workers(queue):
            return ""
        if self._inbox.connected_since is None:
            return "the broker of the workers, GRADBOX_QUEUE_URL, can't be reached"
        return f"no worker of the queue {queue} is alive; start one with `python -m server worker --queue {queue}`"

    async def wait_until_booted(self) -> None:
        await self._wait_for_worker("cpu", self._settings.boot)

    def cancelled_trace(self, job: Job) -> RecordedTrace:
        return cancelled_trace(job, self.versions)

    async def run_job(
        self,
        job: Job,
        client: Client = SERVER_CLIENT,
        on_position: Callable[[int], None] | None = None,
        stop: asyncio.Event | None = None,
        askers: Askers | None = None,
        on_growing: Callable[[ReadTraceSoFar], None] | None = None,
    ) -> RecordedTrace:
        stop, may_join = stop or asyncio.Event(), askers is not None
        positions, askers = PositionReporter(on_position), Askers.of_client(client) if askers is None else askers
        record = partial(
            self._record_with_retry,
            askers=askers,
            positions=positions,
            stop=stop,
            may_join=may_join,
            on_growing=on_growing,
        )
        return await run_and_assemble_trace(self._assembler, job, record, stop, self._settings.log_programs, askers)

    async def run_answer_job(self, job: AnswerJob, client: Client = SERVER_CLIENT) -> list[Answer]:
        message = AnswerMessage(job=job)
        for again in (False, True):
            run = self._create_run(PositionReporter(None), message, Askers.of_client(client))
            await self._run_to_end(run, "cpu", message, "", front=again, stop=asyncio.Event())
            if not run.lost:
                recording = await self._read_recording(run)
                return parse_answers(job, bytes(recording.data), run.result is not None and run.result.ended)
        raise NoAnswers("the machines that ran the programs were lost")

    async def _record_with_retry(
        self,
        job: Job,
        askers: Askers,
        positions: PositionReporter,
        stop: asyncio.Event,
        may_join: bool,
        on_growing: Callable[[ReadTraceSoFar], None] | None,
    ) -> ChildRecording:
        """Run a program; if its worker is lost and the program is repeatable, run it once more."""
        queue, message = QUEUE_OF_DEVICE[job.device], TraceMessage(job=job)
        key = result_cache_key(job, self.versions) if may_join else ""
        while True:
            run = self._create_run(positions, message, askers)
            if on_growing is not None and not positions.started:
                on_growing(GrowingTrace(self._assembler, job, self.versions, run.lines).read)
            cancelled = await self._run_to_end(run, queue, message, key, positions.goes_first, stop)
            if run.lost and not positions.retried and run.is_repeatable and not stop.is_set() and not self._closed:
                log.warning("the worker %s was lost; its program is run again", run.worker or "of a run")
                positions.retried = True
                continue
            if run.lost or cancelled:
                return run.unfinished_recording(LOST_OUTCOME) if run.lost else run.cancelled_recording()
            return await self._read_recording(run)

    def _create_run(self, positions: PositionReporter, message: Message, askers: Askers) -> RemoteRun:
        run = RemoteRun(new_run_name(), 2 * self._settings.trace + (1 << 20), positions, askers=askers)
        run.signer = create_run_signer(self._settings.queue_key, run.id, encode_wire_model(message))
        return run

    async def _run_to_end(
        self,
        run: RemoteRun,
        queue: str,
        message: Message,
        key: str,
        front: bool,
        stop: asyncio.Event,
    ) -> bool:
        """Submit a run and wait for its end. Returns whether `stop` ended it and no worker told how it ended.

        Raises WorkerQueueFull and WorkersUnavailable.

        front: the run goes before all others that wait
        key: see `Submission`
        """
        enqueuing = self._spawn_task(self._enqueue_run(run, queue, message, key, front))
        try:
            await asyncio.shield(enqueuing)
        except asyncio.CancelledError:
            self._spawn_task(self._leave_queue_once_enqueued(enqueuing, run, queue), "leave")
            raise
        try:
            await wait_for_any_event(run.ended, stop)
            if not run.ended.is_set():
                if await self._leave_queue(run, queue) != "cancelled":
                    return True
                await asyncio.wait_for(run.ended.wait(), CANCEL_SECONDS)
        except TimeoutError:
            return True
        except asyncio.CancelledError:
            self._spawn_task(self._leave_queue(run, queue), "leave")
            raise
        finally:
            self._forget_run(run)
        if run.lost or isinstance(run.error, WorkerQueueFull):  # should its machine come back, it need not go on
            self._spawn_task(self._leave_queue(run, queue), "leave")
        if run.error is not None:
            raise run.error
        return False

    async def _enqueue_run(self, run: RemoteRun, queue: str, message: Message, key: str, front: bool) -> None:
        """Put a run into the queue or join another one. Raises WorkerQueueFull if no asker gets a place, and
        WorkersUnavailable."""
        await self._wait_for_worker(queue, MAX_WAIT if queue == "cpu" else GPU_MAX_WAIT)
        census, records = self._census.queues[queue], self._waiting_client_records(run)
        if not records:
            raise WorkerQueueFull(census.estimate_wait_seconds(census.waiting_count))
        submission = Submission(
            run=run.id,
            key=key,
            askers=records if front else records[:1],
            limit=self._settings.queue,
            client_limit=census.client_limit,
            network_limit=census.network_limit,
            capacity=census.capacity,
            front=front,
            wake=self._inbox.wake_stream,
            lost=LOST_RUN_TIMEOUT,
        )
        self._inbox.add_run(run.id, run.handle_entry)
        self._census.watch_run(run, queue)
        try:
            answer, value = await self._run_submit_script(queue, submission, message)
            if answer == b"joined" and value.decode() in self._census.runs:  # this process waits for it already
                submission.key = ""
                answer, value = await self._run_submit_script(queue, submission, message)
            while answer == b"busy":
                busy = WorkerQueueFull(census.estimate_wait_seconds(int(value)))
                run.askers.refuse(submission.askers[0].id, busy)
                if not len(run.askers):
                    raise busy
                submission.askers = self._waiting_client_records(run)[:1]
                answer, value = await self._run_submit_script(queue, submission, message)
            run.askers.on_change = lambda: self._update_askers_soon(run, queue)
            if {asker.id for asker in run.askers} != {asker.id for asker in submission.askers}:
                run.askers.on_change()  # others have joined since
            if answer == b"joined":
                self._forget_run(run)
                run.id = value.decode()
                run.signer = create_run_signer(self._settings.queue_key, run.id, encode_wire_model(message))
                self._inbox.add_run(run.id, run.handle_entry)
                self._census.watch_run(run, queue)
                await self._retry_broker_command(
                    lambda: self._broker.xadd(self._inbox.wake_stream, {"kind": "wake"}, maxlen=1)
                )
                return
            run.on_position(int(value))
        except BaseException:
            self._forget_run(run)
            raise

    def _waiting_client_records(self, run: RemoteRun) -> list[WaitingClientRecord]:
        """The clients that ask for a run through this process, as they are reported to the broker."""
        return [
            WaitingClientRecord(
                id=asker.id,
                web=self._inbox.wake_stream,
                client=_digest_identity(asker.client.id),
                network=_digest_identity(asker.client.network),
            )
            for asker in run.askers
        ]

    def _update_askers_soon(self, run: RemoteRun, queue: str) -> None:
        """Report a run's askers to the broker soon; several changes are reported together."""
        if not run.started and not run.ended.is_set() and not run.updates_askers and not self._closed:
            run.updates_askers = True
            self._spawn_task(self._update_askers(run, queue))

    async def _update_askers(self, run: RemoteRun, queue: str) -> None:
        run.updates_askers = False
        records = self._waiting_client_records(run)
        if not records:
            return
        arguments = [run.id, self._inbox.wake_stream, json.dumps([record.model_dump() for record in records])]
        with contextlib.suppress(WorkersUnavailable):
            position = await self._retry_broker_command(
                partial(self._set_askers_script, keys=[queue_key_prefix(queue)], args=arguments)
            )
            if position is not None and not run.started:
                run.on_position(int(position))

    async def _run_submit_script(self, queue: str, submission: Submission, message: Message) -> Any:
        """Run `scripts.SUBMIT_SCRIPT` and return its result."""
        keys = [queue_key_prefix(queue), celery_list_key(queue)]
        arguments = [encode_wire_model(submission), encode_wire_model(message), self._tokens.create_message(queue)]
        return await self._retry_broker_command(partial(self._submit_script, keys=keys, args=arguments))

    def _forget_run(self, run: RemoteRun) -> None:
        self._inbox.remove_run(run.id)
        self._census.runs.pop(run.id, None)

    async def _retry_broker_command(self, command: Callable[[], Any]) -> Any:
        """Repeat a command until the broker answers. Raises WorkersUnavailable if it does not answer in time."""
        until = time.monotonic() + MAX_WAIT
        while True:
            try:
                return await command()
            except BrokerError as error:
                if time.monotonic() > until or self._closed:
                    raise WorkersUnavailable("the broker of the workers can't be reached now") from error
                await asyncio.sleep(0.2)

    async def _leave_queue(self, run: RemoteRun, queue: str) -> str:
        """Stop waiting for a run. Returns what `scripts.LEAVE_SCRIPT` returns."""
        try:
            answer = await self._retry_broker_command(
                partial(
                    self._leave_script,
                    keys=[queue_key_prefix(queue)],
                    args=[run.id, RUN_TTL, self._inbox.wake_stream],
                )
            )
        except WorkersUnavailable:
            return "cancelled"
        return str(answer.decode())

    async def _leave_queue_once_enqueued(self, enqueuing: asyncio.Task[None], run: RemoteRun, queue: str) -> None:
        """Leave the queue after being cancelled while the broker was asked, since it may have enqueued the run."""
        with contextlib.suppress(WorkerQueueFull, WorkersUnavailable):
            await enqueuing
            self._forget_run(run)
            await self._leave_queue(run, queue)

    async def _read_recording(self, run: RemoteRun) -> ChildRecording:
        """Read what the worker reported at the end; the run counts as lost if that can't be read."""
        result = run.result
        assert result is not None
        body = await self._blobs.get(run.blob) if run.blob else run.data
        try:
            data = await decompress_outside_loop(body or b"", run.max_bytes) if result.size else b""
        except ValueError:
            log.error("the lines of a run by %s can't be read", run.worker)
            return run.unfinished_recording(LOST_OUTCOME)
        return ChildRecording(data, result.versions, result.outcome, result.usage, run.worker)

    def _has_workers(self, queue: str) -> bool:
        return self._census.queues[queue].capacity > 0

    async def _wait_for_worker(self, queue: str, seconds: float) -> None:
        """Wait for a worker of the queue. Raises WorkersUnavailable if there is none in time."""
        until = time.monotonic() + seconds
        while not self._has_workers(queue):
            if self._closed:
                raise WorkersUnavailable("the server is going down")
            if time.monotonic() > until:
                what = "broker of the workers" if self._inbox.connected_since is None else f"{queue} worker"
                raise WorkersUnavailable(f"there is no {what} now")
            await asyncio.sleep(0.05)

    def _spawn_task(self, work: Any, name: str = "") -> "asyncio.Task[Any]":
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _digest_identity(text: str) -> str:
    """A digest that stands for a visitor's id or address, so that the broker learns neither."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
