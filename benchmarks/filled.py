"""How much of the stage a run's picture fills: of programs given as files, at each step, for two windows.

`python -m benchmarks.filled PROGRAM… [--base CHECKOUT]` needs a built page and Chromium; a JSON file of snippets, a list of
objects with `id` and `program`, is as many programs. With `--base`, another checkout with a built page is measured beside
this one.

Covered is what lies under the boxes of what is drawn in the panes and of the headline's lines: cells, cards, tags, nodes,
chips, words; lines, which are mostly their own box's emptiness, count as nothing. Spanned is what lies under the boxes of
whole rows, nodes and edges. The height is from the first to the last of what is drawn, of a pane that has any.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.fits import ROOT, SHOW_SCRIPT, serving
from benchmarks.stage import BROWSER_FLAGS, fetch_trace, find_chromium

SIZES = {"1440x900": (1440, 900), "1280x720": (1280, 720)}
COVER_SCRIPT = """async ([steps, grid]) => {
    const slider = document.querySelector("#slider"), out = [];
    const frame = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < steps; i++) {
        slider.value = String(i);
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        await frame();
        await frame();
        const host = document.querySelector("#stage"), stage = host.getBoundingClientRect();
        const headline = host.parentElement.querySelector(".headline");
        const top = headline ? Math.min(stage.top, headline.getBoundingClientRect().top) : stage.top;
        const [w, h] = [Math.ceil(stage.width / grid), Math.ceil((stage.bottom - top) / grid)];
        const covered = new Uint8Array(w * h), spanned = new Uint8Array(w * h);
        const cover = (box, within, grids = [covered, spanned]) => {
            const [left, right] = [Math.max(box.left, within.left), Math.min(box.right, within.right)];
            const [from, to] = [Math.max(box.top, within.top, top), Math.min(box.bottom, within.bottom)];
            for (let y = Math.max(0, Math.floor((from - top) / grid)); y < Math.min(h, Math.ceil((to - top) / grid)); y++)
                for (let x = Math.max(0, Math.floor((left - stage.left) / grid)); x < Math.min(w, Math.ceil((right - stage.left) / grid)); x++)
                    for (const one of grids) one[y * w + x] = 1;
            return to > from && right > left ? [from, to] : null;
        };
        const heights = {};
        for (const pane of host.querySelectorAll(".stage-pane:not([hidden])")) {
            const scroll = pane.querySelector(".pane-scroll"), within = scroll.getBoundingClientRect();
            const spans = [];
            for (const e of pane.querySelectorAll(".pane-body rect, .pane-body text, .pane-body circle")) {
                if (e.matches(".halo, .hit, .focus-ring") || e.closest("defs")) continue;
                const style = getComputedStyle(e);
                const seen = e.tagName === "text" || (style.fill !== "none" && style.fillOpacity !== "0") || style.stroke !== "none";
                if (!seen || style.visibility === "hidden" || style.opacity === "0" || /transparent|rgba\\(0, 0, 0, 0\\)/.test(style.fill) && style.stroke === "none") continue;
                const span = cover(e.getBoundingClientRect(), within);
                if (span) spans.push(span);
            }
            for (const e of pane.querySelectorAll("[data-row], [data-node], [data-edge]"))
                cover(e.getBoundingClientRect(), within, [spanned]);
            if (spans.length)
                heights[pane.classList.contains("memory-pane") ? "memory" : "graph"] =
                    (Math.max(...spans.map(([, to]) => to)) - Math.min(...spans.map(([from]) => from))) / within.height;
        }
        for (const line of headline?.querySelectorAll("li") ?? [])
            for (const box of line.getClientRects().length ? (() => { const r = document.createRange(); r.selectNodeContents(line); return r.getClientRects(); })() : [])
                cover(box, {left: stage.left, right: stage.right, top, bottom: stage.bottom});
        out.push({
            covered: covered.reduce((sum, one) => sum + one, 0) / covered.length,
            spanned: spanned.reduce((sum, one) => sum + one, 0) / spanned.length,
            ...heights,
            density: host.querySelector(".stage")?.dataset.density ?? "",
            scale: host.querySelector(".pane-body") ? host.querySelector(".stage-pane:not([hidden]) .pane-body").getScreenCTM().a : 0,
        });
    }
    return out;
}"""
"""Of each step: the part of the stage that is covered, the part of each pane's height, and how it is drawn."""
GRID = 3
"""Pixels of the grid in which the covered part is counted."""


def programs_of(paths: list[Path]) -> dict[str, str]:
    """The sources, by name."""
    out: dict[str, str] = {}
    for path in paths:
        if path.suffix == ".json":
            out |= {entry["id"]: entry["program"] for entry in json.loads(path.read_text())}
        else:
            out[path.stem] = path.read_text()
    return out


def measure(
    browser: Any, address: str, size: tuple[int, int], texts: dict[str, str]
) -> dict[str, list[dict[str, Any]]]:
    """What each step of each program fills."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#workbench[data-steps]")
    current = ""
    page.route("**/api/runs", lambda route: route.fulfill(content_type="application/json", body=current))
    out = {}
    for name, current in texts.items():
        page.evaluate(SHOW_SCRIPT)
        view = page.locator("[data-view=stage]:not([aria-pressed=true]):not([aria-selected=true]):visible")
        if view.count():
            view.first.click()
        out[name] = page.evaluate(COVER_SCRIPT, [len(json.loads(current)["steps"]), GRID])
    context.close()
    return out


def summary(steps: list[dict[str, Any]]) -> str:
    """The means of some steps: covered, spanned, heights of memory and graph; how they are drawn."""
    heights = [
        f"{100 * mean(values):3.0f}" if (values := [step[side] for step in steps if side in step]) else "  –"
        for side in ("memory", "graph")
    ]
    drawn = Counter(f"{step['density']} {step['scale']:.2f}" for step in steps).most_common(1)[0][0]
    parts = " ".join(f"{100 * mean(step[what] for step in steps):5.1f}" for what in ("covered", "spanned"))
    return f"{parts} % {heights[0]} {heights[1]} {drawn:>10}"


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python -m benchmarks.filled", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", type=Path, nargs="+", help="files of programs")
    parser.add_argument("--base", type=Path, help="another checkout, with a built page, to measure beside this one")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="these windows in place of all")
    arguments = parser.parse_args()
    stages = {"this": ROOT} | ({"base": arguments.base.resolve()} if arguments.base else {})
    columns: dict[str, dict[str, list[dict[str, Any]]]] = {}
    texts: dict[str, str] = {}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=list(BROWSER_FLAGS))
        for stage, checkout in stages.items():
            with serving(checkout) as address:
                texts = texts or {
                    name: fetch_trace(address, source) for name, source in programs_of(arguments.programs).items()
                }
                texts = {name: text for name, text in texts.items() if json.loads(text)["steps"]}
                for size in arguments.sizes:
                    columns[f"{stage} {size}"] = measure(browser, address, SIZES[size], texts)
        browser.close()
    print(f"{'covered, spanned, heights of the panes':38}" + "  ".join(f"{column:>34}" for column in columns))
    for name in texts:
        print(f"{name:38}" + "  ".join(f"{summary(found[name]):>34}" for found in columns.values()))
    for what in ("covered", "spanned", "memory", "graph"):
        means = [
            mean(
                mean(step[what] for step in steps if what in step)
                for steps in found.values()
                if any(what in s for s in steps)
            )
            for found in columns.values()
        ]
        print(f"{what + ', mean of the programs':38}" + "  ".join(f"{100 * value:32.1f} %" for value in means))
    return 0


if __name__ == "__main__":
    sys.exit(main())
