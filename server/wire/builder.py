"""What the page's builder sends of a place in a program: the names that have a value there."""

from typing import Annotated, Literal

from pydantic import Field

from gradbox.wire.base import Model

MAX_NAMES = 24

AliveKind = Literal["tensor", "array", "module", "optimizer", "collection", "function", "other", "unknown"]
Size = Annotated[int, Field(ge=0, le=2**53)]


class AliveName(Model):
    """A name with a value. kind: `unknown` where the program was not run up to there."""

    name: str = Field(min_length=1, max_length=60, pattern=r"^[^\W\d]\w*$")
    kind: AliveKind = "unknown"
    type: str = Field(default="", max_length=60)
    shape: list[Size] | None = Field(default=None, max_length=16)
    dtype: str = Field(default="", max_length=30)
    requires_grad: bool = False
    leaf: bool = True
    grad: bool = False


class Place(Model):
    """alive: the nearest first."""

    alive: list[AliveName] = Field(default=[], max_length=MAX_NAMES)
