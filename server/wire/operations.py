"""The operations that a program can be built of: a template of source text, what goes into its holes, what it is close
to; and what the page's builder sends of a place in a program.
"""

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
"""What an operand has to be. The last ones, from `number` on, are written into the program as they are."""


class OperandKind(Model):
    """What fits an operand of this kind: a field that is None asks for nothing.

    dims: how many dimensions
    elements: how many elements
    sample: statements that make one, with a hole `{name}`, and None where the operand is a text of the program itself
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

    proposed: what to write there; None where the program has to have something that fits
    """

    name: str
    kind: Kind
    proposed: str | None = None


class Operation(Model):
    """An operation of the catalogue.

    template: one statement with a hole for each operand, and `{out}` for the name of a result
    imports: modules that it needs besides torch
    sentence: what it does, in one language
    siblings: operations that may stand in its place
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
    """The catalogue, group by group, and the kinds of operands that it names."""

    operations: list[Operation]
    kinds: list[OperandKind]


MAX_NAMES = 24

AliveKind = Literal["tensor", "array", "module", "optimizer", "collection", "function", "other", "unknown"]
Size = Annotated[int, Field(ge=0, le=2**53)]


class AliveName(Model):
    """A name with a value.

    kind: `unknown` where the program was not run up to there
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
    """A place in a program where a card can go.

    alive: the nearest first
    """

    alive: list[AliveName] = Field(default=[], max_length=MAX_NAMES)
