"""The siblings of a statement in the page: a click or a key puts one in its place and runs, one undo takes it back."""

from typing import Any

import pytest

from tests.page.test_access import axe
from tests.support.page_driver import at_step, paste, run

SOURCE = "import torch\na = torch.tensor([1., 2.], requires_grad=True)\nb = a.clone()  # mine\nb.sum().backward()\n"
LINE = "() => document.querySelector('.cm-now')?.innerText"


def go_to(page: Any, step: int) -> None:
    page.locator("#slider").fill(str(step))
    at_step(page, step)


@pytest.fixture
def program(page: Any, site: str) -> Any:
    """The page with a program that copies, at the step of the copy."""
    page.goto(site)
    paste(page, SOURCE)
    trace = run(page)
    go_to(page, next(k for k, step in enumerate(trace["steps"]) if step["line"] == 3))
    page.wait_for_selector("[data-sibling=detach]:visible")
    return page


def test_a_click_swaps_and_runs_and_one_undo_takes_it_back(program: Any) -> None:
    program.locator("[data-sibling=detach]").click()
    program.wait_for_function("() => document.querySelector('#outcome').classList.contains('raised')")
    text = "() => document.querySelector('.cm-content').innerText"
    assert "b = a.detach()  # mine" in program.evaluate(text) and "clone" not in program.evaluate(text)
    assert "b = a.detach()" in program.evaluate(LINE), "it stays at the statement"
    program.locator("[data-sibling=clone]").wait_for()
    program.locator(".cm-content").click()
    program.keyboard.press("Control+z")
    assert "b = a.clone()  # mine" in program.evaluate(text)
    assert program.locator(".sibling").count() == 0, "no chips for a program that has not run"


def test_an_import_comes_along_and_the_program_still_runs(program: Any) -> None:
    program.locator("[data-sibling=deepcopy]").focus()
    program.keyboard.press("Enter")
    program.wait_for_function("() => document.querySelector('.cm-now')?.innerText.includes('copy.deepcopy(a)')")
    assert program.evaluate("() => document.querySelector('.cm-line').innerText") == "import copy"
    assert "finished" in program.locator("#outcome").get_attribute("class")


def test_a_statement_without_siblings_has_no_chips(program: Any) -> None:
    top = program.locator("#outcome").bounding_box()["y"]
    go_to(program, 0)
    assert program.locator("#siblings").is_hidden()
    assert program.locator("#outcome").bounding_box()["y"] == top, "nothing moves"


def test_pointing_at_a_sibling_says_what_it_would_do_and_leaving_it_takes_that_away(program: Any) -> None:
    text = "() => document.querySelector('.cm-content').innerText"
    before = program.evaluate(text)
    for name, sign, says in [("new_tensor", "✕", "stops on line 4"), ("deepcopy", "≠", "is a leaf")]:
        chip = program.locator(f"[data-sibling={name}]")
        chip.hover()
        preview = program.locator(".sibling-preview")
        preview.wait_for()
        assert says in preview.inner_text() and "not in the program" in preview.inner_text()
        assert chip.locator(".sibling-mark").inner_text() == sign
        if name == "deepcopy":
            assert axe(program) == []
        program.mouse.move(900, 500)
        preview.wait_for(state="detached")
    assert program.evaluate(text) == before
    program.locator("[data-sibling=data]").focus()
    program.keyboard.press("Shift+Tab")
    program.keyboard.press("Tab")
    program.locator("[data-sibling=data] .sibling-mark").wait_for()


def test_a_preview_that_fails_is_quiet(program: Any) -> None:
    program.route(
        "**/api/runs?live=1",
        lambda route: route.fulfill(status=429, json={"error": {"code": "limited", "message": "no"}}),
    )
    with program.expect_response("**/api/runs?live=1"):
        program.locator("[data-sibling=detach]").hover()
    program.wait_for_timeout(100)  # a preview would be there
    assert program.locator(".sibling-preview").count() == program.locator(".sibling-mark").count() == 0
    assert program.locator("#problem").is_hidden()


def test_axe_finds_nothing(program: Any) -> None:
    assert axe(program) == []
