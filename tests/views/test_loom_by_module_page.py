"""The loom by module in a real browser: when it is drawn, what opens and closes, what its marks say, and who can use
it."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.test_access import THEMES, axe
from tests.sharing.test_takeaway import take
from tests.support.page_driver import at_step
from tests.views.test_net_view import GPT, SMALL, elsewhere, open_program, press, step, themed

__all__ = ["elsewhere", "themed"]

COLUMNS = "#loom .run-column"
TEXTS = """() => [...document.querySelectorAll('#loom .module-loom text, #loom .module-loom p')]
    .filter(e => e.textContent.trim()).map(e => parseFloat(getComputedStyle(e).fontSize))"""


def open_loom(page: Any, site: str, text: str = GPT, query: str = "") -> dict[str, Any]:
    trace = open_program(page, site, text, query)
    page.locator("#workbench").wait_for()
    page.keyboard.press("l")
    page.wait_for_selector("#loom .loom-switch")
    return trace


def names(page: Any) -> list[str]:
    found: list[str] = page.locator(f"{COLUMNS} .run-name").all_text_contents()
    return found


def test_a_gpt_is_drawn_by_module_and_by_storage_where_that_is_chosen(page: Any, site: str) -> None:
    open_loom(page, site)
    page.wait_for_selector(COLUMNS)
    assert 8 <= len(names(page)) <= 14
    assert min(page.evaluate(TEXTS)) >= 12
    page.locator(".loom-switch").click()
    page.wait_for_selector("#loom [data-loom-row]")
    assert not page.locator(".module-loom").is_visible()
    page.locator(".loom-switch").click()
    page.wait_for_selector(f"{COLUMNS} >> visible=true")


def test_a_small_net_is_drawn_by_storage_and_offers_the_other(page: Any, site: str) -> None:
    open_loom(page, site, SMALL)
    page.wait_for_selector("#loom [data-loom-row]")
    assert not page.locator(".module-loom").is_visible()
    page.locator(".loom-switch").click()
    page.wait_for_selector(COLUMNS)
    assert {"0", "1", "2"} <= set(names(page))


def test_a_part_opens_and_closes_by_key_and_the_step_opens_none(page: Any, site: str) -> None:
    open_loom(page, site)
    page.wait_for_selector(COLUMNS)
    before = names(page)
    for _ in range(3):
        press(page, "ArrowRight")
        assert names(page) == before
    page.locator(f"{COLUMNS}.opens .run-hit").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".run-group")
    assert len(names(page)) > len(before) and "attn" in names(page)
    assert page.evaluate("document.activeElement.closest('.run-group') !== null")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('.run-group')")
    assert names(page) == before
    here = step(page)
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.run-column') !== null") and step(page) == here


def test_an_arrow_is_a_box_and_a_click_on_a_box_goes_there(page: Any, site: str) -> None:
    trace = open_loom(page, site)
    page.wait_for_selector(COLUMNS)
    visits = [i for i, each in enumerate(trace["steps"]) if each.get("visit")]
    page.evaluate(
        """i => { const slider = document.getElementById('slider');
            slider.value = i; slider.dispatchEvent(new Event('input', {bubbles: true})); }""",
        visits[0] - 1,
    )
    at_step(page, visits[0] - 1)
    assert press(page, "Shift+ArrowRight") == visits[0]
    last = next(i for i in visits if i + 1 not in visits)
    presses = 0
    while step(page) < last:
        press(page, "ArrowRight")
        presses += 1
        assert page.locator("#loom .run-column.now").count() >= 1
    assert presses <= 15
    box = page.locator("#loom .run-box.forward").first
    box.click()
    page.wait_for_function("i => Number(document.querySelector('#workbench').dataset.step) < i", arg=visits[0])


def test_marks_say_what_they_are_to_pointer_and_focus(page: Any, site: str) -> None:
    open_loom(page, site)
    page.wait_for_selector(COLUMNS)
    page.locator(f"{COLUMNS}.opens").first.hover()
    page.wait_for_selector("#mark-tooltip:not([hidden])")
    assert "numbers in" in page.locator("#mark-tooltip").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.querySelector('#mark-tooltip').hidden")
    page.locator("#loom .run-scroll").focus()
    page.keyboard.press("Tab")
    page.wait_for_selector("#mark-tooltip:not([hidden])")
    assert page.locator("#mark-tooltip").inner_text().endswith(".")


@pytest.mark.parametrize("themed", THEMES, indirect=True)
def test_axe_finds_nothing(themed: Any, site: str) -> None:
    open_loom(themed, site, query="?lang=zh")
    themed.wait_for_selector(COLUMNS)
    themed.locator(f"{COLUMNS}.opens").first.click()
    themed.wait_for_selector(".run-group")
    assert axe(themed) == []


def test_the_offline_page_draws_it_and_a_phone_too(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    open_loom(page, site)
    page.wait_for_selector(COLUMNS)
    elsewhere.goto(take(page, "run.html", tmp_path).as_uri())
    elsewhere.wait_for_selector("#workbench[data-step]")
    elsewhere.locator('#views [data-view="loom"]').click()
    elsewhere.wait_for_selector(COLUMNS)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.querySelectorAll('#loom .run-column').length < 7")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
