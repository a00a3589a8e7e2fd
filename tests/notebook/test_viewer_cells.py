"""Which output of a notebook has the viewer, as cells run for the first time, again, out of order, and where nothing is
known."""

from collections.abc import Iterator
from typing import Any

import pytest

from gradbox.notebook import viewer_cells
from gradbox.notebook.notebook_cells import RunningCell
from gradbox.notebook.viewer_cells import are_outputs_isolated, cell_with_viewer, register_viewer_cell

FIRST, SECOND = RunningCell("a", "1", "4"), RunningCell("b", "2", "5")


@pytest.fixture
def run_cell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Says which cell runs from now on."""
    monkeypatch.setattr(viewer_cells, "cell_by_viewer", {})
    yield lambda cell: monkeypatch.setattr(viewer_cells, "running_cell", lambda: cell)


def test_the_first_cell_has_the_viewer_and_others_name_that_cell(run_cell: Any) -> None:
    run_cell(FIRST)
    assert cell_with_viewer("v") is None
    assert cell_with_viewer("v") == FIRST, "a second picture of the same run of the cell"
    run_cell(SECOND)
    assert cell_with_viewer("v") == FIRST
    assert cell_with_viewer("other language") is None


def test_the_cell_with_the_viewer_keeps_it_when_it_runs_again(run_cell: Any) -> None:
    run_cell(FIRST)
    cell_with_viewer("v")
    again = RunningCell("a", "3", "6")
    run_cell(again)
    assert cell_with_viewer("v") is None, "its first output is gone"
    run_cell(RunningCell("b", "4", "7"))
    assert cell_with_viewer("v") == again


def test_a_requested_viewer_moves_to_its_output(run_cell: Any) -> None:
    run_cell(FIRST)
    cell_with_viewer("v")
    run_cell(SECOND)
    register_viewer_cell("v")
    run_cell(RunningCell("a", "5", "8"))
    assert cell_with_viewer("v") == SECOND


def test_isolated_outputs_and_unknown_cells_each_have_a_viewer(run_cell: Any, monkeypatch: Any) -> None:
    run_cell(None)
    assert [cell_with_viewer("v"), cell_with_viewer("v")] == [None, None]
    run_cell(FIRST)
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "15")
    assert [cell_with_viewer("v"), cell_with_viewer("v")] == [None, None]
    assert are_outputs_isolated({}, {"google.colab": None}) and not are_outputs_isolated({}, {})


def test_the_next_picture_has_the_viewer_after_its_cell_was_deleted(run_cell: Any, monkeypatch: Any) -> None:
    run_cell(FIRST)
    cell_with_viewer("v")
    run_cell(SECOND)
    assert cell_with_viewer("v") == FIRST
    monkeypatch.setattr(viewer_cells, "is_deleted", lambda cell: cell == FIRST)
    assert cell_with_viewer("v") is None
    assert cell_with_viewer("v") == SECOND
