"""`%%gradbox`: one notebook, really run, saved and converted to HTML, whose pictures step in a browser."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gradbox.showing import PYTEST_VARIABLE
from tests.support.kept_browser import new_context
from tests.support.sampling import places, sampled

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
IMPORTED = """\
import os, sys, tempfile
place = tempfile.mkdtemp()
_ = open(place + "/netcell.py", "w").write("import torch\\nk = 3\\ndef scaled(x):\\n    y = x * k\\n    return y + 1\\n")
sys.path.insert(0, place)
os.chdir(place)
import netcell
codes = lambda plain=netcell.scaled.__code__: netcell.scaled.__code__ is plain"""  # noqa: E501
"""A module of the notebook's folder, imported in a cell that is not recorded."""

CELLS = {
    "set_up": "import torch\nw = torch.ones(3, requires_grad=True)\n%load_ext gradbox",
    "recorded": "%%gradbox first\ny = w * 2\n%time z = y.sum()\n!echo from a shell\nz.backward()\nw.grad",
    "raised": "%%gradbox\nv = w.exp()\nv.add_(1)\nv.sum().backward()",
    "explained": "%gradbox explain",
    "kept": "print(y.tolist(), z.item(), v[0].item() > 3)",
    "watched": "import gradbox\nwith gradbox.watch('part') as region:\n    u = w * 3\nprint(region.run.title)",
    "awaited": "%%gradbox\nimport asyncio\nawait asyncio.sleep(0)",
    "whole": "%%gradbox --whole\ns = w + 1",
    "viewer": "%gradbox viewer",
    "silent": "%%gradbox --height 420\nw.grad;",
    "last": "run = %gradbox\nprint(type(run).__name__, run.height, len(run.trace['steps']), run._mime_()[0])",
    "imported": IMPORTED,
    "stepped": "%%gradbox\nc = netcell.scaled(w)",
    "stepped_lines": "run = %gradbox\nprint([s['line'] for s in run.trace['steps']], len(run.trace['program']['files']), codes())",  # noqa: E501
    "again": "%gradbox again --cell-only",
    "again_lines": "run = %gradbox\nprint(len(run.trace['steps']), 'files' in run.trace['program'], c.tolist())",
    "defined": "def doubled(x):\n    y = torch.mul(x, 2)\n    return y\nclass Scale:\n    def __call__(self, x):\n        return doubled(x) + 1\n"  # noqa: E501
    "scale = Scale()\nplain = doubled.__code__\nimport torch",  # beside it a kernel compiles `torch.mul` in another way
    "of_cells": "%%gradbox\nd = scale(w)",
    "of_cells_lines": "run = %gradbox\nfiles = run.trace['program']['files']\n"
    "print([s['line'] for s in run.trace['steps']], files[-1]['first_line'], files[-1]['name'], doubled.__code__ is "
    "plain)",
    "unstepped": "%%gradbox --cell-only\nd = scale(w)",
    "unstepped_lines": "run = %gradbox\nprint(len(run.trace['steps']), d.tolist())",
    "region_of_cells": "with gradbox.watch('part', show=False) as region:\n    d = scale(w)\n"
    "print(len(region.run.trace['steps']), [f['name'] for f in region.run.trace['program']['files']])",
    "trained": "%%gradbox --cell-only\nnet = torch.nn.Linear(3, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "net(w.detach()).sum().backward()\nopt.step()",
    "tables": "%gradbox summary",
    "tables_sorted": "%gradbox summary --sort weight",
    "tables_again": "run = %gradbox\nprint(run.tables_html() + run.tables_html('weight'), end='')",
    "tables_wrong": "%gradbox summary --sort nothing",
}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the notebook, run.ipynb and run.html."""
    return executed_notebook(tmp_path_factory.mktemp("notebook"), [*CELLS.values()])


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a notebook with fifty recorded cells."""
    cells = [f"%%gradbox\nx{k} = torch.full((2,), {k}.0)\ny = x{k} * 2" for k in range(50)]
    return executed_notebook(tmp_path_factory.mktemp("fifty"), [CELLS["set_up"], *cells])


