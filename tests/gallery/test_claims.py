"""The claims that scenarios test: their verdicts are what runs leave, on the page, in its twin and in the terminal."""

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from server.gallery.claims import read_verdict, scenarios_with_claims
from server.gallery.scenarios import load_scenarios
from tests.conftest import ROOT
from tests.forks.forked_server import run_command
from tests.recordings.store import kept_trace

pytestmark = pytest.mark.slow

SCENARIOS = scenarios_with_claims(load_scenarios(ROOT / "scenarios"))


@pytest.fixture(scope="module")
def here() -> dict[str, Any]:
    """What `python -m server settled --json` prints."""
    done = run_command("settled", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def fetch(address: str) -> str:
    with urllib.request.urlopen(address) as response:
        text: str = response.read().decode()
        return text


@pytest.mark.parametrize(
    "source, verdict",
    [
        ("ok = 1 > 0", True),
        ("ok = True\ndef f():\n    ok = False\n    return ok\nf()", True),
        ("ok = True\nok = 2 < 1\nx = 3", False),
        ("ok = 1", None),
        ("ok = True\ndel ok", None),
        ("ok = True\nraise ValueError", True),
        ("other = True", None),
    ],
)
def test_a_verdict_is_what_the_module_has_at_the_end(source: str, verdict: bool | None) -> None:
    assert read_verdict(kept_trace(source), "ok") is verdict


def test_every_claim_is_settled_by_a_run(here: dict[str, Any]) -> None:
    assert [claim["name"] for claim in here["claims"]] == [scenario.name for scenario in SCENARIOS]
    assert {claim["holds"] for claim in here["claims"]} == {True, False}
    assert here["torch"] and here["python"]


def test_the_page_and_its_json_have_the_verdicts_of_the_command(here: dict[str, Any], site: str) -> None:
    for _ in range(40):  # the first request may leave some programs to the next
        document = json.loads(fetch(f"{site}/settled.json"))
        if all(claim["holds"] is not None for claim in document["claims"]):
            break
    assert document == here
    for language in ("en", "zh"):
        page = fetch(f"{site}/settled?lang={language}")
        rows = re.findall(r'<tr id="(\w+)" data-holds="(\w+)"', page)
        assert rows == [(claim["name"], json.dumps(claim["holds"])) for claim in here["claims"]]
        assert "http-equiv" not in page and here["torch"] in page


def test_a_comparison_says_what_another_torch_changed(here: dict[str, Any], tmp_path: Path) -> None:
    first, second, *others = here["claims"]
    elsewhere = {**here, "torch": "1.4", "claims": [{**first, "holds": not first["holds"]}, *others]}
    (tmp_path / "other.json").write_text(json.dumps(elsewhere))
    done = run_command("settled", "--compare", str(tmp_path / "other.json"))
    assert done.returncode == 0
    changed, *_, alone, end = done.stdout.splitlines()
    assert re.fullmatch(rf"(holds -> does not hold|does not hold -> holds) +{first['name']}", changed)
    assert alone == f"{second['name']}: tested here only"
    assert end == f"torch 1.4 -> {here['torch']}: 1 of {len(here['claims'])} verdicts changed"


def test_a_file_that_cannot_be_compared_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]")
    for name in ("a.json", "absent.json"):
        done = run_command("settled", "--compare", str(tmp_path / name))
        assert done.returncode == 2 and name in done.stderr
