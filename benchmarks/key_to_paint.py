"""From a key to what it paints: the step key on a GPT of two blocks, beside a program of four lines, in one Chromium.

`python -m benchmarks.key_to_paint [--rounds 4]` needs a built page and Chromium; it starts a server of its own. The
browser measures (Event Timing, in steps of 8 ms, from the key to the next paint). The two pages take turns, so that
what else the machine does slows both: the ratio is what to compare.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.measured_server import MeasuredServer
from tests.support.kept_browser import FLAGS, find_browser
from tests.support.page_driver import leave, paste, run

NETS = Path(__file__).parent.parent / "tests/examples/nets"
GPT = (NETS / "gpt.py").read_text().replace("= 17, 5, 8, 2, 4", "= 17, 5, 8, 2, 2")
TINY = "import torch\nx = torch.ones(2, requires_grad=True)\nfor k in range(12):\n    (x * k).sum().backward()\n"
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


def measure(pages: dict[str, Any], rounds: int) -> None:
    for key in ("ArrowRight", "Shift+ArrowRight"):
        durations: dict[str, list[float]] = {name: [] for name in pages}
        for _ in range(rounds):
            for name, page in pages.items():
                durations[name] += press_keys(page, key)
        print(key)
        for name, found in durations.items():
            print(f"  {name:24} median {median(found):4.0f} ms   p95 {quantiles(found, n=20)[-1]:4.0f} ms")
        gpt, tiny = (sum(found) / len(found) for found in durations.values())
        print(f"  means {gpt:.1f} and {tiny:.1f} ms: {gpt / tiny:.2f} times", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="turns of each page and key")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright  # only here: whoever reads the numbers needs none

    with tempfile.TemporaryDirectory() as folder, MeasuredServer(data=folder) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=FLAGS)
        pages = {}
        for name, text in {"GPT of two blocks": GPT, "four lines": TINY}.items():
            pages[name] = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            count = open_program(pages[name], f"http://127.0.0.1:{server.port}/", text)
            print(f"{name}: {count} steps")
        measure(pages, options.rounds)
        browser.close()


if __name__ == "__main__":
    main()
