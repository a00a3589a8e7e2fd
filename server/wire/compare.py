"""The request and the reply of a comparison of two programs."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from gradbox.wire.base import STRICT_CONFIG, FailFastList, Model, RequestModel
from server.wire.saved_programs import Language

COPY = "a = torch.tensor([1., 2.], requires_grad=True)\nb = a.clone()\n"
COPY_AND_ALIAS: JsonDict = {"left": {"source": COPY}, "right": {"source": COPY.replace("clone", "detach")}}


class ComparedProgram(RequestModel):
    """A program to run, or the id of a saved one."""

    source: str | None = Field(default=None, examples=[COPY])
    saved: Annotated[str | None, Field(max_length=64, examples=[None])] = None
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = Field(default=0, ge=0, le=2**32 - 1, strict=True)

    @model_validator(mode="after")
    def _has_one_program(self) -> "ComparedProgram":
        if (self.source is None) == (self.saved is None):
            raise ValueError("either source or saved is needed, not both")
        return self


class CompareRequest(RequestModel):
    """Two programs.

    language: of the sentences in the reply
    """

    model_config = ConfigDict(**STRICT_CONFIG, json_schema_extra={"examples": [COPY_AND_ALIAS]})

    left: ComparedProgram = Field(examples=[COPY_AND_ALIAS["left"]])
    right: ComparedProgram = Field(examples=[COPY_AND_ALIAS["right"]])
    language: Language = "en"


class ValueDifference(Model):
    """A difference in what a name means.

    property: `exists` if only one side has the name, otherwise what differs
    left, right: the value on each side, null if there is none
    from_line, to_line: lines of the left program, or of the right one if only that has them; to_line is null if the
        difference lasts to the end
    """

    name: str
    property: str
    left: str | None
    right: str | None
    from_line: int
    to_line: int | None
    text: str


class OutputDifference(Model):
    """What the same statement prints on each side; empty if it prints nothing."""

    left_line: int | None
    right_line: int | None
    left: str
    right: str
    text: str


class Outcomes(Model):
    """How both runs ended: the statuses of their outcomes."""

    left: str
    right: str


class Comparison(Model):
    """The differences of two runs.

    apart_line: the line of the first difference, null if there is none
    text: the differences in a few sentences
    omitted: how many differences are missing from `differences` and `output` because there are too many to send
    """

    same: bool
    apart_line: int | None
    text: str
    differences: FailFastList[ValueDifference]
    output: FailFastList[OutputDifference]
    omitted: int
    outcomes: Outcomes
