"""JupyterLab and marimo themselves, in Chromium: fifty recorded cells show their pictures, and the notebook does not
grow."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gradbox.showing import PYTEST_VARIABLE
from tests.support.own_programs import ROOT
from tests.support.waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.exhaustive]
CELLS = 50
SET_UP = "import torch\n%load_ext gradbox"
CELL = "%%gradbox\nx{k} = torch.full((2,), {k}.0)\ny = x{k} * 2"
MEMORY = """\
import gc, resource
gc.collect()
kept = sum(type(value).__name__ == "Run" for value in gc.get_objects())
print("memory", kept, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"""
"""Prints how many recordings the kernel has, and its largest memory in bytes."""

RAISES = "%%gradbox\nw = torch.ones(3, requires_grad=True)\nv = w.exp()\nv.add_(1)\nv.sum().backward()"

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
    with gradbox.watch("second"):
        z = torch.sigmoid(w) + 1
    return


@app.cell
def _(gradbox, w):
    with gradbox.watch("third"):
        v = w.exp()
        v.add_(1)
        v.sum().backward()
    return


if __name__ == "__main__":
    app.run()
"""
FRAMES = "iframe[title^=Gradbox]"


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
        log_text = (folder / "server.log").read_text
        wait_until(lambda: answers(address) or process.poll() is not None, log_text)
        assert process.poll() is None, log_text()
        yield
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE):
            return True
    except OSError:
        return False


def run_all_and_save(page: Any, notebook: Path, execution: int) -> list[dict[str, Any]]:
    """Run all cells of JupyterLab; the saved cells.

    execution: the number of the last cell then
    """
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # before, JupyterLab asks which kernel it is to run
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()

    def cells_of_run() -> list[dict[str, Any]]:
        page.keyboard.press("Control+s")
        cells = saved_cells(notebook)
        return cells if cells and cells[-1]["execution_count"] == execution and cells[-1]["outputs"] else []

    return wait_until(cells_of_run, lambda: [cell["execution_count"] for cell in saved_cells(notebook)], page)


def saved_cells(notebook: Path) -> list[dict[str, Any]]:
    """The cells of a notebook's file; none while it is being written."""
    with contextlib.suppress(ValueError):
        cells: list[dict[str, Any]] = json.loads(notebook.read_text())["cells"]
        return cells
    return []


def output_sizes(cells: list[dict[str, Any]]) -> list[int]:
    """The characters of the outputs of each of the fifty cells."""
    return [len(json.dumps(cell["outputs"])) for cell in cells[1 : CELLS + 1]]


def memory_of(cells: list[dict[str, Any]]) -> tuple[int, int]:
    """What MEMORY printed in the cell after the fifty."""
    word, runs, peak = "".join(cells[CELLS + 1]["outputs"][0]["text"]).split()
    assert word == "memory"
    return int(runs), int(peak)


def step_through(frame: Any, page: Any) -> None:
    """Go to the first step of a picture and one on, by its buttons and by a key."""
    frame.scroll_into_view_if_needed()
    inside = frame.content_frame
    where = inside.locator("#where")
    inside.locator("[data-go=first]:not([disabled])").click()
    where.filter(has_text="Step 1 of").wait_for()
    inside.locator("[data-go=next]").click()
    where.filter(has_text="Step 2 of").wait_for()
    page.keyboard.press("ArrowRight")
    where.filter(has_text="Step 3 of").wait_for()


def assert_stage_has_its_height(inside: Any) -> None:
    """The stage fills what the timeline and the headline leave, and says why the run stopped."""
    heights = inside.locator("body").evaluate(
        "() => ['stage', 'headline', 'timeline', 'shown-picture'].map(id => document.getElementById(id).offsetHeight)"
    )
    stage, headline, timeline, picture = heights
    assert stage + headline + timeline >= picture - 2 and stage > 200, heights


def test_fifty_cells_of_jupyterlab_have_pictures_and_do_not_grow(chromium: Any, tmp_path: Path) -> None:
    python = python_with("jupyterlab")
    sources = [SET_UP, *(CELL.format(k=k) for k in range(CELLS)), MEMORY, RAISES]
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
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(f"{address}/lab/tree/fifty.ipynb?token=abc&reset")
        page.locator(".jp-Notebook").wait_for()
        runs = [run_all_and_save(page, notebook, turn * len(sources)) for turn in (1, 2, 3)]
        raised = page.locator(f"div.gradbox > {FRAMES}").last
        raised.scroll_into_view_if_needed()
        inside = raised.content_frame
        inside.locator("#sentences").filter(has_text="overwrote numbers that backward still needs").wait_for()
        assert_stage_has_its_height(inside)
        step_through(raised, page)
        page.close()
    first, second, third = (output_sizes(cells) for cells in runs)
    for with_viewer, *others in (first, second, third):
        assert 300_000 < with_viewer < 700_000, "the viewer is in the first"
        assert max(others) < 20_000, "the others have their traces"
    assert abs(sum(third) - sum(second)) < 0.02 * sum(second), "all names of the notebook were there both times"
    (runs_then, peak_then), (runs_now, peak_now) = memory_of(runs[1]), memory_of(runs[2])
    assert runs_now == runs_then == 1, "the kernel keeps the recording of the last cell"
    assert peak_now - peak_then < 20_000_000
    assert [output["output_type"] for output in runs[2][-1]["outputs"]] == ["display_data", "error"]


@contextlib.contextmanager
def marimo_page(chromium: Any, folder: Path, command: str, application: str) -> Iterator[Any]:
    """A page with an application of marimo's.

    command: `run` or `edit`
    """
    python = python_with("marimo")
    (folder / "app.py").write_text(application)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    words = [python, "-m", "marimo", command, "app.py", "--headless", "--port", str(port), "--no-token"]
    with served(words, folder, address):
        page = chromium.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(address)
        yield page
        page.close()


def test_the_pictures_of_a_marimo_application_step(chromium: Any, tmp_path: Path) -> None:
    with marimo_page(chromium, tmp_path, "run", APP) as page:
        frames = page.locator(FRAMES)
        frames.nth(1).wait_for(state="attached")
        for k in range(2):
            frames.nth(k).scroll_into_view_if_needed()
            inside = frames.nth(k).content_frame
            inside.locator("#where").filter(has_text="Step").wait_for()
            assert_stage_has_its_height(inside)
            step_through(frames.nth(k), page)
    assert not list(tmp_path.glob("gradbox-*")), "what is shown below a cell is not written too"


def test_a_cell_of_marimo_that_raises_has_its_picture_below_it(chromium: Any, tmp_path: Path) -> None:
    with marimo_page(chromium, tmp_path, "edit", APP) as page:
        page.locator(".cm-content").first.wait_for()
        page.keyboard.press("Control+Shift+r")
        frames = page.locator(FRAMES)
        frames.nth(2).wait_for(state="attached")
        raised = frames.nth(2)
        raised.scroll_into_view_if_needed()
        inside = raised.content_frame
        inside.locator("#sentences").filter(has_text="overwrote numbers that backward still needs").wait_for()
        assert inside.locator("#title").inner_text() == "cell of app.py: third"
        lines = inside.locator("#listing li").all_inner_texts()
        assert len(lines) == 4 and "v.add_(1)" in lines[2], "the cell's own lines"
        assert_stage_has_its_height(inside)
        step_through(raised, page)
        sizes = [len(frames.nth(k).get_attribute("srcdoc")) for k in range(3)]
    assert sizes[0] > 300_000 and max(sizes[1:]) < 20_000, "one output has the viewer of all"
    assert not list(tmp_path.glob("gradbox-*"))
