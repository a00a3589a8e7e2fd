"""What web processes and workers send each other through the broker. Both validate it: a broker is shared by many."""

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
"""Of a worker."""

Versions = Annotated[
    dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]], Field(max_length=20)
]

RUN_TTL = 900
"""Seconds for which the broker keeps what belongs to a run that waits or runs."""

STREAM_TTL = 60
"""Seconds for which the broker keeps the lines of a run that has ended."""

MAX_STREAMED = 1 << 20
"""Bytes of the compressed lines of a run that go through the broker; more of them go through the database."""


class TraceMessage(Model):
    """A program to be recorded."""

    kind: Literal["trace"] = "trace"
    job: Job


class AnswerMessage(Model):
    """Programs of the server's own to be answered."""

    kind: Literal["answer"] = "answer"
    job: AnswerJob


Message = TraceMessage | AnswerMessage
MESSAGE_ADAPTER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="kind")])


class RemoteRunResult(Model):
    """What a worker saw of a child that has ended, beside its lines.

    worker: its name outcome, usage: as in `AssemblyRequest` ended: whether the last line of a trace has come size:
        bytes of the lines
    """

    worker: Name | None = None
    versions: Versions = {}
    outcome: Outcome | None = None
    usage: Usage = Usage()
    ended: bool = False
    size: Annotated[int, Field(ge=0, le=1 << 31)] = 0


class WorkerRecord(Model):
    """A worker, as it says itself each second.

    capacity: programs at once
    layers: of confinement
    draining: takes nothing new
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


class AskerRecord(Model):
    """One who asks for a run.

    web: the process that it waits with client, network: digests
    """

    id: str
    web: str
    client: str
    network: str


class Submission(Model):
    """The argument of `scripts.SUBMIT`.

    key: of the runs that it may be joined with, "" for none front: before all others askers: one, whose place the run
        has, or more of a run that goes to the front limit, client_limit, network_limit: of those that wait capacity: of
        all workers of the queue wake: the stream whose reader has a stream more to read lost: seconds without a
        heartbeat kept: see `RUN_TTL`
    """

    run: str
    key: str
    askers: list[AskerRecord]
    limit: int
    client_limit: int
    network_limit: int
    capacity: int
    front: bool
    wake: str
    lost: float
    kept: int = RUN_TTL


def new_run_name() -> str:
    """The name of a run. Names sort by the time they are given."""
    return f"{time.time_ns():020d}-{secrets.token_hex(6)}"


def run_submission_time(run: bytes) -> float | None:
    """When a run was given its name, in seconds since 1970; None for a name that is none of ours."""
    digits = run.partition(b"-")[0]
    return int(digits) / 1e9 if digits.isdigit() and len(digits) == 20 else None


def queue_key_prefix(queue: str) -> str:
    """What the keys of a queue begin with."""
    return f"gradbox:{queue}:"


def stream_key(run: str) -> str:
    """The key of the stream that a run's worker writes."""
    return f"gradbox:run:{run}"


def encode_model(value: Model) -> bytes:
    """A message as JSON."""
    return value.model_dump_json(by_alias=True, exclude_none=True).encode()


def parse_worker_records(values: list[bytes]) -> list[WorkerRecord]:
    """The workers of their records; one that is not valid is none."""
    records = []
    for value in values:
        try:
            records.append(WorkerRecord.model_validate_json(value))
        except ValueError:
            continue
    return sorted(records, key=lambda record: record.name)
