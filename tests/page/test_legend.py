"""The legend in a browser: a strip for who is new, the same marks in the help, and nothing moves when it goes."""

from typing import Any


def test_a_new_visitor_sees_the_legend_once_and_the_picture_stays_where_it_is_when_it_goes(
    page: Any, site: str
) -> None:
    page.goto(f"{site}/?s=clone")
    page.wait_for_selector("#workbench[data-steps]")
    strip = page.locator("#legend")
    assert strip.is_visible() and strip.locator("li").count() >= 10
    height = page.locator("#stage").bounding_box()["height"]
    page.reload()
    page.wait_for_selector("#workbench[data-steps]")
    assert strip.is_visible(), "it is the same visit"
    strip.get_by_role("button").click()
    assert not strip.is_visible()
    assert abs(page.locator("#stage").bounding_box()["height"] - height) <= 1
    page.reload()
    page.wait_for_selector("#workbench[data-steps]")
    assert not strip.is_visible()
    assert page.locator("#stage").bounding_box()["height"] > height, "its room is the picture's from the next page on"
    later = page.context.new_page()
    later.goto(f"{site}/?s=clone")
    later.wait_for_selector("#workbench[data-steps]")
    assert not later.locator("#legend").is_visible()
    later.keyboard.press("?")
    rows = later.locator("#help .legend li")
    assert rows.count() == strip.locator("li").count()
    assert all(len(text.split()) > 4 for text in rows.all_inner_texts())
    top = later.locator("#help").evaluate("e => e.scrollTop")
    assert top == 0, "it opens at its beginning"
