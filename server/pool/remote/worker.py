"""A worker: takes programs from the queue, runs them in the children of its machine, and writes their lines to their
streams."""

import asyncio
import contextlib
import json
import logging
import secrets
import time
import zlib
from collections.abc import Mapping
from typing import Any, Literal

from server.pool.machine_workers import MachineWorkers
from server.pool.remote import scripts
from server.pool.remote.broker import BrokerError, close_broker_connections, create_broker_connections
from server.pool.remote.census import WORKERS_KEY
from server.pool.remote.messages import (
    MAX_STREAMED_BYTES,
    MESSAGE_ADAPTER,
    RUN_TTL,
    STREAM_TTL,
    AnswerMessage,
    RemoteRunResult,
    WorkerRecord,
    encode_wire_model,
    queue_key_prefix,
    stream_key,
)
from server.pool.remote.pool import BlobStore
from server.pool.remote.run_signature import RunSigner, create_run_signer
from server.pool.zygote import PREPARE_FUNCTION, WorkersUnavailable
from server.settings import Settings
from server.throttled_log import ThrottledLog

POLL_INTERVAL, HEARTBEAT_INTERVAL = 0.2, 1.0
"""Seconds between two polls for cancelled runs, and between two heartbeats of the worker itself."""

WORKER_TTL = 4
"""Seconds after its last heartbeat for which a worker counts as alive."""

FIRST_LINES_SECONDS, MORE_LINES_SECONDS = 0.05, 0.25
"""Seconds after which a run's first lines are sent, and between further ones. Most runs have ended before the first."""

REPORT_TIMEOUT = 60.0
"""Seconds for which a worker tries to report how a run ended while the broker does not answer."""

log = logging.getLogger("gradbox.worker")
throttled_log = ThrottledLog(log)


