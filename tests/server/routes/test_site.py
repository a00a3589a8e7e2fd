"""The public site: every kind of finding has a page, every link leads somewhere, and it works from a folder without a
server."""

import asyncio
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2 as httpx
import pytest

from gradbox.command import main as run_gradbox
from gradbox.terminal.finding_texts import finding_kinds
from server.app import create_app
from server.http.documentation import DocumentationFiles, documentation_policy
from server.pool.zygote import PREPARE_FUNCTION
from server.services import create_services
from server.settings import Settings
from server.site.markdown_sources import MarkdownSources
from server.site.site_builder import SiteBuilder, SiteBuildError, empty_build_folder
from tests.page.test_access import axe
from tests.support.sampling import every, parameters_of_run, sampled
from tests.support.waiting import PATIENT

ROOT = Path(__file__).parents[3]
FEW_SCENARIOS = 3

needs_page = pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")


def test_the_command_prints_a_text_all_titles_or_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_gradbox(["about", "backward_twice"]) == 0
    assert "The graph was used a second time" in (printed := capsys.readouterr().out) and "    import torch" in printed
    assert run_gradbox(["about"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(finding_kinds())
    assert run_gradbox(["about", "backward_twise"]) == 2
    assert "is it backward_twice" in capsys.readouterr().err


def test_links_lead_to_pages_of_the_site(tmp_path: Path) -> None:
    sources = MarkdownSources(ROOT, tmp_path, lambda name: "runs/clone.html" if name == "scenarios/clone.py" else None)
    text = (
        "[own](own-code.md#ranks) [security](../SECURITY.md) [home](../README.md) [why](decisions) "
        "[kind](findings/no_graph.md)\n"
        "[run](../scenarios/clone.py) [code](../server/app.py) [torch](https://pytorch.org) [here](#there)\n"
        "```\n[kept](../SECURITY.md)\n```\n![shot](screenshot.png)\n"
    )
    assert sources.with_site_links(text, "docs/using.md", "using.md") == (
        "[own](own-code.md#ranks) [security](security.md) [home](index.md) [why](decisions/index.md) "
        "[kind](findings/no_graph.md)\n"
        '<a href="runs/clone.html">run</a> code [torch](https://pytorch.org) [here](#there)\n'
        "```\n[kept](../SECURITY.md)\n```\n![shot](pictures/docs-screenshot.png)\n"
    )
    assert (tmp_path / "pictures/docs-screenshot.png").is_file()
    decision = sources.with_site_links("[own](../own-code.md)", "docs/decisions/0001-x.md", "decisions/0001-x.md")
    assert decision == "[own](../own-code.md)"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SiteBuildError, match="other files"):
        empty_build_folder(tmp_path, "searchindex.js")
    (tmp_path / "searchindex.js").touch()
    empty_build_folder(tmp_path, "searchindex.js")
    assert not list(tmp_path.iterdir())


async def ask_for_documentation(folder: Path, path: str) -> httpx.Response:
    app = create_app(Settings({}))
    route: Any = next(route for route in app.routes if getattr(route, "name", "") == "docs")
    route.app = DocumentationFiles(folder)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        return await client.get(path)


def test_the_server_has_the_site_under_docs_or_says_how_to_build_it(tmp_path: Path) -> None:
    for folder in (tmp_path / "never made", tmp_path):
        absent = asyncio.run(ask_for_documentation(folder, "/docs/index.html"))
        assert absent.status_code == 404 and "make docs" in absent.text
    (tmp_path / "index.html").write_text("<html><script>theme()</script></html>")
    (tmp_path / "page.html").write_text("<html></html>")
    found = asyncio.run(ask_for_documentation(tmp_path, "/docs/page.html"))
    assert found.status_code == 200
    policy = found.headers["content-security-policy"]
    assert policy == documentation_policy("<script>theme()</script>") and "'sha256-" in policy
    assert "script-src 'self' 'unsafe-inline'" not in policy
    missing = asyncio.run(ask_for_documentation(tmp_path, "/docs/../server/app.py"))
    assert missing.status_code == 404


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The site with the findings that are asked for and some scenarios."""
    pytest.importorskip("sphinx")
    out, sources = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("sources")
    kinds = parameters_of_run(request, "kind")

    async def build() -> None:
        services = create_services(Settings({}, sandbox="off", data=str(sources / "data"), **PATIENT), PREPARE_FUNCTION)
        services.gallery.scenarios[FEW_SCENARIOS:] = []
        await services.start()
        try:
            await SiteBuilder(services, sources, out, True, lambda _: None, kinds).build()
        finally:
            await services.close()

    asyncio.run(build())
    yield out
    shutil.rmtree(out, ignore_errors=True)


@pytest.mark.slow
@needs_page
@pytest.mark.parametrize("kind", sampled(finding_kinds(), every(10)))
def test_a_finding_page_has_its_command_and_pictures(built: Path, kind: str) -> None:
    page = (built / f"findings/{kind}.html").read_text()
    assert f"[{kind}]:" in page and f"gradbox about {kind}" in page
    assert page.count(f"{kind}.light.svg") == page.count(f"{kind}.dark.svg") == 1
    assert "undefined" not in page


class LinkReader(HTMLParser):
    """The addresses that a page leads to, and the places in it that can be led to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.addresses.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


@pytest.mark.slow
@needs_page
def test_every_link_of_the_site_leads_somewhere(built: Path) -> None:
    pages = {path: LinkReader(path.read_text()) for path in built.rglob("*.html")}
    assert len(pages) > 60
    dead = set()
    for path, page in pages.items():
        for address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme or (not parts.path and not parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchored = pages[target].anchors if target in pages else set()
            if not target.is_file() or (parts.fragment and target.suffix == ".html" and parts.fragment not in anchored):
                dead.add((path.relative_to(built).as_posix(), address))
    assert not dead


@needs_page
def test_the_site_works_from_a_folder(built: Path, page: Any) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in ("index", "gallery", "findings/index", "matrix", "matrix-table", "settled", "own-code"):
        page.goto(f"file://{built}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than its window"
        assert axe(page, preload=False) == [], name
    page.goto(f"file://{built}/matrix.html")
    page.get_by_role("link", name="The table", exact=True).click()
    page.locator(".matrix-table table").wait_for()
    page.goto(f"file://{built}/gallery.html")
    page.locator(".cards a").first.click()
    page.wait_for_function("document.querySelector('#where')?.innerText")
    before = page.locator("#where").inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('#where').innerText !== before", arg=before)
    assert not problems
