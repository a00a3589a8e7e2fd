"""Live in the page: fast typing ends with the last text, quietly; the picture stays meanwhile and is marked as
older."""

import random
import time
from typing import Any

import pytest

from tests.page.test_access import axe
from tests.support.page_driver import leave, paste, run, use

SOURCE = "import torch\na = torch.tensor([1., 2.], requires_grad=True)\nb = a * 2\nb.sum().backward()\n"
SHOWN = "() => [...document.querySelectorAll('#stage [data-name]')].map((tag) => tag.dataset.name)"


@pytest.fixture
def live(page: Any, site: str) -> Any:
    """The page with Live switched on, a program that has run, and the cursor at its end."""
    page.goto(site)
    paste(page, SOURCE)
    run(page)
    leave(page)
    page.keyboard.press("End")
    use(page, "#live").check()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    return page


def shows(page: Any, name: str) -> None:
    """Wait until a name is in the picture, nothing is older, and nothing is under way."""
    page.wait_for_function(f"() => ({SHOWN})().includes('{name}') && !document.querySelector('.older-masked')")


def test_fast_typing_ends_with_the_run_of_the_last_text(live: Any) -> None:
    chance = random.Random(7)
    asked: list[str] = []

    def answer_late(route: Any) -> None:
        asked.append(route.request.post_data_json["source"])
        delay = chance.choice((0, 0, 0.02, 0.15))
        time.sleep(delay)  # the server's
        route.continue_()

    live.route("**/api/runs?live=1", answer_late)
    for k in range(3):
        for character in f"\nn{k} = a + {k + 1}00.5":
            live.keyboard.type(character)
            live.wait_for_timeout(chance.choice((0, 5, 40, 120)))  # who types
        live.wait_for_selector(f"#stage [data-cell][data-value='{k + 1}01.5']")
        assert asked[-1] == SOURCE + "".join(f"\nn{j} = a + {j + 1}00.5" for j in range(k + 1))
        live.wait_for_timeout(200)  # another run would be there
        assert live.locator(f"#stage [data-cell][data-value='{k + 1}01.5']").count(), "and stays"
    assert "finished" in live.locator("#outcome").get_attribute("class")
    assert live.locator("#problem").is_hidden()


def test_a_live_run_keeps_the_step_and_the_focus_of_the_editor(live: Any) -> None:
    live.locator("#slider").fill("2")
    live.wait_for_selector("#workbench[data-step='2']")
    live.locator(".cm-content").click()
    live.keyboard.press("Control+Home")
    live.keyboard.press("End")
    live.keyboard.type("\nz = torch.ones(2)")
    live.wait_for_selector("#workbench[data-step='3']")
    assert live.evaluate("() => document.querySelector('.cm-now').innerText") == "b = a * 2"
    assert live.evaluate("() => document.activeElement.closest('.cm-content') !== null")
    with live.expect_response("**/api/runs?live=1"):
        live.keyboard.type("  # mine")
    assert "# mine" in live.locator(".cm-content").inner_text()


def test_an_unfinished_line_shows_no_error_and_keeps_the_old_picture_hatched(live: Any) -> None:
    live.locator(".cm-line", has_text="b = a * 2").click()
    live.keyboard.press("End")
    live.keyboard.type(" +")
    live.wait_for_selector(".live-strip.typing:not([hidden])")
    hatched = live.evaluate(
        "() => [...document.querySelectorAll('[data-name].older-masked')].map((t) => t.dataset.name)"
    )
    assert hatched == ["b"], "a is of a line that did not change"
    assert live.locator(".cm-unfinished").inner_text() == "b = a * 2 +"
    assert live.locator(".cm-error").count() == 0 and live.locator("#problem").is_hidden()
    assert axe(live) == []
    live.wait_for_selector(".live-strip.refused:not([hidden])")
    assert live.locator(".cm-error").count() == 0, "the picture stays, and so does the quiet"
    live.keyboard.type(" nothing")
    live.wait_for_selector("#outcome.raised")
    assert live.locator(".live-strip:visible").count() == 0, "who rests is told"
    live.route("**/api/runs?live=1", lambda _: None)  # a run without an end
    live.locator(".cm-content").press("Control+End")
    live.keyboard.type(" ")
    live.locator(".live-strip", has_text="Running").wait_for()


def test_live_runs_stay_off_when_switched_off_and_the_run_key_still_works(live: Any, site: str) -> None:
    use(live, "#live").uncheck()
    live.locator(".cm-content").click()
    live.keyboard.press("Control+End")
    requests: list[str] = []
    live.on("request", lambda request: requests.append(request.url))
    live.keyboard.type("c = b + 1")
    live.locator("#edited").wait_for(state="visible")
    live.wait_for_timeout(300)  # a run would have begun by now
    assert [url for url in requests if "live" in url] == []
    run(live)
    leave(live)
    live.keyboard.press("End")
    shows(live, "c")
    live.goto(site)
    assert not live.locator("#live").is_checked()
    use(live, "#live").check()
    live.goto(site)
    assert live.locator("#live").is_checked(), "as it was left"
