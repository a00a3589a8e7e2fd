"""The log of a step: operations, printed text, and events, which are everything else that happened in it.

`EVENTS` is the one table of events. The tracer, the page and the terminal read from it how to handle each event.
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
    """Elements of a storage; all numbers are in elements of the given dtype."""

    offset: int
    shape: FailFastList[int]
    stride: FailFastList[int]
    dtype: NotRequired[str | None]


@closed_typed_dict
class BaseEvent(TypedDict):
    """The common fields of events: `op` is an index in the step's log, `span` the steps between which it happened
    unobserved."""

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
    """Bytes of a storage changed. `changed` counts the elements whose bytes differ from before; null for a storage too
    large to keep a copy of."""

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
    """Something happened to a saved tensor of a node."""

    node: Uid
    slot: str


@closed_typed_dict
class BrokenSlotEvent(SlotEvent):
    """A slot no longer holds what backward needs.

    by: the handle through which the step's operations last wrote the slot's memory, like `by` of `written`. For a stale
        slot it is the last such handle that shares the slot's version counter; for a detached one, the handle that was
        detached. Absent if no recorded operation did it (numpy writes without one), or the handle's counter is not
        known.
    place: the line without steps that asked for the operation, if one did
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
    """A result of a tensor that requires grad, through which no gradient will come back, and why.

    place: the line without steps that asked for it, if one did; for `detach` and `data`, the first line that used the
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

    optimizer: absent if no recorded name led to it
    unrecorded: the event stands for this many steps in iterations that were not recorded, before the step that has the
        event
    """

    event: Literal["optimizer_stepped"]
    optimizer: NotRequired[Uid | None]
    unrecorded: NotRequired[int | None]


@closed_typed_dict
class ModuleCalled(BaseEvent):
    """A call of an `nn.Module` begins.

    call: its number, from 0 over all recorded calls of the run
    module: absent if no recorded name leads to it
    type: the module's class
    within: the call inside which this one runs
    inputs: the tensors among its arguments, including those in dicts
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

    outputs: the tensors of its result, including those in dicts
    failed: it raised
    """

    event: Literal["module_returned"]
    call: int
    outputs: FailFastList[Uid]
    failed: NotRequired[bool | None]


@closed_typed_dict
class CallingModule(TypedDict):
    """A module that is being called, with its class and its `training`.

    module: absent if no recorded name led to it
    """

    type: str
    training: bool
    module: NotRequired[Uid | None]


@closed_typed_dict
class LayerMode(BaseEvent):
    """The mode with which dropout or batch norm ran.

    training: dropout drops, with probability `p`, and batch norm uses the statistics of the batch; attention drops
        whenever its `dropout_p` is above 0
    modules: the modules in whose calls it ran, the innermost first; empty if the program called the function itself
    """

    event: Literal["layer_mode"]
    layer: Literal["dropout", "batch_norm"]
    training: bool
    p: NotRequired[float | None]
    modules: FailFastList[CallingModule]


@closed_typed_dict
class HookRan(BaseEvent):
    """Hooks that the program registered on a tensor ran during the visit of its node; `count` of them.

    Hooks of nodes and modules have no event, because the steps of their functions show them. Nor have hooks of a tensor
    without a Python object.

    hook: `tensor`, by `register_hook`, before the node was run; `post_accumulate_grad`, after `.grad` was accumulated
    """

    event: Literal["hook_ran"]
    hook: Literal["tensor", "post_accumulate_grad"]
    tensor: Uid
    node: Uid
    count: int


@closed_typed_dict
class HookLeft(BaseEvent):
    """Hooks of a tensor stayed with its earlier node when a write in place gave it another one; `count` of them."""

    event: Literal["hook_left"]
    tensor: Uid
    node: Uid
    count: int


@closed_typed_dict
class ContextKept(BaseEvent):
    """A custom function's `ctx`, which is its node, keeps a tensor as a plain attribute instead of by
    `save_for_backward`."""

    event: Literal["context_kept"]
    node: Uid
    tensor: Uid
    name: str


@closed_typed_dict
class IndexCopyWritten(BaseEvent):
    """A lost write into the copy that an advanced index (`x[mask]`, `x[[1, 3]]`), a `reshape` or the like made.

    tensor: the tensor that was copied, which did not change
    copy: the copy. No operator read it after the write, and it died with the statement.
    op: the last operation that wrote it
    """

    event: Literal["index_copy_written"]
    tensor: Uid
    copy: Uid


@closed_typed_dict
class IndicesRepeated(BaseEvent):
    """A write by index tensors (`x[i] = v`, `x[i] += v`) names an element more than once, so only one of its writes
    counts.

    count: how many places the indices name
    distinct: how many different ones these are
    """

    event: Literal["indices_repeated"]
    tensor: Uid
    count: int
    distinct: int


