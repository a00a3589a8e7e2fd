"""The program as cards in the page: what is done with them is a change of the text, one history, and a run."""

from typing import Any

import pytest

from tests.page.test_access import axe
from tests.support.kept_browser import new_context
from tests.support.page_driver import hold, let_go, paste, run, use
from tests.support.sampling import places, sampled

SOURCE = "import torch\n# mine\na = torch.tensor([1., 2.], requires_grad=True)\nb = a * 2\nfor step in range(2):\n    c = b.sum()\nif c < 0:\n    print(c)\n"
TEXT = "() => [...document.querySelectorAll('.cm-line')].map((line) => line.querySelector('.cm-placeholder') ? '' : line.innerText.replace(/\\n$/, '')).join('\\n')"


def text(page: Any) -> str:
    return str(page.evaluate(TEXT))


def card(page: Any, line: int) -> Any:
    return page.locator(f".card-row[data-line='{line - 1}'] .statement-card")


def results(page: Any) -> list[str]:
    rows: list[str] = page.locator(".card-result").all_inner_texts()
    return [" ".join(row.split()) for row in rows]


@pytest.fixture
def program(page: Any, site: str) -> Any:
    """The page with a program that has run, as cards."""
    page.goto(site)
    paste(page, SOURCE)
    run(page)
    use(page, "[data-as=cards]").click()
    page.wait_for_selector(".statement-card:focus")
    return page


def ran(page: Any) -> None:
    """Until the text that is shown has run."""
    page.wait_for_function("() => !document.querySelector('.card-list').classList.contains('stale')")


def test_cards_say_what_the_run_says_and_go_to_the_step(program: Any) -> None:
    card(program, 4).click()
    assert program.locator("#where").inner_text().count("line 4") == 1
    assert card(program, 4).get_attribute("aria-current") == "step"
    assert results(program) == ["", "", "(2,) ∇ leaf", "(2,) ∇ node", "entered 2 ×", "() ∇ node", "", "not reached"]
    assert card(program, 4).get_attribute("aria-label") == "line 4, b = a * 2, (2,) ∇ node"
    assert axe(program) == []


def test_the_keyboard_edits_the_program_and_one_history_takes_it_back(program: Any) -> None:
    keys = program.keyboard
    card(program, 4).click()
    keys.press("Enter")
    program.locator(".card-edit textarea").fill("b = a * 3 +")
    keys.press("Enter")
    assert program.locator(".card-problem").inner_text() != ""
    program.locator(".card-edit textarea").fill("b = a * 3")
    program.wait_for_selector(".card-tools-at", state="hidden")
    keys.press("Enter")
    program.wait_for_selector(".card-tools-at", state="visible")
    ran(program)
    keys.press("Alt+ArrowDown")
    ran(program)
    assert program.evaluate("document.activeElement.getAttribute('aria-label')").startswith("line 5, b = a * 3")
    keys.press("Control+d")
    keys.press("Control+/")
    keys.press("ArrowUp")
    keys.press("Delete")
    assert "Deleted line 5" in program.locator(".card-toast").inner_text()
    assert program.locator(".cards-foot .card-tools-line").inner_text() == "line 5", "the buttons cover no card"
    ran(program)
    for _ in range(5):
        keys.press("Control+z")
    ran(program)
    keys.press("Control+e")
    assert program.evaluate("document.activeElement.className").startswith("cm-content")
    assert text(program) == SOURCE
    program.keyboard.press("Control+y")
    assert "b = a * 3" in text(program)


def test_a_card_is_dragged_into_a_block(program: Any) -> None:
    grip = program.locator(".card-row[data-line='3'] .card-number").bounding_box()
    target = card(program, 5).bounding_box()
    program.mouse.move(grip["x"] + 5, grip["y"] + 10)
    program.mouse.down()
    program.mouse.move(grip["x"] + 5, target["y"] + target["height"] - 4, steps=4)
    assert program.locator(".card-drop").is_visible()
    program.mouse.up()
    assert card(program, 5).inner_text().startswith("b")
    program.keyboard.press("Control+e")
    assert "for step in range(2):\n    b = a * 2\n    c = b.sum()" in text(program)


def test_the_card_view_is_remembered_and_shows_an_error_at_its_card(program: Any) -> None:
    card(program, 4).click()
    program.keyboard.press("Enter")
    program.locator(".card-edit textarea").fill("b = a @ torch.ones(3)")
    program.keyboard.press("Enter")
    program.wait_for_selector(".statement-card.error")
    assert card(program, 4).get_attribute("class").count("error") == 1
    program.reload()
    program.wait_for_selector(".statement-card")
    assert program.locator("#editor").is_hidden()


