"""The pictures of the README: the page at the telling step of a program, as a visitor has it before him; and a film.

`python -m benchmarks.readme_pictures [--folder docs] [--only NAME…]` needs a built page and Chromium; it starts a
server of its own. Look at what it writes before you commit it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measured_server import MeasuredServer
from benchmarks.stills import find_step
from tests.support.kept_browser import FLAGS, find_browser
from tests.support.page_driver import at_step, run

ROOT = Path(__file__).parent.parent

NET = """\
import torch
import torch.nn as nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.tensor([[1., -2.]])
loss = (net(x) - 1.0).pow(2).mean()
loss.backward()
opt.step()
opt.zero_grad()
"""
VIEWS = """\
import torch

grid = torch.arange(6.0).reshape(2, 3)
flipped = grid.t()
row = grid[1]
wide = grid[:, :1].expand(2, 2)
copy = grid.t().reshape(6)
row[0] = 30.0
print(grid)
"""
OVERWRITTEN = """\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y += 1
loss = y.sum()
loss.backward()
"""
UNSEEN = """\
import torch

w = torch.tensor([3.0, 4.0], requires_grad=True)
loss = (w * w).sum()
w.data /= w.data.norm()
loss.backward()
print(w.grad)
"""
LOOP = """\
import torch

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.02)
x, y = torch.tensor([[1.0, 2.0], [3.0, 1.0]]), torch.tensor([1.0, 2.0])
for epoch in range(400):
    loss = (x @ w - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(w, loss.item())
"""
BROKEN = """\
import torch

x = torch.tensor([1.0, 4.0, 9.0], requires_grad=True)
root = x.sqrt()
half = root.detach()
half.mul_(0.5)
total = root.sum()
total.backward()
"""
ATTENTION = (ROOT / "benchmarks/nets/attention.py").read_text()


class Picture(NamedTuple):
    program: str
    step: tuple[str, int] | None
    """As `find_step` takes it; None for the step at which the page opens."""
    size: tuple[int, int] = (1280, 700)
    view: str = "step"
    theme: str = "light"
    scale: float = 1.25
    has_fixes: bool = False
    """Whether to wait for the fixes of what is found."""


PICTURES = {
    "screenshot": Picture(NET, ("AddmmBackward0", 0), (1440, 860), scale=1.5),
    "tour/shared_memory": Picture(VIEWS, ("row[0] = 30.0", 0)),
    "tour/backward": Picture(ATTENTION, ("SoftmaxBackward0", 0), (1280, 760), theme="dark"),
    "tour/card": Picture(OVERWRITTEN, None, (1280, 900), has_fixes=True),
    "tour/wrong_gradient": Picture(UNSEEN, None, (1280, 900), has_fixes=True),
    "tour/long_loop": Picture(LOOP, ("PowBackward0", 30)),
    "tour/loom": Picture(BROKEN, None, (1280, 760), view="run", theme="dark", has_fixes=True),
}
"""By file."""
FILM = "tour/film"


def take(browser: Any, address: str, picture: Picture, file: Path) -> None:
    """Run the program of a picture on a page of its own, go to its step and write the PNG."""
    width, height = picture.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=picture.theme,
        device_scale_factor=picture.scale,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#workbench[data-steps]")
    page.locator(".cm-content").fill(picture.program)
    trace = run(page)
    page.mouse.move(2, 2)
    if (step := find_step(trace, picture.step)) is not None:
        page.evaluate(
            "i => { const s = document.querySelector('#slider'); s.value = i; s.dispatchEvent(new Event('input')); }",
            step,
        )
        at_step(page, step)
    page.locator(f"#views [data-view={picture.view}]").click()
    page.wait_for_selector(f"#workbench[data-shown-view={picture.view}]")
    if picture.has_fixes:
        page.get_by_role("button", name="Apply").first.wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=file)
    context.close()


def write_film(source: str, file: Path) -> None:
    """From the cause of what is found in a program to where it shows, as `gradbox export --film` makes it."""
    with tempfile.TemporaryDirectory() as folder:
        program, trace = Path(folder, "overwritten.py"), Path(folder, "overwritten.json")
        program.write_text(source)
        done = subprocess.run([sys.executable, "-m", "server", "trace", program], stdout=subprocess.PIPE, check=True)
        trace.write_bytes(done.stdout)
        subprocess.run([sys.executable, "-m", "gradbox", "export", trace, "--film", file], check=True)


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        "python -m benchmarks.readme_pictures", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "docs", help="where the PNGs are written (default docs)")
    parser.add_argument(
        "--only", nargs="+", choices=[*PICTURES, FILM], default=[*PICTURES, FILM], help="these pictures alone"
    )
    arguments = parser.parse_args()
    (arguments.folder / "tour").mkdir(parents=True, exist_ok=True)
    with MeasuredServer(rate_limit="1000000/minute") as server, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for name in (name for name in arguments.only if name in PICTURES):
            take(browser, f"http://127.0.0.1:{server.port}", PICTURES[name], arguments.folder / f"{name}.png")
            print(name)
        browser.close()
    if FILM in arguments.only:
        write_film(OVERWRITTEN, arguments.folder / f"{FILM}.webp")
        print(FILM)
    return 0


if __name__ == "__main__":
    sys.exit(main())
