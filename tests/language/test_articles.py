"""An article's session that was pasted: its printed outputs stay beside its statements when it is edited, shared and
saved."""

from typing import Any

from tests.support.kept_browser import new_context
from tests.support.page_driver import leave, paste, run, use

SESSION = """!pip install torch

In [1]: import torch
   ...: x = torch.ones(3, requires_grad=True)

In [2]: x * 2
Out[2]: tensor([2., 2., 2.], grad_fn=<MulBackward0>)

In [3]: y = (x * 3).sum()
   ...: y.backward()
   ...: x.grad
Out[3]: tensor([2., 2., 2.])
"""
LINES = [
    "import torch",
    "x = torch.ones(3, requires_grad=True)",
    "x * 2",
    "y = (x * 3).sum()",
    "y.backward()",
    "x.grad",
]
VERDICTS = "() => [...document.querySelectorAll('#editor .beside')].map((box) => box.className.replace('beside ', ''))"
TEXT = "() => [...document.querySelectorAll('#editor .cm-line')].map((line) => line.textContent)"


def shows(page: Any, lines: list[str], verdicts: list[str]) -> None:
    """Wait until the editor has these lines, and the article's outputs are judged like that."""
    page.wait_for_function(
        f"([lines, verdicts]) => String(({TEXT})()) === String(lines) && String(({VERDICTS})()) === String(verdicts)",
        arg=[lines, verdicts],
    )


def write(page: Any, line: int, text: str) -> None:
    """At the end of a line of the program, from 1."""
    page.locator("#editor .cm-line").nth(line - 1).click()
    page.keyboard.press("End")
    page.keyboard.type(text)


def test_an_edit_keeps_the_outputs_of_the_other_statements_here_and_behind_a_link(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SESSION)
    run(page)
    shows(page, LINES, ["same", "different"])
    write(page, 6, "\nz = 1")
    run(page)
    shows(page, [*LINES, "z = 1"], ["same", "different"])
    before = page.url
    write(page, 3, " + 1")
    run(page)
    edited = [*LINES[:2], "x * 2 + 1", *LINES[3:], "z = 1"]
    shows(page, edited, ["different"])
    page.wait_for_function("before => location.href !== before && location.hash.includes('&i=')", arg=before)
    other = new_context(page.context.browser).new_page()
    other.goto(page.url)
    shows(other, edited, ["different"])
    other.context.close()


def test_live_runs_keep_the_outputs(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SESSION)
    run(page)
    leave(page)
    use(page, "#live").check()
    write(page, 6, "\nz = 1")
    page.wait_for_selector("#workbench[data-steps='10']")
    shows(page, [*LINES, "z = 1"], ["same", "different"])


def test_what_is_saved_is_what_was_pasted(page: Any, site: str) -> None:
    page.goto(site)
    answer = page.request.post(f"{site}/api/scenarios", data={"source": SESSION}).json()
    assert answer["source"] == SESSION
    page.goto(f"{site}{answer['url']}")
    shows(page, LINES, ["same", "different"])
    script = page.request.get(f"{site}{answer['url']}.py").text()
    assert script.rstrip().endswith("\n".join(LINES)), "a script has neither prompts nor outputs"
