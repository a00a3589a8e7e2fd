"""The gallery: what the server finds, with scripts and without; its keys in a browser; the way on and back."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from server.app import create_app
from server.settings import Settings
from tests.conftest import ROOT
from tests.support.kept_browser import new_context

COUNT = len(list((ROOT / "scenarios").glob("*.py")))
CARDS = ".gallery li"
MESSAGE = "RuntimeError: view size is not compatible with input tensor's size and stride"
HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """Of a server that runs nothing."""
    yield TestClient(create_app(Settings({})), base_url="http://127.0.0.1")


def names(html: str) -> list[str]:
    """The scenarios whose cards are there."""
    return re.findall(r'<li data-name="(\w+)"', html)


def counted(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('#gallery-count').textContent === text", arg=text)


@pytest.mark.parametrize("query", ["q=expand", "only=raises&only=claim", f"q={MESSAGE}&only=raises", "q=&lang=zh"])
def test_htmx_gets_the_part_of_the_page_that_changes(client: TestClient, query: str) -> None:
    page, part = client.get(f"/gallery?{query}"), client.get(f"/gallery?{query}", headers=HTMX)
    assert part.text.strip() in page.text and "<html" in page.text and "<html" not in part.text
    assert names(part.text) and f"{len(names(part.text))} " in part.text
    assert "HX-Request" in page.headers["vary"] and page.headers["etag"] != part.headers["etag"]
    known = client.get(f"/gallery?{query}", headers={**HTMX, "if-none-match": part.headers["etag"]})
    assert known.status_code == 304


def test_a_plain_form_finds_without_scripts(client: TestClient) -> None:
    page = client.get("/gallery", params={"q": "expand", "only": "raises"}).text
    assert "expand_write" in names(page) and len(names(page)) < 12
    assert 'value="expand"' in page and re.search(r'value="raises" checked', page)
    assert not re.search(r'value="silent" checked', page)
    assert names(client.get("/gallery", params={"only": ["unknown", "claim"]}).text) == names(
        client.get("/gallery?only=claim").text
    )


def test_an_error_that_no_program_ends_with_is_said_to_be_unknown(client: TestClient) -> None:
    page = client.get("/gallery", params={"q": "RuntimeError: the flux capacitor is not contiguous with clone"}).text
    assert "No program here ends with this error." in page and 0 < len(names(page)) <= 3
    page = client.get("/gallery", params={"q": "zzz qqq"}).text
    assert "No scenario has all of these words." in page and names(page) == []


def test_a_search_is_bounded_and_escaped(client: TestClient) -> None:
    assert client.get("/gallery", params={"q": "a" * 4001}).status_code == 422
    assert client.get("/gallery/about", params={"message": "a" * 4001}).status_code == 422
    assert client.get("/gallery?" + "&".join(["only=raises"] * 11)).status_code == 422
    for path in ("/gallery?q=", "/gallery/about?message="):
        assert "<script>alert" not in client.get(f"{path}<script>alert(1)</script>").text


@pytest.mark.parametrize(
    ("message", "says", "count"),
    [
        ("", "Paste the whole message", 0),
        ("element 0 of tensors does not require grad and does not have a grad_fn", "end with this message", 2),
        ("RuntimeError: the flux capacitor is not contiguous", "Perhaps one of these", 1),
        ("expand", "something like it", 1),
        ("zzz qqq xyzzy", "No program of the gallery", 0),
    ],
)
def test_the_programs_about_a_message(client: TestClient, message: str, says: str, count: int) -> None:
    part = client.get("/gallery/about", params={"message": message, "lang": "en"}).text
    assert says in part and count <= part.count("<li>") <= 4 and (count > 0) == ("<li>" in part)
    assert ("lang=zh" in client.get("/gallery/about", params={"message": message, "lang": "zh"}).text) == (count > 0)


def test_a_pasted_message_leads_to_its_scenario_by_keyboard_alone(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    counted(page, f"{COUNT} of {COUNT}")
    page.keyboard.press("/")
    page.keyboard.insert_text(MESSAGE)
    page.wait_for_selector("#gallery-found[data-query^=Runtime] li")
    assert page.evaluate("document.activeElement.id") == "gallery-q"
    first = page.locator(CARDS).first.get_attribute("data-name")
    assert first in ("not_contiguous", "view")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/?s={first}")
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 0")
    page.go_back()
    page.wait_for_selector("#gallery-found[data-query^=Runtime] li")
    assert page.locator("#gallery-q").input_value() == MESSAGE
    page.locator("#gallery-q").focus()
    page.keyboard.press("Escape")
    counted(page, f"{COUNT} of {COUNT}")
    assert page.locator(".gallery section li").count() == COUNT


def test_enter_opens_the_first_card_once_it_answers_what_was_typed(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    page.locator("#gallery-q").fill("expand")
    page.wait_for_selector("#gallery-found[data-query=expand]")
    first = page.locator(CARDS).first.get_attribute("data-name")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/?s={first}")


def test_typing_asks_once_for_what_was_typed_and_the_address_says_it(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    counted(page, f"{COUNT} of {COUNT}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/gallery?" in request.url else None)
    entries = page.evaluate("history.length")
    page.locator("#gallery-q").press_sequentially("detach", delay=5)
    page.wait_for_selector("#gallery-found[data-query=detach]")
    assert len(asked) < len("detach") and asked[-1].endswith("q=detach")
    assert page.url == f"{site}/gallery?q=detach" and page.evaluate("history.length") == entries
    found = [card.get_attribute("data-name") for card in page.locator(CARDS).all()]
    page.reload()
    assert [card.get_attribute("data-name") for card in page.locator(CARDS).all()] == found
    assert page.locator("#gallery-q").input_value() == "detach"


def test_filters_narrow_the_gallery_and_back_brings_what_was_before(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery?lang=zh&only=raises")
    filters = page.locator("[name=only]")
    assert [box.is_checked() for box in filters.all()] == [True, False, False]
    few = page.locator(CARDS).count()
    assert all("raises" in (card.get_attribute("data-marks") or "") for card in page.locator(CARDS).all())
    page.locator("[name=only]").first.focus()
    page.keyboard.press("Space")
    counted(page, f"{COUNT} / {COUNT}")
    assert page.evaluate("document.activeElement.value") == "raises"
    assert page.url == f"{site}/gallery?lang=zh&q="
    page.locator("label", has=page.locator("[value=claim]")).click()
    page.wait_for_url("**/gallery?lang=zh&q=&only=claim")
    page.go_back()
    counted(page, f"{COUNT} / {COUNT}")
    page.go_back()
    counted(page, f"{few} / {COUNT}")
    assert [box.is_checked() for box in page.locator("[name=only]").all()] == [True, False, False]
    page.go_forward()
    page.go_forward()
    page.wait_for_url("**/gallery?lang=zh&q=&only=claim")
    page.wait_for_function("() => document.querySelector('[value=claim]').checked")
    assert 0 < page.locator(CARDS).count() < COUNT


def test_the_number_of_hits_is_announced_and_a_failure_is_said(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    page.evaluate("window.count = document.querySelector('#gallery-count')")
    page.locator("#gallery-q").fill("expand")
    page.wait_for_selector("#gallery-found[data-query=expand]")
    assert page.evaluate("count === document.querySelector('#gallery-count') && count.role") == "status"
    assert page.locator("#gallery-count").inner_text() == f"{page.locator(CARDS).count()} of {COUNT}"
    page.route("**/gallery?*", lambda route: route.abort())
    page.locator("#gallery-q").fill("expand again")
    page.locator("#gallery-notice", has_text="can't be reached").wait_for()
    assert page.locator(CARDS).count() > 0


def test_without_scripts_the_form_searches(chromium: Any, site: str) -> None:
    context = new_context(chromium, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/gallery")
    page.locator("#gallery-q").fill("expand")
    page.locator("[name=only][value=raises]").check()
    page.locator(".gallery-bar button").click()
    page.wait_for_url("**/gallery?q=expand&only=raises")
    assert 0 < page.locator(CARDS).count() < 12 and page.locator("#gallery-q").input_value() == "expand"
    context.close()


def test_stills_are_drawn_where_they_come_into_sight(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    page.wait_for_selector("li[data-name=clone] img.there")
    assert page.locator("img[data-thumbnail]:not([src])").count() > 0, "those far below wait"
    page.locator("#gallery-q").fill("clone")
    page.wait_for_selector("#gallery-found[data-query=clone] li[data-name=clone] img.there")


def test_a_scenario_leads_to_the_next_and_back_to_its_thread(page: Any, site: str) -> None:
    page.goto(f"{site}/?s=clone")
    assert page.locator(".neighbours a[rel=prev]").count() == 0
    page.locator(".neighbours a[rel=next]").click()
    page.wait_for_selector(".neighbours a[rel=prev]")
    assert page.locator(".neighbours a[rel=prev]").get_attribute("href") == "/?s=clone"
    page.locator(".neighbours .thread").click()
    page.wait_for_url("**/gallery#*")
    assert page.locator(f"section[id='{page.url.partition('#')[2]}']").is_visible()
