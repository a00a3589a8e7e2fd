"""Compares the results of two runs of a program: the parts of their traces that do not depend on the run.

A trace is read step by step: the JSON parser does not give way to others, and 8 MB at once take a tenth of a second.
"""

import gzip
import io
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Literal

import ijson

from server.wire.saved_programs import Versions

DifferingPart = Literal["steps", "printed", "outcome"]


def read_trace_header(body: bytes) -> dict[str, Any]:
    """The part of a stored trace before its steps: its program and its runtime. Reads no further.

    body: gzipped
    """
    header: dict[str, Any] = {}
    for name, value in ijson.kvitems(open_gzip(body), ""):
        header[name] = value
        if name == "runtime":
            break
    return header


def runtime_versions(trace: dict[str, Any]) -> Versions:
    """The versions that made a trace, from its header."""
    return Versions(**{name: trace["runtime"][name] for name in Versions.model_fields})


def count_steps(body: bytes) -> int:
    """The number of steps of a stored trace.

    body: gzipped
    """
    return sum(1 for _ in iterate_steps(body))


def compare_traces(old: bytes, new: bytes) -> tuple[list[DifferingPart], int | None]:
    """The parts in which two stored traces differ, and the index of the first step that differs; None if all are
    equal."""
    if old == new:
        return [], None
    step: int | None = None
    printed: tuple[list[str], list[str]] = ([], [])
    for k, (was, now) in enumerate(zip_longest(iterate_steps(old), iterate_steps(new))):
        if step is None and was != now:
            step = k
        for record, texts in zip((was, now), printed, strict=True):
            texts += printed_output(record or {})
    parts: list[DifferingPart] = [] if step is None else ["steps"]
    if printed[0] != printed[1]:
        parts.append("printed")
    if read_outcome(old) != read_outcome(new):
        parts.append("outcome")
    return parts, step


def iterate_steps(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the steps of a stored trace."""
    steps: Iterator[dict[str, Any]] = ijson.items(open_gzip(body), "steps.item")
    return steps


def read_outcome(body: bytes) -> dict[str, Any]:
    outcome: dict[str, Any] = next(ijson.items(open_gzip(body), "outcome"))
    return outcome


def open_gzip(body: bytes) -> gzip.GzipFile:
    return gzip.GzipFile(fileobj=io.BytesIO(body))


def printed_output(step: dict[str, Any]) -> list[str]:
    """What the program printed in a step: each text after the name of its stream."""
    return [
        part for entry in step.get("log", []) if entry["kind"] == "out" for part in (entry["stream"], entry["text"])
    ]
