"""What happened inside a step, in order: torch operations, printed text and events."""

from typing import Annotated, Literal

from pydantic import Field

from server.wire.base import Items, Model, Uid


class Op(Model):
    """A torch operation (the dispatcher's name); `requires_grad` of each output, null where it was not observed."""

    kind: Literal["op"] = "op"
    name: str
    inputs: Items[Uid]
    outputs: Items[Uid]
    requires_grad: Items[bool | None]
    grad_mode: bool


class Out(Model):
    """Printed text."""

    kind: Literal["out"] = "out"
    stream: Literal["stdout", "stderr"] = "stdout"
    text: str


class Region(Model):
    """Elements of a storage, in elements of the dtype named."""

    offset: int
    shape: Items[int]
    stride: Items[int]
    dtype: str | None = None


class Event(Model):
    """The base of events: `op` is an index in the step's log, `span` the steps between which it was not observed."""

    kind: Literal["event"] = "event"
    op: int | None = None
    span: tuple[int, int] | None = None


class StorageAllocated(Event):
    event: Literal["storage_allocated"] = "storage_allocated"
    storage: Uid


class StorageFreed(Event):
    event: Literal["storage_freed"] = "storage_freed"
    storage: Uid


class Written(Event):
    """Bytes of a storage changed: `changed` counts the elements that hold other bytes than before.

    null for a storage too big to keep a copy of.
    """

    event: Literal["written"] = "written"
    storage: Uid
    region: Region | None = None
    changed: int | None
    by: Uid | None = None


class VersionBumped(Event):
    event: Literal["version_bumped"] = "version_bumped"
    counter: Uid
    from_: int = Field(alias="from")
    to: int


class Saved(Event):
    event: Literal["saved"] = "saved"
    node: Uid
    slot: str
    by: Uid | None = None


class SavedStale(Event):
    event: Literal["saved_stale"] = "saved_stale"
    node: Uid
    slot: str
    by: Uid | None = None


class SavedChangedSilently(Event):
    event: Literal["saved_changed_silently"] = "saved_changed_silently"
    node: Uid
    slot: str
    by: Uid | None = None


class SavedDetached(Event):
    event: Literal["saved_detached"] = "saved_detached"
    node: Uid
    slot: str
    by: Uid | None = None


class PathCut(Event):
    """A result of a tensor that requires grad which no gradient will come back through, and why."""

    event: Literal["path_cut"] = "path_cut"
    tensor: Uid
    result: Uid | None = None
    name: str
    reason: Literal["detach", "data", "no_grad", "inference", "item", "dtype", "numpy", "copy"]


class GraphReleased(Event):
    event: Literal["graph_released"] = "graph_released"
    node: Uid


class GradAccumulated(Event):
    event: Literal["grad_accumulated"] = "grad_accumulated"
    tensor: Uid
    grad: Uid
    first: bool


class HookRan(Event):
    event: Literal["hook_ran"] = "hook_ran"
    node: Uid | None = None


class Warned(Event):
    event: Literal["warning"] = "warning"
    category: str
    text: str


class LimitReached(Event):
    event: Literal["limit"] = "limit"
    limit: str


class TracerFault(Event):
    """The recorder failed at something; the program was not disturbed and the picture lacks what is named."""

    event: Literal["tracer_fault"] = "tracer_fault"
    text: str


AnyEvent = Annotated[
    StorageAllocated
    | StorageFreed
    | Written
    | VersionBumped
    | Saved
    | SavedStale
    | SavedChangedSilently
    | SavedDetached
    | PathCut
    | GraphReleased
    | GradAccumulated
    | HookRan
    | Warned
    | LimitReached
    | TracerFault,
    Field(discriminator="event"),
]

LogEntry = Op | Out | AnyEvent
