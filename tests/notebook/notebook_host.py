"""Runs a notebook of these cells in a kernel of its own, saves it, and converts it: `python -m
tests.notebook.notebook_host FOLDER` reads cells.json."""

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter


def main(folder: Path) -> None:
    sources = json.loads((folder / "cells.json").read_text())
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=300, startup_timeout=300, allow_errors=True, kernel_name="python3").execute()
    nbformat.write(notebook, folder / "run.ipynb")
    body, _ = HTMLExporter().from_filename(str(folder / "run.ipynb"))
    (folder / "run.html").write_text(body, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
