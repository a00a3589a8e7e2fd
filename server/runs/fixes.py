"""Finds fixes of a program by trying them: each proposal is run and explained, and kept if it repairs what the finding
says."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import ValidationError

from gradbox.judged_fixes import JudgedRun, curves_of_same_loss, is_fixed
from gradbox.wire.findings import Finding, Fix, Proposal, ProposalRequest, Proposals
from server import HELPER_ENVIRONMENT, PROJECT_FOLDER
from server.gallery.scenarios import LANGUAGES
from server.pictures.renderer_client import BeforeDrawing, Renderer
from server.pool.fair_lock import FairLock, QueueFull
from server.runs.explainer import explain_trace, summarize_outcome
from server.wire.problems import ProblemError

FINDING_SENTENCES = {
    language: json.loads((PROJECT_FOLDER / f"static/locales/findings.{language}.json").read_text("utf-8"))
    for language in LANGUAGES
}

PROPOSAL_TIMEOUT = 10.0
"""Seconds that the process which proposes fixes may take. Its processor time is limited further."""

TOO_MANY_MESSAGE = "fixes of too many programs are being looked for; try again later"

RunSource = Callable[[str], Awaitable[bytes]]
"""Runs a program and returns its trace, gzipped."""


@dataclass
class FixFinder:
    """Tries fixes for the findings of one program.

    source: the program as it was pasted
    run: runs a changed program
    language: of the sentences
    before_drawing: awaited before each explanation that is not cached
    owner: the visitor who waits
    trace: the program's own trace, gzipped: what it did is compared with what a fix does
    proposals: a lock that is held while fixes are proposed
    """

    renderer: Renderer
    source: str
    findings: list[Finding]
    run: RunSource
    language: str
    before_drawing: BeforeDrawing | None
    owner: str
    trace: bytes
    proposals: FairLock = field(default_factory=lambda: FairLock(1))

    async def find_working_fixes(self, finding: Finding) -> list[Fix]:
        """The fixes with which the program runs to its end and does what the finding promises, without a new error or
        warning.

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
        fixed = JudgedRun(left, await summarize_outcome(self.renderer, trace, self.language))
        before = await summarize_outcome(self.renderer, self.trace, self.language)
        if not is_fixed(finding, JudgedRun(self.findings, before), fixed):
            return None
        text = fill_placeholders(FINDING_SENTENCES[self.language][f"fix.{proposal.kind}"], proposal.args)
        losses = curves_of_same_loss(before.losses, fixed.summary.losses)
        return Fix(edits=proposal.edits, outcome=fixed.summary.text, text=text, losses=losses)


async def propose_fixes(request: ProposalRequest) -> list[Proposal]:
    """The changed programs that may be fixes; none if the process that proposes them fails or takes too long."""
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


def fill_placeholders(sentence: str, args: dict[str, str | int]) -> str:
    """Replace the placeholders `{name}` of a sentence by the arguments."""
    for name, value in args.items():
        sentence = sentence.replace(f"{{{name}}}", str(value))
    return sentence
