"""The cost of the picture in a browser, against the targets: a step, the first picture, the first load, memory.

`python -m benchmarks.stage [--minutes M]` needs a built page and Chromium. The time of a step is from the slider's event
until the page is laid out again; painting is not counted. In the same browser, Graphviz draws the same steps: it is given
their text, so that only its own work is counted.
"""

import argparse
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-dev-shm-usage",
)
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
GRAPHVIZ = ROOT / "node_modules/@viz-js/viz/lib/viz-standalone.js"
TENSORS = 300
SAMPLES = 12

SMALL = "import torch\na = torch.ones(3, requires_grad=True)\nb = a.clone()\nc = a.detach()\nc[0] = 8.\n" + (
    "b = b * 2\n" * 10 + "b.sum().backward()\n"
)
CROWD = f"""import torch
kept = []
for k in range({TENSORS}):
    kept.append(torch.full((4,), float(k)))
for k in range(260):
    kept[k][0] += 1
""" + "".join(f"kept[{k}][1] = {k}.0\n" for k in range(100))
CHAIN = """import torch
x = torch.ones(3, requires_grad=True)
y = x
for i in range(498):
    y = y * 1.01
y.sum().backward()
"""
DEEP = """import torch
from torch import nn
model = nn.Sequential(*[nn.Sequential(nn.Linear(6, 6), nn.ReLU()) for _ in range(12)], nn.Linear(6, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(4, 6), torch.randn(4, 1)
for step in range(2):
    opt.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
"""
MILLION = """import torch
m = torch.randn(1000, 1000)
row, col, t = m[500], m[:, 250], m.t()
for k in range(40):
    m[k] += 1
"""
PROGRAMS = {"small": SMALL, "crowd": CROWD, "chain": CHAIN, "deep": DEEP, "million": MILLION}
BIG_GRAPHS = ("crowd", "chain", "deep")  # the others give Graphviz a handful of boxes

STEP_SCRIPT = """async ([from, to, by]) => {
    const slider = document.querySelector("#slider"), took = [];
    for (let i = from; i < to; i += by) {
        const began = performance.now();
        slider.value = i;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        document.body.offsetHeight;
        took.push(performance.now() - began);
        await new Promise(requestAnimationFrame);
    }
    return took.sort((a, b) => a - b);
}"""
PICTURE_SCRIPT = """async () => {
    const workbench = document.querySelector("#workbench");
    workbench.removeAttribute("data-steps");
    const shown = new Promise((resolve) => new MutationObserver(resolve).observe(workbench, {attributeFilter: ["data-steps"]}));
    performance.clearResourceTimings();
    document.querySelector("#run-button").click();
    await shown;
    document.body.offsetHeight;
    const now = performance.now();
    await new Promise(requestAnimationFrame);
    return now - performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/api/runs")).responseEnd;
}"""
"""Runs a program; milliseconds from its trace's last byte to the picture."""
SCRUB_SCRIPT = """async ([steps, ms]) => {
    const slider = document.querySelector("#slider"), until = performance.now() + ms;
    let shown = 0;
    for (let i = 0; performance.now() < until; i = (i + 7) % steps) {
        slider.value = i;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        shown += 1;
        await new Promise(requestAnimationFrame);
    }
    slider.value = 0;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    return shown;
}"""
REDRAW_SCRIPT = """async texts => {
    const viz = await Viz.instance(), took = [];
    viz.renderSVGElement("digraph { a -> b }");
    for (const text of texts) {
        const began = performance.now();
        document.body.replaceChildren(viz.renderSVGElement(text));
        document.body.offsetHeight;
        took.push(performance.now() - began);
        await new Promise(requestAnimationFrame);
    }
    return took;
}"""


