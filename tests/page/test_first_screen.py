"""The first screen in a browser: three starts and one question, the menu "More", and what a reader finds who comes
back."""

import gzip
from typing import Any

import pytest

from tests.page.test_access import axe
from tests.support.kept_browser import new_context
from tests.support.page_driver import at_step, hold, let_go, open_more, paste, run
from tests.support.sampling import in_turn

FIRST_LOAD_KB = 300
"""What the project allows itself."""
CODE = "() => document.querySelector('.cm-content').innerHTML"
HAS_TOOLS = "() => document.querySelector('.cm-content').dataset.language === 'python'"
PRESSABLE = """() => [...document.querySelectorAll("a[href], button, input, textarea, select, summary, [role=separator]")]
    .filter(e => !e.disabled && e.checkVisibility({visibilityProperty: true}))
    .filter(e => !e.closest("#stage, .cm-editor, .border")).map(e => e.id || e.textContent.trim() || e.outerHTML.slice(0, 80))"""  # noqa: E501


def first_screen(page: Any, address: str) -> None:
    page.goto(address)
    page.locator("#first-question").wait_for()


def come_back(page: Any, site: str) -> Any:
    """Another tab, later."""
    later = page.context.new_page()
    later.goto(site)
    later.wait_for_selector("#workbench[data-steps], #waiting:not([hidden])")
    return later


def test_a_first_visitor_finds_one_line_three_starts_and_one_question(page: Any, site: str) -> None:
    first_screen(page, site)
    assert page.locator("#starts p").inner_text() == "See what a PyTorch program does to memory and gradients"
    starts = page.locator("#starts button")
    assert starts.all_inner_texts() == [
        "Paste your program",
        "I have an error message",
        "Show me clone, detach, backward",
    ]
    assert {round(box["height"]) for box in (start.bounding_box() for start in starts.all())} == {38}
    assert page.locator("#first-question").inner_text().startswith("The next line is c[0] = 8.0. Who will see the 8?")
    pressable = page.evaluate(PRESSABLE)
    assert len(pressable) <= 14, pressable  # with the two of the toggle
    for telling in ("#findings", "#printed-box", ".question.of-saved", "#sentences", "#legend"):
        assert page.locator(telling).first.is_hidden(), f"{telling} tells the answer, or is one thing more to read"


@pytest.mark.parametrize(("answer", "says"), [("a", "Right"), ("b", "Look at a"), ("", "Look at a")])
def test_the_answer_is_the_next_step(page: Any, site: str, answer: str, says: str) -> None:
    first_screen(page, site)
    before = int(page.locator("#workbench").get_attribute("data-step"))
    stage = page.locator("#stage").bounding_box()
    page.locator(f"[data-sees='{answer}']").click()
    at_step(page, before + 1)
    assert page.locator("#verdict").inner_text().startswith(says)
    assert page.locator("#first-question").is_hidden() and page.locator("#sentences").is_visible()
    assert page.locator("#stage").bounding_box() == stage, "nothing moves"
    page.keyboard.press("ArrowRight")
    at_step(page, before + 2)
    assert page.locator("#verdict").is_hidden()


def test_stepping_by_key_hides_the_question_without_a_verdict(page: Any, site: str) -> None:
    first_screen(page, site)
    page.keyboard.press("ArrowRight")
    page.locator("#first-question").wait_for(state="hidden")
    assert page.locator("#verdict").is_hidden()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#first-question").is_visible()


def test_pasting_begins_with_an_empty_editor_and_undo_brings_the_text_back(page: Any, site: str) -> None:
    first_screen(page, site)
    text = page.locator(".cm-content").inner_text()
    page.locator("#starts [data-start=paste]").click()
    assert page.evaluate("() => document.activeElement.matches('.cm-content')")
    assert page.locator(".cm-content .cm-line").inner_text().strip() == "Paste a PyTorch program and press Run."
    page.wait_for_timeout(1200)  # a run would have begun by now
    assert page.locator('#stage [data-name="a"]').count() == 1, "an empty editor runs nothing"
    page.keyboard.press("Control+z")
    assert page.locator(".cm-content").inner_text() == text


