"""The pane of printed output in a browser: all of it at once, the step's own marked, and curves of what a loop
computes."""

from typing import Any

from tests.support.page_driver import at_step, paste, run

SEARCH = """\
import torch
w = torch.tensor(0.)
for epoch in range(5):
    loss = (w - 3) ** 2
    w.add_((3 - w) * 0.5)
    print(f"epoch {epoch}: {loss.item():.3f}")
print("done")
"""
"""A loop that is no training: one that is has its curves on the axis of rounds."""

TRAINING = """\
import torch
w = torch.tensor(0., requires_grad=True)
for epoch in range(5):
    loss = (w - 3) ** 2
    w.grad = None
    loss.backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
    print(f"epoch {epoch}: {loss.item():.3f}")
print("done")
"""


def texts(page: Any, selector: str) -> list[str]:
    rows: list[str] = page.locator(f"#printed {selector}").all_text_contents()
    return rows


def test_all_output_is_there_at_once_and_what_is_still_to_come_is_grey(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, TRAINING)
    trace = run(page)
    lines = [*(f"epoch {k}: {9 * 0.25**k:.3f}\n" for k in range(5)), "done\n"]
    steps = [step["i"] for step in trace["steps"] if any(entry["kind"] == "out" for entry in step["log"])]
    page.keyboard.press("Home")
    at_step(page, 0)
    assert (texts(page, ".later"), texts(page, ":not(.later)")) == (lines, [])
    grey, ink = (page.evaluate(f"getComputedStyle(document.querySelector('{s}')).color") for s in (".later", "body"))
    assert grey != ink
    page.locator("#printed [data-step]").nth(2).click()
    at_step(page, steps[2])
    assert texts(page, ".now") == [lines[2]] and texts(page, ":not(.later)") == lines[:3]
    page.keyboard.press("ArrowRight")
    at_step(page, steps[2] + 1)
    assert texts(page, ".now") == [] and texts(page, ":not(.later)") == lines[:3]
    page.keyboard.press("End")
    at_step(page, len(trace["steps"]) - 1)
    assert texts(page, ":not(.later)") == lines
    paste(page, "import torch\na = torch.ones(2)\n")
    run(page)
    assert page.locator("#printed-box .nothing").inner_text() == "This program prints nothing."
    assert page.locator(".curve").count() == 0, "there is no loop"


def test_a_loss_is_a_curve_that_leads_to_its_steps_by_pointer_and_keys(page: Any, site: str) -> None:
    page.goto(site)
    paste(page, SEARCH)
    trace = run(page)
    steps = [step["i"] for step in trace["steps"] if step["line"] == 4]
    curve = page.get_by_role("slider", name="loss")
    assert page.locator(".curve").count() == 1, "what is printed is the loss, rounded"
    page.keyboard.press("Home")
    at_step(page, 0)
    assert curve.get_attribute("aria-valuenow") == "0" and curve.locator(".curve-value").inner_text() == "–"
    curve.focus()
    for key, k in (("ArrowRight", 0), ("ArrowRight", 1), ("End", 4), ("ArrowLeft", 3), ("Home", 0)):
        page.keyboard.press(key)
        at_step(page, steps[k])
        assert curve.get_attribute("aria-valuenow") == str(k + 1)
    box = curve.locator("svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.52, box["y"] + box["height"] / 2)
    at_step(page, steps[2])
    assert curve.locator(".curve-value").inner_text() == "0.5625"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    at_step(page, steps[2] + 1)
