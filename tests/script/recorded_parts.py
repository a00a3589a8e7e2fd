"""Records parts of a script in this process."""

import math
from pathlib import Path
from typing import Any

import pytest

from gradbox.run import Run
from gradbox.script.part_instrumentation import run_script_recording_parts
from gradbox.script.script_parts import PartOptions
from gradbox.script.script_process import Script, read_recorded_runs
from gradbox.sessions import recording_cost


@pytest.fixture(autouse=True)
def no_remark_on_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine a recording says why it took long."""
    monkeypatch.setattr(recording_cost, "SLOW_RECORDING_SECONDS", math.inf)


def record_parts(
    folder: Path, source: str, **options: Any
) -> tuple[dict[str, Run], BaseException | None, dict[str, Any]]:
    """The recordings of a script, by name; what it raised; its namespace."""
    script, into = folder / "train.py", folder / "recordings"
    script.write_text(source)
    into.mkdir()
    parts = PartOptions(**options)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    request = {"parts": vars(parts), "folder": str(into), "also": [], "limits": {}}
    error = run_script_recording_parts(request, str(script), namespace, source, None)
    return read_recorded_runs(into, Script(str(script), parts=parts), 0, "en"), error, namespace
