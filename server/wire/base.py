"""What every wire model is built from: the strict base class, uids and encoded Python values."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

Uid = Annotated[str, Field(pattern=r"^[a-z][0-9]{1,9}$", examples=["s1", "t3", "n2"])]
"""A small name by order of first appearance, typed by its letter; never an address and never given twice."""


@dataclass(frozen=True)
class Briefly:
    """Refuses a list at its first wrong item: a million of them would make a million reports."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema: Any = handler(source)
        return {**schema, "fail_fast": True}


@dataclass(frozen=True)
class Plainly:
    """Says of what is none of a union's kinds just that, not why it is none of each."""

    what: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema: Any = handler(source)
        union = schema["schema"] if schema["type"] == "nullable" else schema
        union |= {"custom_error_type": "no_" + self.what, "custom_error_message": f"this is no {self.what}"}
        return schema


def breathe(value: Any) -> Any:
    """Nothing. Called in Python for each of many, it lets the other threads of the server have their turn."""
    return value


Turn = BeforeValidator(breathe)

T = TypeVar("T")
Items = Annotated[list[T], Briefly()]


class Model(BaseModel):
    """A wire value: the fields it declares and no others."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class NotFinite(Model):
    """NaN or an infinity, which JSON numbers can't say: `nan`, `inf` or `-inf`."""

    f: str = Field(alias="$f", pattern="^(nan|inf|-inf)$")


class BigInt(Model):
    """An integer beyond 2^53, in decimal digits."""

    i: str = Field(alias="$i", pattern=r"^-?[0-9]{1,5000}$")


class Complex(Model):
    """A complex number as its real and imaginary part."""

    c: tuple[float | NotFinite, float | NotFinite] = Field(alias="$c")


class Ref(Model):
    """A reference to an entity of the picture."""

    ref: Uid


class Opaque(Model):
    """A Python value that is named by its type and not drawn; `text` only where reading it runs no user code."""

    py: str
    text: str | None = None


Number = Annotated[StrictBool | StrictInt | StrictFloat | NotFinite | BigInt | Complex, Plainly("number")]
"""One element of a storage."""

Value = Annotated[
    StrictBool | StrictInt | StrictFloat | StrictStr | NotFinite | BigInt | Complex | Ref | Opaque | None,
    Plainly("value"),
]
"""A Python value as a name, an item or an attribute holds it."""

Fields = dict[str, Any]
