"""The log of a step: operations, printed text, and events, which are all else that happened in it.

`EVENTS` is the one table of events: the tracer, the page and the terminal read from it what they do with each.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gradbox.wire.base import FailFastList, JsonTuple, Uid, closed_typed_dict
from gradbox.wire.entities import CodePlace, SlotState
from gradbox.wire.limits import Limit


@closed_typed_dict
class Region(TypedDict):
    """Elements of a storage, in elements of the dtype named."""

    offset: int
    shape: FailFastList[int]
    stride: FailFastList[int]
    dtype: NotRequired[str | None]


@closed_typed_dict
class BaseEvent(TypedDict):
    """What every event has: `op` is an index in the step's log, `span` the steps between which it was not observed."""

    kind: Literal["event"]
    op: NotRequired[int | None]
    span: NotRequired[JsonTuple[tuple[int, int]] | None]


@closed_typed_dict
class StorageAllocated(BaseEvent):
    event: Literal["storage_allocated"]
    storage: Uid


@closed_typed_dict
class StorageFreed(BaseEvent):
    event: Literal["storage_freed"]
    storage: Uid


@closed_typed_dict
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


@closed_typed_dict
class VersionBumped(BaseEvent, _From):
    event: Literal["version_bumped"]
    counter: Uid
    to: int


@closed_typed_dict
class SlotEvent(BaseEvent):
    """What happened to what a node saved."""

    node: Uid
    slot: str


@closed_typed_dict
class BrokenSlotEvent(SlotEvent):
    """A slot holds no longer what backward needs.

    by: the handle through which the step's operations last wrote the slot's memory, as `by` of `written`; of a stale
        slot, the last of those that wear its version counter; of a detached one, the handle that was detached. Absent
        where no recorded operation did it (numpy writes without one), or where that handle's counter is not known.
    place: the line that asked for the operation, where it has no steps
    """

    by: NotRequired[Uid | None]
    place: NotRequired[CodePlace | None]


@closed_typed_dict
class Saved(SlotEvent):
    event: Literal["saved"]


@closed_typed_dict
class SavedStale(BrokenSlotEvent):
    event: Literal["saved_stale"]


@closed_typed_dict
class SavedChangedSilently(BrokenSlotEvent):
    event: Literal["saved_changed_silently"]


@closed_typed_dict
class SavedDetached(BrokenSlotEvent):
    event: Literal["saved_detached"]


@closed_typed_dict
class PathCut(BaseEvent):
    """A result of a tensor that requires grad which no gradient will come back through, and why.

    place: the line that asked for it, where that has no steps; of `detach` and `data` the first line that used the
        result
    """

    event: Literal["path_cut"]
    tensor: Uid
    result: NotRequired[Uid | None]
    name: str
    reason: Literal["detach", "data", "no_grad", "inference", "item", "dtype", "numpy", "copy"]
    place: NotRequired[CodePlace | None]


@closed_typed_dict
class GraphReleased(BaseEvent):
    event: Literal["graph_released"]
    node: Uid


@closed_typed_dict
class GradAccumulated(BaseEvent):
    event: Literal["grad_accumulated"]
    tensor: Uid
    grad: Uid
    first: bool


@closed_typed_dict
class OptimizerStepped(BaseEvent):
    """An optimizer's `step()` returned.

    optimizer: absent where no recorded name led to it
    unrecorded: of steps in iterations that were not recorded, how many; they lie before the step that has the event
    """

    event: Literal["optimizer_stepped"]
    optimizer: NotRequired[Uid | None]
    unrecorded: NotRequired[int | None]


@closed_typed_dict
class ModuleCalled(BaseEvent):
    """A call of an `nn.Module` begins.

    call: its number, from 0 over all recorded calls of the run
    module: absent where no recorded name leads to it
    type: its class
    within: the call in which this one runs
    inputs: the tensors among its arguments, those in dicts too
    """

    event: Literal["module_called"]
    call: int
    module: NotRequired[Uid | None]
    type: str
    within: NotRequired[int | None]
    inputs: FailFastList[Uid]


@closed_typed_dict
class ModuleReturned(BaseEvent):
    """A call of a module ended.

    outputs: the tensors of its result, those in dicts too
    failed: it raised
    """

    event: Literal["module_returned"]
    call: int
    outputs: FailFastList[Uid]
    failed: NotRequired[bool | None]


@closed_typed_dict
class CallingModule(TypedDict):
    """A module that is being called, its class and its `training`.

    module: absent where no recorded name led to it
    """

    type: str
    training: bool
    module: NotRequired[Uid | None]


@closed_typed_dict
class LayerMode(BaseEvent):
    """What dropout or batch norm was told as it ran.

    training: it drops, with probability `p`, or takes the statistics of the batch; attention drops wherever its
        `dropout_p` is above 0
    modules: those in whose call it ran, the innermost first; none where the program called the function itself
    """

    event: Literal["layer_mode"]
    layer: Literal["dropout", "batch_norm"]
    training: bool
    p: NotRequired[float | None]
    modules: FailFastList[CallingModule]


