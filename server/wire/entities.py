"""The things that are drawn. In a step's `set` only the fields that changed are present; `null` means absent."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from server.wire.base import Items, Model, Number, Turn, Uid, Value

Cells = dict[str, Items[Number]]
"""Elements in memory order for each dtype under which a live handle reads the bytes."""

Item = Annotated[Value | tuple[Value, Value], Turn]
"""What a container holds: a value, or a key with its value."""


class Summary(Model):
    """A storage too big to list, told in numbers: `bins` is a histogram of the finite values between min and max.

    `heat` are the means of equal stretches, in memory order: of n elements and m stretches, stretch k begins at k * n // m.
    """

    min: Number | None = None
    max: Number | None = None
    mean: Number | None = None
    bins: Items[int] | None = None
    heat: Items[Number] | None = None


class Within(Model):
    """This storage's bytes lie inside another's, `at` bytes from its start."""

    storage: Uid
    at: int


class Storage(Model):
    """A block of memory. `cells` is whole up to 1,024 elements; beyond, `summary` and `windows` ([from, values])."""

    kind: Literal["storage"] = "storage"
    device: str | None = None
    nbytes: int | None = None
    cells: Cells | None = None
    cells_at: dict[str, dict[str, Number]] | None = None
    summary: dict[str, Summary] | None = None
    windows: dict[str, Items[tuple[int, Items[Number]]]] | None = None
    within: Within | None = None
    exposed: bool | None = None
    held_by: Items[Uid] | None = None


class Wraps(Model):
    """What a functorch wrapper wraps."""

    by: str
    level: int
    dim: int | None = None
    value: Value = None


class Tensor(Model):
    """A handle: how a tensor reads its storage (offset and strides in elements) and what autograd knows of it."""

    kind: Literal["tensor"] = "tensor"
    type: str | None = None
    shape: Items[int] | None = None
    dtype: str | None = None
    device: str | None = None
    layout: str | None = None
    storage: Uid | None = None
    offset: int | None = None
    stride: Items[int] | None = None
    counter: Uid | None = None
    base: Uid | None = None
    requires_grad: bool | None = None
    leaf: bool | None = None
    grad_fn: Uid | None = None
    output_nr: int | None = None
    grad: Uid | None = None
    retains_grad: bool | None = None
    bits: Items[Literal["conj", "neg", "inference"]] | None = None
    parts: dict[str, Uid] | None = None
    wraps: Wraps | None = None
    tangent: Uid | None = None
    quant: dict[str, Any] | None = None
    hooks: int | None = None
    attrs: dict[str, Value] | None = None


class Array(Model):
    """A numpy array; `at` and `steps` in bytes from the start of its storage."""

    kind: Literal["array"] = "array"
    type: str | None = None
    shape: Items[int] | None = None
    dtype: str | None = None
    storage: Uid | None = None
    at: int | None = None
    steps: Items[int] | None = None
    writeable: bool | None = None


class Counter(Model):
    """A version counter: views and `detach()` share it, `.data` has its own."""

    kind: Literal["counter"] = "counter"
    value: int | None = None


SlotState = Literal["ok", "stale", "changed", "detached", "freed", "packed", "unknown"]


class Slot(Model):
    """A saved tensor of a node; `state` is what torch answers when the slot is read.

    `stale`: torch will raise; `changed`: other bytes at the version it expects. `detached`: it was detached in place,
    which torch still lets one read, and backward refuses.
    """

    tensor: Uid | None = None
    storage: Uid | None = None
    dtype: str | None = None
    offset: int | None = None
    shape: Items[int] | None = None
    stride: Items[int] | None = None
    counter: Uid | None = None
    expected: int | None = None
    state: SlotState
    detached: bool | None = None


class Node(Model):
    """A node of the autograd graph; `next` are its edges, `[uid, input_nr]`, `saved` its slots as torch names them."""

    kind: Literal["node"] = "node"
    name: str | None = None
    next: Items[tuple[Uid, int] | None] | None = None
    variable: Uid | None = None
    saved: dict[str, Slot] | None = None
    attrs: dict[str, Value] | None = None
    custom: bool | None = None
    released: bool | None = None
    born: int | None = None


class Object(Model):
    """A list, tuple, dict, set, module, optimizer or instance; `elided` counts the items left out."""

    kind: Literal["object"] = "object"
    type: str | None = None
    len: int | None = None
    items: Items[Item] | None = None
    splice: Items[tuple[int, int, Items[Item]]] | None = None
    attrs: dict[str, Value] | None = None
    elided: int | None = None


class Frame(Model):
    """A frame; `vars` is a delta of its own (`unset` takes names away); the module frame has no caller."""

    kind: Literal["frame"] = "frame"
    name: str | None = None
    caller: Uid | None = None
    line: int | None = None
    state: Literal["running", "suspended"] | None = None
    vars: dict[str, Value] | None = None
    unset: Items[str] | None = None
    shared: dict[str, Uid] | None = None


class Backward(Model):
    """One call of the engine."""

    kind: Literal["backward"] = "backward"
    stmt: int | None = None
    api: Literal["backward", "grad"] | None = None
    roots: Items[Uid | None] | None = None
    inputs: Items[Uid] | None = None
    keep_graph: bool | None = None
    create_graph: bool | None = None
    parent: Uid | None = None


class Mode(Model):
    """The modes in force."""

    kind: Literal["mode"] = "mode"
    grad: bool | None = None
    inference: bool | None = None
    autocast: str | None = None
    anomaly: bool | None = None
    default_dtype: str | None = None
    saved_hooks: bool | None = None
    functorch: Items[str] | None = None


class Block(Model):
    """A block of the caching allocator."""

    address: int
    size: int
    state: str
    storage: Uid | None = None


class Device(Model):
    """Memory of a device in bytes."""

    kind: Literal["device"] = "device"
    name: str | None = None
    allocated: int | None = None
    reserved: int | None = None
    peak: int | None = None
    blocks: Items[Block] | None = None


Entity = Storage | Tensor | Array | Counter | Node | Object | Frame | Backward | Mode | Device

BY_LETTER: dict[str, type[Model]] = {
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
"""The letter of a uid says which entity it names."""

AnyEntity: TypeAdapter[Any] = TypeAdapter(Annotated[Entity, Field(discriminator="kind")])
