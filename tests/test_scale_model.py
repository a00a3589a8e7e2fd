"""The model behind docs/scale.md: its tables are those of the page, and it does what its figures and assumptions say."""

import dataclasses
import json
from typing import Any

import pytest

from benchmarks.scale_model import (
    BEGIN,
    MEASURED,
    PAGE,
    Assumptions,
    costs,
    demand,
    first_full,
    monthly_cost,
    number,
    page_with,
    plan,
    predictions,
    run_seconds,
    tables,
)

FIGURES: dict[str, Any] = json.loads(MEASURED.read_text())
USUAL = Assumptions()


def test_the_page_has_the_tables_of_the_figures() -> None:
    page = PAGE.read_text()
    text = tables(FIGURES, USUAL, [100, 10_000, 1_000_000])
    assert page_with(text, page) == page, "python -m benchmarks.scale_model --write"
    with pytest.raises(ValueError, match="no place"):
        page_with(text, page.replace(BEGIN, ""))


def test_the_figures_are_of_runs_that_went_well() -> None:
    assert all(row["errors"] == 0 and row["runs"] > 40 for row in FIGURES["runs"])
    assert FIGURES["scenarios"]["compressed_bytes"]["count"] >= 90 and FIGURES["nets"]["finished"] >= 15
    assert FIGURES["saved"]["postgresql"]["programs"] == FIGURES["saved"]["sqlite"]["programs"]


def test_the_model_predicts_held_out_measurements() -> None:
    for what, predicted, measured, _ in predictions(FIGURES):
        assert 0.5 < predicted / measured < 2, what


def test_the_costs_of_a_run_are_the_shares_of_its_kinds() -> None:
    figures = {
        "runs": [{"users": 4, "processor_ms": {"web": 2, "helpers": 3, "workers": 10}}],
        "nets": {"processor_ms": {"web": 4, "helpers": 6, "workers": 100}},
    }
    assumed = dataclasses.replace(USUAL, nets=0.25, at_limit=0.25, limit_seconds=4)
    assert run_seconds(figures, "workers", assumed) == pytest.approx(0.5 * 0.01 + 0.25 * 0.1 + 0.25 * 4)
    assert run_seconds(figures, "web", assumed) == pytest.approx(0.5 * 0.005 + 0.25 * 0.01 + 0.25 * 0.01)


def test_twice_the_runs_need_twice_as_much_and_more_machines_cost_more() -> None:
    each = costs(FIGURES, USUAL)
    once, twice = (demand(runs, each, USUAL) for runs in (50_000, 100_000))
    for row in dataclasses.fields(once):
        assert getattr(twice, row.name) == pytest.approx(2 * getattr(once, row.name)), row.name
    needs = [demand(runs, each, USUAL) for runs in (1, 10, 1000, 10**5, 10**6, 10**7)]
    prices = [monthly_cost(plan(need), need, USUAL) for need in needs]
    assert prices == sorted(prices) and prices[0] < prices[-1]
    for need in needs:
        machines = plan(need).machines
        workers = machines.get("workers", machines.get("everything", (0, 0)))
        assert workers[0] * workers[1] >= need.worker_processors


def test_the_peak_is_the_busiest_hours_burst_without_what_the_cache_answers() -> None:
    assumed = dataclasses.replace(USUAL, busiest_hour=0.1, burst=2, cached=0.5)
    assert demand(36_000, costs(FIGURES, assumed), assumed).peak == pytest.approx(1.0)


def test_what_is_full_first_comes_first_and_holds_at_its_own_number() -> None:
    each = costs(FIGURES, USUAL)
    rows = first_full(FIGURES, each, USUAL)
    assert [bears for _, bears, _ in rows] == sorted(bears for _, bears, _ in rows)
    workers = next(bears for what, bears, _ in rows if "workers" in what)
    need = demand(round(workers), each, USUAL)
    assert need.worker_processors + need.web_processors == pytest.approx(2, rel=0.01)
    disk = next(bears for what, bears, _ in rows if "10 GB" in what)
    assert demand(round(disk), each, USUAL).stored_gb == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0421, "0.042"),
        (0.42, "0.42"),
        (7.31, "7.3"),
        (84.4, "84"),
        (845, "840"),
        (12345, "12,000"),
        (9.96, "10"),
    ],
)
def test_numbers_have_as_many_digits_as_count(value: float, text: str) -> None:
    assert number(value).removesuffix(".0") == text
