"""What the server and its workers exchange: options and messages of the zygote.

Each is one JSON object. The type checker holds the server and the zygote to these declarations; what a child writes
back is not trusted but validated by the models of `trace`. Nothing here needs pydantic, so that a zygote can start
without it.
"""

from dataclasses import dataclass
from typing import final

from typing_extensions import TypedDict


@dataclass(frozen=True)
class WorkerOptions:
    """The options of a zygote and its children.

    spares: how many children wait for a job
    sandbox: require, best or off
    memory: the most bytes of a run
    cpu: the most processor seconds of a run
    prepare: `module:function`, called once with these options before the first fork; returns a
        `server.worker.child.ChildWork`
    device: cpu or cuda
    gpu_memory: the most bytes of the GPU that a program may use
    visible_gpus: the server's own CUDA_VISIBLE_DEVICES, None if it is not set
    packages: top-level modules that programs may import besides torch, numpy and a part of Python; None for those that
        the policy allows by default
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
    """To the zygote: the spare child with this number gets a job; fork another one."""

    use: int


@final
class TracebackMessage(TypedDict):
    """To the zygote: let the child with this number write its traceback into its pipe."""

    traceback: int


@final
class KillMessage(TypedDict):
    """To the zygote: kill the child with this number if it is alive."""

    kill: int


ServerMessage = UseMessage | TracebackMessage | KillMessage
"""What the server sends to its zygote."""


@final
class ReadyMessage(TypedDict):
    """From the zygote, once: it is ready to fork children.

    ready: versions by library
    layers: each layer of confinement with the reason why it does not work here, or ""
    """

    ready: dict[str, str]
    layers: dict[str, str]


@final
class FailedMessage(TypedDict):
    """From the zygote, as its last message: why it can't continue, in one line."""

    failed: str


@final
class SpareMessage(TypedDict):
    """From the zygote: the number and the process id of a new spare child that waits for a job.

    Two descriptors come with the message: for its job and its trace.
    """

    spare: int
    pid: int


@final
class ExitedMessage(TypedDict):
    """From the zygote: the child with this number has exited, with its signal or None, and what it used."""

    exited: int
    signal: int | None
    cpu_ms: float
    peak_bytes: int


ZygoteMessage = ReadyMessage | FailedMessage | SpareMessage | ExitedMessage
"""What the zygote sends to the server."""
