"""The table of versions that were tried: what is read from reports, which rows stay, and that no other file says
otherwise."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.deployment.versions import (
    BEGIN,
    DOCUMENT,
    END,
    OWN_CODE,
    RECORDER,
    Row,
    numbers,
    pytest_cell,
    referee_cell,
    rows_of,
    with_rows,
)

ROOT = Path(__file__).parents[2]
ROW = Row(
    "2.11.0+cu130", "3.11.7", "3 of 3", "9 of 9", "5 of 5", "7 of 7", "12", "Debian 12, kernel 6.18", "2026-11-26"
)
EMPTY = f"before\n{BEGIN}\n{END}\nafter\n"


def test_a_referees_output_becomes_a_cell() -> None:
    assert referee_cell("differs x: y\n333 of 334 agree, 0 refused, 1 differ, 0 left out\n") == "333 of 334"
    assert referee_cell("2290 of 2290 statement states are true (334 programs)\n") == "2290 of 2290"
    assert referee_cell("ModuleNotFoundError: torch") == "did not run"


def test_pytests_output_becomes_a_cell() -> None:
    assert pytest_cell("..\n131 passed in 143.93s (0:02:23)\n") == "131 of 131"
    assert pytest_cell("1 passed, 2 skipped, 1 xfailed, 1 rerun in 1s") == "1 of 1"
    failed = "FAILED tests/recorder/test_files.py::test_a[x] - assert 1\nERROR tests/test_b.py::test_c\n1 failed, 5 passed, 1 error in 9s"  # noqa: E501
    assert pytest_cell(failed) == "5 of 7; failed: b: test_c, files: test_a[x]"
    assert pytest_cell("") == "did not run"


def test_a_row_takes_the_place_of_one_of_the_same_versions_and_others_stay() -> None:
    newer = ROW._replace(torch="2.9.0", python="3.13.1")
    text = with_rows(EMPTY, [ROW, newer])
    assert text.startswith("before\n") and text.endswith(f"{END}\nafter\n")
    assert rows_of(text) == [newer, ROW]
    again = ROW._replace(python="3.11.9", recorder="6 of 7; failed: a: b[x\\|y]")
    assert rows_of(with_rows(text, [again])) == [newer, again]
    assert ROW.is_whole and not again.is_whole and not ROW._replace(states="did not run").is_whole
    with pytest.raises(ValueError, match=r"versions\.md"):
        with_rows("no markers", [ROW])


def test_every_group_of_tests_has_its_files() -> None:
    assert all(list(ROOT.glob(f"tests/**/test_{name}.py")) for name in (*OWN_CODE, *RECORDER))


def test_the_bounds_of_torch_and_python_are_what_was_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = re.fullmatch(r"torch>=(\d+)\.(\d+),<(\d+)\.(\d+)", project["optional-dependencies"]["torch"][0])
    assert bounds is not None
    tried = sorted({numbers(row.torch)[:2] for row in rows_of(DOCUMENT.read_text())})
    assert (int(bounds[1]), int(bounds[2])) == tried[0], "the oldest torch is one that was tried"
    assert (int(bounds[3]), int(bounds[4]) - 1) == tried[-1], "the newest torch is one that was tried"
    assert f"torch 2.{bounds[2]} to 2.{int(bounds[4]) - 1}." in DOCUMENT.read_text()
    made = re.search(r"^TORCHES := (\S+) (\S+)$", (ROOT / "Makefile").read_text(), re.M)
    assert made and [numbers(version)[:2] for version in made.groups()] == [tried[0], tried[-1]]
    assert project["requires-python"] == ">=3.11,<3.14"