def test_the_actions_of_a_card_can_be_tapped(chromium: Any, site: str) -> None:
    context = new_context(
        chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-US"
    )
    page = context.new_page()
    page.goto(site)
    page.wait_for_selector("#stage [data-handle]")
    use(page, "[data-as=cards]").tap()
    card(page, 4).tap()
    small = """() => [...document.querySelectorAll("#run-form button")].filter((e) => e.offsetParent)
        .filter((e) => { const { width, height } = e.getBoundingClientRect(); return width < 44 || height < 44; }).length"""
    assert page.evaluate(small) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-tool=down]").tap()
    page.wait_for_function("() => document.querySelector('.card-told').textContent.includes('line 5')")
    context.close()


def start(page: Any, site: str) -> None:
    """The page with a program that does nothing yet, as cards."""
    page.goto(site)
    paste(page, "import torch\n")
    run(page)
    use(page, "[data-as=cards]").click()
    page.wait_for_selector(".statement-card")


def reached(page: Any) -> None:
    """Until the last card has made a gradient."""
    page.locator(".card-result", has_text="x.grad").wait_for()
    assert text(page).rstrip("\n") == (
        "import torch\nx = torch.tensor([1., 2., 4.], requires_grad=True)\nloss = x.sum()\nloss.backward()"
    )


def settled(page: Any, names: int) -> None:
    """Until the run of the text is there, and the cards say what so many names are."""
    page.wait_for_function("n => document.querySelectorAll('.card-role, .card-result b').length >= n", arg=names)


def test_a_gradient_by_the_keyboard_alone(page: Any, site: str) -> None:
    start(page, site)
    for names, (word, option) in enumerate([("leaf", "leaf"), ("sum", "sum"), ("backward", "backward")]):
        page.wait_for_selector(".statement-card:focus")
        if names:
            settled(page, names)
        page.keyboard.press("/")
        page.wait_for_selector("#palette-q:focus")
        page.keyboard.type(word)
        page.locator(f"#operation-{option}[aria-selected=true]").wait_for()  # what is called exactly so comes first
        page.keyboard.press("Enter")
        page.wait_for_selector(f".card-form[data-operation={option}] input:focus")
        page.keyboard.press("Enter")
    reached(page)
    for _ in range(3):
        page.keyboard.press("Control+z")
    page.keyboard.press("Control+e")
    assert text(page) == "import torch\n", "a card is one change"


@pytest.fixture
def empty(page: Any, site: str) -> Any:
    """The page with an empty program, as cards, by keys alone."""
    page.goto(site)
    page.wait_for_selector("#stage [data-handle]")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.press("Control+e")
    page.wait_for_selector(".card-add:focus")
    return page


def current(page: Any) -> str:
    """The line and the text of the card that has the focus, or what else has it."""
    return str(
        page.evaluate("""() => {
            const {parentElement: row, className} = document.activeElement;
            const source = document.activeElement.querySelector(".card-source");
            return source ? `${Number(row.dataset.line) + 1} ${source.textContent}` : className || document.activeElement.tagName;
        }""")
    )


def on(page: Any, card: str) -> None:
    """Until a card has the focus."""
    page.wait_for_function(
        "text => document.activeElement.querySelector?.('.card-source')?.textContent === text", arg=card
    )


def test_a_program_from_nothing_by_the_keyboard_alone(empty: Any) -> None:
    """Nobody waits for anything: each word is typed as soon as the card before it has the focus."""
    keys = empty.keyboard
    button, listed = (empty.locator(name).bounding_box() for name in (".card-add", ".program-cards"))
    assert button["y"] - listed["y"] < 30, "an empty list has its button on top"
    program = {
        "leaf": "x = torch.tensor([1., 2., 4.], requires_grad=True)",
        "clone": "y = x.clone()",
        "sum": "loss = y.sum()",
        "backward": "loss.backward()",
    }
    for line, (word, statement) in enumerate(program.items(), 2):
        keys.press("/")
        keys.type(word)
        keys.press("Enter")
        keys.press("Enter")
        on(empty, statement)
        assert current(empty) == f"{line} {statement}"
        assert empty.locator(".card-told").text_content() == f"Added as line {line}."
    assert text(empty).strip() == "\n".join(["import torch", *program.values()])
    empty.locator(".card-result", has_text="x.grad").wait_for()
    assert current(empty) == "5 loss.backward()", "the run that came takes nobody away"
    keys.press("ArrowUp")
    keys.press("Alt+ArrowUp")
    on(empty, "loss = y.sum()")
    assert current(empty) == "3 loss = y.sum()"
    keys.press("Control+z")
    assert current(empty) == "4 loss = y.sum()", "the card that was moved back"
    keys.press("Home")
    keys.press("End")
    keys.press("Delete")
    assert current(empty) == "4 loss = y.sum()", "the last one of what is left"
    keys.press("ArrowUp")
    keys.press("Delete")
    assert current(empty) == "3 loss = y.sum()", "what has come in its place"
    keys.press("Control+z")
    assert current(empty) == "3 y = x.clone()", "what was brought back"
    for _ in range(4):
        keys.press("Delete")
    assert (text(empty).strip(), current(empty)) == ("", "card-add")
    keys.press("Control+z")
    assert current(empty) == "1 import torch"
    keys.press("Tab")
    assert current(empty) == "card-add"
    keys.press("ArrowUp")
    assert current(empty) == "1 import torch"


