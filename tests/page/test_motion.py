"""Motion from a step to the next, in the browser: it begins, it ends at once, and there is none where nobody could
follow it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.page_driver import at_step, leave, paste, run

PROGRAM = """\
import torch
a = torch.tensor([1., 2., 4.], requires_grad=True)
b = a.detach()
b[0] = 8
print("a")
loss = (a * a).sum()
loss.backward()
"""

WATCH = """() => {
    window.made = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...all) {
        const made = animate.apply(this, all);
        window.made.push(made);
        if (!window.runs) made.pause();
        return made;
    };
}"""
"""From now on what moves halts at its beginning, and is counted."""
MADE = "() => window.made.splice(0).length"
COPIES = "() => document.querySelectorAll('#stage .motion-copy').length"
STAGE = "() => document.querySelector('#stage').innerHTML"


@pytest.fixture
def steps(page: Any, site: str) -> list[dict[str, Any]]:
    """The program's steps; the page stands at the first one, and what plays motion is loaded."""
    page.goto(site)
    paste(page, PROGRAM)
    steps: list[dict[str, Any]] = run(page)["steps"]
    leave(page)
    page.keyboard.press("Home")
    at_step(page, 0)
    page.wait_for_function("() => performance.getEntriesByType('resource').some(one => /play-/.test(one.name))")
    page.evaluate(WATCH)
    return steps


def step_to(page: Any, i: int) -> int:
    """Stand at step i - 1 for a while, then press the key; how many animations were made."""
    page.evaluate(
        "i => { const s = document.querySelector('#slider'); s.value = i; s.dispatchEvent(new Event('input')); }", i - 1
    )
    at_step(page, i - 1)
    page.wait_for_timeout(220)  # a reader who steps slowly
    page.evaluate(MADE)
    page.keyboard.press("ArrowRight")
    at_step(page, i)
    made: int = page.evaluate(MADE)
    return made


def find_step(steps: list[dict[str, Any]], does: Callable[[dict[str, Any]], bool]) -> int:
    return int(next(step["i"] for step in steps if does(step)))


def is_landing(step: dict[str, Any]) -> bool:
    return bool((step.get("visit") or {}).get("accumulates"))


def test_a_written_cell_turns_and_a_print_moves_nothing(page: Any, steps: list[dict[str, Any]]) -> None:
    written = find_step(steps, lambda step: any("cells_at" in fields for fields in step["set"].values()))
    assert step_to(page, written) > 0
    turning = page.evaluate(
        """t => {
            for (const one of document.getAnimations()) one.currentTime = t;
            const cell = document.querySelector("#stage .motion-copy").closest("[data-cell]");
            const height = e => e.getBoundingClientRect().height;
            const [now, old] = [cell.querySelector(":scope > .val"), cell.querySelector(".motion-copy .val")];
            return [cell.dataset.cell, old.textContent, now.textContent, height(old) > 1, height(now) > 1];
        }""",
        0,
    )
    assert turning[1:] == ["1", "8", True, False]
    assert step_to(page, written + 1) == 0
    assert page.evaluate(COPIES) == 0


def test_motion_ends_by_itself_and_leaves_nothing(page: Any, steps: list[dict[str, Any]]) -> None:
    page.evaluate("() => { window.runs = true; }")
    landing = find_step(steps, is_landing)
    assert step_to(page, landing) > 0
    page.wait_for_function(
        "() => window.made.length === 0 && document.querySelectorAll('#stage .motion-copy').length === 0"
    )
    assert page.evaluate(COPIES) == 0
    moved = page.evaluate(STAGE)
    page.emulate_media(reduced_motion="reduce")
    assert step_to(page, landing) == 0
    assert page.evaluate(STAGE) == moved, "as if nothing had moved"


def test_a_step_during_motion_ends_it_first(page: Any, steps: list[dict[str, Any]]) -> None:
    landing = find_step(steps, is_landing)
    assert step_to(page, landing - 1) >= 0
    page.wait_for_timeout(220)  # a reader who steps slowly
    on_its_way, after = page.evaluate(
        """i => {
            const slider = document.querySelector("#slider");
            const counts = step => {
                window.made.length = 0;
                slider.value = step;
                slider.dispatchEvent(new Event("input"));
                return [window.made.length, document.querySelectorAll("#stage .motion-copy").length];
            };
            const first = counts(i), moving = [...window.made];
            return [first, [...counts(i + 1), moving.filter(one => one.playState !== "idle").length]];
        }""",
        landing,
    )
    assert min(on_its_way) > 0
    assert after == [0, 0, 0], "none is made, no copy is left, all were ended"


def test_stepping_back_only_fades(page: Any, steps: list[dict[str, Any]]) -> None:
    made = find_step(steps, lambda step: step["line"] == 6)
    step_to(page, made)
    page.wait_for_timeout(220)  # a reader who steps slowly
    page.evaluate(MADE)
    page.keyboard.press("ArrowLeft")
    at_step(page, made - 1)
    changed = page.evaluate(
        """() => window.made.map(one => one.effect.getKeyframes().map(frame => [frame.opacity, frame.transform ?? null]))"""  # noqa: E501
    )
    assert changed and all(frames == [["1", None], ["0", None]] for frames in changed)


def test_holding_a_key_makes_no_animation(page: Any, steps: list[dict[str, Any]]) -> None:
    page.evaluate(
        """n => {
            const slider = document.querySelector("#slider"), now = performance.now();
            performance.now = () => now;  // no step takes time, however slow the machine is
            for (let i = 1; i < n; i += 1) {
                slider.value = i;
                slider.dispatchEvent(new Event("input"));
                if (i === 1) window.made.length = 0;
            }
        }""",
        len(steps),
    )
    assert page.evaluate(MADE) == 0


def test_reduced_motion_is_respected(page: Any, steps: list[dict[str, Any]]) -> None:
    page.emulate_media(reduced_motion="reduce")
    for step in steps[1:]:
        assert step_to(page, step["i"]) == 0
    assert page.evaluate("document.querySelector('#stage').getAnimations({subtree: true}).length") == 0
