"""The messages that web processes and workers exchange through the broker. Both sides validate them, since others may
write to the broker."""

import secrets
import time
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gradbox.wire.api import Job
from gradbox.wire.base import Model
from gradbox.wire.processes import Usage
from gradbox.wire.trace import Outcome
from server.wire.matrix import AnswerJob

Name = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]
"""The name of a worker."""

Versions = Annotated[
    dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]], Field(max_length=20)
]

RUN_TTL = 900
"""Seconds for which the broker keeps the data of a run that waits or runs."""

STREAM_TTL = 60
"""Seconds for which the broker keeps the lines of a run that has ended."""

MAX_STREAMED_BYTES = 1 << 20
"""Bytes of compressed lines of a run that go through the broker; a larger trace goes through the database."""


class TraceMessage(Model):
    """A program to record."""

    kind: Literal["trace"] = "trace"
    job: Job


class AnswerMessage(Model):
    """The server's own programs to answer."""

    kind: Literal["answer"] = "answer"
    job: AnswerJob


Message = TraceMessage | AnswerMessage
MESSAGE_ADAPTER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="kind")])


class RemoteRunResult(Model):
    """What a worker observed of a child that has ended, besides its lines.

    worker: the worker's name
    outcome, usage: as in `AssemblyRequest`
    ended: whether the last line of the trace was written
    size: bytes of all lines
    """

    worker: Name | None = None
    versions: Versions = {}
    outcome: Outcome | None = None
    usage: Usage = Usage()
    ended: bool = False
    size: Annotated[int, Field(ge=0, le=1 << 31)] = 0


class WorkerRecord(Model):
    """A worker's own description, renewed each second.

    capacity: how many programs it runs at once
    layers: of confinement
    draining: it takes no new programs
    """

    name: Name
    queue: Literal["cpu", "gpu"]
    capacity: Annotated[int, Field(ge=0, le=10_000)]
    running: Annotated[int, Field(ge=0, le=10_000)]
    spares: Annotated[int, Field(ge=0, le=10_000)] = 0
    boots: Annotated[int, Field(ge=0)] = 0
    draining: bool = False
    versions: Versions = {}
    layers: Annotated[dict[str, Annotated[str, Field(max_length=500)]], Field(max_length=40)] = {}


class WaitingClientRecord(Model):
    """A client that asks for a run.

    web: the web process through which it waits
    client, network: digests
    """

    id: str
    web: str
    client: str
    network: str


class Submission(Model):
    """The argument of `scripts.SUBMIT`.

    key: the run joins a waiting run with the same key; "" to join none
    front: the run goes before all others
    askers: one, in whose place the run waits; a run that goes to the front may have more
    limit, client_limit, network_limit: how many runs may wait in all, of one client and of one network
    capacity: of all workers of the queue together
    wake: the stream that tells its reader to read another stream as well
    lost: seconds without a heartbeat after which a run counts as lost
    kept: see `RUN_TTL`
    """

    run: str
    key: str
    askers: list[WaitingClientRecord]
    limit: int
    client_limit: int
    network_limit: int
    capacity: int
    front: bool
    wake: str
    lost: float
    kept: int = RUN_TTL


def new_run_name() -> str:
    """Create a name for a run. Names sort by the time of their creation."""
    return f"{time.time_ns():020d}-{secrets.token_hex(6)}"


def run_submission_time(run: bytes) -> float | None:
    """The time at which a run was named, in seconds since 1970; None for a name of another form."""
    digits = run.partition(b"-")[0]
    return int(digits) / 1e9 if digits.isdigit() and len(digits) == 20 else None


def queue_key_prefix(queue: str) -> str:
    """The beginning of all keys of a queue."""
    return f"gradbox:{queue}:"


def stream_key(run: str) -> str:
    """The key of the stream that a run's worker writes."""
    return f"gradbox:run:{run}"


def encode_wire_model(value: Model) -> bytes:
    """Encode a message as JSON."""
    return value.model_dump_json(by_alias=True, exclude_none=True).encode()


def parse_worker_records(values: list[bytes]) -> list[WorkerRecord]:
    """Parse the records of workers, leaving out those that are not valid."""
    records = []
    for value in values:
        try:
            records.append(WorkerRecord.model_validate_json(value))
        except ValueError:
            continue
    return sorted(records, key=lambda record: record.name)
