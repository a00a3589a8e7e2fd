"""A series in the browser: a teacher makes one by keyboard, a reader goes through it in page, frame, file and predict
mode."""

from pathlib import Path
from typing import Any

from tests.page.test_access import axe
from tests.page.test_predict import answer, press
from tests.support.page_driver import at_step, leave

FIRST = "import torch\na = torch.tensor([1., 2.], requires_grad=True)\nb = a.exp()\nb.add_(1)\n"
SECOND = "import torch\nw = torch.zeros(3)\nv = w[1:]\nv += 1\n"
NOTE = "One line,\nthen https://pytorch.org/docs. <img src=x onerror=alert(1)><script>alert(2)</script>"


def save_program(page: Any, site: str, source: str, title: str) -> str:
    reply = page.request.post(f"{site}/api/scenarios", data={"source": source, "title": title})
    assert reply.ok, reply.text()
    id_: str = reply.json()["id"]
    return id_


def save_series(page: Any, site: str) -> str:
    """The path of a series of two programs, the first with its note at step 3, the second with one for all of it."""
    first, second = save_program(page, site, FIRST, "Written in place"), save_program(page, site, SECOND, "A view")
    items = [{"program": first, "note": NOTE, "step": 3}, {"program": second, "note": "A view has no memory."}]
    reply = page.request.post(f"{site}/api/series", data={"title": "Two <b>programs</b>", "items": items})
    assert reply.ok, reply.text()
    return f"/series/{reply.json()['id']}"


def shown_note(page: Any) -> Any:
    """The note of a step, once it is there, as a reader sees it; its text is held against what was written."""
    note = page.locator(".series-note")
    note.wait_for()
    assert note.inner_text() == NOTE and note.locator("img, script").count() == 0
    link = note.locator("a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == ("https://pytorch.org/docs", "noopener nofollow")
    return note


def test_a_teacher_makes_a_series_by_keyboard(page: Any, site: str) -> None:
    first = save_program(page, site, FIRST, "Written in place")
    second = save_program(page, site, SECOND, "A view")
    page.goto(f"{site}/s/{first}#i=2")
    at_step(page, 2)
    page.locator("#add-to-series").press("Enter")
    page.wait_for_url("**/series/new?*")
    page.locator("#series-new[data-ready]").wait_for()
    stage = page.frame_locator("#stage-frame")
    stage.locator("#workbench[data-step='2']").wait_for()
    page.locator("#series-title").fill("Week two")
    page.locator("#note").fill(NOTE)
    stage.locator("[data-go=next]").press("Enter")
    page.locator("#at-step", has_text="4").press("Enter")
    assert page.locator("#at-step").get_attribute("aria-pressed") == "true"
    assert page.locator("#preview").inner_text() == NOTE and page.locator("#preview a").count() == 1
    page.locator("#address").fill(f"{site}/s/{second}#i=1")
    page.keyboard.press("Enter")
    page.locator("#items .series-choose[aria-current]", has_text="A view").wait_for()
    assert axe(page) == []
    page.keyboard.press("Alt+ArrowUp")
    page.locator("#items li:first-child", has_text="A view").wait_for()
    page.reload()
    page.locator("#items li:nth-child(2)", has_text="Written in place").wait_for()
    assert page.locator("#series-title").input_value() == "Week two", "what is not saved stays in the browser"
    page.locator("#save-series").press("Enter")
    page.wait_for_url(lambda url: "/series/" in url and "/new" not in url)
    saved = page.request.get(page.url.split("?")[0] + ".json").json()
    assert [(item["program"], item["note"], item["step"]) for item in saved["items"]] == [
        (second, "", None),
        (first, NOTE, 3),
    ]
    page.locator("#series .order-where", has_text="1 of 2").wait_for()
    page.locator(".series-tools a[href*=new]").click()
    page.locator("#items li:nth-child(2)", has_text="Written in place").wait_for()
    assert page.locator("#series-title").input_value() == "Week two", "a copy begins with what was saved"


def test_a_reader_goes_through_a_series_in_page_frame_and_file(page: Any, site: str, tmp_path: Path) -> None:
    path = save_series(page, site)
    page.goto(site + path)
    at_step(page, 3)
    shown_note(page)
    assert page.locator("#series .order-title").inner_text() == "Two <b>programs</b>"
    leave(page)
    page.keyboard.press("ArrowLeft")
    at_step(page, 2)
    page.locator(".series-note").wait_for(state="hidden")
    page.locator(".series-mark").click()
    at_step(page, 3)
    shown_note(page)
    assert axe(page) == []
    leave(page)
    page.keyboard.press("]")
    page.wait_for_url(f"**{path}/2*")
    page.locator("#series .order-note", has_text="A view has no memory.").wait_for()
    assert page.locator(".series-mark").is_hidden()

    page.set_viewport_size({"width": 390, "height": 700})
    page.goto(f"{site}/embed{path}?lang=zh")
    at_step(page, 3)
    shown_note(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#series a[rel=next]").click()
    page.wait_for_url(f"**/embed{path}/2?lang=zh")
    page.locator("#series .order-note", has_text="A view has no memory.").wait_for()

    page.set_viewport_size({"width": 1440, "height": 900})
    file = tmp_path / "series.html"
    file.write_bytes(page.request.get(f"{site}{path}.html").body())
    page.goto(file.as_uri())
    at_step(page, 3)
    shown_note(page)
    page.keyboard.press("]")
    page.locator("#series .order-note", has_text="A view has no memory.").wait_for()
    page.keyboard.press("[")
    at_step(page, 3)
    shown_note(page)


def test_in_predict_mode_a_note_waits_for_its_step(page: Any, site: str) -> None:
    path = save_series(page, site)
    with page.expect_response(f"**{path}.json") as notes:
        page.goto(f"{site}{path}?predict=1")
    notes.value.finished()
    page.locator(".predict-card[data-phase=intro]").wait_for()
    page.locator("#series .order-where", has_text="1 of 2").wait_for()
    assert page.locator("#series a[rel=next]").get_attribute("href").endswith("/2?predict=1")
    phase = press(page, "Enter")
    for _ in range(20):
        if page.locator(".series-note").is_visible():
            break
        assert "then https" not in page.content() and page.locator(".series-mark").is_hidden()
        phase = answer(page) if phase == "ask" else press(page, "Enter")
    shown_note(page)
