"""What the HTTP interface takes and answers besides traces."""

from typing import Literal

from pydantic import Field

from server.wire.base import Model
from server.wire.trace import Focus


class Job(Model):
    """A run as a worker gets it."""

    source: str
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = 0
    limits: dict[str, int | float] = {}
    focus: Focus | None = None


class RunRequest(Model):
    """A program to run, exactly as pasted."""

    source: str = Field(examples=["a = torch.tensor([1., 2.], requires_grad=True)\na.clone().sum().backward()\n"])
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = Field(default=0, ge=0, le=2**32 - 1, strict=True)
    focus: Focus | None = Field(default=None, examples=[None])


class Started(Model):
    """A run that goes on without the asker: where its trace will be, and where to hear of it."""

    id: str
    url: str
    events: str


class State(Model):
    """How far a run is. ahead: programs before it in the queue. status: the outcome's, once it is done."""

    id: str
    state: Literal["queued", "running", "done"]
    ahead: int | None = None
    status: str | None = None


class Password(Model):
    """What a host asks for who does not want everybody."""

    password: str


class Problem(Model):
    """The one shape of an error: a stable `code`, a sentence, and where it helps the field or line it is about."""

    code: str
    message: str
    field: str | None = None
    line: int | None = None
    retry_after: float | None = None


class ProblemReply(Model):
    error: Problem
