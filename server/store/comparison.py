"""Compares the results of two runs of a program: the parts of their traces that do not depend on the run."""

import gzip
import json
from typing import Any, Literal

from server.wire.saved_programs import Versions

Part = Literal["steps", "printed", "outcome"]


def load_trace(body: bytes) -> dict[str, Any]:
    """A stored trace as JSON values. body: gzipped."""
    trace: dict[str, Any] = json.loads(gzip.decompress(body))
    return trace


def runtime_versions(trace: dict[str, Any]) -> Versions:
    """The versions that made a trace."""
    return Versions(**{name: trace["runtime"][name] for name in Versions.model_fields})


def compare(old: dict[str, Any], new: dict[str, Any]) -> tuple[list[Part], int | None]:
    """The parts in which two traces differ, and the index of the first step that does; None where all are equal."""
    old_steps, new_steps = old.get("steps", []), new.get("steps", [])
    length = min(len(old_steps), len(new_steps))
    step = next((k for k in range(length) if old_steps[k] != new_steps[k]), None)
    if step is None and len(old_steps) != len(new_steps):
        step = length
    parts: list[Part] = [] if step is None else ["steps"]
    if printed_output(old) != printed_output(new):
        parts.append("printed")
    if old["outcome"] != new["outcome"]:
        parts.append("outcome")
    return parts, step


def printed_output(trace: dict[str, Any]) -> list[tuple[str, str]]:
    """What the program printed, as (stream, text)."""
    entries = [entry for step in trace.get("steps", []) for entry in step.get("log", [])]
    return [(entry["stream"], entry["text"]) for entry in entries if entry["kind"] == "out"]
