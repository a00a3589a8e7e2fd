"""Fixes as the product offers them, without a server: programs are recorded in forks, all traces are explained at
once."""

from dataclasses import dataclass
from typing import Any

from gradbox.judged_fixes import JudgedRun, is_fixed
from gradbox.language.fixes import Fix, Hint, propose
from gradbox.wire.findings import Finding, OutcomeSummary
from tests.recordings.store import kept_traces
from tests.support.explaining import call_page, findings_of_traces


@dataclass(frozen=True)
class Trial:
    """A fix that was proposed and run.

    finding: what it is for
    trace: of the changed program
    left: its findings
    """

    program: str
    finding: Finding
    fix: Fix
    trace: dict[str, Any]
    left: list[Finding]
    is_offered: bool


def explained(traces: list[dict[str, Any]]) -> list[list[Finding]]:
    """The findings of each trace."""
    return [[Finding.model_validate(finding) for finding in found] for found in findings_of_traces(traces)]


def trials(sources: dict[str, str]) -> tuple[dict[str, list[Finding]], list[Trial]]:
    """The findings of programs, by their names, and every fix that is proposed for one of them, run."""
    traces = dict(zip(sources, kept_traces([*sources.values()]), strict=True))
    findings = dict(zip(traces, explained([*traces.values()]), strict=True))
    proposed = [
        (name, finding, fix)
        for name, run in traces.items()
        for finding in findings[name]
        for fix in proposals(run["program"]["source"], finding)
    ]
    changed = [*dict.fromkeys(fix.source for _, _, fix in proposed)]
    by_source = dict(zip(changed, kept_traces(changed), strict=True))
    left = dict(zip(by_source, explained([*by_source.values()]), strict=True))
    before = {name: JudgedRun(findings[name], summary_of(traces[name])) for name, _, _ in proposed}
    after = {source: JudgedRun(left[source], summary_of(by_source[source])) for source in changed}
    return findings, [
        Trial(name, finding, fix, by_source[fix.source], left[fix.source],
              is_fixed(finding, before[name], after[fix.source]))
        for name, finding, fix in proposed
    ]  # fmt: skip


def summary_of(recorded: dict[str, Any]) -> OutcomeSummary:
    """How a run ended, and what it did."""
    return OutcomeSummary.model_validate(call_page("recordings/summary", recorded, "en"))


def proposals(source: str, finding: Finding) -> list[Fix]:
    """The changed programs that may be fixes of a finding."""
    names = tuple(finding.names)
    return propose(source, [Hint(hint.kind, hint.line, hint.facts, names) for hint in finding.hints])
