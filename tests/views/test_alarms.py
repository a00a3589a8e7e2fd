"""In a real browser: no view shows anything red or amber where the verdict has a tick."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.test_open_file import drop
from tests.recordings.store import kept_document, kept_trace
from tests.support.page_driver import at_step
from tests.support.sampling import every, sampled

pytestmark = pytest.mark.browser

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = [path for folder in ("healthy", "quiet", "corrected") for path in sorted((EXAMPLES / folder).glob("*.py"))]

ALARMS = """() => {
    const probe = document.createElement("i");
    document.body.append(probe);
    const colours = new Set(["--bad", "--bad-wash", "--note", "--note-wash"].map((name) => {
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color;
    }));
    probe.remove();
    const found = [];
    for (const element of document.querySelectorAll("#workbench *")) {
        if (element.closest("#findings") || !element.checkVisibility({visibilityProperty: true, opacityProperty: true}))
            continue;
        const box = element.getBoundingClientRect();
        if (!box.width && !box.height) continue;
        const style = getComputedStyle(element);
        const isDrawn = element instanceof SVGGeometryElement || element instanceof SVGTextElement;
        const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        const used = [style.backgroundColor, style.borderTopColor, style.borderLeftColor].filter((_, k) =>
            !k || parseFloat(k === 1 ? style.borderTopWidth : style.borderLeftWidth));
        if (isDrawn) used.push(style.fill, style.stroke);
        else if (hasText) used.push(style.color);
        if (used.some((colour) => colours.has(colour)))
            found.push(`${element.tagName} .${element.getAttribute("class")} ${element.textContent.slice(0, 40)}`);
    }
    return [...new Set(found)].slice(0, 8);
}"""
"""What is seen in the colours of errors, warnings and notes, beside the card that speaks of them."""

SHOWN_AT = 5
"""At so many steps each view is looked at."""


def open_trace(page: Any, site: str, document: bytes, count: int) -> None:
    page.goto(f"{site}/open?lang=en")
    page.locator("#choose").wait_for()
    page.wait_for_load_state("networkidle")
    drop(page, "run.json", document.decode(), "body")
    page.wait_for_selector(f"#workbench[data-steps='{count}']")
    page.wait_for_selector("#findings:not([hidden])")


def go_to(page: Any, step: int) -> None:
    page.evaluate(
        "i => { const slider = document.querySelector('#slider'); slider.value = i; "
        "slider.dispatchEvent(new Event('input', {bubbles: true})); }",
        step,
    )
    at_step(page, step)


@pytest.mark.parametrize("path", sampled(PROGRAMS, every(16)), ids=lambda path: path.stem)
def test_no_view_is_red_or_amber_where_the_verdict_has_a_tick(path: Path, page: Any, site: str) -> None:
    source = path.read_text("utf-8")
    count = len(kept_trace(source)["steps"])
    open_trace(page, site, kept_document(source), count)
    has_tick = page.locator("#findings .looked-for .finding-severity").count() > 0
    is_told = page.locator("#findings .finding, #findings .looked-for").count() > 0
    assert is_told, "there is a verdict"
    alarms = {}
    for view in page.locator("#views button").all():
        if not view.is_visible():
            continue
        view.click()
        name = page.evaluate("() => document.querySelector('#workbench').dataset.shownView")
        for step in sorted({k * (count - 1) // (SHOWN_AT - 1) for k in range(SHOWN_AT)}):
            go_to(page, step)
            if found := page.evaluate(ALARMS):
                alarms[name, step] = found
    assert not has_tick or not alarms, alarms
