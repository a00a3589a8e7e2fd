"""Fixes of a program that were run: each proposal is executed and explained again, and kept where it helps."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import ValidationError

from gradbox.wire.findings import Finding, Fix, LossCurves, LossSeries, Proposal, ProposalRequest, Proposals
from server import HELPER_ENVIRONMENT, PROJECT_FOLDER
from server.gallery.scenarios import LANGUAGES
from server.pictures.renderer_client import Renderer
from server.pool.fair_lock import FairLock, QueueFull
from server.runs.explainer import count_nothing, explain_trace, summarize_outcome
from server.wire.problems import ProblemError

UNWANTED_SEVERITIES = ("error", "warning")
"""Severities of findings that a fix must not bring about."""

KINDS_OF_FINISHED_RUNS = ("no_step", "gradients_dropped", "clip_without_gradient", "result_unused")
"""Findings of a run, or of a statement, that came to its end: where an error was mended they may have been there
before."""

FINDING_SENTENCES = {
    language: json.loads((PROJECT_FOLDER / f"static/locales/findings.{language}.json").read_text("utf-8"))
    for language in LANGUAGES
}

PROPOSAL_TIMEOUT = 10.0
"""Seconds that the process which proposes fixes may take; its processor time is bounded more tightly."""

TOO_MANY_MESSAGE = "fixes of too many programs are being looked for; try again later"

RunSource = Callable[[str], Awaitable[bytes]]
"""Runs a program; its trace, gzipped."""


@dataclass
class FixFinder:
    """Tries fixes for the findings of one program.

    source: the program as it was pasted
    run: runs a changed program
    language: of the sentences
    before_drawing: is awaited before an explanation that is not cached
    owner: the visitor who waits
    trace: of the program itself, gzipped; its loss stands beside that of a fix
    proposals: held while fixes are proposed
    """

    renderer: Renderer
    source: str
    findings: list[Finding]
    run: RunSource
    language: str = "en"
    before_drawing: Callable[[], Awaitable[None]] = count_nothing
    owner: str = ""
    trace: bytes | None = None
    proposals: FairLock = field(default_factory=lambda: FairLock(1))

    async def find_working_fixes(self, finding: Finding) -> list[Fix]:
        """The fixes of one finding that run to their end without it, and without a new error or warning.

        Raises ProblemError (503), RenderingFailed, and what `run` and `before_drawing` raise.
        """
        if not finding.hints:
            return []
        request = ProposalRequest(source=self.source, hints=finding.hints, names=finding.names)
        try:
            async with self.proposals.wait_for_turn([self.owner]):
                proposals = await propose_fixes(request)
        except QueueFull:
            raise ProblemError(503, "busy", TOO_MANY_MESSAGE, retry_after=5) from None
        tried = [await self._try_proposal(finding, proposal) for proposal in proposals]
        return [fix for fix in tried if fix is not None]

    async def _try_proposal(self, finding: Finding, proposal: Proposal) -> Fix | None:
        trace = await self.run(proposal.source)
        left = await explain_trace(
            self.renderer, trace, self.language, before_drawing=self.before_drawing, owner=self.owner
        )
        if not is_improvement(finding.kind, self.findings, left):
            return None
        summary = await summarize_outcome(self.renderer, trace, self.language)
        if not summary.finished:
            return None
        text = fill_placeholders(FINDING_SENTENCES[self.language][f"fix.{proposal.kind}"], proposal.args)
        before = (
            [] if self.trace is None else (await summarize_outcome(self.renderer, self.trace, self.language)).losses
        )
        losses = curves_of_same_loss(before, summary.losses)
        return Fix(edits=proposal.edits, outcome=summary.text, text=text, losses=losses)


def curves_of_same_loss(before: list[LossSeries], after: list[LossSeries]) -> LossCurves | None:
    """The first loss that both runs have by the same name; None where there is none."""
    fixed = {series.name: series.values for series in after}
    shared = next((series for series in before if series.name in fixed), None)
    return None if shared is None else LossCurves(name=shared.name, before=shared.values, after=fixed[shared.name])


def is_improvement(kind: str, findings_before: list[Finding], findings_after: list[Finding]) -> bool:
    """Whether a changed program has fewer findings of a kind, and of no other kind more errors or warnings.

    findings_before: the findings of the program
    findings_after: those of the changed one. What becomes finite may have the slope 0 there.
    """
    raised = any(finding.explains_error for finding in findings_before)
    counts = _count_findings_by_kind(findings_before)
    return _count_findings_by_kind(findings_after).get(kind, 0) < counts[kind] and all(
        count <= counts.get(other, 0)
        or (kind == "nonfinite" and other == "zero_gradient")
        or (raised and other in KINDS_OF_FINISHED_RUNS)
        for other, count in _count_findings_by_kind(findings_after, UNWANTED_SEVERITIES).items()
    )


async def propose_fixes(request: ProposalRequest) -> list[Proposal]:
    """The changed programs that may be fixes; none where the process that makes them fails or takes too long."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gradbox.language.fixes", cwd=PROJECT_FOLDER, env=HELPER_ENVIRONMENT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PROPOSAL_TIMEOUT):
            output, _ = await process.communicate(request.model_dump_json().encode())
        return list(Proposals.model_validate_json(output).proposals)
    except (TimeoutError, ValidationError):
        return []
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _count_findings_by_kind(findings: list[Finding], severities: tuple[str, ...] | None = None) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in findings:
        if severities is None or finding.severity in severities:
            counts[finding.kind] = counts.get(finding.kind, 0) + 1
    return counts


def fill_placeholders(sentence: str, args: dict[str, str | int]) -> str:
    """A sentence with its holes `{name}` filled."""
    for name, value in args.items():
        sentence = sentence.replace(f"{{{name}}}", str(value))
    return sentence
