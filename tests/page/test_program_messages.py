"""The page in a real browser: what is said beside the lines of a program: refusals, repairs, errors, limits,
outputs."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.page_driver import STALE, at_step, leave, paste, run
from tests.support.running_server import running_server


def test_refusals_and_errors_stand_at_their_lines(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\nimport socket\nx = eval('y')\n")
    assert run(page)["outcome"]["status"] == "refused"
    assert page.locator(".message.error").all_inner_texts() == [
        "import of 'socket' is not available: a program here has no network access",
        "'eval' is not available: a program here runs its own text and can't run other text as code",
    ]
    assert page.locator(".cm-error").all_inner_texts() == ["import socket", "x = eval('y')"]
    paste(page, "import torch\na = torch.ones(2)\nb = a @ torch.ones(3)\n")
    trace = run(page)
    at_step(page, trace["outcome"]["error"]["step"])
    assert [text.strip() for text in page.locator(".cm-error").all_inner_texts()] == ["b = a @ torch.ones(3)"]
    page.locator(".finding.open", has_text="Stopped on line 3").wait_for()


def test_a_torn_prompt_is_repaired_and_the_outputs_stay(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, ">>> c = torch.ones(2)\nc>>> .zero_()\ntensor([0., 0.])\n>>> c\ntensor([0., 0.])\n")
    run(page)
    before = page.locator(".cm-line").all_inner_texts()
    assert [row[0] for row in output_rows(page)] == ["not reached", "different"]
    with page.expect_response("**/runs"):
        page.locator(".message.notice button", has_text="Insert c.zero_()").click()
    page.wait_for_function("() => document.querySelectorAll('.beside.same').length === 2")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    assert page.locator(".cm-line").all_inner_texts() == before


def test_a_repair_is_made_on_a_click_with_the_readers_shape(page: Any, site: str) -> None:
    page.goto(site)
    source = "import torch\nx = torch.load('x.pt').cuda()\ny = x.to('cuda')\nprint(y.shape)\n"
    paste(page, source)
    assert run(page)["outcome"]["error"]["type"] == "FileNotFoundError"
    field = page.locator(".offer input")
    field.fill("2, no")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("2, 3")
    with page.expect_response("**/runs"):
        field.press("Enter")
    page.locator(".cm-line", has_text="x = torch.empty(2, 3).normal_().cuda()").wait_for()
    page.locator("#outcome.raised").wait_for()
    with page.expect_response("**/runs"):
        page.locator(".message.error button").click()
    page.locator("#outcome.finished").wait_for()
    edited = ['x = torch.empty(2, 3).normal_().to("cpu", copy=True)', 'y = x.to("cpu")']
    assert page.locator(".cm-line").all_inner_texts()[1:3] == edited
    leave(page)
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('#printed').textContent === 'torch.Size([2, 3])\\n'")
    page.locator(".cm-content").click()
    for _ in range(2):
        page.keyboard.press("Control+z")
    assert "\n".join(page.locator(".cm-line").all_inner_texts()).strip() == source.strip()


def test_a_click_on_raised_at_line_goes_to_that_statement(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, "import torch\na = torch.ones(2)\nraise ValueError('no')\n")
    trace = run(page)
    step = trace["outcome"]["error"]["step"]
    assert trace["steps"][step]["line"] == 3
    leave(page)
    page.keyboard.press("Home")
    at_step(page, 0)
    page.locator("#outcome button", has_text="Raised at line 3").click()
    at_step(page, step)


def test_changes_of_a_pasted_text_are_noted_at_their_lines_or_once(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, ">>> a = torch.ones(2)\n>>> a\ntensor([1., 1.])\n>>> a * 2\ntensor([2., 2.])\n")
    run(page)
    assert page.locator(".message.notice").all_inner_texts() == ["Added import torch"]
    assert page.locator("#notices").inner_text() == "Prompts were removed."


def output_rows(page: Any) -> list[tuple[str, list[str], str]]:
    """(verdict, texts, line under or behind which they stand) of each output that is laid beside torch's."""
    rows: list[list[Any]] = page.locator(".beside").evaluate_all(
        """all => all.map(e => {
            let line = e.closest(".cm-line") ?? e;
            while (!line.matches(".cm-line")) line = line.previousElementSibling;
            const texts = [...e.querySelectorAll(".text")].map(t => t.textContent);
            const word = e.querySelector(".verdict");
            return [word.dataset.word ?? word.textContent, texts, line.textContent.trim()];
        })"""
    )
    return [(verdict, texts, line) for verdict, texts, line in rows]


