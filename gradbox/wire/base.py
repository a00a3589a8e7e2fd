"""What every wire value is built from: the strict base class, uids and encoded Python values.

A wire value is a pydantic model where our own code reads it by attribute, and a `TypedDict` where the tracer builds
it by the thousand: the type checker holds the tracer against it, pydantic holds what arrives against it.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    Strict,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
    with_config,
)
from typing_extensions import TypedDict

Uid = Annotated[str, Field(pattern=r"^[a-z][0-9]{1,9}$", examples=["s1", "t3", "n2"])]
"""A small name by order of first appearance, typed by its letter; never an address and never given twice."""

T = TypeVar("T")
FailFastList = Annotated[list[T], Field(fail_fast=True)]
"""A list that is refused at its first wrong item: a million of them would make a million reports."""


Index = Annotated[int, Field(ge=0, le=2**53)]
"""A place or a count that comes from outside, as exact as a browser can hold it."""


@dataclass(frozen=True)
class OneErrorPerUnion:
    """Reports a value that is no member of a union as one error that names the union, not as one error a member."""

    union: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema: Any = handler(source)
        union = schema["schema"] if schema["type"] == "nullable" else schema
        union |= {"custom_error_type": "no_" + self.union, "custom_error_message": f"this is no {self.union}"}
        return schema


STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
closed_typed_dict = with_config(ConfigDict(**STRICT, strict=True))
"""Decorates a `TypedDict`: the keys it declares and no others, and each value of its own type ("1" is no number)."""

JsonTuple = Annotated[T, Strict(False)]
"""A tuple, which JSON writes as a list: the list is taken for it, the items in it are as strict as elsewhere."""


class Model(BaseModel):
    """A wire value: the fields it declares and no others."""

    model_config = STRICT


MAX_FIELDS = 50
"""Fields of what a client sends; with a million of them, there would be a million reports of unknown ones."""


def check_field_count(value: Any) -> Any:
    """The value. Raises ValueError where it is a dictionary with too many fields."""
    if isinstance(value, dict) and len(value) > MAX_FIELDS:
        raise ValueError(f"it has {len(value)} fields")
    return value


FewFields = Annotated[T, BeforeValidator(check_field_count)]
"""A dictionary of what a client sends, which is refused before its items are looked at."""


class RequestModel(Model):
    """A part of a request."""

    @model_validator(mode="before")
    @classmethod
    def check_field_count(cls, value: Any) -> Any:
        """Few enough fields to look at each."""
        return check_field_count(value)


NotFinite = TypedDict("NotFinite", {"$f": Annotated[str, Field(pattern="^(nan|inf|-inf)$")]})
"""NaN or an infinity, which JSON numbers can't say: `nan`, `inf` or `-inf`."""

BigInt = TypedDict("BigInt", {"$i": Annotated[str, Field(pattern=r"^-?[0-9]{1,5000}$")]})
"""An integer beyond 2^53, in decimal digits."""

Complex = TypedDict("Complex", {"$c": JsonTuple[tuple[float | NotFinite, float | NotFinite]]})
"""A complex number as its real and imaginary part."""

for _shape in (NotFinite, BigInt, Complex):
    closed_typed_dict(_shape)


@closed_typed_dict
class Ref(TypedDict):
    """A reference to an entity of the picture."""

    ref: Uid


@closed_typed_dict
class Opaque(TypedDict):
    """A Python value that is named by its type and not drawn; `text` only where reading it runs no user code."""

    py: str
    text: NotRequired[str | None]


Number = Annotated[
    StrictBool | StrictInt | StrictFloat | NotFinite | BigInt | Complex,
    Field(union_mode="left_to_right"),
    OneErrorPerUnion("number"),
]
"""One element of a storage."""

Value = Annotated[
    StrictBool | StrictInt | StrictFloat | StrictStr | NotFinite | BigInt | Complex | Ref | Opaque | None,
    Field(union_mode="left_to_right"),
    OneErrorPerUnion("value"),
]
"""A Python value as a name, an item or an attribute holds it."""

Fields = dict[str, Any]
