"""The page in a real browser: what the DOM says is what the trace says, at every step, there and back."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.page_driver import READ, STALE, at_step, compare, leave, open_more, paste, run, use
from tests.support.tracing import Replay

SEEDS = ROOT.parent / "shared/seeds/snippets"
TRANSCRIPT = """\
    >>> import torch
    >>> m = torch.arange(6.).view(2, 3)
    >>> t = m.t()
    >>> t
    tensor([[0., 3.],
            [1., 4.],
            [2., 5.]])
    >>> row = m[1].expand(2, 3)
    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> y = x.sigmoid()
    >>> d = y.data
    >>> d.zero_()
    tensor([0., 0.])
    >>> (y * x).sum().backward()
    >>> x.grad
"""


def seed(name: str) -> Any:
    """A program of an article: these are left to `make exhaustive`, for tests/pictures/test_drawing.py has others of
    them."""
    path = SEEDS / f"{name}.txt"
    missing = pytest.mark.skipif(
        not path.exists(), reason="../shared/seeds is missing: the articles' programs were not opened in a browser"
    )
    return pytest.param(path.read_text() if path.exists() else "", id=name, marks=[missing, pytest.mark.exhaustive])


@pytest.mark.parametrize(
    "text",
    [
        seed("003_8"),
        seed("001_1"),
        pytest.param(TRANSCRIPT, id="transcript"),
        pytest.param(STALE, id="stale"),
    ],
)
def test_the_picture_is_the_trace_at_every_step(page: Any, site: str, text: str) -> None:
    page.goto(site)
    paste(page, text)
    trace = run(page)
    assert "\n".join(page.locator(".cm-line").all_inner_texts()).split() == trace["program"]["source"].split()
    leave(page)
    page.keyboard.press("Home")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    last = len(trace["steps"]) - 1
    for i in [*range(last + 1), *range(last - 1, -1, -1)]:
        at_step(page, i)
        state = Replay(trace, i).state
        compare(page.evaluate(READ), state)
        step = trace["steps"][i]
        lit = page.locator(".cm-now")
        assert lit.inner_text().strip() == trace["program"]["source"].split("\n")[step["line"] - 1].strip()
        printed = "".join(e["text"] for s in trace["steps"][: i + 1] for e in s["log"] if e["kind"] == "out")
        assert "".join(page.locator("#printed :not(.later)").all_text_contents()) == printed
        if i < last and page.evaluate("window.back") is None:
            page.keyboard.press("ArrowRight")
        elif i > 0:
            page.evaluate("window.back = true")
            page.keyboard.press("ArrowLeft")
    assert [url for url in asked if not url.endswith("/api/fixes")] == []  # fixes are tried once, whatever is stepped


def test_the_first_page_teaches(page: Any, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 5")
    assert "clone" in page.locator(".cm-content").inner_text() and "detach" in page.locator(".cm-content").inner_text()
    assert page.locator("#stage [data-handle]").count() >= 3
    assert page.locator("#sentences li").count() >= 1
    assert not [url for url in asked if url.endswith("/runs")]


def test_a_reload_or_a_copied_address_brings_program_and_step_back(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.ones(2)\nb = a[:1]\nb += 41\nc = '中'\n")
    run(page)
    leave(page)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    at_step(page, 3)
    page.wait_for_function("() => location.hash.includes('&i=3')")
    address = page.url
    page.reload()
    at_step(page, 3)
    page.wait_for_function(
        "() => ['b += 41', '中'].every((text) => document.querySelector('.cm-content').innerText.includes(text))"
    )
    other = page.context.new_page()
    other.goto(address)
    at_step(other, 3)
    assert other.locator('#stage [data-cell="s1:0"]').get_attribute("data-value") in ("42", "42.0")


def test_a_broken_address_says_so(page: Any, site: str) -> None:
    page.goto(f"{site}/#p=!!!&i=x")
    page.locator("#problem:not([hidden])").wait_for()
    page.locator("#stage [data-handle]").first.wait_for()


def test_after_a_run_by_key_the_keys_are_the_pictures_until_the_editor_is_clicked(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, STALE)
    trace = run(page)
    step = trace["outcome"]["error"]["step"]
    at_step(page, step)
    page.keyboard.press("ArrowLeft")
    at_step(page, step - 1)
    paste(page, "import torch\nx = (\n")
    assert run(page)["outcome"]["status"] == "refused"
    page.wait_for_function("() => document.activeElement.matches('.cm-content')")  # there is nothing to step through


def test_an_edit_outlives_the_gallery_and_the_way_back(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.evaluate("window.before = location.hash")
    page.keyboard.type("mine = 1")
    still = "() => location.hash !== before && (window.hash === location.hash || (window.hash = location.hash, false))"
    page.wait_for_function(still, polling=200)  # the address is written a moment after the last key
    open_more(page)
    page.locator("#more a[data-page=gallery]").click()
    page.wait_for_url("**/gallery")
    page.go_back()
    page.wait_for_selector("#workbench[data-steps]")
    assert "mine = 1" in page.locator(".cm-content").inner_text()
    assert page.locator("#stage [data-handle]").count() >= 1 and page.locator("#edited").is_visible()
    page.locator(".wordmark a").click()
    page.locator(".cm-line", has_text="mine = 1").wait_for()  # who has begun finds what he had there last
    page.locator("#new > summary").click()
    page.locator("#new [data-start=show]").click()
    page.locator("#kept:not([hidden])").wait_for()
    assert "mine = 1" not in page.locator(".cm-content").inner_text()
    page.locator("#kept-show").click()
    assert "mine = 1" in page.locator(".cm-content").inner_text()
    assert not page.locator("#kept").is_visible()


def test_the_opening_program_is_headed_by_its_title_and_question(page: Any, site: str) -> None:
    page.goto(f"{site}/?s=clone")
    assert page.locator("#heading").inner_text() == "clone against detach"
    assert page.locator(".lead").inner_text().startswith("One of them copies the memory")
    paste(page, "x = 1\n")
    assert page.locator("#heading").inner_text() == "Program" and not page.locator(".lead").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_button_that_saves_can_be_read(page: Any, site: str, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(site)
    use(page, "#save").click()
    style = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    ink, ground = page.locator("#saving [type=submit]").evaluate(style)
    assert contrast(ink, ground) >= 4.5


def contrast(*colours: str) -> float:
    """WCAG's, of two colours as a browser computes them."""
    lights = []
    for colour in colours:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_keys_in_the_editor_write_and_do_not_step(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_function("() => document.querySelector('#workbench').dataset.step")
    before = page.locator("#workbench").get_attribute("data-step")
    page.locator(".cm-content").click()
    for key in ("ArrowLeft", "ArrowRight", "Home", "End", "Space"):
        page.keyboard.press(key)
    assert page.locator("#workbench").get_attribute("data-step") == before


def test_a_click_on_a_line_number_goes_to_where_it_next_ran(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "for k in range(3):\n    a = k\nb = 9\n")
    trace = run(page)
    leave(page)
    page.keyboard.press("Home")
    second = [s["i"] for s in trace["steps"] if s["line"] == 2]
    number = page.locator(".cm-lineNumbers .cm-gutterElement", has_text=re.compile(r"^2$"))
    for i in second:
        number.click()
        at_step(page, i)


def test_a_program_can_not_write_into_the_page(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "x = '</script><img src=x onerror=alert(1)>'\nprint(x)\nraise ValueError(x)\n")
    run(page)
    assert page.locator("img:not(.cm-widgetBuffer)").count() == 0  # those are the editor's
    assert "</script><img" in page.locator("#printed").inner_text()


def test_both_languages(page: Any, site: str) -> None:
    page.goto(f"{site}/?lang=zh")
    page.wait_for_function("() => document.querySelector('#sentences li')")
    assert page.locator("#run-button").inner_text() == "运行"
    assert re.search("[\u4e00-\u9fff]", page.locator("#sentences").inner_text())


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "builder.",
        "commands.",
        "course.",
        "findings.",
        "gallery.",
        "matrix.",
        "net.",
        "pages.",
        "series.",
        "terminal.",
        "tips.",
    ],
)
def test_both_languages_have_the_same_sentences(prefix: str) -> None:
    files = (ROOT / f"static/locales/{prefix}{name}.json" for name in ("en", "zh"))
    english, chinese = (json.loads(path.read_text()) for path in files)
    assert english.keys() == chinese.keys()
    for key in english:
        assert set(re.findall(r"\{(\w+)[|}]", english[key])) == set(re.findall(r"\{(\w+)[|}]", chinese[key])), key


