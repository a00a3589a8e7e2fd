"""What overlaps or is cut on the stage: of the seeds, scenarios, goldens and nets, at four sizes and in both themes.

`python -m benchmarks.overlaps [--every N] [--programs FILE…]` needs a built page and Chromium. One page shows every
program at every size; colours change no place, so that the dark theme is measured at some of the steps.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.fits import SHOW_SCRIPT, serving
from benchmarks.stage import BROWSER_FLAGS, fetch_trace, find_chromium
from tests.pictures.stage_reader import LAYOUT
from tests.pictures.test_drawing import DARK_STEPS, SETTLED, SIZES

ROOT = Path(__file__).parent.parent
FOLDERS = ("scenarios", "tests/golden", "benchmarks/nets")
SEEDS = ROOT.parent / "shared/seeds/snippets.json"


def programs() -> dict[str, str]:
    """Every program of the set, by name."""
    seeds = json.loads(SEEDS.read_text()) if SEEDS.exists() else []
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))]
    return {seed["id"]: seed["program"] for seed in seeds} | {path.stem: path.read_text() for path in files}


def problems(page: Any, steps: int, every: int) -> list[tuple[str, int, str]]:
    """What is wrong with the program that the page shows: window and theme, step, and what."""
    found = []
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for theme, stride in (("light", every), ("dark", every * DARK_STEPS)):
            page.emulate_media(color_scheme=theme)
            page.evaluate(SETTLED)
            for row in page.evaluate(LAYOUT, list(range(0, steps, stride))):
                found += [(f"{size} {theme}", row["step"], text) for text in row["problems"]]
    return found


def measure(browser: Any, address: str, sources: dict[str, str], every: int) -> int:
    """Print every problem as it is found; how many there are."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#workbench[data-steps]")
    current = ""
    page.route("**/api/runs", lambda route: route.fulfill(content_type="application/json", body=current))
    kinds: Counter[str] = Counter()
    looked_at = 0
    for name, source in sources.items():
        current = fetch_trace(address, source)
        steps = len(json.loads(current)["steps"])
        if not steps:
            continue
        page.set_viewport_size({"width": 1440, "height": 900})
        page.evaluate(SHOW_SCRIPT)
        looked_at += steps
        for where, step, text in problems(page, steps, every):
            kinds[where] += 1
            print(f"{name} {where} step {step}: {text}", flush=True)
    context.close()
    print(f"\n{len(sources)} programs, {looked_at} steps: {kinds.total()} problems", *kinds.items())
    return kinds.total()


def main() -> int:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser("python -m benchmarks.overlaps", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="measure every so many steps (default %(default)s)")
    parser.add_argument("--programs", type=Path, nargs="+", help="programs in place of the whole set")
    arguments = parser.parse_args()
    given = {path.stem: path.read_text() for path in arguments.programs or ()}
    began = time.monotonic()
    with sync_playwright() as play, serving(ROOT) as address:
        browser = play.chromium.launch(executable_path=find_chromium(), args=list(BROWSER_FLAGS))
        found = measure(browser, address, given or programs(), arguments.every)
        browser.close()
    print(f"{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
