"""What happened inside a step, in order: torch operations, printed text and events."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from server.wire.base import FailFastList, Uid, closed


@closed
class Op(TypedDict):
    """A torch operation (the dispatcher's name); `requires_grad` of each output, null where it was not observed."""

    kind: Literal["op"]
    name: str
    inputs: FailFastList[Uid]
    outputs: FailFastList[Uid]
    requires_grad: FailFastList[bool | None]
    grad_mode: bool


@closed
class Out(TypedDict):
    """Printed text."""

    kind: Literal["out"]
    stream: Literal["stdout", "stderr"]
    text: str


@closed
class Region(TypedDict):
    """Elements of a storage, in elements of the dtype named."""

    offset: int
    shape: FailFastList[int]
    stride: FailFastList[int]
    dtype: NotRequired[str | None]


@closed
class BaseEvent(TypedDict):
    """What every event has: `op` is an index in the step's log, `span` the steps between which it was not observed."""

    kind: Literal["event"]
    op: NotRequired[int | None]
    span: NotRequired[tuple[int, int] | None]


@closed
class StorageAllocated(BaseEvent):
    event: Literal["storage_allocated"]
    storage: Uid


@closed
class StorageFreed(BaseEvent):
    event: Literal["storage_freed"]
    storage: Uid


@closed
class Written(BaseEvent):
    """Bytes of a storage changed: `changed` counts the elements that hold other bytes than before.

    null for a storage too big to keep a copy of.
    """

    event: Literal["written"]
    storage: Uid
    region: NotRequired[Region | None]
    changed: int | None
    by: NotRequired[Uid | None]


_From = TypedDict("_From", {"from": int})


@closed
class VersionBumped(BaseEvent, _From):
    event: Literal["version_bumped"]
    counter: Uid
    to: int


@closed
class SlotEvent(BaseEvent):
    """What happened to what a node saved."""

    node: Uid
    slot: str
    by: NotRequired[Uid | None]


@closed
class Saved(SlotEvent):
    event: Literal["saved"]


@closed
class SavedStale(SlotEvent):
    event: Literal["saved_stale"]


@closed
class SavedChangedSilently(SlotEvent):
    event: Literal["saved_changed_silently"]


@closed
class SavedDetached(SlotEvent):
    event: Literal["saved_detached"]


@closed
class PathCut(BaseEvent):
    """A result of a tensor that requires grad which no gradient will come back through, and why."""

    event: Literal["path_cut"]
    tensor: Uid
    result: NotRequired[Uid | None]
    name: str
    reason: Literal["detach", "data", "no_grad", "inference", "item", "dtype", "numpy", "copy"]


@closed
class GraphReleased(BaseEvent):
    event: Literal["graph_released"]
    node: Uid


@closed
class GradAccumulated(BaseEvent):
    event: Literal["grad_accumulated"]
    tensor: Uid
    grad: Uid
    first: bool


@closed
class HookRan(BaseEvent):
    event: Literal["hook_ran"]
    node: NotRequired[Uid | None]


@closed
class Warned(BaseEvent):
    event: Literal["warning"]
    category: str
    text: str


@closed
class LimitReached(BaseEvent):
    event: Literal["limit"]
    limit: str


@closed
class TracerFault(BaseEvent):
    """The recorder failed at something; the program was not disturbed and the picture lacks what is named."""

    event: Literal["tracer_fault"]
    text: str


Event = Annotated[
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

LogEntry = Annotated[Op | Out | Event, Field(discriminator="kind")]