def find_chromium() -> str | None:
    """The path of this machine's Chromium; None for the one that Playwright brought."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def start_server() -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "server", "serve", "--port", str(port)], cwd=ROOT, env=dict(os.environ)
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(1200):
        try:
            if b'"trace_url": null' not in urllib.request.urlopen(address).read():
                return server, address
        except OSError:
            pass
        time.sleep(0.1)
    server.terminate()
    server.wait()
    raise RuntimeError("the server does not get ready")


def fetch_trace(address: str, source: str) -> str:
    request = urllib.request.Request(
        f"{address}/api/runs", json.dumps({"source": source}).encode(), {"Content-Type": "application/json"}
    )
    return str(urllib.request.urlopen(request).read().decode())


def measure_first_load(page: Any, address: str) -> tuple[float, list[str]]:
    """KB gzipped of everything that the first page fetches, and what that is."""
    responses: list[Any] = []
    page.on("response", lambda response: responses.append(response))  # a built-in method can not be wrapped
    page.goto(address)
    page.wait_for_selector("#workbench[data-steps]")
    page.wait_for_load_state("networkidle")
    bodies = {response.url.removeprefix(address): response.body() for response in responses if response.status == 200}
    sizes = {url: len(gzip.compress(body)) / 1000 for url, body in bodies.items()}
    return sum(sizes.values()), [f"{url.split('?')[0]} {size:.0f}" for url, size in sizes.items()]


def states(trace: dict[str, Any]) -> Iterator[dict[str, dict[str, Any]]]:
    """What there is after each step, by the trace's own rules, as far as Graphviz is to draw it."""
    now: dict[str, dict[str, Any]] = {}
    for step in trace["steps"]:
        for uid, fields in step["set"].items():
            now[uid] = {**now.get(uid, {}), **fields}
            for dtype, cells in fields.get("cells_at", {}).items():
                row = list(now[uid]["cells"][dtype])
                for index, value in cells.items():
                    row[int(index)] = value
                now[uid] = {**now[uid], "cells": {**now[uid]["cells"], dtype: row}}
        for uid in step["gone"]:
            now.pop(uid, None)
        yield dict(now)


def dot(state: dict[str, dict[str, Any]]) -> str:
    """A step as the text of a graph: tensors, what they read, nodes and what they lead to."""
    lines = ["digraph { rankdir=LR; node [shape=box fontname=monospace];"]
    for uid, entity in state.items():
        kind = entity["kind"]
        if kind == "storage":
            cells: list[Any] = next(iter((entity.get("cells") or {}).values()), [])
            values = "|".join(str(cell) for cell in cells[:36] if not isinstance(cell, dict))
            lines.append(f'{uid} [shape=record label="{uid}|{values}"]')
        elif kind == "tensor":
            lines.append(f'{uid} [label="{uid} {entity["shape"]}"]')
            lines += [f"{uid} -> {entity[to]}" for to in ("storage", "grad_fn", "grad") if entity.get(to) in state]
        elif kind == "node":
            lines.append(f'{uid} [label="{entity["name"]}"]')
            lines += [f"{uid} -> {edge[0]}" for edge in entity.get("next") or () if edge and edge[0] in state]
    return "\n".join((*lines, "}"))


