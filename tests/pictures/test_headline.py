"""The headline of the stage: its place, its room, its marks; and the sentence that each mark of the stage answers
with."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser

GO = """i => { const e = document.querySelector('#slider'); e.value = i;
    e.dispatchEvent(new Event('input', {bubbles: true})); }"""
TIP = "() => { const t = document.querySelector('#mark-tooltip'); return t && !t.hidden ? t.textContent : '' }"


@pytest.fixture
def clone(page: Any, site: str) -> Any:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{site}/?s=clone")
    page.wait_for_selector("#workbench[data-steps]")
    return page


def test_the_headline_stands_over_the_stage_and_nothing_moves_between_steps(clone: Any) -> None:
    boxes = set()
    for step in range(int(clone.get_attribute("#workbench", "data-steps") or 0)):
        clone.evaluate(GO, step)
        clone.wait_for_selector(f"#workbench[data-step='{step}']")
        boxes.add(
            tuple(str(clone.locator(selector).bounding_box()) for selector in ("#headline", "#stage", "#timeline"))
        )
    assert len(boxes) == 1
    headline, stage = (clone.locator(selector).bounding_box() for selector in ("#headline", "#stage"))
    assert headline["height"] == 88 and headline["y"] + headline["height"] <= stage["y"] + 1
    font = clone.locator("#sentences li").first.evaluate("e => getComputedStyle(e).font")
    assert font.startswith("24px / 30px"), "over a picture that is drawn large"


def test_names_are_code_and_what_changed_is_underlined(clone: Any) -> None:
    step = clone.evaluate("""() => [...document.querySelectorAll('.cm-line')].length""")
    assert step
    for i in range(int(clone.get_attribute("#workbench", "data-steps") or 0)):
        clone.evaluate(GO, i)
        if "is now 8" in clone.locator("#sentences li").first.inner_text():
            break
    assert clone.locator("#sentences li").first.locator(".changed").first.inner_text().startswith("c[0]")
    assert clone.locator("#sentences li").first.locator("code").count() >= 2


def test_a_mark_answers_pointer_and_focus_and_escape_hides_it(clone: Any) -> None:
    clone.evaluate(GO, 4)
    clone.locator("#stage [data-handle]").first.hover()
    clone.wait_for_function("() => document.querySelector('#mark-tooltip:not([hidden])')")
    assert "tensor of 3 numbers" in clone.evaluate(TIP).lower()
    assert clone.locator("[aria-describedby=mark-tooltip]").count() == 1
    clone.keyboard.press("Escape")
    assert clone.evaluate(TIP) == ""
    clone.locator("#stage [data-node][tabindex]").first.focus()
    clone.keyboard.press("Shift+Tab")
    clone.keyboard.press("Tab")
    clone.wait_for_function("() => document.querySelector('#mark-tooltip:not([hidden])')")
    clone.evaluate(GO, 3)
    assert clone.evaluate(TIP) == "", "another step hides it"


def test_a_sentence_without_room_in_a_low_window_is_behind_a_button_that_says_so(clone: Any) -> None:
    clone.set_viewport_size({"width": 1024, "height": 540})
    sentences, button = clone.locator("#sentences li"), clone.locator("#headline > button")
    more = set()
    for step in range(int(clone.get_attribute("#workbench", "data-steps") or 0)):
        clone.evaluate(GO, step)
        clone.wait_for_selector(f"#workbench[data-step='{step}']")
        clone.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        unseen = [sentence.is_visible() for sentence in sentences.all()].count(False)
        more.add(unseen)
        if unseen:
            assert button.is_visible() and button.inner_text() == f"and {unseen} more"
            assert button.inner_text() in (button.get_attribute("aria-label") or "")
    assert max(more) >= 1


CUT = """() => [...document.querySelectorAll('#sentences > li')].filter((e) => e.getClientRects().length
    && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)).map((e) => e.textContent)"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (390, 844)])
def test_a_sentence_is_whole_or_behind_the_button(page: Any, site: str, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{site}/?s=saved_inplace")
    page.wait_for_selector("#workbench[data-steps]")
    said = []
    for step in range(int(page.get_attribute("#workbench", "data-steps") or 0)):
        page.evaluate(GO, step)
        page.wait_for_selector(f"#workbench[data-step='{step}']")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert [text for text in page.evaluate(CUT) if width > 390 or len(text) < 140] == []
        said += page.locator("#sentences > li").all_inner_texts()
    assert max(map(len, said)) > 120


def test_a_held_finger_is_answered(clone: Any) -> None:
    box = clone.locator("#stage [data-cell]").first.bounding_box()
    place = {"clientX": box["x"] + 5, "clientY": box["y"] + 5, "pointerType": "touch", "bubbles": True}
    clone.locator("#stage [data-cell]").first.dispatch_event("pointerdown", place)
    clone.wait_for_function("() => document.querySelector('#mark-tooltip:not([hidden])')")
    assert "Click to go to the step that wrote it." in clone.evaluate(TIP)


def test_the_legend_has_only_marks_that_are_on_the_stage(clone: Any) -> None:
    clone.evaluate(GO, 1)
    clone.wait_for_function("() => document.querySelector('#legend [data-mark=pin]').hidden")
    assert clone.locator("#legend [data-mark=tags]").is_visible()
    assert clone.locator("#legend [data-mark=broken]").is_hidden()