def executed_notebook(folder: Path, cells: list[str]) -> Path:
    """A folder with the notebook of these cells, executed, as run.ipynb and run.html."""
    (folder / "cells.json").write_text(json.dumps(cells))
    environment = {name: value for name, value in os.environ.items() if name != PYTEST_VARIABLE} | {
        "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "tests.notebook.notebook_host", folder],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="module")
def outputs(notebook: Path) -> dict[str, list[dict[str, Any]]]:
    """What each cell of the saved notebook shows, by the names of CELLS."""
    cells = json.loads((notebook / "run.ipynb").read_text("utf-8"))["cells"]
    return {name: cell["outputs"] for name, cell in zip(CELLS, cells, strict=True)}


def text_of(outputs: list[dict[str, Any]]) -> str:
    """What was printed."""
    return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")


def shown(output: dict[str, Any]) -> str:
    return "".join(output["data"]["text/plain"])


def test_a_recorded_cell_is_a_cell_like_others(outputs: dict[str, list[dict[str, Any]]]) -> None:
    recorded = outputs["recorded"]
    picture, value = [output for output in recorded if output["output_type"] != "stream"]
    assert "Wall time" in text_of(recorded) and "from a shell" in text_of(recorded)
    assert shown(picture).startswith("<gradbox.Run cell 2 first: ") and shown(picture).endswith(" steps, finished.>")
    assert (value["output_type"], shown(value)) == ("execute_result", "tensor([2., 2., 2.])")
    assert text_of(outputs["kept"]) == "[2.0, 2.0, 2.0] 6.0 True\n"
    assert [output["output_type"] for output in outputs["silent"]] == ["display_data"]
    kind, height, steps, mime = text_of(outputs["last"]).split()
    assert (kind, height, mime) == ("Run", "420", "text/html") and int(steps) >= 1


def test_functions_of_imported_modules_step_and_get_their_code_back(outputs: dict[str, list[dict[str, Any]]]) -> None:
    assert text_of(outputs["stepped_lines"]) == "[1, 1, 5, 6, 1] 2 True\n"
    assert text_of(outputs["again_lines"]) == "2 False [4.0, 4.0, 4.0]\n"
    assert shown(outputs["again"][0]).startswith("<gradbox.Run cell ")


def test_functions_of_earlier_cells_step_and_get_their_code_back(outputs: dict[str, list[dict[str, Any]]]) -> None:
    found = re.fullmatch(r"(\[.*?\]) (\d+) (cell \d+) (\w+)\n", text_of(outputs["of_cells_lines"]))
    assert found is not None and found[4] == "True"
    first = int(found[2])
    assert set(json.loads(found[1])) == {1, first + 1, first + 2, first + 5}
    assert text_of(outputs["unstepped_lines"]) == "2 [3.0, 3.0, 3.0]\n"
    found = re.fullmatch(r"(\d+) \['cell \d+', 'cell \d+'\]\n", text_of(outputs["region_of_cells"]))
    assert found is not None and int(found[1]) > 4


def test_a_region_of_a_cell_is_shown_below_it(outputs: dict[str, list[dict[str, Any]]]) -> None:
    picture, printed = outputs["watched"]
    title = text_of([printed]).strip()
    assert title.endswith(": part") and shown(picture).startswith(f"<gradbox.Run {title}: ")
    assert "<iframe" in "".join(picture["data"]["text/html"])


def test_a_cell_that_raises_shows_the_picture_then_its_traceback(outputs: dict[str, list[dict[str, Any]]]) -> None:
    picture, error = outputs["raised"]
    assert "raised RuntimeError at line 3" in shown(picture)
    traceback = "\n".join(error["traceback"])
    assert error["output_type"] == "error" and error["ename"] == "RuntimeError"
    assert "GradboxMagic._record" not in traceback and "run_cell_magic" not in traceback
    explained = text_of(outputs["explained"])
    assert "saved_overwritten" in explained and "v.add_(1)" in explained
    assert "`await` outside of a function" in text_of(outputs["awaited"])


def test_the_tables_of_a_cell_are_shown_below_it(outputs: dict[str, list[dict[str, Any]]]) -> None:
    (plain,), (by_weight,) = outputs["tables"], outputs["tables_sorted"]
    tables = "".join(plain["data"]["text/html"]), "".join(by_weight["data"]["text/html"])
    assert "".join(tables) == text_of(outputs["tables_again"])
    assert tables[0].count("<table>") == 2 and tables[0].count("net.weight") == 1
    assert "opt group 0, lr 0.1" in tables[0] and "1 of 1" in tables[0]
    assert "net.weight" in shown(plain) and "opt group 0, lr 0.1" in shown(plain)
    assert "--sort with one of" in text_of(outputs["tables_wrong"])


def picture_of(outputs: list[dict[str, Any]]) -> str:
    """The HTML of the first picture among outputs."""
    return next("".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {}))


def has_viewer(picture: str) -> bool:
    return ' id="viewer"' in html.unescape(picture)