def test_the_gallery_lists_every_scenario_and_opens_it(page: Any, site: str) -> None:
    page.goto(f"{site}/gallery")
    assert page.locator(".gallery li").count() == len(list((Path(ROOT) / "scenarios").glob("*.py"))) >= 8
    page.locator(".gallery li a").last.click()
    page.wait_for_function("() => Number(document.querySelector('#workbench').dataset.steps) > 0")


@pytest.mark.parametrize("width", [390, 1024])
def test_small_screens_have_no_sideways_scroll(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(site)
    page.wait_for_function("() => document.querySelector('#stage [data-handle]')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_only_tensors_that_read_a_changed_cell_are_named(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.ones(3)\nleft = a[:1]\nright = a[1:]\nright[0] = 5\n")
    run(page)
    leave(page)
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#sentences li')")
    sentence = page.locator("#sentences li").first.inner_text()
    assert sentence == "right[0] is now 5. a reads the same memory, so a[1] is 5 too."


def test_no_device_is_offered_where_there_is_but_one(page: Any, site: str) -> None:
    page.goto(site)
    assert page.locator("#device").count() == 0


def test_a_click_on_a_cell_goes_to_its_last_write(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.zeros(3)\na[1] = 5.\nb = a + 1\na[1] = 6.\na[2] = 7.\n")
    trace = run(page)
    line = {step["line"]: step["i"] for step in trace["steps"]}
    leave(page)
    page.keyboard.press("End")
    at_step(page, line[6])
    cell = page.locator('#stage [data-cell="s1:1"]')
    for expected in (5, 3, 2):
        cell.click()
        at_step(page, line[expected])
    page.keyboard.press("End")
    at_step(page, line[6])
    page.locator('#stage [data-cell="s1:2"]').focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    page.locator('#stage [data-cell="s1:0"]').focus()
    page.keyboard.press("Enter")
    at_step(page, line[2])


def test_marks_are_reached_by_keys_and_the_pace_is_kept(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.zeros(3)\nb = 1\na[1] = 5.\nc = 2\na[2] = 6.\nd = 3\n")
    trace = run(page)
    line = {step["line"]: step["i"] for step in trace["steps"]}
    leave(page)
    page.keyboard.press("Home")
    for key, expected in (("n", 4), ("n", 6), ("n", 6), ("p", 4)):
        page.keyboard.press(key)
        at_step(page, line[expected])
    use(page, '[data-go="speed"]').click()
    assert page.locator('[data-go="speed"]').text_content() == "2×"
    page.reload()
    page.locator('[data-go="speed"]', has_text="2×").wait_for(state="attached")  # the page's script writes it


def test_the_sheet_of_keys_opens_and_closes_by_keys(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_selector("#workbench[data-steps]")  # before, no key is listened to
    leave(page)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible() and page.locator("#help kbd").count() >= 8
    assert {"-", "0", "+"} <= {*page.locator("#help kbd").all_inner_texts()}
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()
    use(page, "#help-button").click()
    page.locator("#help .close").click()
    assert page.locator("#help").is_hidden()
    page.locator(".cm-content").click()
    page.keyboard.type("?")
    assert page.locator("#help").is_hidden()
