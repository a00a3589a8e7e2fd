"""In a real browser: which picture a program has, where its reader lands, and what leads to a step."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.test_access import axe, themed
from tests.sharing.test_takeaway import elsewhere, take
from tests.support.page_driver import at_step, leave, paste, run, use

__all__ = ["elsewhere", "themed"]

pytestmark = pytest.mark.browser

SMALL = """\
import torch
a = torch.tensor([1., 2.], requires_grad=True)
b = a * 3
b.sum().backward()
"""
SMALL_TRAINING = """\
import torch
w = torch.tensor([0.5], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for turn in range(3):
    opt.zero_grad()
    loss = (w * 2.0 - 1.5).pow(2).sum()
    loss.backward()
    opt.step()
"""
NET = """\
import torch
from torch import nn
torch.manual_seed(4)
layers = [layer for _ in range(4) for layer in (nn.Linear(4, 4), nn.Tanh())]
sense = nn.Sequential(nn.Linear(2, 4), *layers, nn.Linear(4, 1))
seen, wanted = torch.randn(5, 2), torch.randn(5, 1)
gap = nn.functional.mse_loss(sense(seen), wanted)
"""
BACKWARD = NET + "gap.backward()\nprint(gap)\n"
TRAINING = (
    NET
    + """\
opt = torch.optim.SGD(sense.parameters(), lr=0.05)
for turn in range(3):
    opt.zero_grad()
    gap = nn.functional.mse_loss(sense(seen), wanted)
    gap.backward()
    opt.step()
"""
)
NEVER_CLEARED = TRAINING.replace("    opt.zero_grad()\n", "")
RAISES = BACKWARD.replace("print(gap)", "gap.backward()")


def open_page(page: Any, site: str, text: str) -> dict[str, Any]:
    page.goto(site)
    page.wait_for_selector("#workbench[data-step]")
    paste(page, text)
    trace = run(page)
    leave(page)
    return trace


def shown(page: Any) -> tuple[str, str]:
    """The view, and the picture that draws it; no other is in sight."""
    picture = page.evaluate("() => document.querySelector('#workbench').dataset.shownPicture")
    for name in ("stage", "net", "loom"):
        assert page.locator(f"#{name}").is_visible() == (name == picture)
    return page.evaluate("() => document.querySelector('#workbench').dataset.shownView"), picture


def wait_for(page: Any, view: str, picture: str) -> None:
    page.wait_for_selector(f"#workbench[data-shown-view={view}][data-shown-picture={picture}]")
    assert shown(page) == (view, picture)


def last_visit(trace: dict[str, Any]) -> int:
    visits = [(i, step["visit"]["backward"]) for i, step in enumerate(trace["steps"]) if step.get("visit")]
    return max(i for i, backward in visits if backward == visits[0][1])


def test_small_programs_are_on_the_stage_and_in_the_loom(page: Any, site: str) -> None:
    open_page(page, site, SMALL)
    wait_for(page, "step", "stage")
    use(page, "#views [data-view=run]").click()
    wait_for(page, "run", "loom")
    assert page.locator("#by-storage").get_attribute("hidden") is not None
    open_page(page, site, SMALL_TRAINING)
    wait_for(page, "run", "loom")


def test_a_net_opens_at_the_end_of_its_first_backward_or_forward(page: Any, site: str) -> None:
    trace = open_page(page, site, BACKWARD)
    wait_for(page, "step", "net")
    at_step(page, last_visit(trace))
    trace = open_page(page, site, NET)
    wait_for(page, "step", "net")
    returned = [
        i
        for i, step in enumerate(trace["steps"])
        if any(entry.get("event") == "module_returned" for entry in step["log"])
    ]
    at_step(page, returned[-1])


def test_a_training_opens_as_a_whole_run_and_a_choice_leads_to_a_step(page: Any, site: str) -> None:
    trace = open_page(page, site, TRAINING)
    page.wait_for_selector("#findings:not([hidden])")
    wait_for(page, "run", "net")
    page.wait_for_function("() => location.hash.includes('&v=run')")
    page.locator("#timeline [data-go=next]").click()
    wait_for(page, "step", "net")
    at_step(page, last_visit(trace) + 1)
    page.keyboard.press("l")
    wait_for(page, "run", "net")
    page.keyboard.press("l")
    wait_for(page, "step", "net")
    use(page, "#by-storage").click()
    wait_for(page, "storage", "loom")
    address = page.url
    for view, expected in [("storage", ("storage", "loom")), ("net", ("step", "net")), ("parameters", ("run", "net"))]:
        page.goto("about:blank")
        page.goto(address.replace("v=storage", f"v={view}"))
        page.wait_for_selector("#workbench[data-steps]")
        wait_for(page, *expected)


def test_all_that_an_optimizer_moved_is_a_click_away(page: Any, site: str) -> None:
    trace = open_page(page, site, TRAINING)
    wait_for(page, "run", "net")
    stepped = [
        i
        for i, step in enumerate(trace["steps"])
        if any(entry.get("event") == "optimizer_stepped" for entry in step["log"])
    ]
    page.locator("#slider").fill(str(stepped[0]))
    wait_for(page, "step", "net")
    page.locator(".net-link").click()
    wait_for(page, "run", "net")


@pytest.mark.parametrize("program", ["raises", "finding"])
def test_what_went_wrong_is_opened_at_its_step(program: str, page: Any, site: str) -> None:
    trace = open_page(page, site, RAISES if program == "raises" else NEVER_CLEARED)
    page.wait_for_selector("#findings .finding.open")
    wait_for(page, "step", "net")
    if program == "raises":
        at_step(page, trace["outcome"]["error"]["step"])
    else:
        cause = page.locator("#findings .finding-link.cause")
        assert cause.get_attribute("aria-current") == "step"


CARRIES = """\
import torch
from torch import nn
class Sense(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.RNNCell(3, 4), nn.Linear(4, 1)
        self.mood = torch.zeros(2, 4)
    def forward(self, seen):
        self.mood = self.cell(seen, self.mood)
        return self.out(self.mood)
sense = Sense()
opt = torch.optim.SGD(sense.parameters(), lr=0.1)
for turn in range(4):
    gap = nn.functional.mse_loss(sense(torch.randn(2, 3)), torch.randn(2, 1))
    opt.zero_grad()
    gap.backward()
    opt.step()
"""
FAR_APART = BACKWARD.replace("print(gap)", "\n" * 60 + "gap.backward()")


def test_what_went_wrong_stands_below_the_picture_and_leaves_the_code_its_height(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, site, TRAINING)
    page.wait_for_selector("#findings .looked-for")
    height = page.locator("#editor").bounding_box()["height"]
    assert page.locator(".program > #findings").count() == 1, "nothing wrong stands beside the program"
    open_page(page, site, FAR_APART)
    page.wait_for_selector(".picture > #findings .finding.open.unfolded")
    assert page.locator("#editor").bounding_box()["height"] >= height
    what = page.locator("#findings .finding.open .finding-sentence")
    assert page.locator("#sentences li").first.inner_text() == what.text_content()
    assert what.is_hidden(), "it is said once"
    # both ends are in the code, and what lies between is not
    seen = "() => [...document.querySelectorAll('.cm-line')].map(line => line.textContent)"
    page.wait_for_function("() => document.querySelector('.cm-finding-fold')")
    marked = page.locator("#editor .cm-line:has(.line-role)")
    room = page.locator("#editor .cm-scroller").bounding_box()
    assert marked.count() >= 2
    for line in marked.all():
        box = line.bounding_box()
        assert room["y"] <= box["y"] and box["y"] + box["height"] <= room["y"] + room["height"] + 1
    before = len(page.evaluate(seen))
    page.locator(".cm-finding-fold").click()
    assert page.locator(".cm-finding-fold").count() == 0
    assert len(page.evaluate(seen)) > before
    # folded, it is one line, and where the reader goes on it says what it is about
    page.locator("#findings .finding.open .finding-what").click()
    page.wait_for_selector("#findings .finding.open:not(.unfolded)")
    assert page.locator("#findings").bounding_box()["height"] < 50
    page.locator("#slider").fill("0")
    at_step(page, 0)
    what.wait_for()
    page.set_viewport_size({"width": 800, "height": 900})
    page.wait_for_selector(".program > #findings .finding.open")


def test_in_a_low_window_the_drawer_is_closed_and_both_ends_are_in_sight(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, site, CARRIES)
    page.wait_for_selector(".picture > #findings .finding.open:not(.unfolded)")
    page.wait_for_selector(".net-now.end")
    room = page.locator(".net-scroll").bounding_box()
    ends = page.locator(".net-row:has(.net-end)").all()
    assert len(ends) == 2
    for end in ends:
        box = end.bounding_box()
        assert box["y"] + 1 >= room["y"] and box["y"] < room["y"] + room["height"]


def test_the_offline_page_opens_as_the_page_is(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    open_page(page, site, TRAINING)
    wait_for(page, "run", "net")
    elsewhere.goto(take(page, "run.html", tmp_path).as_uri())
    wait_for(elsewhere, "run", "net")
    elsewhere.keyboard.press("l")
    wait_for(elsewhere, "step", "net")


def test_axe_finds_nothing_in_the_switch(themed: Any, site: str) -> None:
    open_page(themed, site, TRAINING)
    for view in ("run", "step"):
        use(themed, f"#views [data-view={view}]").click()
        assert themed.locator(f"#views [data-view={view}]").get_attribute("aria-pressed") == "true"
        assert [problem for problem in axe(themed) if "data-view" in problem or "views" in problem] == []
