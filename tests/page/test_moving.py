"""Ways through a run and about its picture: over and out of calls, stops, the size of the picture and of the panes."""

import json
from typing import Any

from tests.support.page_driver import at_step, leave, paste, run, use

PROGRAM = """\
import torch
def f(x):
    y = x * 2
    return y.sum()
w = torch.ones(3, requires_grad=True)
for k in range(3):
    l = f(w)
    l.backward()
print(w.grad)
"""


def open_program(page: Any, site: str) -> list[dict[str, Any]]:
    """The steps of the program, standing at the first one."""
    page.goto(site)
    paste(page, PROGRAM)
    steps: list[dict[str, Any]] = run(page)["steps"]
    leave(page)
    page.locator('#views [data-view="step"]').click()
    page.keyboard.press("Home")
    at_step(page, 0)
    return steps


def test_a_step_leads_over_a_call_and_a_backward_and_out_of_them(page: Any, site: str) -> None:
    steps = open_program(page, site)
    call = next(s["i"] for s in steps if s["kind"] == "call")
    done = next(s["i"] for s in steps if s["i"] > call and s["line"] == 7)
    visit = next(s["i"] for s in steps if s["kind"] == "visit")
    for _ in range(call):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    at_step(page, done)
    page.keyboard.press("Shift+ArrowLeft")
    at_step(page, call)
    page.keyboard.press("ArrowRight")
    at_step(page, call + 1)
    page.keyboard.press("o")
    at_step(page, done)
    page.keyboard.press("Shift+ArrowRight")
    backward = next(s["i"] for s in steps if s["i"] > done and s["kind"] != "visit")
    at_step(page, backward)
    assert visit < backward


def beside_line(page: Any, line: int) -> None:
    """Click where the stops stand."""
    number = page.locator(".cm-lineNumbers .cm-gutterElement").get_by_text(str(line), exact=True).last.bounding_box()
    gutter = page.locator(".cm-breaks").bounding_box()
    page.mouse.click(gutter["x"] + 8, number["y"] + number["height"] / 2)


def stops(page: Any) -> list[int]:
    """The lines that have one."""
    lines: list[int] = page.evaluate(
        """() => {
            const at = query => [...document.querySelectorAll(query)].filter(one => one.offsetHeight);
            const tops = at(".cm-breaks .cm-gutterElement").map(one => one.getBoundingClientRect().top);
            return at(".cm-lineNumbers .cm-gutterElement")
                .filter(one => tops.some(top => Math.abs(one.getBoundingClientRect().top - top) < 3))
                .map(one => Number(one.textContent));
        }"""
    )
    return lines


def test_playing_halts_where_the_reader_wants_it(page: Any, site: str) -> None:
    steps = open_program(page, site)
    first = next(s["i"] for s in steps if s["line"] == 8 and s["i"] > 3)
    beside_line(page, 8)
    while page.locator("[data-go=speed]").text_content() != "4×":
        use(page, "[data-go=speed]").click()
    leave(page)
    page.keyboard.press(" ")
    at_step(page, first)
    page.wait_for_selector("[data-go=play][data-playing=false]")
    page.keyboard.press("b")  # away with it
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function("i => Number(document.querySelector('#workbench').dataset.step) > i", arg=first)
    page.keyboard.press(" ")


def test_a_breakpoint_moves_with_its_line(page: Any, site: str) -> None:
    open_program(page, site)
    beside_line(page, 3)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("import math\n")
    assert stops(page) == [4]
    beside_line(page, 4)
    assert stops(page) == []


def cell_width(page: Any) -> float:
    width: float = page.locator("#stage [data-cell]").first.bounding_box()["width"]
    return width


def test_the_picture_grows_shrinks_and_fits(page: Any, site: str) -> None:
    open_program(page, site)
    page.keyboard.press("End")
    before = cell_width(page)
    page.keyboard.press("+")
    assert cell_width(page) > before * 1.2
    page.keyboard.press("0")  # back to the size that reads best
    assert abs(cell_width(page) - before) < 0.01
    page.keyboard.press("0")
    room = page.locator("#stage .pane-scroll").evaluate_all(
        "all => all.map(e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])"
    )
    assert room == [[0, 0], [0, 0]], "the whole picture is in sight"
    box = page.locator("#stage").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function(
        "w => document.querySelector('#stage [data-cell]').getBoundingClientRect().width > w", arg=before
    )


def test_dragging_the_background_scrolls_the_picture(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 420})
    open_program(page, site)
    page.keyboard.press("End")
    for _ in range(12):
        page.keyboard.press("+")
    pane = page.locator("#stage .memory-pane .pane-scroll")
    assert pane.evaluate("e => e.scrollHeight - e.clientHeight") >= 80
    pane.evaluate("e => e.scrollTo(0, 0)")
    box = pane.bounding_box()
    x, y = box["x"] + 3, box["y"] + box["height"] - 40
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 4, y - 80, steps=3)
    page.mouse.up()
    assert pane.evaluate("e => e.scrollTop") == 80


def test_a_pane_is_as_wide_as_it_was_left(page: Any, site: str) -> None:
    open_program(page, site)
    border = page.locator("#border")
    border.focus()
    before = json.loads(border.get_attribute("aria-valuenow"))
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    after = json.loads(border.get_attribute("aria-valuenow"))
    assert after == before + 72
    page.reload()
    page.wait_for_function("() => document.querySelector('#workbench').dataset.step")
    assert json.loads(border.get_attribute("aria-valuenow")) == after
    border.dblclick()
    assert json.loads(border.get_attribute("aria-valuenow")) == before


def test_the_node_that_runs_is_in_sight(page: Any, site: str) -> None:
    """However far down or right it stands."""
    page.goto(site)
    chain = "".join(f"y{k + 1} = y{k}.exp().neg()\n" for k in range(4))
    paste(page, f"import torch\ny0 = torch.zeros(3, requires_grad=True)\n{chain}y4.sum().backward()\n")
    steps = run(page)["steps"]
    leave(page)
    page.keyboard.press("Home")
    visits = 0
    for i in range(1, len(steps)):
        page.keyboard.press("ArrowRight")
        at_step(page, i)
        if steps[i]["kind"] != "visit":
            continue
        view = page.locator("#stage .graph-pane .pane-scroll").bounding_box()
        box = page.locator("#stage .node.running").first.bounding_box()
        assert view["y"] <= box["y"] and box["y"] + box["height"] <= view["y"] + view["height"], i
        assert view["x"] <= box["x"] and box["x"] + box["width"] <= view["x"] + view["width"], i
        visits += 1
    assert visits == 10
