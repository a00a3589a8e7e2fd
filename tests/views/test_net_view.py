"""The view of a net in a real browser: where it opens, what its keys do, and who can use it."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.page.test_access import CONTRAST, THEMES, axe
from tests.sharing.test_takeaway import elsewhere, take
from tests.support.page_driver import at_step, leave, paste, run

__all__ = ["elsewhere"]

GPT = (Path(__file__).parents[1] / "examples/nets/gpt.py").read_text()
SMALL = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
loss = net(torch.ones(4, 2)).sum()
loss.backward()
"""
PLAIN = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
ROWS = "#net .net-row"


def open_program(page: Any, site: str, text: str, query: str = "") -> dict[str, Any]:
    page.goto(f"{site}/{query}")
    page.wait_for_selector("#workbench[data-step]")
    paste(page, text)
    trace = run(page)
    leave(page)
    return trace


def step(page: Any) -> int:
    return int(page.locator("#workbench").get_attribute("data-step"))


def names(page: Any) -> list[str]:
    found: list[str] = page.locator(f"{ROWS} .net-name").all_text_contents()
    return found


def press(page: Any, key: str) -> int:
    """Press a key that leads to another step; that step."""
    before = step(page)
    page.keyboard.press(key)
    page.wait_for_function("i => document.querySelector('#workbench').dataset.step !== i", arg=str(before))
    return step(page)


def show_step(page: Any) -> None:
    """The picture of a step, whatever the page opened with."""
    page.locator('#views [data-view="step"]').click()
    page.wait_for_selector(ROWS)


def test_a_large_program_is_drawn_as_rows_in_both_views(page: Any, site: str) -> None:
    open_program(page, site, GPT)
    show_step(page)
    assert page.locator("#workbench").get_attribute("data-shown-picture") == "net"
    assert not page.locator("#stage").is_visible()
    assert page.locator(".net-open").count() == 1
    page.keyboard.press("l")
    page.wait_for_selector("#net .net.whole")
    assert page.locator(".net-open").count() == 0
    page.keyboard.press("l")
    page.wait_for_selector(".net-open")


def test_a_small_net_stays_on_the_stage(page: Any, site: str) -> None:
    open_program(page, site, SMALL)
    assert page.locator("#stage").is_visible() and not page.locator("#net").is_visible()
    open_program(page, site, PLAIN)
    assert page.locator("#stage").is_visible()


def test_the_headline_names_the_module_and_not_the_node(page: Any, site: str) -> None:
    trace = open_program(page, site, GPT)
    show_step(page)
    visit = next(
        k for k, each in enumerate(trace["steps"]) if each.get("visit") and not each["visit"].get("accumulates")
    )
    page.evaluate(
        """i => { const slider = document.getElementById('slider');
            slider.value = i; slider.dispatchEvent(new Event('input', {bubbles: true})); }""",
        visit,
    )
    at_step(page, visit)
    said = page.locator("#sentences li").first.text_content()
    assert said.startswith("Backward is") and not re.search(r"[A-Z][a-z]+[A-Za-z]* \d", said)


