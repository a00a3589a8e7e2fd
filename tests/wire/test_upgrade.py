"""Stored traces of every schema open: one example for each, as the server of its time wrote it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gradbox.wire import schema as upgrades
from gradbox.wire.schema import NewerSchemaError, upgrade_gzipped_trace, upgrade_trace
from gradbox.wire.trace import SCHEMA, Trace
from tests.support.explaining import reading_of

FOLDER = Path(__file__).parents[1] / "contract"
EXAMPLES = {int(path.stem.removeprefix("schema_")): path for path in FOLDER.glob("schema_*.json")}


def test_there_is_an_example_and_an_upgrade_of_every_earlier_schema() -> None:
    assert set(EXAMPLES) == set(range(1, SCHEMA + 1)) and set(upgrades.SCHEMA_UPGRADES) == set(range(1, SCHEMA))


@pytest.mark.parametrize("schema", EXAMPLES)
def test_a_stored_trace_opens(schema: int) -> None:
    document = json.loads(EXAMPLES[schema].read_text())
    assert document["schema"] == schema
    trace = Trace.model_validate(upgrade_trace(document))
    assert trace.schema_ == SCHEMA and len(trace.steps) == len(document["steps"])
    assert trace.outcome.status == document["outcome"]["status"]
    assert len(reading_of(json.loads(trace.model_dump_json(by_alias=True, exclude_unset=True))).steps) == len(
        trace.steps
    )


def test_a_current_trace_comes_back_as_it_is() -> None:
    body = gzip.compress(b'{"schema":%d,"steps":[]}' % SCHEMA)
    assert upgrade_gzipped_trace(body) is body


@pytest.fixture
def next_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the schema had been raised: `lines` became `rows`."""

    def renamed(document: dict[str, Any]) -> dict[str, Any]:
        return {("rows" if key == "lines" else key): value for key, value in document.items()}

    monkeypatch.setattr(upgrades, "SCHEMA", SCHEMA + 1)
    monkeypatch.setattr(upgrades, "SCHEMA_UPGRADES", {**upgrades.SCHEMA_UPGRADES, SCHEMA: renamed})


@pytest.mark.usefixtures("next_schema")
def test_an_earlier_trace_is_upgraded_whether_or_not_its_schema_stands_first() -> None:
    for text in (f'{{"schema":{SCHEMA},"lines":[1]}}', f'{{"lines":[1],"schema":{SCHEMA}}}'):
        document = json.loads(gzip.decompress(upgrade_gzipped_trace(gzip.compress(text.encode()))))
        assert document == {"schema": SCHEMA + 1, "rows": [1]}


def test_a_newer_trace_is_refused_with_both_schemas() -> None:
    with pytest.raises(NewerSchemaError, match=f"schema {SCHEMA + 1}, and this server reads schemas up to {SCHEMA}"):
        upgrade_trace({"schema": SCHEMA + 1})
    with pytest.raises(NewerSchemaError):
        upgrade_gzipped_trace(gzip.compress(b'{"schema":%d}' % (SCHEMA + 1)))
