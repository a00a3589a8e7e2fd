"""The stage in a real browser against the trace, at every step: for each seed program, scenario, golden and net.

What has to be there is worked out in `tests.pictures.expected_picture`, from the trace alone; what
overlaps or is cut is measured in the browser, by `tests.pictures.stage_reader`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.pictures import (
    expected_picture,
    list_reader,
    picture_beads,
    picture_facts,
    picture_graph,
    picture_places,
    picture_saved,
    stage_reader,
)
from tests.pictures.picture_facts import Picture
from tests.support import drawn_scenarios
from tests.support.kept_browser import new_context
from tests.support.page_driver import paste, run
from tests.support.sampling import in_turn

SEEDS = ROOT.parent / "shared/seeds/snippets.json"
GOLDENS = sorted((ROOT / "tests/golden").glob("*.py"))
FILES = [*drawn_scenarios.PATHS, *GOLDENS]
NETS = sorted((ROOT / "benchmarks/nets").glob("*.py"))
SIZES = {"1440x900": (1440, 900), "1280x720": (1280, 720), "1024x768": (1024, 768), "390x844": (390, 844)}
DARK_STEPS = 7
"""Colours change no place: in the dark theme every so many steps are measured again."""
STILL = ("clone", "silent", "view", "accumulate")
"""Scenarios small enough for both panes to be still in a window of 1440 × 900."""

SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Until the stage has noticed a window of another size."""


def marks_of(path: Path) -> list[pytest.MarkDecorator]:
    """Of the goldens every second one is in the sample; of scenarios all are."""
    return [pytest.mark.exhaustive] * (path in GOLDENS and GOLDENS.index(path) % 2)


def sources() -> list[Any]:
    missing = pytest.param(
        "",
        "",
        id="seeds",
        marks=pytest.mark.skip(
            reason="../shared/seeds is missing: the pictures of the articles' programs were not checked"
        ),
    )
    seeds = (
        [
            pytest.param(seed["id"], seed["program"], id=seed["id"], marks=[pytest.mark.exhaustive] if k % 8 else [])
            for k, seed in enumerate(json.loads(SEEDS.read_text()))
            if "cuda" not in seed["program"]  # where there is no GPU, the page runs it again on the CPU, at once
        ]
        if SEEDS.exists()
        else [missing]
    )
    return [*seeds, *(pytest.param(path.stem, path.read_text(), id=path.stem, marks=marks_of(path)) for path in FILES)]


@pytest.fixture(scope="module")
def open_page(chromium: Any, site: str) -> Any:
    """One page for all the programs: what one leaves behind must not show in the next."""
    context = new_context(chromium, viewport={"width": 1440, "height": 900}, locale="en-US", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}/#v=stage")  # else a large net opens in the net view
    yield page
    context.close()


def pictures(page: Any, steps: int) -> list[Picture]:
    """What the page shows at each step of its run."""
    read: list[Picture] = json.loads(page.evaluate(stage_reader.ALL_STEPS, steps))
    return read


def problems(trace: dict[str, Any], pictures: list[Picture]) -> list[str]:
    """All that is wrong with the pictures of a run, each with its step and its statement."""
    lines = trace["program"]["source"].splitlines()
    order = picture_places.Order()
    found: list[str] = []
    previous = None
    states = expected_picture.states(trace)
    for step, picture, (before, state) in zip(trace["steps"], pictures, states, strict=True):
        i = step["i"]
        assert picture["step"] == i
        assert all(picture["said"]) and picture["said"], f"no sentence at step {i}: {lines[step['line'] - 1]}"
        wrong = [
            *picture["problems"],
            *picture_facts.storages(picture, before, state),
            *picture_facts.handles(picture, state),
            *picture_facts.counters(picture, state),
            *picture_beads.wires(picture, state),
            *picture_facts.named(picture, state),
            *picture_facts.values(picture, state),
            *picture_facts.containers(picture, state),
            *picture_graph.graph_faults(picture, state),
            *picture_graph.fold_faults(picture, state),
            *picture_saved.saved_faults(picture, state),
            *picture_graph.gradient_faults(picture, state, trace["steps"][: i + 1]),
            *picture_places.in_sight(picture, state, step),
            *order.add(picture),
            *(picture_places.still(previous, picture, before, state, step) if previous else ()),
        ]
        found += [f"step {i} `{lines[step['line'] - 1].strip()}`: {text}" for text in wrong]
        previous = picture
    return found


@pytest.mark.parametrize(("name", "source"), sources())
def test_every_step_shows_what_the_trace_says(open_page: Any, name: str, source: str) -> None:
    paste(open_page, source)
    trace = run(open_page)
    open_page.locator('#views [data-view="step"]').click()  # a training opens with its whole run
    read = pictures(open_page, len(trace["steps"]))
    assert problems(trace, read) == []
    if name in STILL:
        assert all(pane["still"] for picture in read for pane in picture["panes"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("net", "size"),
    [*in_turn(NETS, [*SIZES], 4), *in_turn([*drawn_scenarios.PATHS], ["1280x720", "1024x768"], 2)],
    ids=lambda value: getattr(value, "stem", value),
)
def test_programs_are_drawn_at_every_size(open_page: Any, net: Path, size: str) -> None:
    """Every step in the light theme, and some again in the dark one."""
    width, height = SIZES[size]
    paste(open_page, net.read_text())
    trace = run(open_page)
    steps = len(trace["steps"])
    open_page.locator('#views [data-view="step"]').click()
    try:
        open_page.set_viewport_size({"width": width, "height": height})
        open_page.evaluate(SETTLED)
        if open_page.locator("#workbench").get_attribute("data-shown-picture") == "net":
            assert open_page.evaluate(list_reader.PROBLEMS, list(range(steps))) == []
            return
        wrong = problems(trace, pictures(open_page, steps))
        open_page.emulate_media(color_scheme="dark")
        dark = open_page.evaluate(stage_reader.LAYOUT, [*range(0, steps, DARK_STEPS)])
        assert [*wrong, *(f"dark, step {row['step']}: {text}" for row in dark for text in row["problems"])] == []
    finally:
        open_page.set_viewport_size({"width": 1440, "height": 900})
        open_page.emulate_media(color_scheme="light")
