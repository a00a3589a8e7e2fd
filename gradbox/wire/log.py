"""The log of a step: what happened in it, in order: torch operations, printed text and events."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gradbox.wire.base import FailFastList, Uid, closed_typed_dict
from gradbox.wire.events import Event


@closed_typed_dict
class Op(TypedDict):
    """A torch operation (the dispatcher's name); `requires_grad` of each output, null where it was not observed.

    failed: it raised, and has no outputs.
    """

    kind: Literal["op"]
    name: str
    inputs: FailFastList[Uid]
    outputs: FailFastList[Uid]
    requires_grad: FailFastList[bool | None]
    grad_mode: bool
    failed: NotRequired[bool | None]


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
