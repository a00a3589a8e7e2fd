"""Builds the site: sources from the documents and from runs on this machine's torch, then HTML with Sphinx."""

import asyncio
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

from gradbox.pictures.page import offline_page, write_shared_assets
from gradbox.terminal.finding_texts import finding_kinds, load_finding_text
from gradbox.wire.processes import DrawRequest
from server import PROJECT_FOLDER, __version__
from server.gallery.claims import claims_as_json
from server.gallery.scenarios import Scenario, cards_by_section, gallery_cards
from server.gallery.thumbnails import THEMES
from server.matrix.documents import matrix_as_csv, matrix_as_json, matrix_page_groups, property_headings
from server.matrix.programs import DEFAULT_SITUATION, MATRIX_QUESTIONS
from server.services import Services
from server.site.finding_pages import SEVERITIES, FindingPage, make_finding_page
from server.site.markdown_sources import MarkdownSources
from server.templating import MESSAGES

CONFIGURATION_FOLDER = PROJECT_FOLDER / "docs"
TEMPLATES_FOLDER = Path(__file__).parent / "templates"
RUNS_FOLDER = "runs"
STILLS_FOLDER = "stills"
WAIT_SECONDS = 300.0
"""Seconds to wait for a run, a picture or the matrix."""

LINK_TO_TABLE = "[The table](matrix-table.md) is here too, as it was measured when this site was built."
"""A link in the document about a server's page."""


class SiteBuildError(Exception):
    """The site can't be built. The message says why."""


