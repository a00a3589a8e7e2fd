"""What is reported about a run: findings with their words, fixes that were run, and the run as a terminal shows it."""

from typing import Annotated, Literal

from pydantic import Field

from gradbox.wire.api import ProgramInput
from gradbox.wire.base import FailFastList, Model, RequestModel
from gradbox.wire.gradient_check import FloatNumber
from gradbox.wire.trace import Trace

MAX_LOSS_VALUES = 100
"""The most values of a loss. For a longer training they are chosen at even intervals."""

FindingSeverity = Literal["error", "warning", "note"]


class FindingLink(Model):
    """A step on the way from the cause to the effect.

    role: its part in that, like `saved` or `written`
    """

    line: int
    step: int
    role: str
    text: str


class FixHint(Model):
    """A fix that may help: the name of an edit of `gradbox.language.fixes`, its line, and the facts of the trace that
    it needs."""

    kind: str
    line: int
    step: int
    facts: dict[str, str | int] = {}


class LineEdit(Model):
    """A line of the source and its replacement: null if the line is removed, several lines if some are added."""

    line: int
    old: str
    new: str | None


class LossSeries(Model):
    """The values of a loss from round to round.

    name: by which the program binds or prints it
    """

    name: str
    values: Annotated[list[FloatNumber], Field(fail_fast=True, max_length=MAX_LOSS_VALUES)]


class LossCurves(Model):
    """A loss from round to round, in the program and in the fixed one."""

    name: str
    before: Annotated[list[FloatNumber], Field(fail_fast=True, max_length=MAX_LOSS_VALUES)]
    after: Annotated[list[FloatNumber], Field(fail_fast=True, max_length=MAX_LOSS_VALUES)]


class Fix(Model):
    """An edit of the source that was run.

    outcome: how its run ended, and what it gave
    text: what the edit does
    losses: null unless both runs have a loss of several rounds
    """

    edits: FailFastList[LineEdit]
    outcome: str
    text: str
    losses: LossCurves | None = None


class TorchSuggestion(Model):
    """A feature of torch that helps with a finding.

    text: a sentence about it
    url: of its documentation
    """

    text: str
    url: str


class ProposalRequest(Model):
    """A program as it was pasted, with the hints and names of one finding."""

    source: str
    hints: FailFastList[FixHint]
    names: FailFastList[str]


class Proposal(Model):
    """A changed program that was not run yet.

    source: the whole program
    args: the values for the placeholders in the sentence of its kind
    """

    kind: str
    source: str
    edits: FailFastList[LineEdit]
    args: dict[str, str | int]


class Proposals(Model):
    proposals: FailFastList[Proposal]


class Finding(Model):
    """Something to report about a run.

    line: the line of the cause in the normalised source
    lines: those of the chain, in order, each once
    step: the step of the cause
    names: the reader's names for the tensors that it is about
    text: the whole finding in one paragraph
    what, why, todo: the parts of that paragraph
    offers: features of torch for it
    also: the module whose lines another run would follow with `--also`
    explains_error: whether it says why the program raised
    hints: fixes to try
    fixes: those that were run and help
    """

    kind: str
    severity: FindingSeverity
    variant: str | None = None
    line: int
    lines: FailFastList[int]
    step: int
    names: FailFastList[str]
    text: str
    what: str
    why: str
    todo: str
    chain: FailFastList[FindingLink]
    hints: FailFastList[FixHint] = []
    explains_error: bool = False
    fixes: FailFastList[Fix] = []
    offers: FailFastList[TorchSuggestion] = []
    also: str | None = None


EXAMPLE_LEAF_WRITE = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\nx += 1\n"


class FixRequest(RequestModel):
    """A program as it was pasted, and the finding to fix: its kind and the line of its cause."""

    source: str = Field(examples=[EXAMPLE_LEAF_WRITE])
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = Field(default=0, ge=0, le=2**32 - 1, strict=True)
    input: ProgramInput = ""
    language: Literal["en", "zh"] = "en"
    kind: str = Field(max_length=60, examples=["leaf_inplace"])
    line: int = Field(ge=1, le=10**6, strict=True, examples=[3])


class Fixes(Model):
    """The fixes that work, the best first."""

    fixes: FailFastList[Fix]


class Findings(Model):
    """Findings, the best first."""

    findings: FailFastList[Finding]


class LookedFor(Model):
    """What is reported about a run that has neither an error nor a warning.

    calm: nothing is wrong, and no view shows anything as if it were
    line: that nothing was found, in how much of the run
    remarks: what is not in order though no finding is made of it
    rows: what was looked for, with the subject of each in asterisks
    not_looked: what was not looked for
    flags: options of the command that look for it
    """

    calm: bool
    line: str
    remarks: FailFastList[str]
    rows: FailFastList[str]
    not_looked: str
    flags: FailFastList[str] = []


class ExplainedTrace(Trace):
    """A trace, with its findings if they were asked for."""

    findings: FailFastList[Finding] | None = None


class OutcomeSummary(Model):
    """How a run ended.

    finished: whether it came to its end
    text: the outcome in one sentence, with its gradients and its loss
    losses: values that a loop binds or prints, the most telling first
    reached: names of the tensors that got a gradient
    moved: names of the trained tensors that were written after the first backward had begun
    """

    finished: bool
    text: str
    losses: list[LossSeries] = []
    reached: list[str] = []
    moved: list[str] = []


class StepSentence(Model):
    """A sentence of a step's caption.

    tone: `bad` for what went wrong, `cut` for where gradients end
    """

    text: str
    tone: Literal["plain", "bad", "cut"]


class RunEnding(StepSentence):
    """How the run ended.

    line: where it ended, unless it came to its end
    """

    line: int | None


class LineRemark(Model):
    """A remark about a line, or about the whole program if `line` is null.

    gloss: the meaning of an error message
    """

    line: int | None
    text: str
    gloss: str


class NamedValue(Model):
    """The elements of a tensor, or the first of them if there are many.

    name: with its shape if that has more than one dimension
    """

    name: str
    text: str


class StepReading(Model):
    """A step in a form for reading.

    code: the code of its line; empty after the end of the program
    iteration: of the loops around it
    values: of the names whose memory it made or wrote
    """

    line: int
    depth: int
    code: str
    iteration: FailFastList[int | str]
    sentences: FailFastList[StepSentence]
    values: FailFastList[NamedValue]
    printed: str


class RunReading(Model):
    """A whole run in a form for reading."""

    verdict: RunEnding
    remarks: FailFastList[LineRemark]
    steps: FailFastList[StepReading]
