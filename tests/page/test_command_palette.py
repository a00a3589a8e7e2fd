"""The command palette: every command, scenario and operation by its name, by keyboard and by touch."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.page.test_access import axe
from tests.support.kept_browser import new_context
from tests.support.page_driver import at_step, leave, paste, run, use

SOURCE = "import torch\na = torch.tensor([1., 2.], requires_grad=True)\nif True:\n    b = a * 2\nprint(b)\n"
SELECTED = "#command-list [aria-selected=true]"
TEXT = "() => [...document.querySelectorAll('.cm-line')].map((line) => line.innerText.replace(/\\n$/, '')).join('\\n')"


def open_palette(page: Any) -> Any:
    """The palette's field, with everything listed."""
    page.keyboard.press("Control+k")
    page.locator("#command-list [id^=operation-entry-]").first.wait_for(state="attached")
    return page.locator(".command-palette input")


def selected(page: Any) -> str:
    """The label of the entry that the field names as the one that is at."""
    name = page.locator(".command-palette input").get_attribute("aria-activedescendant")
    assert page.locator(SELECTED).get_attribute("id") == name
    return str(page.locator(f"{SELECTED} .command-label").inner_text())


def test_the_keyboard_finds_and_does_what_can_be_done(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SOURCE)
    run(page)
    leave(page)
    page.keyboard.press("Home")
    at_step(page, 0)
    field = open_palette(page)
    groups = page.locator(".command-group").evaluate_all("all => all.map((group) => group.getAttribute('aria-label'))")
    assert groups == ["Commands", "Scenarios", "Operations"]
    assert page.locator("[id^=scenario-]").count() == len(list((ROOT / "scenarios").glob("*.py")))
    assert page.locator("#command-stop, #command-previous, #command-first, #command-as_text").count() == 0
    assert axe(page) == []
    first = selected(page)
    page.keyboard.press("ArrowDown")
    assert selected(page) != first
    page.keyboard.press("End")
    assert page.locator(SELECTED).evaluate("e => e.matches('.command-group:last-child .command:last-child')")
    page.keyboard.press("Home")
    assert selected(page) == first
    field.fill("stp forward")
    assert selected(page) == "Step forward" and page.locator(f"{SELECTED} kbd").inner_text() == "→"
    page.keyboard.press("Enter")
    at_step(page, 1)
    assert not field.is_visible()
    open_palette(page).fill("no such thing")
    assert page.locator(".command-told").inner_text() == "Nothing matches."
    page.keyboard.press("Escape")
    assert not field.is_visible()


def test_an_operation_becomes_a_line_below_the_cursor_and_one_undo_takes_it_back(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SOURCE)
    run(page)
    page.locator(".cm-line").nth(3).click()
    field = open_palette(page)
    field.fill("clone")
    assert selected(page) == "a.clone()"
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.cm-line')[4].innerText.includes('clone')")
    assert page.evaluate(TEXT).split("\n")[4] == "    y = b.clone()"
    assert page.evaluate("document.activeElement.className").startswith("cm-content")
    open_palette(page).fill("undo")
    page.keyboard.press("Enter")
    assert page.evaluate(TEXT) == SOURCE
    paste(page, "import torch\n")
    open_palette(page).fill("matmul")
    page.keyboard.press("Enter")
    page.locator(".command-problem").wait_for()
    assert page.locator(".command-problem").inner_text().startswith("Not inserted:")
    page.keyboard.press("Escape")
    assert page.evaluate(TEXT) == "import torch\n"
    page.keyboard.press("Control+e")
    page.wait_for_selector(".statement-card:focus")
    open_palette(page).fill("ones")
    page.keyboard.press("Enter")
    page.locator(".card-form").wait_for()


@pytest.fixture
def phone(chromium: Any) -> Iterator[Any]:
    context = new_context(
        chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="zh-CN"
    )
    yield context.new_page()
    context.close()


def test_touch_opens_it_from_the_help_and_steps(phone: Any, site: str) -> None:
    phone.goto(f"{site}/?lang=zh")
    at = "() => Number(document.querySelector('#workbench').dataset.step)"
    phone.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    before = phone.evaluate(at)
    use(phone, "#help-button").tap()
    phone.locator("#help [data-commands]").tap()
    field = phone.locator(".command-palette input")
    field.fill("last step")
    assert selected(phone) == "到最后一步"
    assert phone.locator(".command-palette").bounding_box()["width"] <= 390
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    phone.locator(SELECTED).tap()
    phone.wait_for_function(f"() => ({at})() > {before}")
    assert not field.is_visible()
