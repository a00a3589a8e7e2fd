"""Stills of nets and of programs about sharing, each at its telling step, for somebody who has not seen the page to
read.

`python -m benchmarks.stills FOLDER [--only NAME…]` needs Node with the page's packages and Chromium; it writes a PNG
for each program and theme. A still shows neither code nor controls: memory, graph, and what the step did.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.pictures.test_pictures import NODE
from tests.support.kept_browser import FLAGS, find_browser
from tests.support.tracing import trace

ROOT = Path(__file__).parent.parent
THEMES = ("light", "dark")
SCALE = 2
"""Pixels of a PNG for one of the picture."""
STILLS = {
    "01_clone_detach": ("scenarios/clone.py", None),
    "02_data": ("scenarios/data.py", None),
    "03_view_reshape": ("scenarios/view.py", None),
    "04_deepcopy": ("scenarios/deepcopy.py", None),
    "05_saved_overwritten": ("scenarios/saved_inplace.py", None),
    "06_wrong_gradient": ("scenarios/silent.py", None),
    "07_mlp_backward": ("benchmarks/nets/mlp.py", ("AddmmBackward0", 0)),
    "08_tied_weight": ("benchmarks/nets/weight_tying.py", ("torch::autograd::AccumulateGrad", 0)),
    "09_attention_backward": ("benchmarks/nets/attention.py", ("SoftmaxBackward0", 0)),
    "10_residual": ("benchmarks/nets/residual.py", ("AddBackward0", 1)),
    "11_ema": ("benchmarks/nets/ema.py", ("t.mul_(0.9)", -1)),
    "12_two_optimizers": ("benchmarks/nets/two_optimizers.py", ("opt_d.step()", -1)),
}
"""By name, the program and its step: a visit of a node of that name or a statement with that text, and which of them;
None for the step with which a picture begins."""


def find_step(recorded: dict[str, Any], which: tuple[str, int] | None) -> int | None:
    """The step that is meant; raises LookupError where the run has none."""
    if which is None:
        return None
    text, nth = which
    names = {uid: f["name"] for s in recorded["steps"] for uid, f in s["set"].items() if uid[0] == "n" and "name" in f}
    lines = recorded["program"]["source"].splitlines()
    found = [
        i
        for i, step in enumerate(recorded["steps"])
        if (names.get(step["visit"]["node"]) == text if step.get("visit") else _runs(step, lines, text))
    ]
    if not found:
        raise LookupError(f"no step of {text}")
    return found[nth]


def _runs(step: dict[str, Any], lines: list[str], text: str) -> bool:
    return step["kind"] == "statement" and bool(step.get("line")) and text in lines[step["line"] - 1]


def draw(names: list[str]) -> dict[str, str]:
    """The stills of those names as SVG, by name and theme."""
    if NODE is None:
        raise RuntimeError("no Node here")
    jobs, files = [], []
    for name in names:
        path, which = STILLS[name]
        recorded = trace((ROOT / path).read_text())
        for theme in THEMES:
            jobs.append(["step", recorded, find_step(recorded, which), {"theme": theme}])
            files.append(f"{name}.{theme}")
    done = subprocess.run(
        [NODE, "--import", str(ROOT / "static/typescript.mjs"), str(ROOT / "tests/pictures/draw.mjs")],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return dict(zip(files, json.loads(done.stdout), strict=True))


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python -m benchmarks.stills", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the PNGs are written")
    parser.add_argument("--only", nargs="+", choices=STILLS, default=list(STILLS), help="these stills in place of all")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_context(device_scale_factor=SCALE).new_page()
        for name, svg in draw(arguments.only).items():
            page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{svg}")
            page.locator("svg").first.screenshot(path=arguments.folder / f"{name}.png")
            print(name)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
