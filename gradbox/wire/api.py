"""Requests and replies of the HTTP interface, other than traces."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from gradbox.wire.base import STRICT_CONFIG, FailFastList, FewFields, Model, RequestModel
from gradbox.wire.gradient_check import GradientCheck, GradientCheckOptions
from gradbox.wire.trace import Focus, Status

MAX_INPUT = 10_000
"""Characters of input for a program."""

ProgramInput = Annotated[str, Field(max_length=MAX_INPUT, examples=[""])]
"""What `input()` and `sys.stdin` read: lines that were typed before the run."""


class Job(Model):
    """A run as a worker receives it.

    check: compare its gradients with finite differences instead of recording steps
    """

    source: str
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = 0
    limits: dict[str, int | float] = {}
    focus: Focus | None = None
    input: str = ""
    check: GradientCheckOptions | None = None


class RunRequest(RequestModel):
    """A program to run, exactly as pasted.

    explain: include findings in the answer, in this language
    """

    source: str = Field(examples=["a = torch.tensor([1., 2.], requires_grad=True)\na.clone().sum().backward()\n"])
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = Field(default=0, ge=0, le=2**32 - 1, strict=True)
    focus: Focus | None = Field(default=None, examples=[None])
    input: ProgramInput = ""
    explain: bool = Field(default=False, strict=True)
    language: Literal["en", "zh"] = "en"


EXAMPLE_PIPELINE = [
    {"operation": "leaf", "operands": {"data": "[1., 2., 4.]"}, "name": "a"},
    {"operation": "clone", "operands": {"a": "a"}, "name": "b"},
    {"operation": "sum", "operands": {"a": "b"}, "name": "loss"},
    {"operation": "backward", "operands": {"loss": "loss"}},
]
"""A pipeline that computes a gradient."""

MAX_PIPELINE_ITEMS = 500
"""The most items of a pipeline."""


class PipelineItem(RequestModel):
    """An operation of the catalogue (`GET /api/operations`) as a statement.

    operands: by name; an operand that is left out gets the text that the catalogue proposes
    name: of the result; if left out, it is `y`, or `y2`, `y3` … if that is taken
    """

    operation: str = Field(max_length=100)
    operands: FewFields[dict[str, Annotated[str, Field(max_length=1000)] | int | float]] = {}
    name: Annotated[str, Field(max_length=100)] | None = None


def _require_source_or_pipeline(schema: dict[str, Any]) -> None:
    """Require exactly one of `source` and `pipeline` in the schema."""
    schema["required"] = [name for name in schema.get("required", []) if name != "source"]
    if not schema["required"]:
        del schema["required"]
    schema["oneOf"] = [{"required": ["source"]}, {"required": ["pipeline"]}]
    schema["examples"] = [{"pipeline": EXAMPLE_PIPELINE}]


class RunOrPipelineRequest(RunRequest):
    """A program to run: exactly as pasted, or as a pipeline of operations from which the server makes the source."""

    model_config = ConfigDict(**STRICT_CONFIG, json_schema_extra=_require_source_or_pipeline)

    pipeline: FailFastList[PipelineItem] = Field(
        default=[], min_length=1, max_length=MAX_PIPELINE_ITEMS, examples=[EXAMPLE_PIPELINE]
    )

    @model_validator(mode="before")
    @classmethod
    def check_source_or_pipeline(cls, value: Any) -> Any:
        """Require exactly one of the two."""
        if isinstance(value, dict) and "pipeline" in value:
            if "source" in value:
                raise ValueError("it has a source and a pipeline; give one of them")
            return {**value, "source": ""}
        return value


class GradientCheckRequest(RequestModel):
    """A program as it was pasted, whose gradients are compared with finite differences.

    backward: the number of the call of `backward` or `torch.autograd.grad`, not counting nested ones, from 0; null for
        the last
    elements: the most elements that are varied; each takes two runs, or four
    samples: check whether the samples of the batch stay apart instead
    """

    source: str = Field(examples=["x = torch.tensor([1., 2.], requires_grad=True)\n(x * x).sum().backward()\n"])
    seed: int = Field(default=0, ge=0, le=2**32 - 1, strict=True)
    input: ProgramInput = ""
    backward: Annotated[int, Field(ge=0, le=10**6, strict=True)] | None = Field(default=None, examples=[None])
    elements: int = Field(default=200, ge=1, le=1000, strict=True)
    samples: bool = Field(default=False, strict=True)


class GradientCheckReply(Model):
    """The result of a check.

    status: how the run ended
    message: why there is no check, or what the program raised
    """

    status: Status
    message: str = ""
    check: GradientCheck | None


class StartedRun(Model):
    """A run that goes on after the answer: where its trace will be, and where its events are."""

    id: str
    url: str
    events: str


class RunState(Model):
    """The state of a run.

    ahead: programs before it in the queue
    status: the outcome's, once it is done
    """

    id: str
    state: Literal["queued", "running", "done"]
    ahead: int | None = None
    status: str | None = None


class Password(RequestModel):
    """The password that a host may require."""

    password: str


class Problem(Model):
    """The one shape of all errors: a stable `code`, a sentence and, where it helps, the field or line in question."""

    code: str
    message: str
    field: str | None = None
    line: int | None = None
    retry_after: float | None = None


class ProblemReply(Model):
    error: Problem
