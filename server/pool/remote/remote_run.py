"""Runs on other machines, as seen by the process that waits for them. One connection reads the streams of all
of them."""

import asyncio
import logging
import secrets
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gradbox.wire.trace import Error, HeaderLine, Outcome
from server.pool.askers import Askers
from server.pool.assembly import CANCELLED_OUTCOME, ChildRecording
from server.pool.remote.broker import Broker, BrokerError
from server.pool.remote.messages import Name, RemoteRunResult, Versions, stream_key
from server.pool.remote.run_signature import RunSigner
from server.pool.zygote import WorkersUnavailable
from server.throttled_log import ThrottledLog
from server.wire.problems import WorkerQueueFull

READ_TIMEOUT = 1.0
"""Seconds for which a command waits for an entry."""

RECONNECT_INTERVAL = 0.2
"""Seconds between two attempts to reach the broker."""

MAX_ENTRIES = 16
"""The most entries of a stream in one answer."""

StreamEntry = dict[bytes, bytes]

log = logging.getLogger("gradbox.pool")
throttled_log = ThrottledLog(log)


class RunStreamReader:
    """Reads the streams of all runs on other machines.

    broker: its commands may block for `BLOCK` seconds
    wake_stream: the stream to which an entry is added when there is another stream to read
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.wake_stream = f"gradbox:wake:{secrets.token_hex(8)}"
        self._last_ids: dict[str, str | bytes] = {self.wake_stream: "0"}  # the id of the last entry read, by stream
        self._handlers: dict[str, Callable[[StreamEntry], None]] = {}
        self.closed = False  # a client that is cancelled at the wrong moment swallows that
        self.connected_since: float | None = None  # as `time.monotonic`; None while the broker does not answer

    def add_run(self, run: str, handle: Callable[[StreamEntry], None]) -> None:
        """Call `handle` with each entry of a run's stream, from the first one on. Takes effect once an entry is added
        to `wake_stream`."""
        self._last_ids[stream_key(run)] = "0"
        self._handlers[stream_key(run)] = handle

    def remove_run(self, run: str) -> None:
        """Stop reading a run's stream."""
        self._last_ids.pop(stream_key(run), None)
        self._handlers.pop(stream_key(run), None)

    async def read_rest_of_run(self, run: str) -> None:
        """Handle all entries that the run's stream has now. Raises BrokerError."""
        key = stream_key(run)
        if key in self._last_ids:
            self._handle_entries(await self._broker.xread({key: self._last_ids[key]}))

    async def read_forever(self) -> None:
        """Read until the reader is closed; if the broker goes away, wait until it is back."""
        while not self.closed:
            try:
                entries_by_stream: Any = await self._broker.xread(
                    self._last_ids, count=MAX_ENTRIES, block=int(READ_TIMEOUT * 1000)
                )
                if self.connected_since is None:
                    self.connected_since = time.monotonic()
                self._handle_entries(entries_by_stream)
            except BrokerError as error:
                if self.connected_since is not None:
                    log.error("the broker does not answer: %s", type(error).__name__)
                self.connected_since = None
                await asyncio.sleep(RECONNECT_INTERVAL)
            except Exception as error:  # of a value that is none of ours
                throttled_log.error("the streams of runs could not be read", f"{type(error).__name__}: {error}")
                await asyncio.sleep(RECONNECT_INTERVAL)

    def _handle_entries(self, entries_by_stream: Any) -> None:
        for key, entries in entries_by_stream.items() if isinstance(entries_by_stream, dict) else entries_by_stream:
            name = key.decode(errors="replace")
            for id_, fields in entries[0] if isinstance(entries_by_stream, dict) else entries:
                handler = self._handlers.get(name)
                if name in self._last_ids:
                    self._last_ids[name] = id_
                if handler is not None:
                    try:
                        handler(fields)
                    except Exception as error:  # of one run; the others are read on
                        detail = f"{type(error).__name__}: {error}"
                        throttled_log.error("an entry of a run's stream could not be handled", detail)


LOST_OUTCOME = Outcome(
    status="lost", error=Error(type="Lost", message="the machine that ran it was lost; run it again")
)

MAX_INLINE_BYTES = 1 << 14
"""Bytes of compressed lines below which they are decompressed in the event loop."""

SIGNED_KINDS = (b"lines", b"end", b"failed")
"""Kinds of entries that workers write themselves."""

_ASKER_IDS: TypeAdapter[list[str]] = TypeAdapter(list[str])
_NAME: TypeAdapter[str] = TypeAdapter(Name)
_VERSIONS: TypeAdapter[dict[str, str]] = TypeAdapter(Versions)


