"""What large models cost the page, beside another checkout's: the views *Net* and *Parameters* at first sight, a part, a step.

`python -m benchmarks.large_models --base CHECKOUT [--rounds N]` needs Chromium and a built page in both. Both pages show the same
traces and take turns; a time is what Chromium counts for the renderer's main thread in processor time, in ms, the median of the
rounds: the trace read and drawn (in *Net*, where its graph is large), a view's first sight after that, a part opened, a step. The traces are recorded here.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.fits import serving
from benchmarks.stage import BROWSER_FLAGS, find_chromium
from benchmarks.steps import ShownTrace

ROOT = Path(__file__).parent.parent
BLOCKS = """\
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
    def forward(self, x):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        x = x + self.proj((q @ k.transpose(-2, -1)).softmax(-1) @ v)
        return x + self.mlp(self.ln2(x))
net = nn.Sequential(*[Block(4) for _ in range(48)])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(torch.randn(2, 3, 4)).square().mean().backward()
    opt.step()
"""
PARAMETERS = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(*[layer for _ in range(500) for layer in (nn.Linear(4, 4), nn.Tanh())])
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(3):
    opt.zero_grad()
    net(torch.randn(2, 4)).pow(2).mean().backward()
    opt.step()
"""
NODES = """\
import torch
w = torch.ones(4, requires_grad=True)
x = w
for k in range(10_000):
    x = x * 0.9999
x.sum().backward()
"""
PROGRAMS = {"48 blocks": BLOCKS, "1,000 parameters": PARAMETERS, "10,000 nodes": NODES}

VIEWS = {"net": ("m", "#net .net-row"), "parameters": ("t", ".parameters-table tbody tr")}
PARTS = {
    "net": '#net .net-row[aria-expanded="false"]',
    "parameters": '.parameters-table .opens[aria-expanded="false"]',
}


def record(source: str) -> str:
    """The trace of a program."""
    done = subprocess.run(
        [sys.executable, "-m", "server", "trace", "-"],
        input=source,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return done.stdout


def measure(shown: ShownTrace, text: str, view: str) -> dict[str, float]:
    """Milliseconds of the main thread until the view is drawn, until a part of it is open, and for the step after that."""
    key, selector = VIEWS[view]
    page = shown.page

    def spent(act: Callable[[], Any]) -> float:
        before = shown.metrics()["all"]
        act()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return shown.metrics()["all"] - before

    found = {"trace opened": spent(lambda: (shown.show(text), page.wait_for_timeout(500)))}
    page.evaluate("document.activeElement?.blur()")
    if not page.locator(selector).first.is_visible():  # a run of a large net opens there
        found["first sight"] = spent(lambda: (page.keyboard.press(key), page.wait_for_selector(selector)))
    if page.locator(PARTS[view]).count():
        part = page.locator(PARTS[view]).last
        found["a part"] = spent(lambda: (part.focus(), page.keyboard.press("Enter")))
    found["a step"] = spent(lambda: page.keyboard.press("Shift+ArrowLeft"))
    return found


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python -m benchmarks.large_models", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base", type=Path, required=True, help="another checkout, with a built page")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each page (default %(default)s)")
    arguments = parser.parse_args()
    with sync_playwright() as play, serving(ROOT) as here, serving(arguments.base.resolve()) as there:
        browser = play.chromium.launch(executable_path=find_chromium(), args=list(BROWSER_FLAGS))
        pages = {"this": ShownTrace(browser, here), "base": ShownTrace(browser, there)}
        for name, source in PROGRAMS.items():
            text = record(source)
            outcome = json.loads(text)["outcome"]
            print(f"{name}: {len(text) / 1e6:.1f} MB, {outcome['status']} {outcome.get('stopped', '')}")
            for view in VIEWS:
                times: dict[str, dict[str, list[float]]] = {"this": {}, "base": {}}
                for turn in range(arguments.rounds):
                    for stage in list(pages)[:: 1 if turn % 2 else -1]:
                        for what, spent in measure(pages[stage], text, view).items():
                            times[stage].setdefault(what, []).append(spent)
                for what, own in times["this"].items():
                    print(
                        f"  {view:12}{what:14}{median(own):8.0f} ms, base {median(times['base'].get(what, [0])):8.0f} ms"
                    )
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