def measure_graphviz(browser: Any, trace: dict[str, Any]) -> float:
    """Milliseconds of Graphviz for a step in the middle, over some steps of the whole."""
    steps = len(trace["steps"])
    every = {k * (steps - 1) // (SAMPLES - 1) for k in range(SAMPLES)}
    page = browser.new_context().new_page()
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
    page.route("**/viz.js", lambda route: route.fulfill(path=GRAPHVIZ))
    page.goto("http://graphviz.test/")
    page.add_script_tag(url="viz.js")
    took = page.evaluate(REDRAW_SCRIPT, [dot(state) for i, state in enumerate(states(trace)) if i in every])
    page.context.close()
    return float(median(took))


def measure_heap(page: Any) -> tuple[float, int]:
    """MB of the page's heap and its elements, once what is let go of is collected."""
    session = page.context.new_cdp_session(page)
    for _ in range(2):
        session.send("HeapProfiler.collectGarbage")
    megabytes = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    return megabytes, session.send("Memory.getDOMCounters")["nodes"]


def measure_picture(page: Any, trace: str) -> float:
    """Milliseconds from the last byte of a trace to its picture, as after a run."""
    page.route("**/api/runs", lambda route: route.fulfill(content_type="application/json", body=trace))
    milliseconds: float = page.evaluate(PICTURE_SCRIPT)
    page.unroute("**/api/runs")
    return milliseconds


def measure(browser: Any, address: str, minutes: float) -> dict[str, float]:
    figures = {}
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    for name, source in PROGRAMS.items():
        text = fetch_trace(address, source)
        trace = json.loads(text)
        page.goto(address)
        page.wait_for_selector("#workbench[data-steps]")
        measure_picture(page, fetch_trace(address, "import torch\na = torch.ones(2)\n"))  # the code is compiled
        figures[f"{name}: first picture, ms"] = measure_picture(page, text)
        steps = figures[f"{name}: steps"] = len(trace["steps"])
        took = page.evaluate(STEP_SCRIPT, [0, steps, 1])
        figures[f"{name}: a step in the middle, ms"] = took[len(took) // 2]
        figures[f"{name}: 95 of 100 steps, ms"] = took[len(took) * 95 // 100]
        jumps = page.evaluate(STEP_SCRIPT, [0, steps, 37])
        figures[f"{name}: a jump in the middle, ms"] = jumps[len(jumps) // 2]
        figures[f"{name}: elements in the stage"] = page.evaluate("document.querySelectorAll('#stage *').length")
        if GRAPHVIZ.exists():
            figures[f"{name}: redrawn by Graphviz, ms"] = measure_graphviz(browser, trace)
        if name == "crowd":
            page.evaluate(SCRUB_SCRIPT, [steps, 3000])
            before, nodes = measure_heap(page)
            figures["scrubbed: steps shown"] = page.evaluate(SCRUB_SCRIPT, [steps, minutes * 60_000])
            after, more = measure_heap(page)
            figures |= {"scrubbed: heap before, MB": before, "scrubbed: heap after, MB": after}
            figures |= {"scrubbed: nodes before": nodes, "scrubbed: nodes after": more}
    page.context.close()
    return figures


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python -m benchmarks.stage", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--minutes", type=float, default=0.25, help="minutes of stepping for the memory figures (default %(default)s)"
    )
    minutes = parser.parse_args().minutes
    server, address = start_server()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=find_chromium(), args=list(BROWSER_FLAGS))
            first, parts = measure_first_load(browser.new_page(), address)
            figures = {"first load, KB gzipped": first, **measure(browser, address, minutes)}
            browser.close()
    finally:
        server.terminate()
        server.wait()
    for name, value in figures.items():
        print(f"{name:36} {value:9.1f}")
    print("first load:", ", ".join(parts))
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n\ntarget")
    growth = figures["scrubbed: heap after, MB"] / figures["scrubbed: heap before, MB"]
    targets = [
        (f"a step at {TENSORS} tensors, ms", figures["crowd: a step in the middle, ms"], 16.0),
        ("a step of a graph of 500 nodes, ms", figures["chain: a step in the middle, ms"], 16.0),
        ("a step at a million elements, ms", figures["million: a step in the middle, ms"], 16.0),
        *((f"first picture of {name}, ms", figures[f"{name}: first picture, ms"], 300.0) for name in PROGRAMS),
        ("first load, KB gzipped", figures["first load, KB gzipped"], 300.0),
        (f"heap after {minutes:g} min / before", growth, 1.1),
    ]
    for name in BIG_GRAPHS if GRAPHVIZ.exists() else ():
        ours = figures[f"{name}: a step in the middle, ms"]
        targets.append((f"a step of {name} / Graphviz", ours / figures[f"{name}: redrawn by Graphviz, ms"], 1.0))
    for what, value, target in targets:
        print(f"{what:36} {value:9.2f} <= {target:5g}  {'holds' if value <= target else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