def test_a_low_list_has_its_key_and_one_height_whatever_is_said_over_it(page: Any, site: str) -> None:
    open_program(page, site, GPT)
    show_step(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    assert page.locator(".net-key").is_visible()
    page.keyboard.press("Home")
    at_step(page, 0)
    heights = []
    for _ in range(14):
        press(page, "ArrowRight")
        page.wait_for_timeout(40)  # of another height it would be drawn once more, and jump
        heights.append(page.evaluate("document.querySelector('.net-scroll').clientHeight"))
    assert len(set(heights)) == 1, heights


def test_arrows_step_over_rows_and_with_shift_into_them(page: Any, site: str) -> None:
    trace = open_program(page, site, GPT)
    show_step(page)
    visits = [k for k, each in enumerate(trace["steps"]) if each.get("visit")]
    first = visits[0]
    page.evaluate(
        """i => { const slider = document.getElementById('slider');
            slider.value = i; slider.dispatchEvent(new Event('input', {bubbles: true})); }""",
        first - 1,
    )
    at_step(page, first - 1)
    assert press(page, "Shift+ArrowRight") == first
    presses = 0
    last = next(k for k in visits if k + 1 not in visits)
    sentences = []
    while step(page) < last:
        press(page, "ArrowRight")
        presses += 1
        sentences.append(page.locator(".net-said").text_content())
        assert page.locator(f"{ROWS}.now").count() >= 1
        assert page.locator(".net-path").text_content().startswith("model")
    assert presses <= 15 < len(visits) / 4
    assert all("norm" in sentence or "nodes" in sentence for sentence in sentences)
    assert press(page, "ArrowLeft") < last - 1


TRAINED = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for epoch in range(2):
    loss = ((net(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_in_a_backward_the_statements_before_it_have_run_and_those_after_it_have_not(page: Any, site: str) -> None:
    trace = open_program(page, site, TRAINED)
    show_step(page)
    visits = [i for i, traced in enumerate(trace["steps"]) if traced.get("visit")]
    page.locator("#slider").fill(str(visits[3]))
    at_step(page, visits[3])
    rows = page.locator(f"{ROWS}:has(.net-name)").evaluate_all(
        "rows => rows.map(row => [row.querySelector('.net-name').textContent, row.getAttribute('class').split(' ')])"
    )
    words = ("ran", "passed", "waits", "returned")
    states = {name: next(word for word in words if word in classes) for name, classes in rows}
    assert [states[name] for name in ("zero_grad", "backward", "step")] == ["ran", "ran", "waits"], states
    assert states["0"] == "passed" and states["2"] == "returned", states


def test_enter_opens_and_closes_a_row_and_keeps_the_focus(page: Any, site: str) -> None:
    open_program(page, site, GPT)
    show_step(page)
    closed = page.locator(f'{ROWS}[aria-expanded="false"]').first
    closed.wait_for()
    label = closed.locator(".net-name").text_content()
    shown = "[...document.querySelectorAll('#net .net-row .net-name')].map(name => name.textContent).join()"
    before = page.evaluate(shown)
    closed.focus()
    page.keyboard.press("Enter")
    page.wait_for_function(f"before => {shown} !== before", arg=before)
    focused = page.evaluate("document.activeElement.closest('.net-row')?.querySelector('.net-name').textContent")
    assert focused and (focused == label or label.startswith(focused.split("–")[0]))
    page.keyboard.press("Escape")
    page.wait_for_function(f"before => {shown} === before", arg=before)


@pytest.mark.parametrize("themed", THEMES, indirect=True)
def test_axe_and_contrast_find_nothing(themed: Any, site: str) -> None:
    open_program(themed, site, GPT, "?lang=zh")
    show_step(themed)
    assert axe(themed) == []
    for _ in range(4):
        assert themed.evaluate(CONTRAST) == []
        press(themed, "ArrowRight")


@pytest.fixture
def themed(request: Any, page: Any) -> Any:
    """The page in a theme, without motion."""
    page.emulate_media(color_scheme=request.param, reduced_motion="reduce")
    return page


def test_a_phone_has_two_buttons_and_nothing_lies_beside_the_window(page: Any, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_program(page, site, GPT)
    show_step(page)
    before = step(page)
    page.locator(".net-keys button").nth(1).click()
    at_step(page, before + 1)
    page.locator(".net-keys button").nth(2).click()
    page.wait_for_function("i => Number(document.querySelector('#workbench').dataset.step) > i", arg=before + 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_offline_page_shows_the_net(page: Any, elsewhere: Any, site: str, tmp_path: Path) -> None:
    open_program(page, site, GPT)
    show_step(page)
    shown = names(page)
    elsewhere.goto(take(page, "run.html", tmp_path).as_uri())
    elsewhere.wait_for_selector("#workbench[data-step]")
    elsewhere.wait_for_selector(ROWS)
    assert set(names(elsewhere)) & set(shown)


def test_what_a_step_touches_is_in_sight_on_the_page(page: Any, site: str) -> None:
    page.emulate_media(reduced_motion="reduce")  # a row on its way is not where it will be
    trace = open_program(page, site, GPT)
    show_step(page)
    visits = [k for k, each in enumerate(trace["steps"]) if each.get("visit")][:60:7]
    for width, height in ((1440, 900), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        for i in visits:
            page.evaluate(
                """i => { const slider = document.getElementById('slider');
                    slider.value = i; slider.dispatchEvent(new Event('input', {bubbles: true})); }""",
                i,
            )
            at_step(page, i)
            seen = page.evaluate(
                """() => { const room = document.querySelector('.net-scroll').getBoundingClientRect();
                    return [...document.querySelectorAll('#net .net-row.now')].map(row => row.querySelector('.net-name').getBoundingClientRect())
                        .map(box => box.top >= room.top && box.bottom <= room.bottom && box.height > 8); }"""  # noqa: E501
            )
            assert seen and all(seen), (width, i)