@closed_typed_dict
class HookRan(BaseEvent):
    """Hooks that the program registered on a tensor ran, in the visit of its node; `count` of them.

    hook: `tensor`, by `register_hook`, before the node was run; `post_accumulate_grad`, after `.grad` was accumulated.
        Hooks of nodes and modules have no event: the steps of their functions tell of them. So have those of a tensor
        that no Python object stands for any more.
    """

    event: Literal["hook_ran"]
    hook: Literal["tensor", "post_accumulate_grad"]
    tensor: Uid
    node: Uid
    count: int


@closed_typed_dict
class HookLeft(BaseEvent):
    """Hooks of a tensor stayed with the node that it had before a write in place gave it another; `count` of them."""

    event: Literal["hook_left"]
    tensor: Uid
    node: Uid
    count: int


@closed_typed_dict
class ContextKept(BaseEvent):
    """A custom function's `ctx`, which is its node, keeps a tensor as a plain attribute and not by
    `save_for_backward`."""

    event: Literal["context_kept"]
    node: Uid
    tensor: Uid
    name: str


@closed_typed_dict
class IndexCopyWritten(BaseEvent):
    """A write into the copy that an advanced index (`x[mask]`, `x[[1, 3]]`), a `reshape` or the like made, and that is
    lost.

    tensor: of which it is one, and did not change
    copy: the result. No operator read it after the write, and it died with the statement. op: the last operation that
        wrote it.
    """

    event: Literal["index_copy_written"]
    tensor: Uid
    copy: Uid


@closed_typed_dict
class IndicesRepeated(BaseEvent):
    """A write by index tensors (`x[i] = v`, `x[i] += v`) that names an element more than once: the last write stays.

    count: of the places that the indices name
    distinct: of the different ones among them
    """

    event: Literal["indices_repeated"]
    tensor: Uid
    count: int
    distinct: int


@closed_typed_dict
class FunctionChecked(BaseEvent):
    """After the run the backward of one of the program's own Functions was compared with the slope of its forward, and
    differs.

    order: 2 where backward is right and its own derivative is not incoming: what came into backward in the check got,
        wanted: what it gave for an element of an argument, and the slope times what came in ignores_incoming: it gives
        the same whatever comes in
    """

    event: Literal["function_checked"]
    function: str
    order: int
    argument: int
    element: int
    incoming: float
    got: float
    wanted: float
    ignores_incoming: NotRequired[bool | None]


@closed_typed_dict
class UninitializedRead(BaseEvent):
    """An operation, or a printed tensor, took memory of `torch.empty` and its like that nothing had written."""

    event: Literal["uninitialized_read"]
    tensor: Uid


@closed_typed_dict
class Raised(BaseEvent):
    """An exception came to a handler, or to a `finally`, of the program.

    exception: its class
    in_torch: the innermost Python code that it came from is torch's
    place: the line of code without steps that it came from
    """

    event: Literal["raised"]
    exception: str
    message: str
    in_torch: bool
    place: NotRequired[CodePlace | None]


@closed_typed_dict
class Warned(BaseEvent):
    event: Literal["warning"]
    category: str
    text: str


@closed_typed_dict
class Replaced(BaseEvent):
    """The program asked for something that is done otherwise here.

    what: `compile`, the plain function runs in the place of a compiled one; `workers`, a DataLoader with `count` of
        them loads its data itself
    """

    event: Literal["replaced"]
    what: Literal["compile", "workers"]
    count: NotRequired[int | None]


@closed_typed_dict
class TracingTaken(BaseEvent):
    """A debugger, or the program itself, replaced Python's trace function, which followed the code: statements after
    the step before may be missing.

    by: the module of the function that is there now
    """

    event: Literal["tracing_taken"]
    by: NotRequired[str | None]


@closed_typed_dict
class LimitReached(BaseEvent):
    event: Literal["limit"]
    limit: Limit


@closed_typed_dict
class ContentsSummarized(BaseEvent):
    """One stretch of the run takes so much of the trace's room that from here on contents of more elements have no
    cells."""

    event: Literal["contents_summarized"]
    elements: int


@closed_typed_dict
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
    | OptimizerStepped
    | ModuleCalled
    | ModuleReturned
    | LayerMode
    | HookRan
    | HookLeft
    | ContextKept
    | IndexCopyWritten
    | IndicesRepeated
    | FunctionChecked
    | UninitializedRead
    | Raised
    | Warned
    | Replaced
    | TracingTaken
    | LimitReached
    | ContentsSummarized
    | TracerFault,
    Field(discriminator="event"),
]


