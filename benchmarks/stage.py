"""What the picture costs in a browser: steps beside many tensors, the first picture, the first load; against the bars.

`python -m benchmarks.stage`: needs a built page and Chromium. A step is what happens between the slider's event and a
page that is laid out anew; the frame itself is the browser's.
"""

import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")
TENSORS = 300

CROWD = f"""import torch
kept = []
for k in range({TENSORS}):
    a = torch.full((4,), float(k))
    kept.append(a)
x = torch.ones(4, requires_grad=True)
""" + "".join(f"y{i} = x * {i}\n" for i in range(60))
SMALL = "import torch\na = torch.ones(3, requires_grad=True)\nb = a.clone()\nc = a.detach()\nc[0] = 8.\n" + (
    "b = b * 2\n" * 10 + "b.sum().backward()\n"
)

STEP = """async ([from, to, by]) => {
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
PICTURE = """async trace => {
    document.querySelector("#run").innerHTML = `<script type="application/json"></script>`;
    document.querySelector("#run script").textContent = trace;
    const began = performance.now();
    document.querySelector("#run").dispatchEvent(new CustomEvent("htmx:afterSwap", {bubbles: true}));
    document.body.offsetHeight;
    const took = performance.now() - began;
    await new Promise(requestAnimationFrame);
    return took;
}"""


def served() -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "server", "serve", "--port", str(port)], cwd=ROOT, env=dict(os.environ)
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            if b'"trace":null' not in urllib.request.urlopen(address).read():
                return server, address
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError("the server does not get ready")


def traced(address: str, source: str) -> str:
    asked = urllib.request.Request(
        f"{address}/api/runs", json.dumps({"source": source}).encode(), {"Content-Type": "application/json"}
    )
    return urllib.request.urlopen(asked).read().decode()


def load(address: str) -> int:
    """Bytes of the page, its scripts and its styles, gzipped."""
    page = urllib.request.urlopen(address).read()
    dist = ROOT / "static/dist"
    return sum(
        len(gzip.compress(part)) for part in (page, *((dist / name).read_bytes() for name in ("main.js", "style.css")))
    )


def figures(page: Any, address: str) -> dict[str, float]:
    found = {}
    for name, source in (("small", SMALL), ("crowd", CROWD)):
        trace = traced(address, source)
        page.goto(address)
        page.wait_for_selector("#workbench[data-steps]")
        found[f"{name}: first picture, ms"] = page.evaluate(PICTURE, trace)
        steps = len(json.loads(trace)["steps"])
        found[f"{name}: steps"] = steps
        took = page.evaluate(STEP, [0, steps, 1])
        found[f"{name}: a step in the middle, ms"] = took[len(took) // 2]
        found[f"{name}: 95 of 100 steps, ms"] = took[len(took) * 95 // 100]
        jumps = page.evaluate(STEP, [0, steps, 37])
        found[f"{name}: a jump in the middle, ms"] = jumps[len(jumps) // 2]
        found[f"{name}: elements in the stage"] = page.evaluate("document.querySelectorAll('#stage *').length")
    return found


def main() -> int:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    server, address = served()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=path, args=list(FLAGS))
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            found = figures(page, address)
            browser.close()
        found["first load, KB gzipped"] = load(address) / 1000
    finally:
        server.terminate()
        server.wait()
    for name, value in found.items():
        print(f"{name:36} {value:9.1f}")
    print("\nbar")
    for what, value, bar in (
        (f"a step at {TENSORS} tensors, ms", found["crowd: a step in the middle, ms"], 16),
        ("first picture, ms", found["crowd: first picture, ms"], 300),
        ("first load, KB gzipped", found["first load, KB gzipped"], 300),
    ):
        print(f"{what:36} {value:9.1f} <= {bar:4}  {'holds' if value <= bar else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