def test_one_output_has_the_viewer_of_all(outputs: dict[str, list[dict[str, Any]]]) -> None:
    with_viewer = [
        name for name, shown_ in outputs.items()
        if any("text/html" in output.get("data", {}) for output in shown_) and has_viewer(picture_of(shown_))
    ]  # fmt: skip
    assert with_viewer == ["recorded", "whole", "viewer"]
    assert 390_000 < len(picture_of(outputs["recorded"])) < 590_000
    assert len(picture_of(outputs["raised"])) < 20_000
    assert "in the output of cell 2." in html.unescape(picture_of(outputs["raised"]))
    assert "in the output of cell " in html.unescape(picture_of(outputs["silent"]))


def test_fifty_cells_grow_by_their_traces_alone(fifty: Path) -> None:
    notebook = nbformat.read(fifty / "run.ipynb", 4)
    nbformat.validate(notebook)
    pictures = [html.unescape(picture_of(cell["outputs"])) for cell in notebook["cells"][1:]]
    assert len(pictures) == 50 and [has_viewer(picture) for picture in pictures] == [True] + 49 * [False]
    beside = [len(re.sub(r'<script type="text/plain" id="run">[^<]*', "", picture)) for picture in pictures[1:]]
    assert max(beside) - min(beside) < 50 and max(beside) < 8_000
    assert all(len(picture) < 20_000 for picture in pictures[1:])
    assert (fifty / "run.ipynb").stat().st_size < 1_500_000


def test_a_picture_without_its_viewer_says_so_and_starts_when_one_comes(chromium: Any, fifty: Path) -> None:
    text = (fifty / "run.html").read_text("utf-8")
    first = re.search(r'<div class="gradbox".*?</iframe>', text, re.DOTALL)
    assert first is not None
    (fifty / "without.html").write_text(text.replace(first[0], '<div id="place">'), "utf-8")
    page = chromium.new_page()
    page.route("http**", lambda route: route.abort())
    page.goto((fifty / "without.html").as_uri(), wait_until="domcontentloaded")
    page.locator("div.gradbox > iframe").nth(30).evaluate("frame => { frame.id = 'one'; }")
    frame = page.locator("#one")
    frame.scroll_into_view_if_needed()
    missing = frame.content_frame.locator("#missing")
    missing.filter(has_text="in the output of cell 2.").wait_for()
    assert frame.content_frame.locator("#stage").count() == 0
    page.locator("#place").evaluate("(place, html) => { place.innerHTML = html; }", first[0] + "</div>")
    frame.scroll_into_view_if_needed()
    frame.content_frame.locator("#where").filter(has_text="Step").wait_for()
    assert missing.count() == 0
    started = page.locator("div.gradbox > iframe").evaluate_all(
        "frames => frames.filter(frame => frame.contentDocument.getElementById('stage')).length"
    )
    assert started < 15, "the others start when they come into sight"
    page.close()


@pytest.mark.parametrize("theme", sampled(["light", "dark"], places(1)))
def test_the_converted_notebook_steps(chromium: Any, notebook: Path, theme: str) -> None:
    """As exported, and in a frame that may neither read the page around it nor keep anything."""
    text = (notebook / "run.html").read_text("utf-8")
    if theme == "dark":
        text = text.replace('data-jp-theme-light="true"', 'data-jp-theme-light="false"')
    file = notebook / f"{theme}.html"
    file.write_text(text, "utf-8")
    context = new_context(chromium, viewport={"width": 1000, "height": 900}, color_scheme="light")
    page = context.new_page()
    requested: list[str] = []
    page.route("http**", lambda route: (requested.append(route.request.frame.url), route.abort()))
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    frames = page.locator("div.gradbox > iframe")
    assert frames.count() == 11
    if theme == "dark":
        frames.nth(0).evaluate("frame => { frame.sandbox = 'allow-scripts'; frame.srcdoc += ' '; }")
    raised = frames.nth(1).content_frame
    for frame in (frames.nth(0), frames.nth(1)):
        inside = frame.content_frame
        where = inside.locator("#where")
        frame.scroll_into_view_if_needed()
        inside.locator("[data-go=first]:not([disabled])").wait_for()
        inside.locator("[data-go=first]").click()
        where.filter(has_text="Step 1 of").wait_for()
        inside.locator("[data-go=next]").click()
        where.filter(has_text="Step 2 of").wait_for()
        page.keyboard.press("ArrowRight")
        where.filter(has_text="Step 3 of").wait_for()
        assert inside.locator("#stage svg").count()
    raised.locator(f"html[data-theme={theme}]").wait_for()
    assert "overwrote" in raised.locator("#findings").inner_text()
    assert "about:srcdoc" not in requested
    context.close()
