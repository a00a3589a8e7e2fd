"""What a step of the stage costs the browser, beside another checkout's: the renderer's processor time, in alternation.

`python -m benchmarks.steps --base CHECKOUT [--rounds N] [--only NAME…]` needs Chromium and a built page in both. Both
pages show the same traces and take turns, each stepping through a run from its first step to its last; a step's time is
what Chromium counts for the renderer's main thread in processor time, so that a busy machine changes it little. Every
program is measured on the stage, and in the Net view where the page offers it; a checkout without one shows its stage.
"""

import argparse
import os
import sys
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.fits import SHOW_SCRIPT, serving
from benchmarks.stage import BROWSER_FLAGS, CHAIN, CROWD, DEEP, MILLION, SMALL, TENSORS, fetch_trace, find_chromium

ROOT = Path(__file__).parent.parent
NETS = ("mlp", "attention", "lstm")
NAMED = (
    "import torch\n"
    + "".join(f"w{k} = torch.full((4,), {k}.0)\n" for k in range(TENSORS))
    + "".join(f"w{k}[1] = {k}.5\n" for k in range(0, TENSORS, 3))
)
"""Tensors with a name each: a list of names that has no room for all."""
PARAMETERS = f"""import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(*[nn.Linear(4, 4) for _ in range({TENSORS // 2})])
opt = torch.optim.SGD(model.parameters(), lr=0.01)
loss = (model(torch.ones(3, 4)) ** 2).mean()
loss.backward()
opt.step()
"""
"""As many parameters, and a graph of all of them."""
VIEWS = ("stage", "net")
STEPS_SCRIPT = """async ([most]) => {
    const slider = document.querySelector("#slider"), last = Number(slider.max), from = Math.max(0, (last - most) >> 1);
    for (let i = from; i <= Math.min(last, from + most); i += 1) {
        slider.value = i;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        document.body.offsetHeight;
        await new Promise(requestAnimationFrame);
    }
    return Math.min(last, from + most) - from + 1;
}"""
"""Shows the steps in the middle of a run, one after the other; how many."""
PARTS = {"all": "TaskDuration", "script": "ScriptDuration", "style": "RecalcStyleDuration", "layout": "LayoutDuration"}


class ShownTrace:
    """A page of one checkout, and the processor time that it took."""

    def __init__(self, browser: Any, address: str) -> None:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        self.page = context.new_page()
        self.page.goto(address)
        self.page.wait_for_selector("#workbench[data-steps]")
        self.text = ""
        self.page.route(
            "**/api/runs",
            lambda route: route.fulfill(content_type="application/json", body=self.text),
        )
        self.session = context.new_cdp_session(self.page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def show(self, text: str) -> None:
        """Show a trace, as after a run."""
        self.text = text
        self.page.evaluate(SHOW_SCRIPT)

    def choose(self, view: str) -> bool:
        """Show a view, if the page offers it; whether it does."""
        button = self.page.locator(f"[data-view={view}]:visible")
        if button.count():
            button.first.click()
            self.page.wait_for_function(
                "view => document.querySelector(`[data-view=${view}]`).ariaPressed === 'true'", arg=view
            )
        return bool(button.count())

    def metrics(self) -> dict[str, float]:
        """Milliseconds of the main thread so far, by part."""
        found = {row["name"]: row["value"] for row in self.session.send("Performance.getMetrics")["metrics"]}
        return {part: 1000 * found[name] for part, name in PARTS.items()}

    def step(self, most: int) -> dict[str, float]:
        """Milliseconds for a step, by part, on the way through the middle of the run."""
        before = self.metrics()
        steps = self.page.evaluate(STEPS_SCRIPT, [most])
        after = self.metrics()
        return {part: (after[part] - before[part]) / steps for part in PARTS}


def compare(pages: dict[str, ShownTrace], rounds: int, most: int) -> dict[str, dict[str, list[float]]]:
    """The rounds of each page, by part; who begins changes from round to round."""
    times: dict[str, dict[str, list[float]]] = {stage: {part: [] for part in PARTS} for stage in pages}
    for shown in pages.values():
        shown.step(most)  # the code is compiled
    for turn in range(rounds):
        for stage in list(pages)[:: 1 if turn % 2 else -1]:
            for part, value in pages[stage].step(most).items():
                times[stage][part].append(value)
    return times


def main() -> int:
    from playwright.sync_api import sync_playwright

    programs = {
        "small": SMALL,
        "crowd": CROWD,
        "named": NAMED,
        "params": PARAMETERS,
        "chain": CHAIN,
        "deep": DEEP,
        "million": MILLION,
    } | {name: (ROOT / f"benchmarks/nets/{name}.py").read_text() for name in NETS}
    parser = argparse.ArgumentParser("python -m benchmarks.steps", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base", type=Path, required=True, help="another checkout, with a built page")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each page (default %(default)s)")
    parser.add_argument("--most", type=int, default=150, help="steps of a run that are shown (default %(default)s)")
    parser.add_argument("--only", nargs="+", choices=programs, help="these programs in place of all")
    parser.add_argument("--views", nargs="+", choices=VIEWS, default=VIEWS, help="these views in place of all")
    arguments = parser.parse_args()
    print(f"{'ms of a step':14}" + "".join(f"{part:>22}" for part in PARTS) + "   this / base")
    slower = 0
    with sync_playwright() as play, serving(ROOT) as here, serving(arguments.base.resolve()) as there:
        browser = play.chromium.launch(executable_path=find_chromium(), args=list(BROWSER_FLAGS))
        pages = {"this": ShownTrace(browser, here), "base": ShownTrace(browser, there)}
        for name in arguments.only or programs:
            text = fetch_trace(here, programs[name])
            for shown in pages.values():
                shown.show(text)
            for view in arguments.views:
                if not [shown.choose(view) for shown in pages.values()][0] and view != "stage":
                    continue
                times = compare(pages, arguments.rounds, arguments.most)
                medians = {stage: {part: median(times[stage][part]) for part in PARTS} for stage in pages}
                ratio = median(a / b for a, b in zip(times["this"]["all"], times["base"]["all"], strict=True))
                slower += ratio > 1
                cells = "".join(f"{medians['this'][part]:11.1f} :{medians['base'][part]:9.1f}" for part in PARTS)
                print(f"{name + (', net' if view == 'net' else ''):14}{cells}   {ratio:8.2f}", flush=True)
        browser.close()
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
