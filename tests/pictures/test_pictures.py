"""A telling step of some scenarios beside its stored picture: what changes in the drawing shows in a diff.

`python -m tests.pictures.test_pictures` writes them anew; `/-/gallery` shows them.
"""

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.recordings.store import kept_trace
from tests.support import drawn_scenarios
from tests.support.tracing import ROOT

FOLDER = Path(__file__).parent
PICTURES: dict[str, tuple[str, str, dict[str, str]]] = {name: ("step", name, {}) for name in drawn_scenarios.NAMES} | {
    "clone.dark": ("step", "clone", {"theme": "dark"}),
    "silent.zh": ("step", "silent", {"language": "zh"}),
    "clone.loom": ("loom", "clone", {}),
}
NODE = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))


def drawn(names: list[str]) -> dict[str, str]:
    """The pictures by name, drawn by the page's own code where there is no document."""
    assert NODE is not None
    traces: dict[str, dict[str, Any]] = {}
    jobs = []
    for name in names:
        kind, scenario, look = PICTURES[name]
        if scenario not in traces:
            traces[scenario] = kept_trace((ROOT / "scenarios" / f"{scenario}.py").read_text())
        jobs.append([kind, traces[scenario], None, look])
    command = [NODE, "--import", str(ROOT / "static/typescript.mjs"), str(ROOT / "tests/pictures/draw.mjs")]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, cwd=ROOT, check=True)
    return dict(zip(names, json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def pictures() -> dict[str, str]:
    if NODE is None or not (ROOT / "node_modules/esbuild").exists():
        pytest.skip("no Node with the page's packages here: npm ci")
    return drawn(list(PICTURES))


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the traces are those of torch 2.13")
@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_the_stored_one(pictures: dict[str, str], name: str) -> None:
    stored = FOLDER / f"{name}.svg"
    assert pictures[name] == stored.read_text(), "if the change is meant: python -m tests.pictures.test_pictures"


@pytest.mark.parametrize("name", PICTURES)
def test_a_stored_picture_is_whole(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text()
    root = ET.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{svg}svg" and root.get("viewBox")
    assert root.findtext(f"{svg}title") and root.findtext(f"{svg}style")
    assert "var(" not in text and "href" not in text and not root.findall(f".//{svg}script")


def test_every_stored_picture_belongs_to_a_test() -> None:
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(PICTURES)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.svg"):
        old.unlink()
    for name, svg in drawn(list(PICTURES)).items():
        (FOLDER / f"{name}.svg").write_text(svg)
        sys.stdout.write(f"{name}\n")
