"""Findings and readings of programs, as the page's functions make them: the recorder's traces, explained by Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from gradbox.wire.findings import LookedFor, RunReading
from tests.support.tracing import trace

ROOT = Path(__file__).parents[2]
NODE = [shutil.which("node") or "node", "--no-warnings", "--import", str(ROOT / "static/typescript.mjs")]
"""Node as it runs the page's modules."""


def findings_of_traces(traces: list[dict[str, Any]], language: str = "en") -> list[list[dict[str, Any]]]:
    """The findings of each trace, the best first."""
    request = json.dumps({"traces": traces, "language": language})
    command = [*NODE, str(ROOT / "tests/support/findings.mjs")]
    done = subprocess.run(command, input=request, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    result: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return result


def findings_of(source: str, language: str = "en") -> list[dict[str, Any]]:
    """The findings of one program, the best first."""
    (found,) = findings_of_traces([trace(source)], language)
    return found


def looked_for_in(source: str, language: str = "en") -> LookedFor | None:
    """What is said of a program in which nothing is wrong; None where something is."""
    command = [*NODE, str(ROOT / "tests/support/looked_for.mjs"), language]
    text = json.dumps(trace(source))
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return None if found is None else LookedFor.model_validate(found)


def reading_of(recorded: dict[str, Any], language: str = "en") -> RunReading:
    """A trace as the terminal prints it."""
    command = [*NODE, str(ROOT / "tests/support/reading.mjs"), language]
    done = subprocess.run(command, input=json.dumps(recorded), capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return RunReading.model_validate_json(done.stdout)
