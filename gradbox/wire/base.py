"""What every wire value is built from: the strict base class, uids and encoded Python values.

A wire value is a pydantic model if our own code reads it by attribute, and a `TypedDict` if the tracer builds many
thousands of it: the type checker checks the tracer against it, and pydantic checks what arrives.
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
"""A short name in order of first appearance, whose letter tells the kind; never an address and never given twice."""

T = TypeVar("T")
FailFastList = Annotated[list[T], Field(fail_fast=True)]
"""A list that is rejected at its first invalid item: a million invalid ones would make a million reports."""


Index = Annotated[int, Field(ge=0, le=2**53)]
"""An index or a count from outside, within the range that a browser represents exactly."""


@dataclass(frozen=True)
class OneErrorPerUnion:
    """Reports a value that matches no member of a union as one error that names the union, not as one error per
    member."""

    union: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema: Any = handler(source)
        union = schema["schema"] if schema["type"] == "nullable" else schema
        union |= {"custom_error_type": "no_" + self.union, "custom_error_message": f"this is no {self.union}"}
        return schema


STRICT_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
closed_typed_dict = with_config(ConfigDict(**STRICT_CONFIG, strict=True))
"""Decorates a `TypedDict` that allows only the keys that it declares, each with a value of exactly its type ("1" is not
a number)."""

JsonTuple = Annotated[T, Strict(False)]
"""A tuple, which JSON represents as a list. A list is accepted for it; its items are checked as strictly as
elsewhere."""


class Model(BaseModel):
    """A wire value that allows only the fields that it declares."""

    model_config = STRICT_CONFIG


MAX_FIELDS = 50
"""The most fields in a client's data. A million unknown ones would make a million reports."""


def check_field_count(value: Any) -> Any:
    """Return the value. Raises ValueError if it is a dictionary with too many fields."""
    if isinstance(value, dict) and len(value) > MAX_FIELDS:
        raise ValueError(f"it has {len(value)} fields")
    return value


FewFields = Annotated[T, BeforeValidator(check_field_count)]
"""A dictionary from a client that is rejected for too many items before these are validated."""


class RequestModel(Model):
    """A part of a request."""

    @model_validator(mode="before")
    @classmethod
    def check_field_count(cls, value: Any) -> Any:
        """Reject the value if it has too many fields to validate each."""
        return check_field_count(value)


NotFinite = TypedDict("NotFinite", {"$f": Annotated[str, Field(pattern="^(nan|inf|-inf)$")]})
"""NaN or an infinity, which JSON numbers can't represent: `nan`, `inf` or `-inf`."""

BigInt = TypedDict("BigInt", {"$i": Annotated[str, Field(pattern=r"^-?[0-9]{1,5000}$")]})
"""An integer beyond 2^53, in decimal digits."""

Complex = TypedDict("Complex", {"$c": JsonTuple[tuple[float | NotFinite, float | NotFinite]]})
"""A complex number as its real and imaginary parts."""

for _shape in (NotFinite, BigInt, Complex):
    closed_typed_dict(_shape)


@closed_typed_dict
class Ref(TypedDict):
    """A reference to an entity of the picture."""

    ref: Uid


@closed_typed_dict
class Opaque(TypedDict):
    """A Python value that is only named by its type and not drawn; `text` is present only if reading it runs no user
    code."""

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
