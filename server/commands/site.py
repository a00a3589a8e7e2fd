"""`python -m server docs`: builds the site of the documents, the findings, the matrix and the settled claims, and the
gallery."""

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path

from gradbox.terminal.finding_texts import FindingTextError
from server import PROJECT_FOLDER
from server.pool.zygote import PREPARE_FUNCTION, WorkersUnavailable
from server.services import create_services
from server.settings import Settings
from server.site.finding_pages import FindingPageError
from server.site.site_builder import SiteBuilder, SiteBuildError, empty_build_folder
from server.wire.problems import ProblemError

BUILT_SITE_MARKER_FILE = "searchindex.js"
"""A file by which an earlier build is recognized."""


def add_docs_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    docs = commands.add_parser("docs", help="build the documentation as a site that any static host serves")
    docs.add_argument("--out", metavar="FOLDER", default=str(PROJECT_FOLDER / "var/docs"), help="var/docs by default")
    docs.add_argument("--gallery", action="store_true", help="with the gallery: a still and a run of each scenario")


async def run_docs_command(args: argparse.Namespace, settings: Settings) -> int:
    """Build the site and return the exit status: 0, 1 if it could not be built, 2 if Sphinx is missing."""
    if importlib.util.find_spec("sphinx") is None:
        print("Sphinx is not installed; `make docs` installs it, or: pip install 'gradbox[docs]'", file=sys.stderr)
        return 2
    out = Path(args.out).resolve()
    services = create_services(settings, PREPARE_FUNCTION)
    await services.start()
    try:
        empty_build_folder(out, BUILT_SITE_MARKER_FILE)
        with tempfile.TemporaryDirectory(prefix="gradbox-site-") as sources:
            await SiteBuilder(services, Path(sources), out, args.gallery, report_progress).build()
    except (SiteBuildError, FindingPageError, FindingTextError, ProblemError, WorkersUnavailable) as error:
        print(f"\nthe site could not be built: {error}", file=sys.stderr)
        return 1
    finally:
        await services.close()
    report_progress("")
    print(f"{out / 'index.html'}")
    return 0


def report_progress(what: str) -> None:
    """Show progress in one line of stderr, if that is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)
