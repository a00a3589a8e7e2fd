"""The programs that end with an error that somebody pasted: the right one among the first three, or none."""

import json
import subprocess
from typing import Any

import pytest

from server.gallery.scenarios import load_scenarios, scenario_search_entries
from tests.conftest import ROOT
from tests.gallery.error_messages import KNOWN, UNKNOWN
from tests.support.explaining import NODE


@pytest.fixture(scope="module")
def matches() -> dict[str, dict[str, Any]]:
    """What each message matches."""
    messages = [*KNOWN, *UNKNOWN]
    asked = {"entries": scenario_search_entries(load_scenarios(ROOT / "scenarios")), "messages": messages}
    made = subprocess.run(
        [*NODE, str(ROOT / "tests/gallery/error_matches.mjs")], input=json.dumps(asked), capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return dict(zip(messages, json.loads(made.stdout), strict=True))


@pytest.mark.parametrize("message", KNOWN)
def test_a_message_finds_a_program_that_ends_so(message: str, matches: dict[str, dict[str, Any]]) -> None:
    assert KNOWN[message] & set(matches[message]["exact"][:3]), matches[message]


@pytest.mark.parametrize("message", UNKNOWN)
def test_a_message_that_no_program_ends_with_finds_none(message: str, matches: dict[str, dict[str, Any]]) -> None:
    assert matches[message]["exact"] == [] and matches[message]["error"]


def test_there_are_enough_messages() -> None:
    assert len(KNOWN) >= 60 and len(UNKNOWN) >= 20
