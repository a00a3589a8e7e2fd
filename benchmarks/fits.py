"""How much of what a step touched the stage has in sight, without the reader scrolling: of 21 nets and every scenario.

`python -m benchmarks.fits [--base CHECKOUT] [--programs FILE…]` needs a built page and Chromium; with `--base`, another
checkout with a built page is measured beside this one, in the same table.

A step counts where all of this stands inside its pane, at a scale of 0.8 at least: each touched tensor that a variable
names, with all its variables' names, and the node that backward visits, drawn as themselves (of more than 16, 16); and of
everything else that it touched, what is drawn at all.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.stage import BROWSER_FLAGS, fetch_trace, find_chromium
from tests.support.tracing import Replay

ROOT = Path(__file__).parent.parent
SIZES = {"1440x900": (1440, 900, 0.95), "1280x720": (1280, 720, 0.90)}
"""Windows, each with the least share of steps that is wanted of the nets."""
MAX_NAMED_TENSORS = 16
"""Of more named tensors that a step touched, so many have to be in sight."""

SHOW_SCRIPT = """async () => {
    const workbench = document.querySelector("#workbench");
    workbench.removeAttribute("data-steps");
    const shown = new Promise((resolve) => new MutationObserver(resolve).observe(workbench, {attributeFilter: ["data-steps"]}));
    document.querySelector("#run-button").click();
    await shown;
}"""
"""Runs a program whose trace is answered by a route."""
LOOK_SCRIPT = """async (steps) => {
    const slider = document.querySelector("#slider"), stage = document.querySelector("#stage"), out = [];
    const scrolls = (e) => /(auto|scroll)/.test(getComputedStyle(e).overflowY + getComputedStyle(e).overflowX);
    const frame = () => new Promise(requestAnimationFrame);
    const panes = new Map();
    const paneOf = (e) => {
        let at = e.parentElement;
        while (at && at !== document.body && !scrolls(at)) at = at.parentElement;
        return at ?? document.body;
    };
    const boxOf = (pane) => {
        if (!panes.has(pane)) {
            const r = pane.getBoundingClientRect();
            panes.set(pane, [Math.max(0, r.left), Math.max(0, r.top), Math.min(innerWidth, r.right), Math.min(innerHeight, r.bottom)]);
        }
        return panes.get(pane);
    };
    const inSight = (e) => {
        const r = e.getBoundingClientRect(), [left, top, right, bottom] = boxOf(paneOf(e));
        const scale = e.getScreenCTM?.()?.a ?? 1;
        return scale >= 0.795 && r.width > 0 && r.left >= left - 1 && r.top >= top - 1 && r.right <= right + 1 && r.bottom <= bottom + 1;
    };
    const moved = (before, now) => [...now].filter(([k, [x, y]]) => before.has(k) && Math.abs(before.get(k)[1] - y) + Math.abs(before.get(k)[0] - x) > 0.5).map(([k]) => k);
    let before = new Map();
    for (let i = 0; i < steps; i++) {
        slider.value = String(i);
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        await frame();
        await frame();
        panes.clear();
        const seen = {};
        const add = (key, e) => { seen[key] = (seen[key] ?? false) || inSight(e); };
        const at = new Map();
        for (const e of stage.querySelectorAll("[data-handle],[data-storage-strip],[data-node],[data-ref]")) {
            const d = e.dataset;
            if (d.handle) add(d.handle, e);
            if (d.storageStrip) add(d.storageStrip, e);
            if (d.node) add(d.node, e);
            if (d.ref && d.name) add(`${d.frame}/${d.name}`, e);
            const uid = d.handle ?? d.node;
            if (uid) { const r = (e.querySelector("rect:not(.halo)") ?? e).getBoundingClientRect(); at.set(uid, [r.left, r.top]); }
        }
        out.push({seen, moved: moved(before, at), drawn: at.size});
        before = at;
    }
    return out;
}"""
"""What is drawn at each step and whether it is in sight, by uid and by `frame/name`; and which handles and nodes moved."""


@contextmanager
def serving(checkout: Path) -> Iterator[str]:
    """The address of a server of that checkout."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "server", "serve", "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "GRADBOX_RATE_LIMIT": "1000000/minute"}
    server = subprocess.Popen(command, cwd=checkout, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/readyz").read()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def ref_uid(value: Any) -> str | None:
    return value["ref"] if isinstance(value, dict) and isinstance(value.get("ref"), str) else None


def touched_by_step(trace: dict[str, Any]) -> Iterator[tuple[dict[str, list[str]], set[str]]]:
    """For each step: the touched tensors that variables name, each with its names as `frame/name`, with the visited node
    (which has none); and everything else that was touched."""
    replay = Replay(trace, -1)
    for step in trace["steps"]:
        replay.apply(step)
        state = replay.state
        touched = {
            uid
            for uid, fields in step["set"].items()
            if uid in state and uid[0] in "tasn" and any(field != "held_by" for field in fields)
        }
        for uid, fields in step["set"].items():
            if uid in state and uid[0] == "f":
                touched |= {
                    to for name in fields.get("vars", {}) if (to := ref_uid(state[uid]["vars"].get(name))) in state
                }
        if visit := step.get("visit"):
            touched.add(visit["node"])
            edges = state.get(visit["node"], {}).get("next") or []
            touched |= {
                edge[0]
                for grad, edge in zip(visit["grad_inputs"], edges, strict=False)
                if grad and edge and edge[0] in state
            }
            if visit.get("accumulates") in state:
                touched.add(visit["accumulates"])
        names: dict[str, list[str]] = {}
        for uid, entity in state.items():
            if entity["kind"] == "frame":
                for name, value in entity["vars"].items():
                    if (
                        (to := ref_uid(value)) is not None
                        and to in touched
                        and state[to]["kind"] in ("tensor", "array")
                    ):
                        names.setdefault(to, []).append(f"{uid}/{name}")
        if visit and visit["node"] in state:
            names[visit["node"]] = []
        yield names, touched - names.keys()


def fits(seen: dict[str, bool], names: dict[str, list[str]], others: set[str]) -> bool:
    """Whether all that a step touched is in sight."""
    full = sum(all(seen.get(key, False) for key in (uid, *tags)) for uid, tags in names.items())
    return full >= min(len(names), MAX_NAMED_TENSORS) and all(seen.get(uid, True) for uid in others)


def measure(
    browser: Any, address: str, size: tuple[int, int], texts: dict[str, str]
) -> dict[str, tuple[int, int, int]]:
    """By program: its steps, those with everything in sight, and those in which something untouched moved."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#workbench[data-steps]")
    current = ""
    page.route("**/api/runs", lambda route: route.fulfill(content_type="application/json", body=current))
    figures = {}
    for name, current in texts.items():
        trace = json.loads(current)
        page.evaluate(SHOW_SCRIPT)
        drawn = page.evaluate(LOOK_SCRIPT, len(trace["steps"]))
        rows = list(zip(drawn, touched_by_step(trace), strict=True))
        good = [fits(row["seen"], names, others) for row, (names, others) in rows]
        if os.environ.get("SHOW_MISSED"):
            for i, (row, (names, others)) in enumerate(rows):
                if not good[i]:
                    lost = [k for u, tags in names.items() for k in (u, *tags) if not row["seen"].get(k, False)]
                    print(name, size, "step", i, lost, [u for u in others if not row["seen"].get(u, True)])
        moves = [any(uid not in names and uid not in others for uid in row["moved"]) for row, (names, others) in rows]
        figures[name] = (len(rows), sum(good), sum(moves))
    context.close()
    return figures


def table(
    title: str, results: dict[str, dict[str, dict[str, tuple[int, int, int]]]], programs: list[str]
) -> dict[tuple[str, str], float]:
    """Print a row for each program; the shares of all of them together, by stage and window."""
    columns = [(stage, size) for stage in results for size in SIZES]
    print(f"\n{title:24} steps  " + "  ".join(f"{stage} {size}".rjust(20) for stage, size in columns))
    totals = {column: [0, 0, 0] for column in columns}
    for name in programs:
        cells = []
        for stage, size in columns:
            steps, good, moved = results[stage][size][name]
            for k, value in enumerate((steps, good, moved)):
                totals[stage, size][k] += value
            cells.append(f"{100 * good / steps:3.0f} %, {moved:3} moved".rjust(20))
        print(f"{name:24} {steps:5}  " + "  ".join(cells))
    shares = {column: good / max(steps, 1) for column, (steps, good, _) in totals.items()}
    cells = [f"{100 * shares[column]:5.1f} %, {totals[column][2]:4} moved".rjust(20) for column in columns]
    print(f"{'all':24} {totals[columns[0]][0]:5}  " + "  ".join(cells))
    return shares


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python -m benchmarks.fits", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base", type=Path, help="another checkout, with a built page, to measure beside this one")
    parser.add_argument("--programs", type=Path, nargs="+", help="programs in place of the nets and the scenarios")
    arguments = parser.parse_args()
    nets = arguments.programs or sorted((ROOT / "benchmarks/nets").glob("*.py"))
    scenarios = [] if arguments.programs else sorted((ROOT / "scenarios").glob("*.py"))
    stages = {"this": ROOT} | ({"base": arguments.base.resolve()} if arguments.base else {})
    results: dict[str, dict[str, dict[str, tuple[int, int, int]]]] = {}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=list(BROWSER_FLAGS))
        texts: dict[str, str] = {}
        for stage, checkout in stages.items():
            with serving(checkout) as address:
                texts = texts or {path.stem: fetch_trace(address, path.read_text()) for path in [*nets, *scenarios]}
                results[stage] = {
                    size: measure(browser, address, (width, height), texts)
                    for size, (width, height, _) in SIZES.items()
                }
        browser.close()
    shares = table("nets", results, [path.stem for path in nets])
    if scenarios:
        table("scenarios", results, [path.stem for path in scenarios])
    print("\ntarget")
    for size, (_, _, least) in SIZES.items():
        share = shares["this", size]
        print(f"{size:12} {100 * share:5.1f} % >= {100 * least:g} %  {'holds' if share >= least else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