@closed_typed_dict
class FunctionChecked(BaseEvent):
    """The backward of one of the program's own Functions was compared after the run with the slope of its forward, and
    differs.

    order: 2 if backward is right and its own derivative is not
    incoming: the gradient that came into backward in the check
    got, wanted: the gradient that it returned for an element of an argument, and the slope times the incoming gradient
    ignores_incoming: it returns the same whatever gradient comes in
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
    """An operation, or a printed tensor, read memory of `torch.empty` or a similar function that nothing had
    written."""

    event: Literal["uninitialized_read"]
    tensor: Uid


@closed_typed_dict
class Raised(BaseEvent):
    """An exception reached a handler, or a `finally`, of the program.

    exception: its class
    in_torch: the innermost Python code that raised it is torch's
    place: the line of code without steps that raised it, if one did
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
    """The program asked for something that is done differently here.

    what: `compile`: the plain function runs instead of a compiled one; `workers`: a DataLoader with `count` workers
        loads its data itself
    """

    event: Literal["replaced"]
    what: Literal["compile", "workers"]
    count: NotRequired[int | None]


@closed_typed_dict
class TracingTaken(BaseEvent):
    """A debugger, or the program itself, replaced Python's trace function, which followed the code: statements before
    this step may be missing.

    by: the module of the new trace function
    """

    event: Literal["tracing_taken"]
    by: NotRequired[str | None]


@closed_typed_dict
class LimitReached(BaseEvent):
    event: Literal["limit"]
    limit: Limit


@closed_typed_dict
class ContentsSummarized(BaseEvent):
    """One stretch of the run takes so much of the trace's room that from here on the contents of larger storages have
    no cells."""

    event: Literal["contents_summarized"]
    elements: int


@closed_typed_dict
class BackwardUnrecorded(BaseEvent):
    """Backwards have run in threads that are not recorded.

    count: how many
    """

    event: Literal["backward_unrecorded"]
    count: int


@closed_typed_dict
class TracerFault(BaseEvent):
    """The recorder failed at something. The program was not disturbed; the picture lacks what is named."""

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
    | BackwardUnrecorded
    | TracerFault,
    Field(discriminator="event"),
]


Severity = Literal["error", "warning", "note", "info"]
EventMark = Literal["broken", "written", "cut"]
"""A mark on the timeline; how each looks is the timeline's business."""


@dataclass(frozen=True)
class EventRow:
    """The properties of an event besides its fields.

    severity: `error` for what ends or breaks a backward pass or the run, `warning` for what is lost, `note` for what a
        reader looks for, `info` for what belongs to it
    observed: an observation finds that it has happened since the last one, so it carries `span` if statements passed
        unrecorded
    sentence: a key of the locales; the sentence may contain fields of the event in braces. Its other arguments are the
        event's fields, with uids replaced by the program's names for them.
    mark: the mark of its step on the timeline
    state: the slot's state that it reports
    opening: a reader is first shown the step whose event has the lowest number
    in_visits: also shown for a node's visit in backward
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
    "backward_unrecorded": EventRow(BackwardUnrecorded, "note", sentence="backward_unrecorded"),
    "tracer_fault": EventRow(TracerFault, "error", sentence="fault"),
}


AxisArgument = bool | int | str | FailFastList[int]
"""An argument that says along which axes an operation works."""


@closed_typed_dict
class Op(TypedDict):
    """A torch operation by the dispatcher's name; `requires_grad` of each output, null if it was not observed.

    failed: it raised, and has no outputs
    call: the number of the innermost module call that it is part of
    expression: what of the program called it: the index of a statement, and the number of a node in its `syntax`
    direct: the program called it by that expression itself, with no more than a thin function of torch between
    args: of its arguments those that say along which axes it works, by name: `dim`, `equation`, `batch_first` ...
    place: for some operations that ran while grad mode was off, the line without steps that asked for it
    """

    kind: Literal["op"]
    name: str
    inputs: FailFastList[Uid]
    outputs: FailFastList[Uid]
    requires_grad: FailFastList[bool | None]
    grad_mode: bool
    call: NotRequired[int | None]
    expression: NotRequired[FailFastList[int] | None]
    direct: NotRequired[bool | None]
    args: NotRequired[dict[str, AxisArgument] | None]
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
    """Leaves the discriminator out of a union's JSON Schema, because OpenAPI has no name for a union inside a union."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {key: value for key, value in handler(schema).items() if key != "discriminator"}


LogEntry = Annotated[Op | Out | Event, Field(discriminator="kind"), WithoutDiscriminator()]
