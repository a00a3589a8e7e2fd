"""The loom in a real browser: a second view of the same step, what it says is what the trace says, and it is what is
printed."""

import json
from typing import Any

import pytest

from tests.support.page_driver import at_step, leave, paste, run, use
from tests.support.sampling import places, sampled
from tests.support.tracing import Replay

STALE = """\
import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
d = out.detach()
d.zero_()
out.sum().backward()
"""
SILENT = STALE.replace("detach()", "data")
TWICE = """\
import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
a.sum().backward()
w = torch.tensor([2., 0., -1.], requires_grad=True)
loss = (a.clone() * w).sum() + a.sum()
loss.backward()
with torch.no_grad():
    a.sub_(a.grad)
"""
LONG = """\
import torch
w = torch.zeros(3, requires_grad=True)
for i in range(150):
    loss = (w - 2).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""


def open_loom(page: Any, site: str, text: str) -> dict[str, Any]:
    page.goto(site)
    page.wait_for_selector("#workbench[data-step]")
    paste(page, text)
    trace = run(page)
    leave(page)
    use(page, "#views [data-view=run]").click()
    page.wait_for_selector("#loom [data-loom-row]")
    return trace


def row_of(page: Any) -> tuple[int, int]:
    """The row that is lit, in the program and in the picture."""
    code = page.locator('#loom .loom-code [aria-current="step"]').get_attribute("data-loom-row")
    return int(code), int(page.locator("#loom [data-loom-now]").get_attribute("data-loom-now"))


def test_the_switch_is_remembered_in_the_address(page: Any, site: str) -> None:
    open_loom(page, site, STALE)
    button = page.locator('#views [data-view="run"]')
    assert button.get_attribute("aria-pressed") == "true"
    assert page.locator("#loom").is_visible() and not page.locator("#stage").is_visible()
    page.wait_for_function("() => location.hash.includes('&v=run')")
    address = page.url
    use(page, '#views [data-view="step"]').click()
    assert page.locator("#stage").is_visible() and not page.locator("#loom").is_visible()
    page.wait_for_function("() => !location.hash.includes('&v=')")
    button.click()
    page.wait_for_function("() => location.hash.includes('&v=run')")
    page.reload()
    page.wait_for_selector("#loom [data-loom-row]")
    page.goto("about:blank")
    page.goto(address.replace("&v=run", ""))
    page.wait_for_selector("#stage [data-handle]")  # a step without a view is shown as a step
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#loom [data-loom-row]")
    assert page.locator("#loom").is_visible()


def test_a_step_moves_the_lit_row_and_a_click_on_a_row_goes_to_its_step(page: Any, site: str) -> None:
    trace = open_loom(page, site, TWICE)
    page.keyboard.press("Home")
    at_step(page, 0)
    rows = [
        int(e)
        for e in page.locator("#loom .loom-code [data-step]:not(circle)").evaluate_all(
            "l => l.map(e => e.dataset.step)"
        )
    ]
    assert rows[-1] == len(trace["steps"]) - 1
    for i in range(len(trace["steps"])):
        at_step(page, i)
        expected = next(r for r, last in enumerate(rows) if i <= last)
        assert row_of(page) == (expected, expected)
        page.keyboard.press("ArrowRight")
    for r in (4, 1, 5):
        page.locator(f'#loom .loom-code [data-loom-row="{r}"] .loom-code').first.click(force=True, no_wait_after=True)
        at_step(page, rows[r])
        assert row_of(page) == (r, r)
    visits = [i for i, s in enumerate(trace["steps"]) if s["kind"] == "visit"]
    page.locator(f'#loom circle[data-step="{visits[-2]}"]').dispatch_event("click")
    at_step(page, visits[-2])


@pytest.mark.parametrize(("text", "pins"), [(STALE, "broken"), (SILENT, "silent"), (TWICE, "released")])
def test_writes_and_pins_in_the_loom_are_those_of_the_trace(page: Any, site: str, text: str, pins: str) -> None:
    trace = open_loom(page, site, text)
    page.keyboard.press("End")
    last = len(trace["steps"]) - 1
    at_step(page, last)
    rows = [
        int(e)
        for e in page.locator("#loom .loom-code [data-step]:not(circle)").evaluate_all(
            "l => l.map(e => e.dataset.step)"
        )
    ]
    written = page.locator("#loom [data-loom-write]").evaluate_all(
        """list => list.map(e => [e.dataset.loomWrite, e.dataset.dtype, Number(e.dataset.row), e.dataset.value, e.dataset.was,
            e.querySelector('.loom-new').textContent, e.querySelector('.loom-old').textContent])"""  # noqa: E501
    )
    expected = set()
    for r, end in enumerate(rows):
        before = Replay(trace, rows[r - 1]).state if r else {}
        after = Replay(trace, end).state
        for uid, now in after.items():
            if now["kind"] != "storage" or uid not in before:
                continue
            for dtype, cells in (now.get("cells") or {}).items():
                was = (before[uid].get("cells") or {}).get(dtype, [])
                expected |= {
                    (f"{uid}:{k}", dtype, r, new, old)
                    for k, (new, old) in enumerate(zip(cells, was, strict=False))
                    if new != old
                }
    assert {
        (cell, dtype, r, json.loads(new), json.loads(old)) for cell, dtype, r, new, old, _, _ in written
    } == expected
    assert expected
    for *_, new, old, text_new, text_old in written:
        assert abs(float(text_new.replace("−", "-")) - json.loads(new)) <= 1e-2 * abs(json.loads(new))
        assert abs(float(text_old.replace("−", "-")) - json.loads(old)) <= 1e-2 * abs(json.loads(old))
    assert pins in page.locator("#loom [data-loom-pin]").evaluate_all("l => l.map(e => e.dataset.state)")
    ticks = page.locator("#loom [data-loom-bump]").evaluate_all(
        "l => l.map(e => [e.dataset.loomBump, +e.dataset.from, +e.dataset.to])"
    )
    bumps = [
        [e["counter"], e["from"], e["to"]]
        for s in trace["steps"]
        for e in s["log"]
        if e.get("event") == "version_bumped"
    ]
    assert ticks == bumps


def test_a_long_run_draws_only_the_rows_in_sight_and_marks_skipped_iterations(page: Any, site: str) -> None:
    trace = open_loom(page, site, LONG)
    assert len(trace["steps"]) > 500
    for key in ("End", "Home"):
        page.keyboard.press(key)
        at_step(page, len(trace["steps"]) - 1 if key == "End" else 0)
        drawn = page.locator("#loom .loom-code [data-loom-row]").count()
        assert 0 < drawn < 120
        lit = page.locator('#loom .loom-code [aria-current="step"]').bounding_box()
        host = page.locator("#loom").bounding_box()
        assert host["y"] - 1 <= lit["y"] <= host["y"] + host["height"]


def test_a_printed_page_shows_the_whole_run(page: Any, site: str) -> None:
    open_loom(page, site, TWICE)
    rows = page.locator("#loom [data-loom-row]").count()
    page.keyboard.press("l")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".loom-sheet").first.is_visible()
    assert not page.locator("#timeline").is_visible() and not page.locator("#stage").is_visible()
    assert page.locator(".loom-sheet [data-loom-row]").count() == rows
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".loom-sheet").count() == 0


@pytest.mark.parametrize("width", sampled([390, 820], places(0)))
def test_small_screens_scroll_the_loom_and_not_the_page(page: Any, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    open_loom(page, site, TWICE)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator('#loom .loom-code [aria-current="step"]').count() == 1
