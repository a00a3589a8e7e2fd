"""The things that are drawn. In a step's `set` only the fields that changed are present; `null` means absent.

`existed` says that a thing existed before the recording began: the first step that has it did not make it, and how it
was made is not known.
"""

from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from gradbox.wire.base import FailFastList, JsonTuple, Number, Uid, Value, closed_typed_dict

MAX_CELLS = 1024
"""Elements up to which a storage, or a gradient, is listed in full."""

MAX_ITEMS = 200
"""Items of a container that are reported; `elided` counts the rest."""

BINS, STRETCHES = 16, 64
"""Bins of a summary's histogram, and stretches of a storage whose means it lists."""

CellList = Annotated[list[Number], Field(fail_fast=True, max_length=MAX_CELLS)]
"""All elements of a storage, or of a gradient."""

Cells = dict[str, CellList]
"""Elements in memory order for each dtype under which a live handle reads the bytes."""

CellIndex = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,2}|10[01][0-9]|102[0-3])$")]
"""The index of an element in such a list, as a key of a JSON object."""

Item = Value | JsonTuple[tuple[Value, Value]]
"""An item of a container: a value, or a key with its value."""

Items = Annotated[list[Item], Field(fail_fast=True, max_length=MAX_ITEMS)]
ItemIndex = Annotated[int, Field(ge=0, le=MAX_ITEMS)]

MAX_MORE_TENSORS = 10_000
"""Parameters that are named beyond the items of a longer list."""

MoreTensors = Annotated[
    list[JsonTuple[tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]]]],
    Field(fail_fast=True, max_length=MAX_MORE_TENSORS),
]

MAX_BLOCKS = 1000
"""Blocks of an allocator that are listed. If there are more, only the sums are reported."""

Bytes = Annotated[int, Field(ge=0)]

BlockIndex = Annotated[int, Field(ge=0, le=MAX_BLOCKS)]


@closed_typed_dict
class Summary(TypedDict, total=False):
    """Statistics of a storage that is too large to list; only finite values count. `bins` is a histogram between min
    and max, and `norm` the Euclidean norm, absent if it was not computed. `heat` holds the means of equal stretches in
    memory order: of n elements and m stretches, stretch k begins at k * n // m."""

    min: Number | None
    max: Number | None
    mean: Number | None
    norm: Number | None
    bins: Annotated[list[int], Field(fail_fast=True, max_length=BINS)] | None
    heat: Annotated[list[Number], Field(fail_fast=True, max_length=STRETCHES)] | None


@closed_typed_dict
class Within(TypedDict):
    """This storage's bytes lie inside another's, `at` bytes from its start."""

    storage: Uid
    at: int


@closed_typed_dict
class Storage(TypedDict, total=False):
    """A block of memory. `cells` is complete up to 1,024 elements; larger ones have `summary` and `windows` ([from,
    values])."""

    kind: Literal["storage"]
    device: str | None
    nbytes: int | None
    cells: Cells | None
    cells_at: dict[str, dict[CellIndex, Number]] | None
    summary: dict[str, Summary] | None
    windows: dict[str, FailFastList[JsonTuple[tuple[int, FailFastList[Number]]]]] | None
    within: Within | None
    exposed: bool | None
    held_by: FailFastList[Uid] | None
    existed: bool | None


@closed_typed_dict
class Wraps(TypedDict, total=False):
    """What a functorch wrapper wraps."""

    by: Required[str]
    level: Required[int]
    dim: int | None
    value: Value


@closed_typed_dict
class Quantization(TypedDict):
    """How the integers of a quantized tensor represent numbers; per channel along `axis` if there are lists."""

    scheme: str
    scale: float | FailFastList[float]
    zero_point: float | FailFastList[float]
    axis: NotRequired[int]


@closed_typed_dict
class Tensor(TypedDict, total=False):
    """A handle: how a tensor reads its storage (offset and strides in elements) and what autograd knows of it.
    `output_nr` is absent if it is 0, `retains_grad` if it is false."""

    kind: Literal["tensor"]
    type: str | None
    shape: FailFastList[int] | None
    dtype: str | None
    device: str | None
    layout: str | None
    storage: Uid | None
    offset: int | None
    stride: FailFastList[int] | None
    counter: Uid | None
    base: Uid | None
    requires_grad: bool | None
    leaf: bool | None
    grad_fn: Uid | None
    output_nr: int | None
    grad: Uid | None
    retains_grad: bool | None
    bits: FailFastList[Literal["conj", "neg", "inference"]] | None
    parts: dict[str, Uid] | None
    wraps: Wraps | None
    tangent: Uid | None
    quant: Quantization | None
    hooks: int | None
    attrs: dict[str, Value] | None
    existed: bool | None


@closed_typed_dict
class Array(TypedDict, total=False):
    """A numpy array; `at` and `steps` are in bytes, `at` from the start of its storage."""

    kind: Literal["array"]
    type: str | None
    shape: FailFastList[int] | None
    dtype: str | None
    storage: Uid | None
    at: int | None
    steps: FailFastList[int] | None
    writeable: bool | None
    existed: bool | None


@closed_typed_dict
class Counter(TypedDict, total=False):
    """A version counter. Views and `detach()` share it; `.data` has its own."""

    kind: Literal["counter"]
    value: int | None


InputNumber = Annotated[int, Field(ge=0, le=100_000)]
"""The number of a node's input. Readers iterate over all inputs up to the highest."""

