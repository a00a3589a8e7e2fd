"""The gallery in a browser: a pasted message leads to its scenario by keyboard alone, and the way on and back is kept."""

from typing import Any

from tests.conftest import ROOT

COUNT = len(list((ROOT / "scenarios").glob("*.py")))
SHOWN = ".gallery li:not([hidden])"
MESSAGE = "RuntimeError: view size is not compatible with input tensor's size and stride"


def counted(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('#gallery-count').textContent === text", arg=text)


def test_a_pasted_message_leads_to_its_scenario_by_keyboard_alone(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    counted(page, f"{COUNT} of {COUNT}")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.keyboard.press("/")
    page.keyboard.insert_text(MESSAGE)
    page.wait_for_selector("#found:not([hidden]) li")
    first = page.locator(SHOWN).first.get_attribute("data-name")
    assert first in ("not_contiguous", "view")
    assert all("/gallery/" in url and ".svg" in url for url in requests), "the search asks nobody"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/?s={first}")
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 0")
    page.go_back()
    page.wait_for_selector("#found:not([hidden]) li")
    assert page.locator("#gallery-q").input_value() == MESSAGE
    page.locator("#gallery-q").focus()
    page.keyboard.press("Escape")
    counted(page, f"{COUNT} of {COUNT}")
    assert page.locator(".gallery section:not([hidden]) li").count() == COUNT


def test_filters_narrow_the_gallery_and_are_in_the_address(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery?lang=zh&only=raises")
    page.wait_for_selector("button[data-filter=raises][aria-pressed=true]")
    marks = [card.get_attribute("data-marks") for card in page.locator(SHOWN).all()]
    assert marks and all("raises" in (mark or "") for mark in marks) and len(marks) < COUNT
    page.locator("button[data-filter=raises]").click()
    counted(page, f"{COUNT} / {COUNT}")
    assert page.url == f"{site}/gallery?lang=zh"


def test_stills_are_drawn_where_they_come_into_sight(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    page.wait_for_selector("li[data-name=clone] img.there")
    assert page.locator("img[data-still]:not([src])").count() > 0, "those far below wait"


def test_a_scenario_leads_to_the_next_and_back_to_its_thread(page: Any, site: str) -> None:
    page.goto(f"{site}/?s=clone")
    assert page.locator(".neighbours a[rel=prev]").count() == 0
    page.locator(".neighbours a[rel=next]").click()
    page.wait_for_selector(".neighbours a[rel=prev]")
    assert page.locator(".neighbours a[rel=prev]").get_attribute("href") == "/?s=clone"
    page.locator(".neighbours .thread").click()
    page.wait_for_url("**/gallery#*")
    assert page.locator(f"section[id='{page.url.partition('#')[2]}']").is_visible()