def test_an_error_message_is_looked_up(page: Any, site: str) -> None:
    first_screen(page, site)
    page.locator("#starts [data-start=error]").click()
    assert page.evaluate("() => document.activeElement.id") == "error-message"
    page.keyboard.insert_text(
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn, at line 12 of train.py"
    )
    hits = page.locator("#error-hits a")
    hits.first.wait_for()
    assert 1 <= hits.count() <= 4 and "explanation" in page.locator("#error-found").inner_text()
    page.fill("#error-message", "zzz qqq xyzzy")
    page.locator("#error-found", has_text="No program").wait_for()
    assert hits.count() == 0
    page.locator("#error-search [data-start=paste]").click()
    assert page.locator("#error-search").is_hidden()
    assert page.evaluate("() => document.activeElement.matches('.cm-content')")


def test_show_me_brings_the_question_back(page: Any, site: str) -> None:
    first_screen(page, site)
    paste(page, "import torch\nmine = torch.ones(2)\n")
    run(page)
    page.locator("#new summary").click()
    page.locator("#new [data-start=show]").click()
    page.locator("#first-question").wait_for()
    assert "a.detach()" in page.locator(".cm-content").inner_text()
    assert page.evaluate("() => document.activeElement.dataset.sees") == "a"
    page.keyboard.press("Enter")
    page.locator("#verdict", has_text="Right").wait_for()