def test_the_fields_of_a_card_are_reached_in_order(program: Any) -> None:
    card(program, 4).click()
    program.keyboard.press("/")
    program.keyboard.type("mul")
    program.locator("#operation-mul[aria-selected=true]").wait_for()
    program.keyboard.press("Enter")
    program.wait_for_selector(".card-form input:focus")
    fields = program.locator(".card-form").evaluate(
        """form => {
            const all = [...form.querySelectorAll("input:not([type=hidden]), button")];
            return all.filter(({type, checked}) => type !== "radio" || checked).map(({id, className}) => id || className);
        }"""
    )
    reached = []
    for _ in fields:
        reached.append(program.evaluate("document.activeElement.id || document.activeElement.className"))
        program.keyboard.press("Tab")
    assert reached == fields and len(fields) > 3


@pytest.mark.parametrize("part", ["palette", "form"])
def test_what_is_typed_while_the_server_answers_is_neither_lost_nor_a_command(empty: Any, part: str) -> None:
    """A server that takes 300 ms for each answer: letters go into the field, and Enter means what they say."""

    def answer_late(route: Any) -> None:
        empty.wait_for_timeout(300)  # the server's
        route.continue_()

    for pattern in (f"**/builder/{part}*", f"**/builder/{part}/*"):
        empty.route(pattern, answer_late)
    keys = empty.keyboard
    keys.press("/")
    keys.type("leaf", delay=40)
    keys.press("Enter")
    empty.wait_for_selector(".card-form input:focus")
    keys.press("End")
    keys.press("Backspace")
    keys.type(", 8.5, 16.25]", delay=60)
    keys.press("Enter")
    on(empty, "x = torch.tensor([1., 2., 4., 8.5, 16.25], requires_grad=True)")
    assert empty.locator("#workbench").get_attribute("data-shown-view") == "step", "no letter was a command"


def test_a_line_put_in_above_takes_neither_the_card_nor_the_form_away(empty: Any) -> None:
    """The run adds the import that the text lacks, while the next card is being made."""
    keys = empty.keyboard
    keys.press("Control+e")
    keys.type("w = torch.ones(2)")
    keys.press("Control+e")
    on(empty, "w = torch.ones(2)")
    keys.press("Enter")
    keys.press("Backspace")
    keys.type("  )")
    keys.press("Enter")
    keys.press("/")
    keys.type("clo")
    empty.wait_for_function("() => document.querySelector('.card-source').textContent === 'import torch'")
    empty.wait_for_selector("#palette-q:focus")
    keys.type("ne")
    empty.locator("#operation-clone[aria-selected=true]").wait_for()
    keys.press("Enter")
    empty.wait_for_selector(".card-form input:focus")
    keys.press("Escape")
    assert current(empty) == "2 w = torch.ones(2  )"
    keys.press("/")
    keys.type("clone")
    keys.press("Enter")
    keys.press("Enter")
    on(empty, "y = w.clone()")
    assert current(empty) == "3 y = w.clone()"


def test_a_line_put_in_above_leaves_the_field_that_is_written_in(empty: Any) -> None:
    """The run adds the import that the text lacks, while the card is edited again."""
    keys = empty.keyboard
    held = hold(empty, "**/runs")
    keys.press("Control+e")
    keys.type("w = torch.ones(2)")
    keys.press("Control+e")
    on(empty, "w = torch.ones(2)")
    keys.press("Enter")
    keys.type(" + 1")
    keys.press("Enter")
    on(empty, "w = torch.ones(2) + 1")
    keys.press("Enter")
    keys.type(" + 2")
    let_go(empty, "**/runs", held)
    empty.wait_for_function("() => document.querySelector('.card-source').textContent === 'import torch'")
    assert empty.evaluate("document.activeElement.value") == "w = torch.ones(2) + 1 + 2"
    keys.press("Enter")
    on(empty, "w = torch.ones(2) + 1 + 2")
    assert text(empty).strip() == "import torch\nw = torch.ones(2) + 1 + 2"
    assert current(empty).startswith("2 ")


