"""Judges whether a change of a program fixes what a finding says: what is wrong is gone, and what is promised has
happened."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from gradbox.wire.findings import Finding, LossCurves, LossSeries, OutcomeSummary

UNWANTED_SEVERITIES = ("error", "warning")
"""Severities of findings that a fix must not introduce."""

FINDING_KINDS_OF_FINISHED_RUNS = ("no_step", "gradients_dropped", "clip_without_gradient", "result_unused")
"""Kinds that are only found once a run or a statement has come to its end. After an error is mended they may appear
although they were there before."""

FINDING_KINDS_WITHOUT_GRADIENT = ("grad_none",)
"""Of these one of the names has no gradient, and has to get one."""

FINDING_KINDS_WITHOUT_MOVEMENT = (
    "frozen_optimizer",
    "no_step",
    *(f"not_in_optimizer.{variant}" for variant in (None, "before", "twice", "unfrozen")),
    *(
        f"parameter_detached.{variant}"
        for variant in ("computed_tensor", "exhausted", "not_given", "others_given", "plain_container", "plain_tensor")
    ),
)
"""Of these something never moves, and has to move. Kinds, or kinds with their variants."""

FINDING_KINDS_OF_TRAINING = (
    *FINDING_KINDS_WITHOUT_MOVEMENT,
    "activation_twice",
    "loss_of_last_batch",
    "samples_mixed",
    "term_moves_nothing",
)
"""Of these the first step goes wrong: the same loss in every round to the last digit repairs nothing."""

ROUNDS_TO_COMPARE = 3
"""The first step shows in the loss of the second round, unless two batches are one step."""


@dataclass(frozen=True)
class JudgedRun:
    """A run with and without a change."""

    findings: list[Finding]
    summary: OutcomeSummary


JUDGED_RUN_ADAPTER = TypeAdapter(JudgedRun)
"""As JSON, from one process to another."""


def is_fixed(finding: Finding, before: JudgedRun, after: JudgedRun) -> bool:
    """Whether a changed program runs to its end, what the finding says is gone, what it promises has happened, and
    there are no more errors or warnings of any other kind."""
    return (
        after.summary.finished
        and _is_problem_gone(finding, before.findings, after.findings)
        and _is_promise_kept(finding, before.summary, after.summary)
        and not _has_new_problems(finding.kind, before.findings, after.findings)
    )


def _is_problem_gone(finding: Finding, before: list[Finding], after: list[Finding]) -> bool:
    """Whether there are fewer findings of this kind, and fewer that say the same of the same names."""

    def say_the_same(findings: list[Finding]) -> int:
        return sum(
            (other.kind, other.variant, other.names) == (finding.kind, finding.variant, finding.names)
            for other in findings
        )

    counts = _count_findings_by_kind(after)
    fewer = counts.get(finding.kind, 0) < _count_findings_by_kind(before)[finding.kind]
    return fewer and say_the_same(after) < say_the_same(before)


def _is_promise_kept(finding: Finding, before: OutcomeSummary, after: OutcomeSummary) -> bool:
    """Whether what had no gradient has one, what never moved moves, and a training that is to go another way does."""

    def is_one_of(kinds: tuple[str, ...]) -> bool:
        return finding.kind in kinds or f"{finding.kind}.{finding.variant}" in kinds

    if finding.kind in FINDING_KINDS_WITHOUT_GRADIENT and not set(finding.names) & set(after.reached):
        return False
    if is_one_of(FINDING_KINDS_WITHOUT_MOVEMENT) and not set(after.moved) - set(before.moved):
        return False
    losses = curves_of_same_loss(before.losses, after.losses)
    is_same_training = losses is not None and len(losses.before) >= ROUNDS_TO_COMPARE and losses.before == losses.after
    return not (is_one_of(FINDING_KINDS_OF_TRAINING) and is_same_training)


def _has_new_problems(kind: str, before: list[Finding], after: list[Finding]) -> bool:
    """Whether there are more errors or warnings of a kind than before, other than those that the mended one hid. A
    value that has become finite may have a slope of 0 there."""
    raised = any(finding.explains_error for finding in before)
    counts = _count_findings_by_kind(before)
    return any(
        count > counts.get(other, 0)
        and not (kind == "nonfinite" and other == "zero_gradient")
        and not (raised and other in FINDING_KINDS_OF_FINISHED_RUNS)
        for other, count in _count_findings_by_kind(after, UNWANTED_SEVERITIES).items()
    )


def curves_of_same_loss(before: list[LossSeries], after: list[LossSeries]) -> LossCurves | None:
    """The first loss that both runs have under the same name; None if there is none."""
    fixed = {series.name: series.values for series in after}
    shared = next((series for series in before if series.name in fixed), None)
    return None if shared is None else LossCurves(name=shared.name, before=shared.values, after=fixed[shared.name])


def _count_findings_by_kind(findings: list[Finding], severities: tuple[str, ...] | None = None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in findings:
        if severities is None or finding.severity in severities:
            counts[finding.kind] = counts.get(finding.kind, 0) + 1
    return counts