@pytest.mark.parametrize("way", ["pasted", "typed", "started"])
def test_the_starts_fold_into_a_menu_once_there_is_a_program_of_ones_own(page: Any, site: str, way: str) -> None:
    first_screen(page, site)
    if way == "started":
        page.locator("#starts [data-start=paste]").click()
        assert page.locator("#starts").is_visible(), "nothing goes from under the pointer, and no program is there yet"
        page.keyboard.insert_text("import torch\nmine = torch.ones(2)\n")
    elif way == "pasted":
        paste(page, "import torch\nmine = torch.ones(2)\n")
    else:
        page.locator(".cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type("x")
    page.locator("#starts").wait_for(state="hidden")
    box = page.locator("#run-button").bounding_box()
    assert box["y"] < 120
    run(page)
    assert page.locator("#run-button").bounding_box() == box, "a run moves nothing"
    page.locator("#new summary").click()
    assert page.locator("#new [data-start]:visible").count() == 3
    page.keyboard.press("Escape")
    page.wait_for_function("() => (localStorage.getItem('gradbox-last') ?? '').includes('#p=')")
    later = come_back(page, site)
    assert later.locator("#starts").is_hidden()


def test_a_button_that_changes_the_opening_program_keeps_its_place(page: Any, site: str) -> None:
    first_screen(page, site)
    page.locator("[data-sees=a]").click()
    text = page.locator(".cm-content").inner_text()
    chip = page.locator("#siblings [data-sibling]:visible").first
    page.keyboard.press("ArrowLeft")
    page.locator("#where", has_text="c = a.detach()").wait_for()
    chip.wait_for()
    page.locator("#findings > *").first.wait_for()  # what is said of the run takes its room first
    place = page.locator("#siblings").bounding_box()["y"]
    chip.click()
    page.wait_for_function("text => document.querySelector('.cm-content').innerText !== text", arg=text)
    assert page.locator("#starts").is_visible() and page.locator("#siblings").bounding_box()["y"] == place


def test_a_returning_visitor_finds_the_program_as_it_was_left(page: Any, site: str) -> None:
    first_screen(page, site)
    paste(page, "import torch\nmine = torch.ones(2)\nmine.add_(1)\n")
    run(page)
    page.keyboard.press("Home")
    at_step(page, 0)
    page.wait_for_function("() => (localStorage.getItem('gradbox-last') ?? '').includes('&i=0')")
    later = come_back(page, site)
    assert "mine.add_(1)" in later.locator(".cm-content").inner_text()
    at_step(later, 0)
    assert later.locator("#starts").is_hidden() and later.locator("#new summary").is_visible()
    later.locator("#new summary").click()
    assert later.locator("#new [data-start]").count() == 3
    later.locator("#new [data-start=show]").click()
    later.locator("#first-question").wait_for()
    assert not later.locator("#new").get_attribute("open")


def test_a_used_button_stays_visible_until_it_is_forgotten(page: Any, site: str) -> None:
    first_screen(page, site)
    assert page.locator("#predict-button").is_hidden()
    open_more(page)
    page.locator("#live").click()
    assert page.locator("#more #live").count() == 1, "nothing leaves the menu under the pointer"
    page.keyboard.press("Escape")
    page.locator(".bar #live").wait_for()
    page.locator("[data-sees=a]").click()
    for _ in range(3):
        open_more(page)
        with page.expect_navigation():
            page.locator("#more a[data-page=course]").click()
        page.goto(site)
        page.wait_for_selector("#workbench[data-steps]")
    assert page.locator("#beside-more a").all_inner_texts() == ["Course"]
    for in_sight in (".bar #live", "#new"):
        assert page.locator(in_sight).is_visible(), in_sight
    assert page.locator("#predict-button").is_hidden(), "it was not used"
    open_more(page)
    with page.expect_navigation():
        page.locator("#forget").click()
    page.locator("#first-question").wait_for()
    assert page.locator("#beside-more a").count() == 0 and page.locator("#starts").is_visible()
    assert page.locator("#more #live").count() == 1


def test_the_more_menu_works_by_keyboard(page: Any, site: str) -> None:
    first_screen(page, site)
    page.locator("#more summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#more .menu-panel").is_visible()
    reached: list[str] = []
    for _ in range(40):
        page.keyboard.press("ArrowDown")
        name = page.evaluate("() => document.activeElement.id || document.activeElement.textContent.trim()")
        if reached and reached[-1] == name:
            break
        reached.append(name)
        if page.evaluate("() => document.activeElement.type") == "number":
            page.keyboard.press("Tab")
            reached.append(page.evaluate("() => document.activeElement.id"))
    for control in ("Gallery", "Compare", "open-file", "predict-button", "theme", "copy", "save", "forget"):
        assert control in reached, (control, reached)
    page.keyboard.press("Escape")
    assert page.locator("#more .menu-panel").is_hidden()
    assert page.evaluate("() => document.activeElement.matches('#more summary')")
    before = page.locator("#workbench").get_attribute("data-step")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert page.locator("#workbench").get_attribute("data-step") == before


def test_a_press_outside_closes_a_menu(page: Any, site: str) -> None:
    first_screen(page, site)
    open_more(page)
    page.locator("#heading").click()
    assert page.locator("#more .menu-panel").is_hidden()


def test_a_seed_that_is_not_the_default_is_in_sight(page: Any, site: str) -> None:
    first_screen(page, site)
    open_more(page)
    page.locator("#seed").fill("7")
    assert page.evaluate("() => document.activeElement.id") == "seed", "it stays where it is typed"
    page.keyboard.press("Escape")
    page.locator(".bar #seed").wait_for()


def test_the_pages_are_reached_without_a_script(profile: Any, site: str) -> None:
    context = new_context(profile.browser, java_script_enabled=False)
    plain = context.new_page()
    plain.goto(site)
    plain.locator("#more summary").click()
    assert plain.locator("#more a[data-page]:visible").all_inner_texts() == ["Gallery", "Course", "Matrix", "Compare"]
    plain.locator("#more a[data-page=course]").click()
    plain.wait_for_url("**/course*")
    context.close()


SCREENS = {
    "wide": {"width": 1440, "height": 900},
    "low": {"width": 1280, "height": 720},
    "phone": {"width": 390, "height": 844},
    "twice": {"width": 720, "height": 450},
}


@pytest.mark.parametrize("size", SCREENS)
def test_the_first_screen_fits(page: Any, site: str, size: str) -> None:
    page.set_viewport_size(SCREENS[size])
    first_screen(page, site)
    width, height = SCREENS[size].values()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    for needed in ("#starts-what", "#run-button", "[data-sees='']", "[data-go=next]", "#stage"):
        box = page.locator(needed).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, needed
        assert box["y"] >= 0 and (needed == "#stage" or box["y"] + box["height"] <= height), needed
    starts = "#new summary" if size == "twice" else "#starts [data-start=show]"
    assert page.locator(starts).is_visible()
    open_more(page)
    panel = page.locator("#more .menu-panel").bounding_box()
    assert panel["x"] >= 0 and panel["x"] + panel["width"] <= width and panel["y"] + panel["height"] <= height


def test_the_first_screen_speaks_chinese(page: Any, site: str) -> None:
    first_screen(page, f"{site}/?lang=zh")
    assert page.locator("#starts p").inner_text() == "看 PyTorch 程序如何改变内存和梯度"
    page.locator("[data-sees=a]").click()
    assert page.locator("#verdict").inner_text() == "答对了：a 和 c 读的是同一块内存。"
    open_more(page)
    assert page.locator("#more .menu-heading").all_inner_texts() == ["查看", "运行", "显示", "分享"]


OPENED = ["asking", "more", "answered", "error", "new"]


@pytest.mark.parametrize(("what", "scheme"), in_turn(OPENED, ["light", "dark"]))
def test_axe_finds_nothing_on_the_first_screen(page: Any, site: str, what: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    first_screen(page, site)
    if what == "more":
        open_more(page)
    elif what == "error":
        page.locator("#starts [data-start=error]").click()
        page.fill("#error-message", "a leaf Variable that requires grad is being used in an in-place operation")
        page.locator("#error-hits a").first.wait_for()
    elif what != "asking":
        page.locator("[data-sees=b]").click()
    if what == "new":
        page.reload()
        page.wait_for_selector("#workbench[data-steps]")
        page.locator("#new summary").click()
    assert axe(page) == []


COLOURS = """() => Object.fromEntries([["run", "#run-button", "backgroundColor"], ["start", "#starts [data-start=show]", "backgroundColor"],
    ["line", ".cm-now", "boxShadow"], ["slider", "#slider", "accentColor"]].map(([name, query, of]) =>
    [name, getComputedStyle(document.querySelector(query))[of]]))"""  # noqa: E501
PURPLES = ("90, 67, 214", "169, 155, 255")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_buttons_have_the_text_colour(page: Any, site: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    first_screen(page, site)
    ink = page.evaluate("() => getComputedStyle(document.body).color")
    colours = page.evaluate(COLOURS)
    assert colours["run"] == colours["start"] == ink
    assert ink in colours["line"]
    assert not any(purple in colour for purple in PURPLES for colour in colours.values())


def test_the_first_load_is_small(page: Any, site: str) -> None:
    """Everything that a first visitor's browser fetches before he does something, each file gzipped."""
    responses: list[Any] = []
    page.on("response", lambda response: responses.append(response))
    first_screen(page, site)
    page.wait_for_load_state("networkidle")
    sizes = {response.url: len(gzip.compress(response.body(), mtime=0)) / 1000 for response in responses}
    largest = sorted(sizes.items(), key=lambda entry: -entry[1])[:8]
    assert len(sizes) > 10 and sum(sizes.values()) <= FIRST_LOAD_KB, (sum(sizes.values()), largest)
    assert not page.evaluate(HAS_TOOLS), "the grammar waits until somebody is there"


def test_the_program_has_its_colours_before_the_grammar_comes_and_keeps_them(page: Any, site: str) -> None:
    first_screen(page, site)
    painted = page.evaluate(CODE)
    assert 'class="sx-word"' in painted and 'class="sx-number"' in painted
    page.mouse.move(700, 450)
    page.wait_for_function(HAS_TOOLS)
    assert page.evaluate(CODE) == painted


def test_what_is_written_before_the_editors_tools_have_come_can_be_undone(page: Any, site: str) -> None:
    held = hold(page, "**/chunks/editor_tools-*.js")
    first_screen(page, site)
    text = page.locator(".cm-content").inner_text()
    page.locator("#starts [data-start=paste]").click()
    page.keyboard.insert_text("import torch\nmine = torch.ones(2)")
    assert not page.evaluate(HAS_TOOLS)
    let_go(page, "**/chunks/editor_tools-*.js", held)
    page.wait_for_function(HAS_TOOLS)
    assert "mine = torch.ones(2)" in page.locator(".cm-content").inner_text()
    page.keyboard.insert_text("\nmore = 1")
    for _ in range(4):
        page.keyboard.press("Control+z")
    assert page.locator(".cm-content").inner_text() == text