SESSION = """\
>>> a = torch.ones(2)
>>> a
tensor([ 1.,  1.])
>>> a.requires_grad_().exp()
tensor([2.7183, 2.7183])
>>> print(a.sum())  # tensor(2., grad_fn=<SumBackward0>)
>>> a.add_(1)
RuntimeError: a leaf Variable that requires grad
>>> a
tensor([2., 2.])
"""
LAID = [
    ("same", ["tensor([ 1.,  1.])"], "a"),
    ("different", ["tensor([2.7183, 2.7183])", "tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>)"],
     "a.requires_grad_().exp()"),
    ("same", [], "print(a.sum())  # tensor(2., grad_fn=<SumBackward0>)"),
    ("same as far as it goes", ["RuntimeError: a leaf Variable that requires grad"], "a.add_(1)"),
    ("not reached", ["tensor([2., 2.])"], "a"),
]  # fmt: skip


def test_an_articles_outputs_stand_beside_torchs(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SESSION)
    trace = run(page)
    assert output_rows(page) == LAID
    steps = {step["line"]: step["i"] for step in trace["steps"]}
    for row, line in ((0, 3), (1, 4), (2, 5), (3, 6)):
        page.locator(".beside").nth(row).click()
        at_step(page, steps[line])
    assert page.locator(".beside").nth(4).evaluate("e => e.tagName") == "DIV"
    assert page.locator("#outputs").inner_text().split(": ")[1].split("\n") == ["1 different 3 the same 1 not reached"]


def test_outputs_are_reached_by_keys_and_come_back_with_the_address(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SESSION)
    trace = run(page)
    steps = {step["line"]: step["i"] for step in trace["steps"]}
    page.locator("#outputs button.same").focus()
    for line in (3, 5, 6, 3):
        page.keyboard.press("Enter")
        at_step(page, steps[line])
    page.locator(".beside.same").first.focus()
    page.keyboard.press("Space")
    at_step(page, steps[3])
    page.wait_for_function("i => location.hash.includes(`&i=${i}`)", arg=steps[3])
    page.reload()
    at_step(page, steps[3])
    assert len(output_rows(page)) == len(LAID)
    page.locator(".cm-line").first.click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("# mine")
    assert page.locator(".beside").count() == 0


@pytest.mark.parametrize("width", [390, 1440])
def test_outputs_fit_where_there_is_little_room(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{site}/?lang=zh")
    paste(page, ">>> x = torch.zeros(2, 12)\n>>> x\n" + "tensor([[" + "1., " * 60 + "0.]])\n")
    run(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".beside.different").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert page.locator(".beside .verdict").all_inner_texts() == ["不同"]


def test_an_exception_leads_to_its_step_and_to_the_write_that_caused_it(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, STALE)
    steps = run(page)["steps"]
    raised, cause = (next(s["i"] for s in steps if is_it(s)) for is_it in (is_raise, is_breaking_write))
    page.keyboard.press("Home")
    at_step(page, 0)
    page.locator(".finding-link").last.click()
    page.wait_for_function("() => document.querySelector('#workbench').dataset.step !== '0'")
    assert page.locator(".cm-now").inner_text().strip() == "y.sum().backward()"
    page.locator(".finding-link.cause").click()
    at_step(page, cause)
    assert page.locator(".cm-now").inner_text().strip() == "y.add_(1)"
    marks = page.locator("#marks").bounding_box()
    for step in (raised, cause):
        page.mouse.click(marks["x"] + marks["width"] * step / (len(steps) - 1) + 3, marks["y"] + 4)
        at_step(page, step)


def is_raise(step: dict[str, Any]) -> bool:
    return bool(step["kind"] == "raise")


def is_breaking_write(step: dict[str, Any]) -> bool:
    return any(entry.get("event") == "saved_stale" for entry in step["log"])


def test_a_refused_program_leaves_nothing_of_the_one_before(page: Any, site: str) -> None:
    page.goto(site)
    page.wait_for_function("() => document.querySelector('#alive').textContent.includes('in use')")
    paste(page, "import socket\n")
    run(page)
    assert page.locator("#alive").text_content() == "" and page.locator("#modes").text_content() == ""


def test_refusals_speak_the_readers_language(page: Any, site: str) -> None:
    page.goto(f"{site}/?lang=zh")
    paste(page, "import socket\nx = eval('y')\n")
    run(page)
    errors = page.locator(".message.error").all_inner_texts()
    assert len(errors) == 2 and all(re.search("[\u4e00-\u9fff]", text) for text in errors), errors


def test_a_limit_is_shown_at_its_line(page: Any, tmp_path: Path) -> None:
    with running_server(tmp_path, WALL="5") as site:
        page.goto(site)
        paste(page, "import time, torch\nx = torch.ones(2)\ntime.sleep(1000)\n")
        stopped = run(page)["outcome"]["stopped"]
        assert (stopped["limit"], stopped["line"]) == ("wall", 3)
        page.locator("#outcome", has_text="seconds;").wait_for()
        page.locator(".message.error", has_text="on this line when it was stopped").wait_for()