class SiteBuilder:
    """Builds the site.

    services: already started
    sources, out: empty folders
    gallery: whether the site includes the gallery with its runs
    report: called with a description of each stage
    kinds: the findings that get a page
    """

    def __init__(
        self,
        services: Services,
        sources: Path,
        out: Path,
        gallery: bool,
        report: Callable[[str], None],
        kinds: list[str] | None = None,
    ) -> None:
        self._kinds = finding_kinds() if kinds is None else kinds
        self._services, self._sources, self._out, self._with_gallery = services, sources, out, gallery
        self._report = report
        self._say = MESSAGES["en"]
        self._scenarios = services.gallery.scenarios
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES_FOLDER), autoescape=False, trim_blocks=True, lstrip_blocks=True
        )
        self._templates.filters["in_cell"] = lambda text: " ".join(str(text).split()).replace("|", "\\|")
        self._markdown = MarkdownSources(PROJECT_FOLDER, sources, self._find_page)
        self._extra_files: dict[str, bytes] = {}
        """Files other than documents, by their address on the site."""

    async def build(self) -> None:
        """Build the site. Raises SiteBuildError, FindingPageError, and ProblemError if nothing can be run or drawn."""
        await self._services.pool.wait_until_booted()
        self._markdown.write_documents()
        await self._write_findings()
        await self._write_settled_claims()
        await self._write_matrix()
        if self._with_gallery:
            await self._write_gallery()
        self._write_page("index.md", "index.md", gallery=self._with_gallery)
        shutil.copyfile(CONFIGURATION_FOLDER / "screenshot.png", self._sources / "pictures/screenshot.png")
        await asyncio.to_thread(run_sphinx, self._sources, self._out)
        for address, body in self._extra_files.items():
            path = self._out / address
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        if self._with_gallery:
            write_shared_assets(self._out / RUNS_FOLDER)

    def _find_page(self, name: str) -> str | None:
        """Return the address of a scenario's run, for a link to its program."""
        path = Path(name)
        is_known = path.stem in self._services.gallery.scenarios_by_name and path.parent.name == "scenarios"
        return f"{RUNS_FOLDER}/{path.stem}.html" if self._with_gallery and is_known else None

    def _write_page(self, address: str, template: str, **values: Any) -> None:
        text = self._templates.get_template(template).render(say=self._say, version=__version__, **values)
        self._markdown.write(address, text)

    async def _write_findings(self) -> None:
        pages: list[FindingPage] = []
        texts = [load_finding_text(kind) for kind in self._kinds]
        for k, text in enumerate(texts, 1):
            self._report(f"finding {k} of {len(texts)}: {text.kind}")
            page = await make_finding_page(self._services, text, self._scenarios)
            pages.append(page)
            for theme, svg in page.pictures.items():
                self._markdown.write(f"findings/{text.kind}.{theme}.svg", svg.decode())
            self._write_page(f"findings/{text.kind}.md", "finding.md", page=page, run_of=self._run_address)
        groups = [
            (
                severity,
                sorted((page.text for page in pages if page.finding.severity == severity), key=lambda text: text.title),
            )
            for severity in SEVERITIES
        ]
        self._write_page("findings/index.md", "findings.md", groups=groups, count=len(pages))

    def _run_address(self, scenario: Scenario) -> str | None:
        return f"../{RUNS_FOLDER}/{scenario.name}.html" if self._with_gallery else None

    async def _write_settled_claims(self) -> None:
        self._report("the settled claims")
        verdicts = await self._services.gallery.claims.get_verdicts(self._scenarios, WAIT_SECONDS)
        document = claims_as_json(verdicts, self._services.pool.versions)
        self._write_page("settled.md", "settled.md", verdicts=verdicts, document=document, runs=self._with_gallery)
        self._extra_files["settled.json"] = json.dumps(document, ensure_ascii=False, indent=1).encode()

    async def _write_matrix(self) -> None:
        self._report("the matrix")
        measured = await self._services.matrix.get_measurement(WAIT_SECONDS)
        groups = matrix_page_groups(measured, DEFAULT_SITUATION)
        values = {
            "groups": groups,
            "questions": MATRIX_QUESTIONS,
            "headings": property_headings(),
            "measured": measured,
        }
        self._write_page("matrix-table.md", "matrix.md", **values)
        heading, _, text = (self._sources / "matrix.md").read_text("utf-8").partition("\n")
        self._markdown.write("matrix.md", f"{heading}\n\n{LINK_TO_TABLE}\n{text}")
        self._extra_files["matrix.csv"] = matrix_as_csv(measured)
        self._extra_files["matrix.json"] = matrix_as_json(measured, self._say)

    async def _write_gallery(self) -> None:
        for k, scenario in enumerate(self._scenarios, 1):
            self._report(f"scenario {k} of {len(self._scenarios)}: {scenario.name}")
            trace = await self._services.gallery.traces.get(scenario, WAIT_SECONDS)
            if trace is None:
                raise SiteBuildError(f"the scenario {scenario.name} could not be run")
            answers = await self._services.renderer.get_drawing(
                f"answers {scenario.name}", DrawRequest(kind="answers"), trace.body, None
            )
            page = offline_page(gzip.decompress(trace.body), answers, scenario.text["en"]["title"], assets=True)
            self._extra_files[f"{RUNS_FOLDER}/{scenario.name}.html"] = page.encode()
            for theme in THEMES:
                still = await self._services.gallery.stills.get(scenario.name, theme, WAIT_SECONDS)
                self._extra_files[f"{STILLS_FOLDER}/{scenario.name}.{theme}.svg"] = still
        self._write_page(
            "gallery.md",
            "gallery.md",
            threads=cards_by_section(gallery_cards(self._scenarios)),
            count=len(self._scenarios),
        )


def run_sphinx(sources: Path, out: Path) -> None:
    """Make HTML from the sources, with warnings as errors. Raises SiteBuildError."""
    with tempfile.TemporaryDirectory(prefix="gradbox-sphinx-") as cache:
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-d", cache]
        command += ["-c", str(CONFIGURATION_FOLDER), str(sources), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": ""})
    if done.returncode:
        raise SiteBuildError(f"Sphinx: {done.stderr or done.stdout}".strip())
    for name in (".buildinfo", "objects.inv"):
        (out / name).unlink(missing_ok=True)


def empty_build_folder(folder: Path, marker: str) -> None:
    """Empty a folder that an earlier build made. Raises SiteBuildError for any other folder that is not empty."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / marker).exists():
            raise SiteBuildError(f"{folder} has other files; choose a folder that is empty or an earlier build")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
