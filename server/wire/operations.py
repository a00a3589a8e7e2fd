"""The operations from which a program can be built: a template of source text, its operands and its siblings; and a
place in a program, as the page's builder sends it."""

from typing import Annotated, Literal

from pydantic import Field

from gradbox.wire.base import Model

Group = Literal[
    "create",
    "copy",
    "share",
    "view",
    "in-place",
    "math",
    "reduce",
    "graph",
    "backward",
    "module",
    "optimizer",
    "python",
]

Kind = Literal[
    "tensor", "float tensor", "vector", "matrix", "float matrix", "complex tensor", "scalar tensor", "boolean tensor",
    "writable tensor", "plain tensor", "leaf", "leaf with grad", "node", "scalar node", "labels", "array", "module",
    "module with grads", "optimizer", "state", "function", "anything",
    "number", "int", "numbers", "shape", "sizes", "indices", "dtype", "device", "name",
]  # fmt: skip
"""What an operand has to be. Those from `number` on are written into the program as they are."""


class OperandKind(Model):
    """What fits an operand of this kind; a field that is None sets no condition.

    dims: number of dimensions
    elements: number of elements
    sample: statements that make one, with a hole `{name}`; None if the operand is text of the program itself
    """

    kind: Kind
    sample: str | None = None
    floating: bool | None = None
    complex: bool | None = None
    dims: int | None = None
    elements: int | None = None
    requires_grad: bool | None = None
    leaf: bool | None = None
    has_grad: bool | None = None


class Operand(Model):
    """A hole of a template.

    proposed: text to fill in; None if the program itself has to provide something that fits
    """

    name: str
    kind: Kind
    proposed: str | None = None


class Operation(Model):
    """An operation of the catalogue.

    template: one statement with a hole for each operand, and `{out}` for the result's name
    imports: modules that it needs besides torch
    sentence: what it does, in one language
    siblings: operations that could replace it
    example: a whole program in which it runs
    """

    name: str
    group: Group
    template: str
    operands: list[Operand]
    imports: list[str]
    sentence: str
    siblings: list[str]
    example: str


class Operations(Model):
    """The catalogue by group, and the kinds of its operands."""

    operations: list[Operation]
    kinds: list[OperandKind]


MAX_NAMES = 24

AliveKind = Literal["tensor", "array", "module", "optimizer", "collection", "function", "other", "unknown"]
Size = Annotated[int, Field(ge=0, le=2**53)]


class AliveName(Model):
    """A name with a value.

    kind: `unknown` if the program has not been run up to this place
    """

    name: str = Field(min_length=1, max_length=60, pattern=r"^[^\W\d]\w*$")
    kind: AliveKind = "unknown"
    type: str = Field(default="", max_length=60)
    shape: list[Size] | None = Field(default=None, max_length=16)
    dtype: str = Field(default="", max_length=30)
    requires_grad: bool = False
    leaf: bool = True
    grad: bool = False


class Place(Model):
    """A place in a program where a card can be inserted.

    alive: the names that have a value there, the nearest first
    """

    alive: list[AliveName] = Field(default=[], max_length=MAX_NAMES)
