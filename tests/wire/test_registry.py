"""The tables of events and limits: every row is complete on the server's side.

static/js/tests/trace/registry.test.ts has the page's.
"""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from gradbox.wire.entities import SlotState
from gradbox.wire.events import EVENTS, Event
from gradbox.wire.limits import LIMITS, Limit
from server.settings import SETTINGS_TABLE

ROOT = Path(__file__).parents[2]
LOCALES = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "static/locales").glob("??.json"))}


def literal(model: Any, field: str) -> tuple[str, ...]:
    """The values that a field may have."""
    return get_args(get_type_hints(model)[field])


def sentences(name: str) -> list[str]:
    """The keys of an event's sentences, with every value in the place of a field in braces."""
    row = EVENTS[name]
    key = row.sentence or ""
    fields = re.findall(r"{(\w+)}", key)
    choices = product(*(literal(row.model, field) for field in fields))
    return [key.format(**dict(zip(fields, values, strict=True))) for values in choices] if key else []


def test_every_event_of_the_wire_has_a_row() -> None:
    union = get_args(get_args(Event)[0])
    assert [row.model for row in EVENTS.values()] == list(union)
    assert list(EVENTS) == [name for model in union for name in literal(model, "event")]


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_its_sentences(name: str, language: str) -> None:
    for key in sentences(name):
        assert LOCALES[language].get(key), key


def test_a_state_of_a_slot_is_reported_by_one_event() -> None:
    states = [row.state for row in EVENTS.values() if row.state is not None]
    assert len(states) == len(set(states)) and set(states) <= set(get_args(SlotState))


def test_the_events_at_which_a_trace_is_opened_have_an_order() -> None:
    ranks = sorted(row.opening for row in EVENTS.values() if row.opening is not None)
    assert ranks == list(range(1, len(ranks) + 1))


def test_every_limit_has_a_row_a_setting_and_its_sentences() -> None:
    assert set(LIMITS) == set(get_args(Limit))
    settings = {row.name.lower(): row for row in SETTINGS_TABLE}
    for name, row in LIMITS.items():
        setting = settings[name]
        assert (setting.default, setting.meaning, setting.unit) == (row.default, row.meaning, row.unit)
        assert all(locale.get(f"stopped_{name}") for locale in LOCALES.values()), name