Severity = Literal["error", "warning", "note", "info"]
EventMark = Literal["broken", "written", "cut"]
"""A mark on the timeline; how each looks is the timeline's business."""


@dataclass(frozen=True)
class EventRow:
    """What there is to know of an event besides its fields.

    severity: `error` for what ends or breaks a backward pass or the run, `warning` for what is lost, `note` for what a
        reader looks for, `info` for what belongs to it
    observed: an observation finds that it happened since the one before, so it carries `span` where statements passed
        unseen
    sentence: a key of the locales, in which a field of the event may stand in braces; the sentence's own arguments are
        the event's fields, uids by the names that the program has for them
    mark: of its step on the timeline
    state: the slot's state that it reports
    opening: a reader is first shown the step with the event of the least number
    in_visits: told of a node's visit in backward too
    implied: the step's `set` and `gone` say the same
    """

    model: Any
    severity: Severity
    observed: bool = False
    sentence: str | None = None
    mark: EventMark | None = None
    state: SlotState | None = None
    opening: int | None = None
    in_visits: bool = True
    implied: bool = False


EVENTS: dict[str, EventRow] = {
    "storage_allocated": EventRow(StorageAllocated, "info", observed=True, implied=True),
    "storage_freed": EventRow(StorageFreed, "info", observed=True, implied=True),
    "written": EventRow(Written, "note", observed=True, sentence="written", mark="written", opening=3, in_visits=False),
    "version_bumped": EventRow(VersionBumped, "info", observed=True, sentence="bumped", in_visits=False),
    "saved": EventRow(Saved, "info", observed=True, sentence="saved", in_visits=False, implied=True),
    "saved_stale": EventRow(
        SavedStale, "error", observed=True, sentence="stale", mark="broken", state="stale", opening=2
    ),
    "saved_changed_silently": EventRow(
        SavedChangedSilently, "error", observed=True, sentence="silent", mark="broken", state="changed", opening=1
    ),
    "saved_detached": EventRow(
        SavedDetached, "error", observed=True, sentence="detached", mark="broken", state="detached"
    ),
    "path_cut": EventRow(PathCut, "warning", observed=True, sentence="cut_{reason}", mark="cut", opening=4),
    "graph_released": EventRow(GraphReleased, "info", observed=True, sentence="released"),
    "grad_accumulated": EventRow(GradAccumulated, "note"),
    "optimizer_stepped": EventRow(OptimizerStepped, "info"),
    "module_called": EventRow(ModuleCalled, "info"),
    "module_returned": EventRow(ModuleReturned, "info"),
    "layer_mode": EventRow(LayerMode, "info"),
    "hook_ran": EventRow(HookRan, "note", sentence="hook_{hook}"),
    "hook_left": EventRow(HookLeft, "warning", observed=True, sentence="hook_left"),
    "context_kept": EventRow(ContextKept, "info", observed=True, sentence="context_kept"),
    "index_copy_written": EventRow(IndexCopyWritten, "warning", sentence="index_copy_written"),
    "indices_repeated": EventRow(IndicesRepeated, "note", sentence="indices_repeated"),
    "function_checked": EventRow(FunctionChecked, "note"),
    "uninitialized_read": EventRow(UninitializedRead, "warning", sentence="uninitialized"),
    "raised": EventRow(Raised, "note", sentence="exception_raised"),
    "warning": EventRow(Warned, "warning", sentence="warning"),
    "replaced": EventRow(Replaced, "note", sentence="replaced_{what}"),
    "tracing_taken": EventRow(TracingTaken, "warning", sentence="tracing_taken"),
    "limit": EventRow(LimitReached, "error", sentence="limit"),
    "contents_summarized": EventRow(ContentsSummarized, "note", sentence="contents_summarized"),
    "tracer_fault": EventRow(TracerFault, "error", sentence="fault"),
}


@closed_typed_dict
class Op(TypedDict):
    """A torch operation (the dispatcher's name); `requires_grad` of each output, null where it was not observed.

    failed: it raised, and has no outputs
    call: the number of the innermost module's call that it is part of
    place: of some that ran while grad mode was off, the line that asked for it, where that has no steps
    """

    kind: Literal["op"]
    name: str
    inputs: FailFastList[Uid]
    outputs: FailFastList[Uid]
    requires_grad: FailFastList[bool | None]
    grad_mode: bool
    call: NotRequired[int | None]
    failed: NotRequired[bool | None]
    place: NotRequired[CodePlace | None]


@closed_typed_dict
class Out(TypedDict):
    """Printed text."""

    kind: Literal["out"]
    stream: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True)
class WithoutDiscriminator:
    """Leaves the discriminator out of a union's JSON Schema: OpenAPI has no name for a union inside of a union."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {key: value for key, value in handler(schema).items() if key != "discriminator"}


LogEntry = Annotated[Op | Out | Event, Field(discriminator="kind"), WithoutDiscriminator()]
