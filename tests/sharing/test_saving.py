"""Saving in the page: the permalink opens the same picture, in any browser, and text stays text."""

from typing import Any
from weakref import WeakKeyDictionary

from tests.support.kept_browser import close_pages, new_page, new_profile
from tests.support.page_driver import at_step, leave, paste, run, use

OTHERS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The second profile of each browser."""

HOSTILE = "<img src=x onerror=alert(1)></title><script>alert(2)</script>"


def saved(page: Any, title: str, description: str = "") -> str:
    """Fill the sheet in; the address that it leads to."""
    use(page, "#save").click()
    page.locator("#saving [name=title]").fill(title)
    page.locator("#saving [name=description]").fill(description)
    before = page.url
    page.locator("#saving [type=submit]").click()
    page.wait_for_url(lambda url: "/s/" in url and url.split("#")[0] != before.split("#")[0])
    page.wait_for_selector("#stage [data-cell]")
    address: str = page.url
    return address


def fresh(page: Any, address: str) -> Any:
    """The address in another profile, as another visitor has it. Not two at a time."""
    other = new_page(others_profile(page.context.browser))
    other.goto(address)
    other.wait_for_selector("#stage [data-cell]")
    return other


def others_profile(browser: Any) -> Any:
    """A second profile, the same one for all tests: its process has compiled our scripts."""
    if browser not in OTHERS:
        OTHERS[browser] = new_profile(browser)
    return OTHERS[browser]


def leave_profile(page: Any) -> None:
    """Close the page of another visitor, and whatever it has opened."""
    close_pages(page.context)


def test_a_saved_program_opens_at_its_step_in_another_browser(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nx = torch.tensor([3., 4.])\ny = x[1:]\ny.mul_(2)\n")
    run(page)
    leave(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    at_step(page, 2)
    address = saved(page, "A view", "y reads the second cell of x.")
    assert "/s/" in address and address.endswith("#i=2")
    other = fresh(page, address)
    try:
        at_step(other, 2)
        assert other.locator("h2").first.inner_text() == "A view"
        assert "second cell" in other.locator(".question").first.inner_text()
        other.keyboard.press("ArrowRight")
        at_step(other, 3)
        other.wait_for_function("() => location.hash === '#i=3'")
        assert other.locator("[data-cell='s1:1']").get_attribute("data-value") == "8"
    finally:
        leave_profile(other)


def test_line_breaks_of_a_description_are_kept(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nx = torch.ones(3)\n")
    run(page)
    saved(page, "Two lines", "First this.\nThen that.")
    assert page.locator(".question").first.inner_text() == "First this.\nThen that."


def test_a_changed_program_is_saved_as_a_fork(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nx = torch.ones(2)\n")
    run(page)
    parent = saved(page, "One").split("/s/")[1][:10]
    paste(page, "import torch\nx = torch.ones(3)\n")
    run(page)
    child = saved(page, "Another")
    assert parent not in child
    assert page.locator(f"a[href^='/s/{parent}']").inner_text() == parent


def test_saving_an_unchanged_program_leads_to_the_same_address(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nx = torch.ones(5)\n")
    run(page)
    use(page, "#save").click()
    page.locator("#saving [name=note]").fill("Look at x.")
    page.keyboard.press("Escape")
    parent = saved(page, "Five")
    assert "Look at x." in page.locator(".program").inner_text()
    paste(page, "import torch\nx = torch.ones(6)\n")
    run(page)
    use(page, "#save").click()
    assert page.locator("#saving [name=note]").input_value() == "Look at x.", "a fork begins with its parent's words"
    page.keyboard.press("Escape")
    child = saved(page, "Six").split("?")[0]
    assert child != parent.split("?")[0]
    use(page, "#save").click()
    assert page.locator("#saving [name=title]").input_value() == "Six"
    with page.expect_response("**/api/scenarios") as answer:
        page.locator("#saving [type=submit]").click()
    assert answer.value.status == 200 and answer.value.json()["id"] == child.split("/s/")[1]


def test_title_and_description_disappear_when_the_program_changes(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nx = torch.ones(7)\n")
    run(page)
    saved(page, "Seven", "Count them.")
    assert page.locator("#heading").inner_text() == "Seven" and page.locator(".made").is_visible()
    paste(page, "import torch\nx = torch.ones(8)\n")
    run(page)
    assert page.locator("#heading").inner_text() == "Program"
    assert not page.locator(".made").is_visible() and "Count them." not in page.locator(".program").inner_text()
    paste(page, "import torch\nx = torch.ones(7)\n")
    assert page.locator("#heading").inner_text() == "Seven" and page.locator(".made").is_visible()


def test_hostile_titles_and_descriptions_stay_text(page: Any, site: str) -> None:
    page.goto(site)
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    paste(page, f"import torch\nx = torch.ones(2)\ns = '{HOSTILE}'\n")
    run(page)
    saved(page, HOSTILE, HOSTILE)
    assert page.locator("h2").first.inner_text() == HOSTILE
    assert HOSTILE in page.title()
    assert not alerts and page.locator("img[src=x]").count() == 0


def test_what_can_not_be_saved_says_why_and_keeps_the_text(page: Any, site: str) -> None:
    page.goto(site)
    page.route("**/api/scenarios", lambda route: route.abort())
    use(page, "#save").click()
    page.locator("#saving [name=title]").fill("Kept")
    page.locator("#saving [type=submit]").click()
    page.locator("#saving [role=alert]").wait_for()
    assert "does not answer" in page.locator("#saving [role=alert]").inner_text()
    assert page.locator("#saving [name=title]").input_value() == "Kept"
    page.keyboard.press("Escape")
    assert not page.locator("#saving").is_visible()