class RemoteWorker:
    """One worker of a queue, in one event loop. Raises BrokerError if `start` can't reach the broker.

    draining: it takes no new programs
    """

    def __init__(
        self, settings: Settings, queue: Literal["cpu", "gpu"], blobs: BlobStore, prepare: str = PREPARE_FUNCTION
    ) -> None:
        self._settings, self._blobs, self.queue = settings, blobs, queue
        self.name = f"{queue}-{secrets.token_hex(3)}"
        self._machine = MachineWorkers(settings, prepare, use_gpu=queue == "gpu")
        self.capacity = 1 if queue == "gpu" else self._machine.count
        self._broker = create_broker_connections(settings.queue_url)
        self._take_script, self._heartbeat_script, self._release_script = (
            self._broker.register_script(script)
            for script in (scripts.TAKE_SCRIPT, scripts.HEARTBEAT_SCRIPT, scripts.RELEASE_SCRIPT)
        )
        self._stop_events: dict[str, asyncio.Event] = {}  # the event that ends it, by the run's name
        self._signers: dict[str, RunSigner | None] = {}
        self._heartbeat: asyncio.Task[None] | None = None
        self.draining = self._closed = False

    async def start(self) -> None:
        """Boot the children and register as alive. Raises WorkersUnavailable and BrokerError."""
        self._machine.start()
        await self._machine.zygote.wait_until_booted()
        if self.queue == "gpu":
            await self._machine.wait_for_gpu()
        await self._send_heartbeat()
        self._heartbeat = asyncio.create_task(self._heartbeat_forever())

    async def close(self) -> None:
        """Unregister. Programs that still run are ended and count as lost."""
        self._closed = True
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        with contextlib.suppress(*BrokerError):
            await self._broker.srem(WORKERS_KEY, self.name)
            await self._broker.delete(f"gradbox:worker:{self.name}")
        await close_broker_connections(self._broker)
        await self._machine.close()

    async def run_waiting_programs(self) -> None:
        """Run the next program of the queue, and then the next, until none waits. Raises BrokerError."""
        while not self.draining:
            start = [self.name, json.dumps(dict(self._machine.zygote.versions)), RUN_TTL]
            taken = await self._take_script(keys=[queue_key_prefix(self.queue)], args=start)
            if taken is None:
                return
            await self._run_taken_program(taken[0].decode(errors="replace"), taken[1])

    async def _run_taken_program(self, run: str, body: bytes) -> None:
        stop = self._stop_events[run] = asyncio.Event()
        self._signers[run] = create_run_signer(self._settings.queue_key, run, body)
        try:
            await self._run_message(run, body, stop)
        except WorkersUnavailable:
            await self._add_entry_with_retries(run, {"kind": "failed"})
        except BrokerError as error:
            log.error("how a run ended could not be told: %s", type(error).__name__)
        finally:
            del self._stop_events[run], self._signers[run]
            with contextlib.suppress(*BrokerError):
                arguments = [run, 1 if stop.is_set() else 0]
                await self._release_script(keys=[queue_key_prefix(self.queue)], args=arguments)

    async def _run_message(self, run: str, body: bytes, stop: asyncio.Event) -> None:
        """Run what a message asks for. Raises WorkersUnavailable and BrokerError."""
        try:
            message = MESSAGE_ADAPTER.validate_json(body)
        except ValueError:
            throttled_log.error("a message that asks for a run is not valid and is set aside", f"{len(body)} bytes")
            await self._add_entry_with_retries(run, {"kind": "failed"})
            return
        gpu = not isinstance(message, AnswerMessage) and message.job.device == "cuda"
        if gpu != (self.queue == "gpu"):
            await self._add_entry_with_retries(run, {"kind": "failed"})
            return
        versions = self._machine.zygote.versions
        if isinstance(message, AnswerMessage):
            data, ended = await self._machine.record_answers(message.job)
            await self._write_end_of_run(
                run, data, RemoteRunResult(worker=self.name, versions=versions, ended=ended, size=len(data))
            )
            return
        lines = asyncio.create_task(self._stream_lines(run, sent := UnsentLines()))
        try:
            job = message.job
            bounds = self._settings.run_limits()
            limits = {name: min(value, bounds.get(name, value)) for name, value in job.limits.items()}
            job = job.model_copy(update={"limits": limits})
            recording = await self._machine.record_job(job, stop, sent.set_buffer)
        finally:
            sent.ended.set()
            await lines
        data = bytes(recording.data)
        result = RemoteRunResult(
            worker=self.name,
            versions=dict(recording.versions),
            outcome=recording.outcome,
            usage=recording.usage,
            ended=True,
            size=len(data),
        )
        await self._write_end_of_run(run, data, result)

    async def _stream_lines(self, run: str, lines: "UnsentLines") -> None:
        """Send the lines of a run as they come, up to the limit for the broker."""
        delay = FIRST_LINES_SECONDS
        while lines.sent_bytes < MAX_STREAMED_BYTES and not await lines.wait_for_end(delay):
            delay, data = MORE_LINES_SECONDS, lines.take_lines()
            if data:
                with contextlib.suppress(*BrokerError):  # the end has all of them
                    entry = self._sign_entry(run, {"kind": "lines", "data": zlib.compress(data, 1)})
                    await self._add_stream_entry(run, entry)

    async def _write_end_of_run(self, run: str, data: bytes, result: RemoteRunResult) -> None:
        body = await asyncio.to_thread(zlib.compress, data, 1) if len(data) > 1 << 16 else zlib.compress(data, 1)
        fields: dict[str, Any] = {"kind": "end", "seen": encode_wire_model(result)}
        if len(body) > MAX_STREAMED_BYTES:
            try:
                await self._blobs.put(run, body)
            except Exception as error:  # whatever database it is; the reader then finds nothing, and the run is lost
                log.error("the lines of a run could not be stored: %s", type(error).__name__)
            fields["blob"] = run
        else:
            fields["data"] = body
        await self._add_entry_with_retries(run, fields)

    async def _add_entry_with_retries(self, run: str, fields: Mapping[str, str | bytes]) -> None:
        """Add an entry to a run's stream, trying again while the broker does not answer. Raises BrokerError."""
        until, entry = time.monotonic() + REPORT_TIMEOUT, self._sign_entry(run, fields)
        while True:
            try:
                await self._add_stream_entry(run, entry)
                return
            except BrokerError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(POLL_INTERVAL)

    def _sign_entry(self, run: str, fields: Mapping[str, str | bytes]) -> dict[bytes, bytes]:
        """The fields of a stream entry, signed if there is a key."""
        entry = {name.encode(): text if isinstance(text, bytes) else text.encode() for name, text in fields.items()}
        signer = self._signers.get(run)
        return signer.sign_next(entry) if signer is not None else entry

    async def _add_stream_entry(self, run: str, entry: dict[bytes, bytes]) -> None:
        pipe = self._broker.pipeline(transaction=False)
        pipe.xadd(stream_key(run), entry)
        ends = entry[b"kind"] in (b"end", b"failed")
        pipe.expire(stream_key(run), STREAM_TTL if ends else RUN_TTL)
        if ends:  # who reads of the end finds its place free
            pipe.zrem(queue_key_prefix(self.queue) + "running", run)
        await pipe.execute()

    async def _heartbeat_forever(self) -> None:
        announced = beaten = 0.0
        while not self._closed:
            now = time.monotonic()
            try:
                if now - announced >= HEARTBEAT_INTERVAL:
                    await self._send_heartbeat()
                    announced = now
                if self._stop_events:
                    for run in await self._heartbeat_script(
                        keys=[queue_key_prefix(self.queue)], args=list(self._stop_events)
                    ):
                        if run.decode() in self._stop_events:
                            self._stop_events[run.decode()].set()
                    beaten = now
            except BrokerError as error:
                if now - beaten > HEARTBEAT_INTERVAL:
                    log.warning("the broker does not answer: %s", type(error).__name__)
                    beaten = now
            except Exception as error:  # of a value that is none of ours
                throttled_log.error("the heartbeat failed", f"{type(error).__name__}: {error}")
            await asyncio.sleep(POLL_INTERVAL)

    async def _send_heartbeat(self) -> None:
        """Report that this worker is alive."""
        zygote = self._machine.gpu_zygote if self.queue == "gpu" else self._machine.zygote
        record = WorkerRecord(
            name=self.name,
            queue=self.queue,
            capacity=self.capacity if zygote.is_ready else 0,
            running=len(self._stop_events),
            spares=zygote.spare_count,
            boots=zygote.boots,
            draining=self.draining,
            versions=zygote.versions or self._machine.zygote.versions,
            layers=zygote.layers,
        )
        pipe = self._broker.pipeline(transaction=False)
        pipe.sadd(WORKERS_KEY, self.name)
        pipe.set(f"gradbox:worker:{self.name}", encode_wire_model(record), ex=WORKER_TTL)
        await pipe.execute()


class UnsentLines:
    """The lines of a child that are still to be sent.

    A task that sends is not cancelled: cancelling a connection at the wrong moment has lost lines before.

    sent_bytes: bytes that were sent
    ended: set when no more lines will come
    """

    def __init__(self) -> None:
        self._buffer, self.sent_bytes, self.ended = bytearray(), 0, asyncio.Event()

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait up to this many seconds for the end of the lines. Returns whether it came."""
        try:
            async with asyncio.timeout(seconds):
                await self.ended.wait()
        except TimeoutError:
            return False
        return True

    def set_buffer(self, buffer: bytearray) -> None:
        """Take the lines from this buffer from now on."""
        self._buffer, self.sent_bytes = buffer, 0

    def take_lines(self) -> bytes:
        """Return the complete lines that arrived since the last call."""
        end = self._buffer.rfind(b"\n", self.sent_bytes, MAX_STREAMED_BYTES) + 1
        if end <= self.sent_bytes:
            return b""
        data, self.sent_bytes = bytes(self._buffer[self.sent_bytes : end]), end
        return data
