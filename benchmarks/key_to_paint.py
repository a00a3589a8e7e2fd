"""From a key to what it paints: the step key on a GPT of two blocks, beside a program of five lines, in one Chromium.

`python -m benchmarks.key_to_paint [--rounds 4] [--size 1440x900] [--profile]` needs a built page and Chromium; it
starts a server of its own. The browser measures (Event Timing, in steps of 8 ms, from the key to the next paint). The
two pages take turns, so that what else the machine does slows both: the ratio is what to compare. `--profile` says
instead where a step's time goes: script by function, style, layout.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.measured_server import MeasuredServer
from tests.support.kept_browser import FLAGS, find_browser
from tests.support.page_driver import leave, paste, run

GPT = (
    (Path(__file__).parent.parent / "tests/examples/nets/gpt.py")
    .read_text()
    .replace("= 17, 5, 8, 2, 4", "= 17, 5, 8, 2, 2")
)
TINY = """\
import torch
x = torch.ones(2, requires_grad=True)
for k in range(12):
    y = x * k
    y.sum().backward()
"""
PRESSES = 40
"""Of a turn."""
REST_MS = 230
"""After a press: its motion is over, and what was put off until later is done."""
LEAST_MS = 8
"""What the browser doesn't report took no longer than 16 ms."""

OBSERVE = """() => {
    window.paints = [];
    new PerformanceObserver(list => {
        for (const { name, duration } of list.getEntries()) if (name === "keydown") paints.push(duration);
    }).observe({ type: "event", durationThreshold: 16 });
}"""


def open_program(page: Any, address: str, text: str) -> int:
    """Run a program and show its first step; how many steps it has."""
    page.goto(address)
    page.wait_for_selector("#workbench[data-step]")
    paste(page, text)
    trace = run(page)
    leave(page)
    page.locator('#views [data-view="step"]').click()
    leave(page)
    page.evaluate(OBSERVE)
    return len(trace["steps"])


def press_keys(page: Any, key: str) -> list[float]:
    """The durations of a turn of presses, from the first step on, in milliseconds."""
    page.bring_to_front()
    page.keyboard.press("Home")
    page.wait_for_timeout(2 * REST_MS)
    page.evaluate("paints.length = 0")
    for _ in range(PRESSES):
        page.keyboard.press(key)
        page.wait_for_timeout(REST_MS)
    reported: list[float] = page.evaluate("paints")
    return [*reported, *[LEAST_MS] * (PRESSES - len(reported))]


def describe(name: str, durations: list[float]) -> str:
    return f"{name:24} median {median(durations):4.0f} ms   p95 {quantiles(durations, n=20)[-1]:4.0f} ms"


def measure(pages: dict[str, Any], rounds: int) -> None:
    for key in ("ArrowRight", "Shift+ArrowRight"):
        durations: dict[str, list[float]] = {name: [] for name in pages}
        for _ in range(rounds):
            for name, page in pages.items():
                durations[name] += press_keys(page, key)
        print(key)
        for name, found in durations.items():
            print("  " + describe(name, found))
        gpt, tiny = (sum(found) / len(found) for found in durations.values())
        print(f"  means {gpt:.1f} and {tiny:.1f} ms: {gpt / tiny:.2f} times", flush=True)


def profile(page: Any, name: str) -> None:
    """Print what a step costs: the browser's counters, and the functions that took most."""
    devtools = page.context.new_cdp_session(page)
    for domain in ("Performance", "Profiler"):
        devtools.send(f"{domain}.enable")
    devtools.send("Profiler.setSamplingInterval", {"interval": 200})

    def counters() -> dict[str, float]:
        return {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}

    before = counters()
    devtools.send("Profiler.start")
    press_keys(page, "ArrowRight")
    found, after = devtools.send("Profiler.stop")["profile"], counters()
    print(name)
    for counter in ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "TaskDuration"):
        print(f"  {counter:22} {1000 * (after[counter] - before[counter]) / PRESSES:6.2f} ms a step")
    for counter in ("RecalcStyleCount", "LayoutCount"):
        print(f"  {counter:22} {(after[counter] - before[counter]) / PRESSES:6.2f} a step")
    nodes = {node["id"]: node for node in found["nodes"]}
    parents = {child: node["id"] for node in found["nodes"] for child in node.get("children", [])}
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for sample, microseconds in zip(found["samples"], found["timeDeltas"], strict=True):
        stack, at = [], sample
        while at is not None:
            call = nodes[at]["callFrame"]
            file = call["url"].rsplit("/", 1)[-1].split("?")[0]
            stack.append(f"{call['functionName'] or '(anonymous)'} {file}:{call['lineNumber'] + 1}")
            at = parents.get(at)
        own[stack[0]] += microseconds
        total.update(dict.fromkeys(stack, microseconds))
    for title, counts in (("own", own), ("total", total)):
        for function, microseconds in counts.most_common(32):
            print(f"    {title:5} {microseconds / 1000 / PRESSES:6.2f} ms  {function}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="turns of each page and key")
    parser.add_argument("--size", default="1440x900", help="of the window")
    parser.add_argument("--profile", action="store_true", help="say where the time of a step goes")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright  # only here: whoever reads the numbers needs none

    width, height = map(int, options.size.split("x"))
    with tempfile.TemporaryDirectory() as folder, MeasuredServer(data=folder) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=FLAGS)
        pages = {}
        for name, text in {"GPT of two blocks": GPT, "five lines": TINY}.items():
            pages[name] = browser.new_context(viewport={"width": width, "height": height}).new_page()
            count = open_program(pages[name], f"http://127.0.0.1:{server.port}/", text)
            print(f"{name}: {count} steps")
        if options.profile:
            for name, page in pages.items():
                profile(page, name)
        else:
            measure(pages, options.rounds)
        browser.close()


if __name__ == "__main__":
    main()