@dataclass
class RemoteRun:
    """What is known of a run so far.

    max_bytes: bytes of lines that are accepted
    started: a worker has it
    lines: those that arrived before its end
    result: what the worker reported at the end, with the lines compressed in `data`, or in the database under the name
        `blob`
    error: what kept it from running
    lost: its worker is gone
    askers: those of this process
    signer: checks the worker's signatures, if there is a key
    updates_askers: whether the broker is about to be told of the askers
    last_seen: when it was last known to wait or to run, by `time.monotonic`
    heartbeat_score: its last heartbeat, in the broker's seconds
    """

    id: str
    max_bytes: int
    on_position: Callable[[int], None] = lambda _: None
    started: bool = False
    worker: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    lines: bytearray = field(default_factory=bytearray)
    result: RemoteRunResult | None = None
    data: bytes = b""
    blob: str = ""
    error: Exception | None = None
    lost: bool = False
    last_seen: float = field(default_factory=time.monotonic)
    heartbeat_score: float | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    askers: Askers = field(default_factory=Askers)
    signer: RunSigner | None = None
    updates_askers: bool = False

    def handle_entry(self, entry: StreamEntry) -> None:
        """Handle an entry of the run's stream. An invalid entry ends the run as lost; an entry that no worker signed is
        ignored."""
        try:
            if self.signer is not None and entry.get(b"kind") in SIGNED_KINDS and not self.signer.verify_next(entry):
                throttled_log.error(
                    "what a worker said of a run has no valid signature and is not believed;"
                    " is GRADBOX_QUEUE_KEY the same in all web processes and workers?"
                )
                return
            self.last_seen = time.monotonic()
            self._apply_entry(entry)
        except (ValueError, KeyError, zlib.error):
            if self.signer is not None and entry.get(b"kind") not in SIGNED_KINDS:  # anybody may have written it
                throttled_log.error("an entry of a run's stream is not valid and is set aside")
            else:
                self.mark_lost()

    def _apply_entry(self, entry: StreamEntry) -> None:
        kind = entry[b"kind"]
        if kind == b"start":
            self.worker, self.versions = (
                _NAME.validate_python(entry[b"worker"].decode()),
                _VERSIONS.validate_json(entry[b"versions"]),
            )
            self.started = True
            self.on_position(-1)
        elif kind == b"lines":
            self.lines += decompress_bounded(entry[b"data"], self.max_bytes - len(self.lines))
        elif kind == b"end":
            self.result = RemoteRunResult.model_validate_json(entry[b"seen"])
            self.data, self.blob = entry.get(b"data", b""), entry.get(b"blob", b"").decode()
            if self.blob and self.blob != self.id:
                raise ValueError("the lines of another run")
            self.worker = self.result.worker or self.worker
            self.ended.set()
        elif kind == b"failed":
            self.error = WorkersUnavailable("the workers do not start")
            self.ended.set()
        elif kind == b"busy" and not self.started:
            for id_ in _ASKER_IDS.validate_json(entry[b"askers"]):
                self.askers.refuse(id_, WorkerQueueFull(1.0))
            if not len(self.askers):
                self.error = WorkerQueueFull(1.0)
                self.ended.set()

    def mark_lost(self) -> None:
        """Mark the run as lost: nothing more will come."""
        self.lost = True
        self.ended.set()

    @property
    def is_repeatable(self) -> bool:
        """Whether another run gives the same result: nothing of it ran, or its child said so in its first line."""
        if not self.started:
            return True
        first = bytes(self.lines[: self.lines.find(b"\n") + 1])
        try:
            return HeaderLine.model_validate_json(first).deterministic
        except ValidationError:
            return False

    def unfinished_recording(self, outcome: Outcome) -> ChildRecording:
        """What has arrived of the run so far.

        outcome: how it ended for this process
        """
        return ChildRecording(self.lines, self.versions, outcome, worker=self.worker)

    def cancelled_recording(self) -> ChildRecording:
        """What had arrived when another asker stopped the run."""
        return self.unfinished_recording(CANCELLED_OUTCOME)


class PositionReporter:
    """Reports a run's place in the queue, each place once; after the first start no place is reported again.

    started: a worker has had the run
    retried: the run is being repeated because its worker was lost
    """

    def __init__(self, on_position: Callable[[int], None] | None) -> None:
        self._on_position, self._position = on_position, -2
        self.started = self.retried = False

    @property
    def goes_first(self) -> bool:
        """Whether the run goes before all others, because it has had its turn already."""
        return self.started or self.retried

    def __call__(self, position: int) -> None:
        if self.started or position == self._position:
            return
        self.started = position == -1
        self._position = position
        if self._on_position is not None:
            self._on_position(position)


async def decompress_outside_loop(data: bytes, max_bytes: int) -> bytes:
    """`decompress_bounded`, called in a thread for data of `MAX_INLINE_BYTES` or more."""
    if len(data) < MAX_INLINE_BYTES:
        return decompress_bounded(data, max_bytes)
    return await asyncio.to_thread(decompress_bounded, data, max_bytes)


def decompress_bounded(data: bytes, max_bytes: int) -> bytes:
    """Decompress bytes. Raises ValueError if the result exceeds `max_bytes`, and zlib.error."""
    stream = zlib.decompressobj()
    plain = stream.decompress(data, max(max_bytes, 1))
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("more than a run may write")
    return plain
