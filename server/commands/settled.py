"""`python -m server settled`: runs the program of every claim on this host's torch and prints the verdicts."""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradbox.terminal.run_text import colour_text, has_colours
from gradbox.wire.api import Job
from server import PROJECT_FOLDER
from server.gallery.claims import ClaimVerdict, claims_as_json, read_verdict, scenarios_with_claims
from server.gallery.scenarios import LANGUAGES, load_scenarios
from server.pool.local import LocalPool
from server.pool.zygote import WorkersUnavailable
from server.settings import Settings

LINE_WIDTH = 100
COLUMN_WIDTH = 22
VERDICT_WORDS = {True: ("holds", "note"), False: ("does not hold", "error"), None: ("no verdict", "warning")}
"""The words for each verdict, and their colour."""


class ComparisonFileError(Exception):
    """The file to compare with can't be read. The message names it."""


def add_settled_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    settled = commands.add_parser("settled", help="test what is said of PyTorch, by running it on this host's torch")
    settled.add_argument("--json", action="store_true", help="print a document that --compare reads")
    settled.add_argument("--compare", metavar="FILE", help="what --json printed elsewhere: say what is different here")
    settled.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])


async def run_settled_command(args: argparse.Namespace, settings: Settings) -> int:
    """Run the command and return the exit status: 0 if every claim has a verdict, 1 if one has none, 2 if the file to
    compare with can't be read."""
    try:
        other = read_verdicts_document(args.compare) if args.compare else None
    except ComparisonFileError as error:
        print(error, file=sys.stderr)
        return 2
    pool = LocalPool(settings)
    await pool.start()
    try:
        verdicts, versions = await run_claims(pool, settings)
    except WorkersUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        await pool.close()
    here = claims_as_json(verdicts, versions)
    if args.json:
        print(json.dumps(here, ensure_ascii=False, indent=2))
    else:
        colours = has_colours(sys.stdout)
        lines = (
            verdict_difference_lines(here, other, args.language, colours)
            if other
            else verdict_table_lines(here, args.language, colours)
        )
        print("\n".join(lines))
    return 1 if any(verdict.holds is None for verdict in verdicts) else 0


async def run_claims(pool: LocalPool, settings: Settings) -> tuple[list[ClaimVerdict], dict[str, str]]:
    """Run the claims and return the verdicts and the versions of the runs. Raises WorkersUnavailable."""
    verdicts, versions = [], {}
    for scenario in scenarios_with_claims(load_scenarios(PROJECT_FOLDER / "scenarios")):
        trace = json.loads((await pool.run_job(Job(source=scenario.source, limits=settings.run_limits()))).json())
        versions = trace["runtime"]
        assert scenario.claim is not None
        verdicts.append(ClaimVerdict(scenario, read_verdict(trace, scenario.claim.holds)))
    return verdicts, versions


def read_verdicts_document(name: str) -> dict[str, Any]:
    """Read a file that `--json` wrote. Raises ComparisonFileError."""
    try:
        read = json.loads(Path(name).read_text("utf-8"))
        claims = {claim["name"]: claim["holds"] for claim in read["claims"]}
        return {"torch": str(read["torch"]), "claims": claims}
    except OSError as error:
        raise ComparisonFileError(f"{name}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ComparisonFileError(f"{name}: this is not what `settled --json` prints") from error


def verdict_table_lines(document: dict[str, Any], language: str, colours: bool) -> Iterator[str]:
    """Return the lines for each claim, and how many hold."""
    for claim in document["claims"]:
        yield from claim_lines(claim, VERDICT_WORDS[claim["holds"]], language, colours)
    holding, refuted, unknown = (
        sum(claim["holds"] is holds for claim in document["claims"]) for holds in VERDICT_WORDS
    )
    yield ""
    yield (
        f"{len(document['claims'])} claims on torch {document['torch']}, numpy {document['numpy']}, "
        f"Python {document['python']}: "
        f"{holding} hold, {refuted} do not{f', {unknown} have no verdict' if unknown else ''}"
    )


def verdict_difference_lines(
    document: dict[str, Any], other: dict[str, Any], language: str, colours: bool
) -> Iterator[str]:
    """Return lines about the claims whose verdict differs in the other document or that only one document has."""
    theirs = other["claims"]
    changed = [claim for claim in document["claims"] if claim["holds"] is not theirs.get(claim["name"], claim["holds"])]
    for claim in changed:
        was = VERDICT_WORDS[theirs[claim["name"]]][0]
        yield from claim_lines(
            claim, (f"{was} -> {VERDICT_WORDS[claim['holds']][0]}", VERDICT_WORDS[claim["holds"]][1]), language, colours
        )
    for name in [claim["name"] for claim in document["claims"] if claim["name"] not in theirs]:
        yield f"{name}: tested here only"
    for name in theirs.keys() - {claim["name"] for claim in document["claims"]}:
        yield f"{name}: tested there only"
    yield f"torch {other['torch']} -> {document['torch']}: {len(changed)} of {len(document['claims'])} verdicts changed"


def claim_lines(claim: dict[str, Any], verdict: tuple[str, str], language: str, colours: bool) -> Iterator[str]:
    """Return the lines of a claim: the verdict in its colour, the scenario's name, and below them the belief."""
    words, colour = verdict
    yield f"{colour_text(words.ljust(COLUMN_WIDTH), colour, colours)} {claim['name']}"
    yield from (
        " " * (COLUMN_WIDTH + 1) + line
        for line in textwrap.wrap(claim["belief"][language], LINE_WIDTH - COLUMN_WIDTH)
        if line
    )