@pytest.mark.parametrize("part", ["palette", "form"])
def test_enter_waits_for_the_answer_to_what_was_typed(empty: Any, part: str) -> None:
    """The server has the question, and has not answered it, when Enter is pressed."""
    keys = empty.keyboard
    keys.press("/")
    empty.wait_for_selector("#palette-q:focus")
    if part == "palette":
        held = hold(empty, "**/builder/palette*")
        with empty.expect_request("**/builder/palette*"):
            keys.type("leaf")
        keys.press("Enter")
        assert empty.locator(".card-form").count() == 0
        let_go(empty, "**/builder/palette*", held)
        empty.wait_for_selector(".card-form[data-operation=leaf] input:focus")
        keys.press("Enter")
        on(empty, "x = torch.tensor([1., 2., 4.], requires_grad=True)")
        return
    keys.type("leaf")
    empty.locator("#operation-leaf[aria-selected=true]").wait_for()
    keys.press("Enter")
    empty.wait_for_selector(".card-form input:focus")
    held = hold(empty, "**/builder/form/*")
    keys.press("End")
    keys.press("Backspace")
    with empty.expect_request("**/builder/form/*"):
        keys.type(", 8.5]")
    keys.press("Enter")
    assert empty.locator(".card-form").count() == 1, "the draft that is shown is of another text"
    let_go(empty, "**/builder/form/*", held)
    on(empty, "x = torch.tensor([1., 2., 4., 8.5], requires_grad=True)")


@pytest.mark.parametrize("way", sampled(["click", "tap"], places(1)))
def test_a_gradient_by_mouse_and_by_touch(chromium: Any, site: str, way: str) -> None:
    size = {"width": 390, "height": 844} if way == "tap" else {"width": 1440, "height": 900}
    context = new_context(chromium, viewport=size, has_touch=way == "tap", is_mobile=way == "tap", locale="en-US")
    page = context.new_page()
    page.goto(site)
    paste(page, "import torch\n")
    run(page)
    getattr(use(page, "[data-as=cards]"), way)()
    for names, option in enumerate(["leaf", "sum", "backward"]):
        if names:
            settled(page, names)
        getattr(page.locator(".card-add"), way)()
        getattr(page.locator(f"#operation-{option}"), way)()
        getattr(page.locator(f".card-form[data-operation={option}] [type=submit]"), way)()
    reached(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_a_card_is_previewed_and_escape_leaves_nothing(program: Any, site: str) -> None:
    made = any(program.request.get(f"{site}/operations/clone.svg").status == 200 for _ in range(40))
    assert made, "it is made as soon as no program runs, and each request waits a second and a half for that"
    before = text(program)
    card(program, 4).click()
    where = program.locator("#where").inner_text()
    program.keyboard.press("/")
    program.wait_for_selector("#palette-q:focus")
    program.keyboard.type("clone")
    program.locator("#operation-clone[aria-selected=true]").wait_for()
    program.wait_for_selector("#stage.previewed [data-name=y]", state="attached")
    program.wait_for_function("() => document.querySelector('#operation-clone img').naturalWidth > 0")
    assert program.locator("#where").inner_text() == "Preview, not in the program yet · line 5 · y = b.clone()"
    program.keyboard.press("Enter")
    program.wait_for_selector(".card-form input:focus")
    assert axe(program) == []
    program.keyboard.press("ArrowDown")
    program.locator("#where", has_text="y = a.clone()").wait_for()
    program.keyboard.press("Escape")
    program.wait_for_selector(".statement-card:focus")
    assert program.locator("#stage.previewed, #stage [data-name=y]").count() == 0
    assert (program.locator("#where").inner_text(), text(program)) == (where, before)


def test_a_form_says_that_sizes_do_not_fit_before_the_program_runs(program: Any) -> None:
    card(program, 6).click()
    program.keyboard.press("/")
    program.wait_for_selector("#palette-q:focus")
    program.keyboard.type("backward()")
    program.locator("#operation-backward").click()
    program.locator("input[name='in.loss'][value=b]").click()
    program.locator(".form-problem", has_text="2 elements").wait_for()
    program.locator(".ghost-problem", has_text="RuntimeError").wait_for()
    card(program, 7).locator(".card-going", has_text="would not be reached").wait_for()
    program.keyboard.press("Control+k")
    program.wait_for_selector(".command-palette[open] input:focus")
    program.keyboard.press("Escape")
    program.locator("[data-cancel]").click()
    assert program.locator(".card-going").count() == 0
