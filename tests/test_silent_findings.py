"""Findings of what goes wrong in silence: each program of tests/silent says in its first line what is to be found where."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.explaining import findings_of_traces
from tests.tracing import trace

FOLDER = Path(__file__).parent / "silent"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))
HEADER = re.compile(r"# (?P<kind>\w+) at (?P<line>\d+): (?P<names>.*)")


@pytest.fixture(scope="module")
def explained() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By language and program, the findings."""
    traces = [trace((FOLDER / f"{name}.py").read_text()) for name in PROGRAMS]
    return {
        language: dict(zip(PROGRAMS, findings_of_traces(traces, language), strict=True)) for language in ("en", "zh")
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_finding_its_line_and_its_names(name: str, explained: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    header = HEADER.match((FOLDER / f"{name}.py").read_text())
    assert header is not None
    for language in ("en", "zh"):
        found = [finding for finding in explained[language][name] if finding["kind"] == header["kind"]]
        assert int(header["line"]) in [finding["line"] for finding in found], explained[language][name]
        finding = next(finding for finding in found if finding["line"] == int(header["line"]))
        assert all(part in finding["text"] for part in header["names"].split(", ")), finding["text"]
        assert finding["line"] in finding["lines"] and finding["chain"]
        said = [finding["what"], *(link["text"] for link in finding["chain"])]
        assert all(said) and not any(re.search(r"\{\w+\}|finding\.", text) for text in said), said


def test_a_second_step_says_what_the_first_hid(explained: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    (finding,) = (one for one in explained["en"]["data_clamp"] if one["kind"] == "wrong_gradient")
    assert "`a.grad` is [1, 2, −3]" in finding["what"] and "[3, 2, −6]" in finding["what"]