SlotState = Literal["ok", "stale", "changed", "detached", "freed", "packed", "unknown"]


@closed_typed_dict
class Slot(TypedDict, total=False):
    """A saved tensor of a node. `state` is what torch answers when the slot is read: `stale` means that torch will
    raise; `changed`, that there are other bytes at the expected version; `detached`, that the tensor was detached in
    place, which torch lets one read, but backward rejects.

    value: a number of the program that torch wrapped in a tensor to save it, like the 2 of `x * 2`. Such a slot has no
        storage and no counter until the program gets hold of that tensor; then it becomes an ordinary slot.
    """

    value: Number | None
    tensor: Uid | None
    storage: Uid | None
    dtype: str | None
    offset: int | None
    shape: FailFastList[int] | None
    stride: FailFastList[int] | None
    counter: Uid | None
    expected: int | None
    state: Required[SlotState]
    detached: bool | None


@closed_typed_dict
class Node(TypedDict, total=False):
    """A node of the autograd graph. `next` holds its edges `[uid, input_nr]`, `saved` its slots under torch's names."""

    kind: Literal["node"]
    name: str | None
    next: FailFastList[JsonTuple[tuple[Uid, InputNumber]] | None] | None
    variable: Uid | None
    saved: dict[str, Slot] | None
    attrs: dict[str, Value] | None
    custom: bool | None
    released: bool | None
    born: int | None
    existed: bool | None


@closed_typed_dict
class Object(TypedDict, total=False):
    """A list, tuple, dict, set, module, optimizer or instance; `elided` counts the items left out.

    training: the mode of a module
    more_tensors: the parameters behind the `items` of a longer list, like those of an optimizer's group, in order, as
        runs of uids: `[203, 205]` is t203, t204, t205
    """

    kind: Literal["object"]
    type: str | None
    len: int | None
    items: Items | None
    splice: Annotated[list[JsonTuple[tuple[ItemIndex, ItemIndex, Items]]], Field(max_length=1)] | None
    attrs: dict[str, Value] | None
    training: bool | None
    elided: int | None
    more_tensors: MoreTensors | None
    existed: bool | None


@closed_typed_dict
class Frame(TypedDict, total=False):
    """A frame. `vars` is itself a delta (`unset` removes names); the module's frame has no caller."""

    kind: Literal["frame"]
    name: str | None
    caller: Uid | None
    line: int | None
    state: Literal["running", "suspended"] | None
    free: FailFastList[str] | None
    vars: dict[str, Value] | None
    unset: FailFastList[str] | None


@closed_typed_dict
class CodePlace(TypedDict):
    """A line of code without steps, such as one of a module that was not recorded: file name without folders, line,
    text.

    module: the name for `--also`; "" for code that can't be imported, such as a notebook's earlier cell
    """

    file: str
    module: str
    line: int
    code: str


@closed_typed_dict
class Backward(TypedDict, total=False):
    """One call of the engine.

    place: the line without steps that called it, if one did
    """

    kind: Literal["backward"]
    stmt: int | None
    api: Literal["backward", "grad"] | None
    roots: FailFastList[Uid | None] | None
    inputs: FailFastList[Uid] | None
    keep_graph: bool | None
    create_graph: bool | None
    parent: Uid | None
    place: CodePlace | None


@closed_typed_dict
class Mode(TypedDict, total=False):
    """The modes in force."""

    kind: Literal["mode"]
    grad: bool | None
    inference: bool | None
    autocast: str | None
    anomaly: bool | None
    default_dtype: str | None
    saved_hooks: bool | None
    functorch: FailFastList[str] | None


@closed_typed_dict
class Block(TypedDict):
    """A block of the caching allocator, in bytes.

    requested: the size that was asked for, if `size` was rounded up
    """

    address: Bytes
    size: Bytes
    state: str
    requested: NotRequired[Bytes | None]
    storage: NotRequired[Uid | None]


@closed_typed_dict
class Segment(TypedDict):
    """Memory that the caching allocator got from the driver, in bytes, and its pool: `small` or `large`.

    stream: the number of the stream that it serves, by first appearance, unless it is the default one
    private: it belongs to a graph, or to a `torch.cuda.MemPool`
    """

    size: Bytes
    pool: str
    stream: NotRequired[BlockIndex]
    private: NotRequired[bool]


@closed_typed_dict
class Device(TypedDict, total=False):
    """Memory of a device in bytes. The `blocks` fill the `segments` one after the other; `splice` changes `blocks`."""

    kind: Literal["device"]
    name: str | None
    allocated: int | None
    reserved: int | None
    peak: int | None
    segments: FailFastList[Segment] | None
    blocks: FailFastList[Block] | None
    splice: Annotated[list[JsonTuple[tuple[BlockIndex, BlockIndex, FailFastList[Block]]]], Field(max_length=1)] | None


Entity = Storage | Tensor | Array | Counter | Node | Object | Frame | Backward | Mode | Device

ENTITIES: dict[str, Any] = {
    "s": Storage,
    "t": Tensor,
    "a": Array,
    "c": Counter,
    "n": Node,
    "o": Object,
    "f": Frame,
    "b": Backward,
    "m": Mode,
    "d": Device,
}
"""The entity that the letter of a uid names."""

ENTITY_ADAPTERS: dict[str, TypeAdapter[Any]] = {letter: TypeAdapter(entity) for letter, entity in ENTITIES.items()}
"""Validators for the fields of each entity."""
