"""The catalogue of findings: a page for each kind, with its meaning, a program that is run, its picture and its
fixes."""

from dataclasses import dataclass

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.terminal.finding_texts import FindingText
from gradbox.terminal.run_text import finding_lines, load_sentences
from gradbox.wire.api import Job
from gradbox.wire.findings import Finding
from gradbox.wire.processes import DrawRequest, Theme
from server.gallery.scenarios import Scenario
from server.runs.explainer import explain_trace
from server.runs.fixes import FixFinder
from server.services import Services

SEVERITIES = ("error", "warning", "note")


class FindingPageError(Exception):
    """A page of the catalogue can't be made. The message names its file."""


@dataclass(frozen=True)
class FindingPage:
    """A kind of finding with the results of its program's run.

    pictures: the step that the run opens with, as SVG, by theme
    """

    text: FindingText
    finding: Finding
    report: str
    pictures: dict[Theme, bytes]
    scenarios: list[Scenario]


async def make_finding_page(services: Services, text: FindingText, scenarios: list[Scenario]) -> FindingPage:
    """Run, explain and draw a kind's program. Raises FindingPageError if the run has no such finding."""
    job = Job(source=text.program, limits=services.settings.run_limits())
    trace = await services.pool.run_job(job)
    findings = await explain_trace(services.renderer, trace.body)
    finding = next((found for found in findings if found.kind == text.kind), None)
    if finding is None:
        raise FindingPageError(f"docs/findings/{text.kind}.md: its program has {[found.kind for found in findings]}")
    finding.fixes = await FixFinder(
        services.renderer,
        text.program,
        findings,
        lambda source: run_source(services, source),
        "en",
        None,
        "",
        trace.body,
    ).find_working_fixes(finding)
    program = trace.decoded().program
    lines = finding_lines(finding, program.source.split("\n"), load_sentences("en"), colours=False)
    related = [scenario for scenario in scenarios if text.kind in scenario.findings]
    return FindingPage(text, finding, "\n".join(lines), await draw_opening_step(services, text.kind, trace), related)


async def run_source(services: Services, source: str) -> bytes:
    """Run a program and return its trace, gzipped."""
    return (await services.pool.run_job(Job(source=source, limits=services.settings.run_limits()))).body


async def draw_opening_step(services: Services, name: str, trace: RecordedTrace) -> dict[Theme, bytes]:
    """Draw the step that the run opens with, in each theme."""
    themes: tuple[Theme, ...] = ("light", "dark")
    return {
        theme: await services.renderer.get_drawing(
            f"finding {name}", DrawRequest(kind="stage", title=name, theme=theme), trace.body, None
        )
        for theme in themes
    }
