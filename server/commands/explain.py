"""`python -m server explain`: the findings of programs, for reading or as JSON, one a line."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.terminal.gradient_report import GradientReport
from gradbox.terminal.run_text import colour_text, finding_lines, has_colours, load_sentences, looked_for_text
from gradbox.wire.api import GradientCheckReply, Job, Problem, ProblemReply
from gradbox.wire.findings import Finding, LookedFor
from gradbox.wire.gradient_check import GradientCheckOptions
from gradbox.wire.trace import Trace
from server.pictures.renderer_client import Renderer
from server.pool.interface import PoolInterface
from server.runs.explainer import explain_trace, fetch_looked_for
from server.runs.fixes import FixFinder
from server.settings import Settings

INPUT_HELP = "what input() and sys.stdin read; - is the standard input"
JSON_FIELDS = {"kind", "severity", "line", "lines", "step", "names", "text", "fixes", "offers"}
CACHE_BYTES = 1 << 20
"""Bytes of cached findings; a small cache is enough, because each program is explained once."""


def add_explain_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    explain = commands.add_parser("explain", help="run programs and say what went wrong, and why")
    explain.add_argument("files", nargs="+", metavar="FILE", help="a Python program; - is the standard input")
    explain.add_argument("--seed", type=int, default=0)
    explain.add_argument("--input", metavar="FILE", help=INPUT_HELP)
    explain.add_argument("--json", action="store_true", help="print one JSON object a line")
    explain.add_argument("--fix", action="store_true", help="try fixes, and print those that work")
    explain.add_argument(
        "--check-gradients",
        action="store_true",
        help="compare the gradients of the last backward or torch.autograd.grad with finite differences",
    )
    explain.add_argument(
        "--check-samples",
        action="store_true",
        help="run again with one sample of the batch changed, and say where it changes the others",
    )
    explain.add_argument("--language", choices=("en", "zh"), default="en")


class ExplainCommand:
    """Explains traces and prints what was found.

    stdin_text: the standard input of fixed programs
    """

    def __init__(
        self, pool: PoolInterface, renderer: Renderer, settings: Settings, args: argparse.Namespace, stdin_text: str
    ) -> None:
        self._pool, self._renderer, self._settings = pool, renderer, settings
        self._args, self._stdin_text = args, stdin_text

    async def print_findings(self, name: str, trace: RecordedTrace) -> None:
        """Print the findings of one trace. Raises RenderingFailed if it could not be explained."""
        findings = await explain_trace(self._renderer, trace.body, self._args.language)
        looked_for = await fetch_looked_for(self._renderer, trace.body, self._args.language)
        if self._args.fix:
            await self._try_fixes(trace, findings)
        gradients = await self._check_gradients(trace) if self._args.check_gradients else None
        samples = await self._check_gradients(trace, samples=True) if self._args.check_samples else None
        if self._args.json:
            reply: dict[str, Any] = {
                "findings": [finding.model_dump(mode="json", include=JSON_FIELDS) for finding in findings]
            }
            if gradients is not None:
                reply["gradients"] = gradients.model_dump(mode="json")
            if samples is not None:
                reply["samples"] = samples.model_dump(mode="json")
            print(json.dumps(reply, ensure_ascii=False), flush=True)
        else:
            words, colours = load_sentences(self._args.language), has_colours(sys.stdout)
            lines = [*findings_report_lines(name, trace.decoded(), findings, looked_for, words, colours)]
            if gradients is not None:
                lines += [*GradientReport(gradients, self._args.language).report_lines(), ""]
            if samples is not None:
                lines += [*GradientReport(samples, self._args.language).report_lines(), ""]
            print("\n".join(lines), flush=True)

    async def _check_gradients(self, trace: RecordedTrace, samples: bool = False) -> GradientCheckReply:
        """Run the program again and again.

        samples: follow the samples of its batch instead of its gradients
        """
        program = trace.decoded().program
        job = Job(
            source=program.pasted or program.source, seed=self._args.seed, limits=self._settings.run_limits(),
            check=GradientCheckOptions(samples=samples), input=self._stdin_text,
        )  # fmt: skip
        return GradientCheckReply.model_validate_json((await self._pool.run_job(job)).json())

    async def _try_fixes(self, trace: RecordedTrace, findings: list[Finding]) -> None:
        """Add to each finding the fixes that work. Raises RenderingFailed."""

        async def run_fixed_program(source: str) -> bytes:
            job = Job(source=source, seed=self._args.seed, limits=self._settings.run_limits(), input=self._stdin_text)
            result = await self._pool.run_job(job)
            return result.body

        program = trace.decoded().program
        trials = FixFinder(
            self._renderer,
            program.pasted or program.source,
            findings,
            run_fixed_program,
            self._args.language,
            None,
            "",
            trace.body,
        )
        for finding in findings:
            finding.fixes = await trials.find_working_fixes(finding)


def print_problem(name: str, problem: Problem, as_json: bool) -> None:
    """Say on the standard error stream why a file has no result.

    as_json: also print the API's JSON of errors where the result would be, so that each file has its line
    """
    print(f"{name}: {problem.message}", file=sys.stderr, flush=True)
    if as_json:
        print(
            ProblemReply(error=problem.model_copy(update={"field": name})).model_dump_json(exclude_none=True),
            flush=True,
        )


def findings_report_lines(
    name: str,
    trace: Trace,
    findings: list[Finding],
    looked_for: LookedFor | None,
    sentences: dict[str, str],
    colours: bool,
) -> Iterator[str]:
    """Return the report on one program: every finding with the lines of code behind it, or what was looked for."""
    source = trace.program.source.split("\n")
    yield colour_text(f"# {name}", "dim", colours)
    for finding in findings:
        yield from finding_lines(finding, source, sentences, colours, trace.program.files)
        yield ""
    error = trace.outcome.error
    if not findings and error:
        yield f"{trace.outcome.status}: {error.type}: {error.message}"
        yield ""
    elif looked_for:
        yield looked_for_text(looked_for, sentences)
        yield ""
