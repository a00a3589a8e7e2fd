"""The page in little room: on a phone, at 200 % zoom, under fingers; and a long program opened at the line that
matters."""

from typing import Any

import pytest

from tests.support.kept_browser import new_context
from tests.support.page_driver import STALE, at_step, paste, run

IN_SIGHT = """() => {
    const line = document.querySelector(".cm-now")?.getBoundingClientRect();
    if (!line) return false;
    const box = document.querySelector(".cm-scroller").getBoundingClientRect();
    return line.top >= box.top - 1 && line.bottom <= box.bottom + 1;
}"""
SMALL_TARGETS = """() => [...document.querySelectorAll("button, nav a")]
    .filter(e => e.offsetParent && !e.closest("#stage, #loom, dialog") && !e.matches(".link"))
    .filter(e => { const { width, height } = e.getBoundingClientRect(); return width < 44 || height < 44; })
    .map(e => e.outerHTML.slice(0, 90))"""


@pytest.fixture
def phone(chromium: Any) -> Any:
    context = new_context(chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


def picture_top(page: Any) -> float:
    """The upper edge of the picture, and under it at least so much room above the timeline."""
    top, bottom = (page.locator(name).bounding_box()["y"] for name in ("#stage", "#timeline"))
    assert bottom - top >= 180
    return float(top)


def test_on_a_phone_the_picture_is_on_the_first_screen_and_the_code_opens_by_a_tap(phone: Any, site: str) -> None:
    phone.goto(site)
    phone.wait_for_selector("#stage [data-handle]")
    assert picture_top(phone) < 400
    editor = phone.locator("#editor")
    assert 55 <= editor.bounding_box()["height"] <= 75, "three lines"
    phone.wait_for_function(IN_SIGHT)
    phone.locator(".cm-content").tap()
    assert editor.bounding_box()["height"] > 300
    assert phone.evaluate("document.activeElement === document.body"), "the first tap brings up no keyboard"
    phone.locator("#fold").tap()
    assert editor.bounding_box()["height"] <= 75
    phone.wait_for_function(IN_SIGHT)
    phone.locator("[data-go=next]").tap()
    phone.wait_for_function(IN_SIGHT)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_one_step_back_and_on_are_the_largest_keys(phone: Any, site: str) -> None:
    phone.goto(site)
    phone.wait_for_selector("#stage [data-handle]")
    boxes = phone.locator(".controls button").evaluate_all(
        """all => all.filter(e => e.offsetParent).map(e => [e.dataset.go ?? e.id, e.getBoundingClientRect()])
            .map(([name, {left, right, top, width, height}]) => [name, {left, right, top, width, height}])"""
    )
    keys = dict(boxes)
    back, on = keys["previous"], keys["next"]
    assert min(back["height"], on["height"]) >= 42 and back["top"] == on["top"] and back["right"] < on["left"]
    assert on["right"] > 370 and back["left"] < 20, "under both thumbs"
    assert all(box["top"] > on["top"] for name, box in boxes if name not in ("previous", "next"))
    where = phone.locator("#where").bounding_box()
    assert back["right"] <= where["x"] and where["x"] + where["width"] <= on["left"]
    step = phone.locator("#workbench").get_attribute("data-step")
    phone.locator("[data-go=next]").tap()
    at_step(phone, int(step) + 1)
    phone.locator("[data-go=previous]").tap()
    at_step(phone, int(step))


HEADLINE = """() => {
    const list = document.querySelector("#sentences");
    const room = list.getBoundingClientRect();
    const shown = [...list.children].filter(e => e.getClientRects().length);
    const cut = shown.filter(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1
        || e.getBoundingClientRect().bottom > room.bottom + 1).length;
    return {
        height: document.querySelector("#headline").offsetHeight,
        first: shown[0].scrollHeight <= shown[0].clientHeight + 1,
        all: cut === 0 && shown.length === list.children.length,
        more: !document.querySelector("#headline > button").hidden,
    };
}"""
TRAINS = """import torch
x = torch.ones(3, requires_grad=True)
model = torch.nn.Linear(3, 2)
loss = (model(x) ** 2).mean()
loss.backward()
print(x.grad)
"""


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_phone_the_headline_wraps_in_one_room_for_the_whole_run(phone: Any, site: str, language: str) -> None:
    phone.goto(f"{site}/?lang={language}")
    paste(phone, TRAINS)
    trace = run(phone)
    assert phone.locator("#starts").is_hidden()
    phone.locator('#views [data-view="step"]').tap()
    read = []
    for i in range(len(trace["steps"])):
        phone.locator("#slider").fill(str(i))
        at_step(phone, i)
        phone.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        read.append(phone.evaluate(HEADLINE))
    assert len({row["height"] for row in read}) == 1, "the picture stays where it is"
    assert all(row["first"] for row in read), "the first sentence is read whole"
    assert [row["more"] for row in read] == [not row["all"] for row in read]
    cut = next(i for i, row in enumerate(read) if not row["all"])
    phone.locator("#slider").fill(str(cut))
    at_step(phone, cut)
    phone.locator("#headline > button").tap()
    assert phone.evaluate("document.querySelectorAll('#sentences li').length") == len(
        phone.locator("#sentences li:visible").all()
    )


def test_on_a_phone_what_the_card_says_is_not_said_again_below_it(phone: Any, site: str) -> None:
    phone.goto(site)
    paste(phone, STALE)
    run(phone)
    said = phone.locator(".finding.error .finding-sentence")
    said.wait_for()
    phone.locator("#sentences [data-sentence=explained]").wait_for(state="hidden")
    assert phone.locator("#sentences li:visible").first.inner_text().startswith("RuntimeError")
    assert phone.locator("#headline > button").inner_text() == "…", "the rest of torch's words"


def test_what_a_finger_is_to_hit_is_large_enough(phone: Any, site: str) -> None:
    phone.goto(site)
    phone.wait_for_selector("#stage [data-handle]")
    assert phone.evaluate(SMALL_TARGETS) == []
    assert phone.locator("#slider").bounding_box()["height"] >= 44


HIDDEN_TOOLS = """() => [...document.querySelectorAll(".top nav > button")].filter(e => e.offsetParent && e.id !== "open-file")
    .filter(e => {
        const { left, right, top, bottom } = e.getBoundingClientRect();
        const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return left < 0 || right > innerWidth || !e.contains(hit);
    })
    .map(e => e.id)"""  # noqa: E501
CLIPPED = """() => [...document.querySelectorAll(".comparison-summary, .compared-side .sentences, .comparison .differences")]
    .filter(e => e.scrollHeight > e.clientHeight + 1).map(e => e.className)"""  # noqa: E501


@pytest.mark.parametrize("address", ["", "open", "gallery"])
def test_on_a_phone_help_and_theme_are_in_sight(phone: Any, site: str, address: str) -> None:
    phone.goto(f"{site}/{address}")
    phone.wait_for_selector(".top nav")
    more = phone.locator("#more > summary")
    if more.count():
        phone.wait_for_function("() => document.querySelector('#workbench').dataset.steps")
        box = more.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, "one tap away from both"
        more.tap()
        for tool in ("#theme", "#help-button"):
            box = phone.locator(tool).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844, tool
        more.tap()
    phone.wait_for_selector("#theme", state="attached" if more.count() else "visible")
    assert phone.evaluate(HIDDEN_TOOLS) == []
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pages = phone.locator(".top nav a").filter(visible=True)
    assert phone.locator(".top nav a[href*='/course']").filter(visible=True).count() == 1, "the course is one tap away"
    assert pages.first.bounding_box()["x"] >= phone.locator(".wordmark").bounding_box()["width"]


def test_on_a_phone_no_sentence_of_a_comparison_is_cut(phone: Any, site: str) -> None:
    phone.goto(f"{site}/compare")
    phone.wait_for_selector(".differences li")
    phone.wait_for_function(
        "() => document.querySelectorAll('.compared-side .sentences li, .compared-side .sentences p').length > 1"
    )
    assert phone.evaluate(CLIPPED) == []


def test_at_200_percent_the_picture_is_on_the_first_screen(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 720, "height": 450})
    page.goto(site)
    page.wait_for_selector("#stage [data-handle]")
    assert picture_top(page) < 160
    page.wait_for_function(IN_SIGHT)
    page.locator(".cm-now").click()
    paste(page, "import torch\nx = torch.ones(2)\n")
    assert page.locator("#editor").bounding_box()["height"] > 150, "it opens to be written in"
    run(page)
    assert page.locator("#editor").bounding_box()["height"] <= 75, "a run folds it"
    stage, timeline = (page.locator(name).bounding_box() for name in ("#stage", "#timeline"))
    assert stage["y"] + stage["height"] <= timeline["y"] + 1, "nothing of the stage is under the timeline"


def test_a_long_program_opens_at_the_line_that_matters(page: Any, site: str) -> None:
    remark = "# a remark that is wrapped in the narrow pane, so that lines are of different heights\n"
    lines = "".join(remark if k % 40 == 0 else f"n = {k}\n" if k % 2 else "\n" for k in range(2990))
    source = f"import torch\nx = torch.ones(2, requires_grad=True)\n{lines}y = x.exp()\ny.add_(1)\ny.sum().backward()\n"
    page.goto(site)
    paste(page, source)
    trace = run(page)
    at_step(page, trace["outcome"]["error"]["step"])
    page.wait_for_function(IN_SIGHT)
    page.wait_for_function("() => location.hash.includes('&i=')")
    other = page.context.new_page()
    other.goto(page.url)
    at_step(other, trace["outcome"]["error"]["step"])
    other.wait_for_function(IN_SIGHT)
