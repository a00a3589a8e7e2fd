"""The frame of the stage in a browser: what a step touched comes into sight, the row under the pointer stays, the
divider is remembered, an end of a link out of sight is a label that leads there, and a narrow stage shows one pane at a
time."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.page_driver import at_step, leave, paste, run

NETS = Path(__file__).parents[2] / "benchmarks/nets"

UNDER_POINTER = """([x, y]) => {
    const row = document.elementFromPoint(x, y)?.closest(".moves");
    return row && {key: row.dataset.row ?? row.textContent.slice(0, 40), top: row.getBoundingClientRect().top};
}"""
LIT = "() => document.querySelectorAll('#stage svg.lighting').length"


def open_net(page: Any, site: str, name: str, width: int = 1280, height: int = 720) -> dict[str, Any]:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(reduced_motion="reduce")
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")
    paste(page, (NETS / f"{name}.py").read_text())
    trace = run(page)
    leave(page)
    page.keyboard.press("Home")
    at_step(page, 0)
    return trace


def test_the_row_under_a_resting_pointer_stays_and_lights_nothing_while_one_steps(page: Any, site: str) -> None:
    open_net(page, site, "weight_tying")
    for step in range(12):
        page.keyboard.press("ArrowRight")
        at_step(page, step + 1)
    box = page.locator("#stage .memory-pane [data-row]").nth(1).bounding_box()
    x, y = box["x"] + 60, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.move(x + 1, y)
    before = page.evaluate(UNDER_POINTER, [x, y])
    assert before
    page.mouse.move(x + 1, y + 400)
    page.mouse.move(x, y)
    for step in range(12, 20):
        page.keyboard.press("ArrowRight")
        at_step(page, step + 1)
        now = page.evaluate(UNDER_POINTER, [x, y])
        assert now and now["key"] == before["key"] and abs(now["top"] - before["top"]) < 2, (step, before, now)
        assert page.evaluate(LIT) == 0, "what the picture put under the pointer is not pointed at"


def test_a_red_mark_of_the_timeline_leads_to_the_statement_that_did_it(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")
    paste(page, (NETS.parent.parent / "scenarios/saved_inplace.py").read_text())
    trace = run(page)
    raised = trace["outcome"]["error"]["step"]
    [broken] = [step["i"] for step in trace["steps"] for entry in step["log"] if entry.get("event") == "saved_stale"]
    marks = page.locator("#marks").bounding_box()
    mark = (marks["x"] + marks["width"] * raised / (len(trace["steps"]) - 1) - 1, marks["y"] + marks["height"] / 2)
    page.mouse.click(*mark)
    at_step(page, broken)
    page.mouse.click(*mark)
    at_step(page, raised)


def to_first_visit(page: Any) -> None:
    """To a step that shows something of the graph."""
    visit = 14
    page.evaluate(
        "i => { const s = document.querySelector('#slider'); s.value = String(i); s.dispatchEvent(new Event('input')) }",  # noqa: E501
        visit,
    )
    at_step(page, visit)
    page.wait_for_selector("#stage .stage-divider:not([hidden])")


def test_the_divider_is_dragged_moved_by_keys_remembered_and_put_back(page: Any, site: str) -> None:
    open_net(page, site, "weight_tying")
    to_first_visit(page)
    divider = page.locator("#stage .stage-divider")
    usual = divider.bounding_box()
    page.mouse.move(usual["x"] + 5, usual["y"] + 200)
    page.mouse.down()
    page.mouse.move(usual["x"] - 95, usual["y"] + 200)
    page.mouse.up()
    assert divider.bounding_box()["x"] == pytest.approx(usual["x"] - 100, abs=2)
    divider.focus()
    page.keyboard.press("ArrowRight")
    moved = divider.bounding_box()["x"]
    assert moved > usual["x"] - 99
    page.reload()
    page.wait_for_selector("#workbench[data-steps]")
    to_first_visit(page)
    assert divider.bounding_box()["x"] == pytest.approx(moved, abs=2)
    divider.dblclick()
    paste(page, (NETS / "weight_tying.py").read_text())
    run(page)
    to_first_visit(page)
    assert divider.bounding_box()["x"] == pytest.approx(usual["x"], abs=2)


def test_a_broken_pin_leads_to_the_statement_that_broke_it(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")
    paste(
        page, "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.mul_(2)\nz = y.sum()\nz.backward()\n"
    )
    trace = run(page)
    wrote = next(step["i"] for step in trace["steps"] if step["line"] == 4)
    assert page.locator("#stage [data-link].broken, #stage .stage-link.broken").count() == 1
    page.locator("#stage [data-pin].stale").first.click()
    at_step(page, wrote)


def go_to(page: Any, step: int) -> None:
    page.evaluate(
        "i => { const s = document.querySelector('#slider'); s.value = i; s.dispatchEvent(new Event('input')); }", step
    )
    at_step(page, step)


def shown_tab(page: Any) -> str:
    """The pane that a narrow stage shows, and, of the tab of the other, what its dot says."""
    side = page.locator("#stage .stage-tabs [aria-pressed=true]").get_attribute("data-side")
    other = {"memory": "graph", "graph": "memory"}[side]
    assert page.locator(f"#stage .{side}-pane").is_visible() and not page.locator(f"#stage .{other}-pane").is_visible()
    tab = page.locator(f"#stage .stage-tabs [data-side={other}]")
    has_dot = tab.evaluate("tab => getComputedStyle(tab, '::after').content !== 'none'")
    assert has_dot == (tab.get_attribute("aria-label") is not None)
    return f"{side}, {tab.get_attribute('aria-label')}" if has_dot else str(side)


def test_a_narrow_stage_opens_the_pane_that_a_step_is_about_once_and_then_shows_a_dot(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site)
    paste(
        page,
        "import torch\na = torch.ones(2, requires_grad=True)\nb = a * 3\nc = b\nb.exp().sum().backward()\nd = a.grad\n",
    )
    trace = run(page)
    steps = trace["steps"]
    lines = {step["line"]: step["i"] for step in steps if step["kind"] != "visit"}
    visits = [step["i"] for step in steps if step["kind"] == "visit"]
    go_to(page, lines[2])
    assert shown_tab(page) == "memory"
    go_to(page, lines[3])
    assert shown_tab(page) == "memory, Graph: + Mul"
    go_to(page, lines[4])
    assert shown_tab(page) == "memory", "a second name is news of the memory alone"
    arrived = next(i for i in visits if steps[i]["visit"].get("accumulates"))
    go_to(page, visits[0])
    assert shown_tab(page) == "graph", "the first visit opens the graph"
    go_to(page, arrived)
    assert shown_tab(page).startswith("graph, Memory: a.grad = ["), "the memory was open before"
    page.locator("#stage .stage-tabs [data-side=memory]").click()
    assert shown_tab(page).startswith("memory")
    go_to(page, visits[1])
    assert shown_tab(page).startswith("memory, Graph: "), "who has chosen stays where he is"
    assert page.locator("#stage .stage-tabs").evaluate("tabs => tabs.offsetHeight") in range(40, 46)
