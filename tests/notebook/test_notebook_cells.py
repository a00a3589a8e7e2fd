"""What the code of a notebook's cell can learn of that cell: which it is, how it is called, whether it still exists."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import IPython
import pytest

from gradbox.notebook import notebook_cells
from gradbox.notebook.notebook_cells import (
    RunningCell,
    cell_name,
    is_deleted,
    is_in_notebook,
    jupyter_cell,
    marimo_cell,
)
from gradbox.region import own_folder_of_code


class Kernel:
    def __init__(self, metadata: dict[str, Any]) -> None:
        self.metadata = metadata

    def get_parent(self) -> dict[str, Any]:
        return {"header": {"msg_id": "m1"}, "metadata": self.metadata}


def use_shell(monkeypatch: pytest.MonkeyPatch, metadata: dict[str, Any]) -> None:
    compiler = SimpleNamespace(_filename_map={"/tmp/ipykernel_1/7.py": 3})
    shell = SimpleNamespace(kernel=Kernel(metadata), user_ns={"In": ["", "x = 1"]}, compile=compiler)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)


@pytest.fixture
def marimo(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> SimpleNamespace:
    """What marimo keeps of a notebook whose cell `a` runs."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/app.py").touch()
    context = SimpleNamespace(
        cell_id="a", execution_context=SimpleNamespace(), filename=str(tmp_path / "notes/app.py"),
        graph=SimpleNamespace(cells={"a": None, "b": None}),
    )  # fmt: skip
    contexts, package = ModuleType("marimo._runtime.context"), ModuleType("marimo")
    contexts.safe_get_context = lambda: context  # type: ignore[attr-defined]
    package.running_in_notebook = lambda: context.filename is not None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "marimo._runtime.context", contexts)
    monkeypatch.setitem(sys.modules, "marimo", package)
    monkeypatch.setattr(notebook_cells, "jupyter_shell", lambda: None)
    return context


@pytest.mark.parametrize(("metadata", "identity"), [({"cellId": "c7"}, "c7"), ({}, "x = 1")])
def test_a_cell_of_jupyter_is_told_by_its_id_or_its_text(
    metadata: dict[str, Any], identity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_shell(monkeypatch, metadata)
    assert jupyter_cell() == RunningCell(identity, "m1", "1") and is_in_notebook()


def test_a_cell_of_jupyter_is_called_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    use_shell(monkeypatch, {})
    assert cell_name("/tmp/ipykernel_1/7.py") == "cell 3" and cell_name("/work/train.py") is None


def test_each_run_of_a_cell_of_marimo_is_another_execution(marimo: SimpleNamespace) -> None:
    first = marimo_cell()
    assert first is not None and marimo_cell() == first, "a second picture of the same run"
    marimo.execution_context = SimpleNamespace()
    again = marimo_cell()
    assert again is not None and again.identity == first.identity == "a" and again.execution != first.execution


def test_a_cell_of_marimo_is_called_after_its_notebook(marimo: SimpleNamespace, tmp_path: Any) -> None:
    path = "/tmp/marimo_9/__marimo__cell_a_.py"
    assert cell_name(path) == "cell of app.py" and cell_name("/work/train.py") is None
    assert own_folder_of_code(path) == tmp_path / "notes", "modules beside the notebook are stepped"
    assert is_deleted(RunningCell("c", "1", "")) and not is_deleted(RunningCell("b", "1", ""))
    marimo.filename = None  # as in `python app.py`
    assert marimo_cell() is None and not is_in_notebook()


def test_outside_of_a_notebook_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    assert not is_in_notebook() and notebook_cells.running_cell() is None and cell_name("/work/train.py") is None
