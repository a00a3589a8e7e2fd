"""The programs that end with an error that somebody pasted: the right one among the first three, or none."""

import pytest

from server.gallery.error_match import ScenarioIndex
from server.gallery.scenarios import load_scenarios
from tests.conftest import ROOT
from tests.gallery.error_messages import KNOWN, UNKNOWN


@pytest.fixture(scope="module")
def lookup() -> ScenarioIndex:
    return ScenarioIndex(load_scenarios(ROOT / "scenarios"))


@pytest.mark.parametrize("message", KNOWN)
def test_a_message_finds_a_program_that_ends_so(message: str, lookup: ScenarioIndex) -> None:
    kind, names = lookup.look_up(message, is_message=True)
    assert kind == "ends_so" and KNOWN[message] & set(names[:3]), names


@pytest.mark.parametrize("message", UNKNOWN)
def test_a_message_that_no_program_ends_with_finds_none(message: str, lookup: ScenarioIndex) -> None:
    assert lookup.match_error(message).exact == [] and lookup.look_up(message).kind == "unknown"


def test_words_that_are_no_error_are_searched_for(lookup: ScenarioIndex) -> None:
    for text in ("expand", "memory grows with every iteration"):
        assert lookup.look_up(text) == ("about", lookup.search.find(text))


def test_there_are_enough_messages() -> None:
    assert len(KNOWN) >= 60 and len(UNKNOWN) >= 20
