"""The answer to what a reader asks of a tensor, in a real browser: by mouse, by keys, by touch, in embeds and the
offline file."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.test_access import axe
from tests.support.kept_browser import new_context
from tests.support.page_driver import at_step, leave, paste, run, use
from tests.support.sampling import sampled

pytestmark = pytest.mark.browser

PROGRAM = """\
import torch
w = torch.tensor([1., 2.], requires_grad=True)
x = torch.tensor([3., 4.])
y = w * x
z = y * w + y
unused = torch.ones(2, requires_grad=True)
loss = z.sum()
loss.backward()
print(w.grad)
"""
SUM = "w.grad is [9, 20], the sum of [3, 8] from line 5 through mul + [6, 12] from line 4 through mul."


@pytest.fixture
def finished(page: Any, site: str) -> dict[str, Any]:
    """The trace of a program that is shown at its last step."""
    page.goto(site)
    paste(page, PROGRAM)
    trace = run(page)
    leave(page)
    page.keyboard.press("End")
    at_step(page, len(trace["steps"]) - 1)
    return trace


def uid_of(trace: dict[str, Any], name: str) -> str:
    """Of the tensor that a name of the program means."""
    changes = (change for step in trace["steps"] for change in step["set"].values())
    bound = [change["vars"][name] for change in changes if name in (change.get("vars") or {})]
    uid: str = bound[-1]["ref"]
    return uid


def sentence(page: Any) -> str:
    text: str = page.locator("#answer .finding-sentence").inner_text()
    return text


def test_by_mouse_the_parts_of_a_gradient_step_and_light_what_they_name(page: Any, finished: dict[str, Any]) -> None:
    page.locator(f"#stage [data-handle={uid_of(finished, 'w')}]").first.click()
    page.locator(".ask", has_text="Where does w.grad come from?").click()
    assert sentence(page) == SUM
    own = page.locator("#answer .finding-link", has_text="[6, 12]")
    own.hover()
    page.wait_for_selector("#stage .node.lit")
    own.click()
    step = int(page.locator("#workbench").get_attribute("data-step"))
    assert finished["steps"][step]["visit"]["grad_inputs"][0]["cells"] == [6, 12]
    assert own.get_attribute("aria-current") == "step"
    page.locator("#answer .answer-line").first.click()
    step = int(page.locator("#workbench").get_attribute("data-step"))
    assert finished["steps"][step]["line"] == 5 and not finished["steps"][step].get("visit")
    page.locator(".answer-close").click()
    assert page.locator("#answer").is_hidden() and page.locator("#chain").is_hidden()


def test_a_missing_gradient_is_asked_about_by_its_own_mark(page: Any, finished: dict[str, Any]) -> None:
    page.locator(f"#stage .placeholder[data-grad-of={uid_of(finished, 'unused')}]").click()
    page.locator("#answer:not([hidden])").wait_for()
    assert sentence(page).startswith("unused.grad is None: loss was not computed from unused")
    assert page.locator("#answer .finding-link.cause").count() == 1
    assert "Why is unused.grad None?" in page.locator(".ask").inner_text()


def test_by_keys_the_answer_opens_is_walked_and_gives_the_focus_back(page: Any, finished: dict[str, Any]) -> None:
    page.locator(f"#stage [data-handle={uid_of(finished, 'w')}]").first.focus()
    page.keyboard.press("w")
    page.locator("#answer .answer-head:focus").wait_for()
    assert sentence(page) == SUM
    for _ in range(3):  # close, the line, the way
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('#answer .finding-link')")
    page.keyboard.press("Enter")
    step = int(page.locator("#workbench").get_attribute("data-step"))
    assert finished["steps"][step]["visit"]["grad_inputs"]
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.querySelector('#answer').hidden")
    assert page.evaluate("document.activeElement.matches('#stage [data-handle]')")


def test_by_touch_on_a_phone(chromium: Any, site: str) -> None:
    context = new_context(chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        page.goto(site)
        paste(page, PROGRAM)
        trace = run(page)
        leave(page)
        page.keyboard.press("End")
        page.locator("#stage .stage-tabs [data-side=memory]").tap()
        page.locator(f"#stage [data-handle={uid_of(trace, 'w')}]").first.tap()
        ask = page.locator(".ask", has_text="Where does w.grad come from?")
        assert ask.bounding_box()["height"] >= 44
        ask.tap()
        page.locator("#answer:not([hidden])").wait_for()
        assert sentence(page) == SUM
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = page.locator("#answer button").evaluate_all(
            "all => all.map(e => e.getBoundingClientRect()).map(b => [b.width, b.height])"
        )
        assert all(width >= 44 and height >= 44 for width, height in boxes)
        page.locator("#answer .finding-link").first.tap()
        assert trace["steps"][int(page.locator("#workbench").get_attribute("data-step"))]["visit"]
    finally:
        context.close()


@pytest.mark.parametrize("theme", sampled(["light", "dark"], lambda k: k == 0))
def test_axe_finds_nothing_with_an_answer_open(page: Any, site: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(site)
    paste(page, PROGRAM)
    trace = run(page)
    leave(page)
    page.keyboard.press("End")
    for name in ("w", "unused"):
        page.locator(f"#stage [data-handle={uid_of(trace, name)}]").first.click()
        page.locator(".ask", has_text=f"{name}.grad").click()
        page.locator("#answer .answer-head", has_text=f"{name}.grad").wait_for()
        assert axe(page) == []


def test_the_answer_card_works_in_chinese_and_in_the_offline_file(page: Any, site: str, tmp_path: Path) -> None:
    page.goto(f"{site}/?lang=zh")
    paste(page, PROGRAM)
    trace = run(page)
    use(page, "#takeaway").click()
    with page.expect_download() as download:
        page.locator('[data-take="run.html"]').click()
    file = tmp_path / "run.html"
    download.value.save_as(file)
    page.goto(file.as_uri())
    page.keyboard.press("End")
    page.locator(f"#stage [data-handle={uid_of(trace, 'w')}]").first.click()
    page.locator(".ask").click()
    page.locator("#answer:not([hidden])").wait_for()
    assert "第 5 行经 mul 来的 [3, 8]" in sentence(page)


def test_the_answer_card_works_in_an_embedded_frame(page: Any, site: str) -> None:
    saved = page.request.post(f"{site}/api/scenarios", data={"source": PROGRAM, "title": "a shared weight"}).json()
    page.goto(site + saved["url"].replace("/s/", "/embed/"))
    page.wait_for_selector("#stage [data-handle]")
    page.keyboard.press("End")
    page.locator("#stage [data-handle]").first.focus()
    page.keyboard.press("w")
    page.locator("#answer:not([hidden])").wait_for()
    assert sentence(page) == SUM


WRONG = """\
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x
w = torch.tensor([1., 2.], requires_grad=True)
c = torch.ones(2, requires_grad=True)
k = torch.tensor([0., 1.], requires_grad=True)
loss = (Square.apply(w) * c.detach()).sum() + torch.relu(k).sum()
loss.backward()
"""


def ask_about(page: Any, site: str, program: str, name: str) -> dict[str, Any]:
    """Open the answer about a tensor at the last step; the trace."""
    page.goto(site)
    paste(page, program)
    trace = run(page)
    leave(page)
    page.keyboard.press("End")
    page.locator(f"#stage [data-handle={uid_of(trace, name)}]").first.click()
    page.locator(".ask", has_text=f"{name}.grad").click()
    page.locator("#answer .answer-head", has_text=f"{name}.grad").wait_for()
    return trace


def verdicts(page: Any) -> list[list[str]]:
    """The leaves of the table: name, torch, slope, verdict."""
    rows: list[list[str]] = page.locator(".check-table tbody tr:not([hidden])").evaluate_all(
        """rows => rows.map(row => [row.querySelector("code").textContent,
            ...[...row.querySelectorAll("td")].map(cell => cell.textContent)].filter((_, k) => k !== 3))"""
    )
    return rows


def test_gradients_are_compared_with_finite_differences_by_mouse(page: Any, site: str) -> None:
    ask_about(page, site, WRONG, "w")
    page.get_by_role("button", name="Is this gradient right?").click()
    page.locator(".check-table").wait_for()
    assert verdicts(page) == [
        ["w[0]", "1", "2", "differs"],
        ["c[1]", "None", "4", "cut off"],
        ["k[0]", "0", "0.5", "kink"],
    ]
    sentences = page.locator(".check-sentence").all_inner_texts()
    assert sentences[0].startswith("w[0]: torch gives 1, but the slope is 2.")
    assert "relu on line 14 has an input exactly where its slope jumps." in sentences
    page.locator(".check-leaf").first.click()
    assert [row[:3] for row in verdicts(page)][1:3] == [["[0]", "1", "2"], ["[1]", "2", "4"]]
    page.locator(".check-leaf", has_text="k[0]").hover()
    page.wait_for_selector("#stage .lit")
    page.locator(".answer-close").click()
    page.keyboard.press("w")
    page.locator(".check-table").wait_for()  # what was compared stands there still


def test_gradients_are_compared_with_finite_differences_by_keys(page: Any, site: str) -> None:
    trace = ask_about(page, site, PROGRAM, "w")
    assert trace["outcome"]["status"] == "finished"
    page.locator(".answer .check-start").focus()
    page.keyboard.press("Enter")
    page.locator(".check-table").wait_for()
    assert [row[3] for row in verdicts(page)] == ["agrees"]
    assert page.locator(".check-sentence").all_inner_texts() == ["Torch's gradients match the slopes of the loss."]
    page.locator(".check-leaf").focus()
    page.keyboard.press("Enter")
    assert page.locator(".check-leaf").get_attribute("aria-expanded") == "true"
    assert [row[:3] for row in verdicts(page)][1:] == [["[0]", "9", "9"], ["[1]", "20", "20"]]


@pytest.mark.parametrize("theme", sampled(["light", "dark"], lambda k: k == 1))
def test_axe_finds_nothing_with_a_comparison_open(page: Any, site: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    ask_about(page, site, WRONG, "w")
    page.locator(".answer .check-start").click()
    page.locator(".check-table").wait_for()
    page.locator(".check-leaf").first.click()
    assert axe(page) == []


def test_where_samples_mix_is_told_on_request(page: Any, site: str) -> None:
    source = (
        "import torch\ntorch.manual_seed(0)\nw = torch.ones(3, requires_grad=True)\nx = torch.randn(4, 3)\n"
        "h = x * w\np = torch.softmax(h, 0)\np.pow(2).sum().backward()\nprint(w.grad)\n"
    )
    ask_about(page, site, source, "w")
    assert "up to four times" in page.locator(".answer .sample-check .check-status").inner_text()
    page.locator(".answer .check-samples").click()
    said = page.locator(".answer .sample-check .check-sentence")
    said.wait_for()
    assert said.inner_text().startswith(
        "The samples mix on line 6: with only the first of 4 changed (line 5, axis 0), softmax"
    )


def test_why_nothing_can_be_compared_stands_in_the_card(page: Any, site: str) -> None:
    source = "import torch\nimport time\nw = torch.ones(2, requires_grad=True)\n(w * time.time()).sum().backward()\n"
    ask_about(page, site, source, "w")
    page.locator(".answer .check-start").click()
    page.locator(".check-status", has_text="Two runs with the same seed give different losses").wait_for()
