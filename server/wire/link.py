"""What passes between the server and its workers: options and messages of the zygote.

Each is one JSON object. The server and the zygote are held to these declarations by the type checker; what a child
writes back is not believed but validated, by the models of `trace`. Nothing of pydantic is needed here, so that a
zygote can start without it.
"""

from dataclasses import dataclass
from typing import final

from typing_extensions import TypedDict


@dataclass(frozen=True)
class WorkerOptions:
    """What the server asks of a zygote and its children.

    spares: how many children wait for a job
    sandbox: require, best or off
    memory: bytes of a run
    cpu: seconds of a run
    prepare: `module:function`, called once with these options before the first fork; returns a
        `server.worker.child.ChildWork`
    device: cpu or cuda
    gpu_memory: bytes of the GPU that a program may take
    visible_gpus: the server's own CUDA_VISIBLE_DEVICES, None where it has none
    packages: top-level modules that programs may import beside torch, numpy and a part of Python; None: those that the
        policy allows by itself
    """

    spares: int
    sandbox: str
    memory: int
    cpu: int
    prepare: str
    device: str = "cpu"
    gpu_memory: int = 0
    visible_gpus: str | None = None
    packages: tuple[str, ...] | None = None


@final
class UseMessage(TypedDict):
    """To the zygote: the spare child of this number gets a job; another one is to be forked."""

    use: int


@final
class TracebackMessage(TypedDict):
    """To the zygote: the child of this number is to write its traceback into its pipe."""

    traceback: int


@final
class KillMessage(TypedDict):
    """To the zygote: the child of this number is to be killed, if it lives."""

    kill: int


ServerMessage = UseMessage | TracebackMessage | KillMessage
"""What the server sends to its zygote."""


@final
class ReadyMessage(TypedDict):
    """From the zygote, once: it can fork children.

    ready: versions by library
    layers: the layers of confinement, each with why it does not work here, or ""
    """

    ready: dict[str, str]
    layers: dict[str, str]


@final
class FailedMessage(TypedDict):
    """From the zygote, as its last message: why it can't go on, in one line."""

    failed: str


@final
class SpareMessage(TypedDict):
    """From the zygote: a new spare child that waits for a job, by its number. With it come two descriptors: of its job
    and of its trace."""

    spare: int


@final
class ExitedMessage(TypedDict):
    """From the zygote: the child of this number has exited, by this signal or None, and used so much."""

    exited: int
    signal: int | None
    cpu_ms: float
    peak_bytes: int


ZygoteMessage = ReadyMessage | FailedMessage | SpareMessage | ExitedMessage
"""What the zygote sends to the server."""
