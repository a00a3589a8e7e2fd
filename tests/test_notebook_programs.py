"""JupyterLab and marimo themselves, in Chromium: fifty recorded cells show their pictures, and the notebook does not grow."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gradbox.showing import PYTEST_VARIABLE
from tests.own_programs import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.exhaustive]
TIMEOUT = 240.0
"""Seconds that a notebook may take to start, or to run its cells."""

CELLS = 50
SET_UP = "import torch\n%load_ext gradbox"
APP = """\
import marimo
app = marimo.App()


@app.cell
def _():
    import torch, gradbox
    w = torch.ones(3, requires_grad=True)
    return gradbox, torch, w


@app.cell
def _(gradbox, w):
    with gradbox.watch("first", show=False) as first:
        y = w * 2
        y.sum().backward()
    first.run
    return


@app.cell
def _(gradbox, torch, w):
    with gradbox.watch("second", show=False) as second:
        z = torch.sigmoid(w) + 1
    second.run
    return


if __name__ == "__main__":
    app.run()
"""


def python_with(package: str) -> str:
    """A Python that has the package; skips the test where none is known."""
    python = os.environ.get("GRADBOX_NOTEBOOKS_PYTHON", sys.executable)
    if subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{package} is not installed; GRADBOX_NOTEBOOKS_PYTHON names a Python that has it")
    return python


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def served(command: list[str], folder: Path, address: str) -> Iterator[None]:
    """A notebook's server, which answers at this address."""
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_CONFIG_HOME")
    environment = {name: value for name, value in os.environ.items() if name != PYTEST_VARIABLE}
    environment |= {"PYTHONPATH": str(ROOT)} | {name: str(folder / f"own/{name}") for name in places}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + TIMEOUT
        while not answers(address):
            assert process.poll() is None and time.monotonic() < end, (folder / "server.log").read_text()
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


def run_all_and_save(page: Any, notebook: Path, execution: int) -> dict[int, int]:
    """Run all cells of JupyterLab; the bytes of each recorded cell's outputs. execution: the number of the last cell then."""
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()
    end = time.monotonic() + TIMEOUT
    while True:
        page.keyboard.press("Control+s")
        cells = saved_cells(notebook)
        if cells and cells[-1]["execution_count"] == execution:
            break
        assert time.monotonic() < end, [cell["execution_count"] for cell in cells]
        page.wait_for_timeout(500)
    return {number: len(json.dumps(cell["outputs"])) for number, cell in enumerate(cells[1:], 1)}


def saved_cells(notebook: Path) -> list[dict[str, Any]]:
    """The cells of a notebook's file; none while it is being written."""
    with contextlib.suppress(ValueError):
        cells: list[dict[str, Any]] = json.loads(notebook.read_text())["cells"]
        return cells
    return []


def test_fifty_cells_of_jupyterlab_have_pictures_and_do_not_grow(chromium: Any, tmp_path: Path) -> None:
    python = python_with("jupyterlab")
    sources = [SET_UP, *(f"%%gradbox\nx{k} = torch.full((2,), {k}.0)\ny = x{k} * 2" for k in range(CELLS))]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = tmp_path / "fifty.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), notebook)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [
        python, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=abc", f"--ServerApp.root_dir={tmp_path}",
    ]  # fmt: skip
    with served(command, tmp_path, f"{address}/api"):
        page = chromium.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(TIMEOUT * 1000)
        page.goto(f"{address}/lab/tree/fifty.ipynb?token=abc&reset")
        page.locator(".jp-Notebook").wait_for()
        first = run_all_and_save(page, notebook, CELLS + 1)
        again = run_all_and_save(page, notebook, 2 * (CELLS + 1))
        frame = page.locator("div.gradbox > iframe").last
        frame.scroll_into_view_if_needed()
        frame.content_frame.locator("#where").filter(has_text="Step").wait_for()
        page.close()
    assert 300_000 < first.pop(1) < 700_000, "the viewer is in the first"
    assert max(first.values()) < 20_000, "the others have their traces"
    assert abs(sum(again.values()) - again[1] - sum(first.values())) < 0.02 * sum(first.values())
    assert 300_000 < again[1] < 700_000


def test_the_pictures_of_marimo_step(chromium: Any, tmp_path: Path) -> None:
    python = python_with("marimo")
    (tmp_path / "app.py").write_text(APP)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [python, "-m", "marimo", "run", "app.py", "--headless", "--port", str(port), "--no-token"]
    with served(command, tmp_path, address):
        page = chromium.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(TIMEOUT * 1000)
        page.goto(address)
        frames = page.locator("div.gradbox > iframe")
        frames.nth(1).wait_for(state="attached")
        for k in range(2):
            frames.nth(k).scroll_into_view_if_needed()
            inside = frames.nth(k).content_frame
            inside.locator("#where").filter(has_text="Step").wait_for()
            inside.locator("[data-go=first]:not([disabled])").click()
            inside.locator("#where").filter(has_text="Step 1 of").wait_for()
        page.close()
