"""Compares the results of two runs of a program: the parts of their traces that do not depend on the run.

A trace is read step by step, for the parser of JSON lets nobody else have a turn: 8 MB at once take a tenth of a second.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Literal

from server.wire.saved_programs import Versions

DifferingPart = Literal["steps", "printed", "outcome"]

STEPS_START = re.compile(rb',\s*"steps":\s*\[')
"""Where the steps begin. In a string the quotation marks would have a backslash before them."""

STEP_START = re.compile(rb'\{"i":\s*([0-9]{1,9}),\s*"kind":\s*"')
"""How a step begins."""

STEPS_END = re.compile(r"\s*([\],])\s*")
CHUNK_SIZE = 1 << 16
_decoder = json.JSONDecoder()


def load_header(body: bytes) -> dict[str, Any]:
    """What stands before the steps of a stored trace: its program and its runtime. body: gzipped."""
    stream, beginning, rest = zlib.decompressobj(wbits=31), b"", body
    while rest and not stream.eof:
        searched = max(len(beginning) - 100, 0)
        beginning += stream.decompress(rest, CHUNK_SIZE)
        rest = stream.unconsumed_tail
        match = STEPS_START.search(beginning, searched)
        if match is not None:
            return json_object(beginning[: match.start()] + b"}")
    return json_object(gzip.decompress(body))


def runtime_versions(trace: dict[str, Any]) -> Versions:
    """The versions that made a trace, of its header."""
    return Versions(**{name: trace["runtime"][name] for name in Versions.model_fields})


def count_steps(body: bytes) -> int:
    """The number of steps of a stored trace, read off its last one; nothing is parsed. body: gzipped."""
    data = gzip.decompress(body)
    at = data.rfind(b'{"i":')
    while at >= 0:
        match = STEP_START.match(data, at)
        if match is not None:
            return int(match[1]) + 1
        at = data.rfind(b'{"i":', 0, at)
    return 0


def compare(old: bytes, new: bytes) -> tuple[list[DifferingPart], int | None]:
    """The parts in which two stored traces differ, and the index of the first step that does; None where all are equal."""
    if old == new:
        return [], None
    first, second = StoredSteps(old), StoredSteps(new)
    step: int | None = None
    printed: tuple[list[str], list[str]] = ([], [])
    for k, (was, now) in enumerate(zip_longest(first, second)):
        if step is None and was != now:
            step = k
        for record, texts in zip((was, now), printed, strict=True):
            texts += printed_output(record or {})
    parts: list[DifferingPart] = [] if step is None else ["steps"]
    if printed[0] != printed[1]:
        parts.append("printed")
    if first.after_steps["outcome"] != second.after_steps["outcome"]:
        parts.append("outcome")
    return parts, step


class StoredSteps:
    """The steps of a stored trace, one after the other. after_steps: what stands after them, once all were read."""

    def __init__(self, body: bytes) -> None:
        data = gzip.decompress(body)
        match = STEPS_START.search(data)
        if match is None:
            raise ValueError("a trace without steps")
        self._text = data[match.end() :].decode()
        self.after_steps: dict[str, Any] = {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        at = len(self._text) - len(self._text.lstrip())
        ended = self._text.startswith("]", at)
        at += ended
        while not ended:
            record, at = _decoder.raw_decode(self._text, at)
            yield record
            separator = STEPS_END.match(self._text, at)
            if separator is None:
                raise ValueError("a step without its end")
            at, ended = separator.end(), separator[1] == "]"
        self.after_steps = json_object("{" + self._text[at:].lstrip(", \n"))


def printed_output(step: dict[str, Any]) -> list[str]:
    """What the program printed in a step, each text after its stream."""
    return [
        part for entry in step.get("log", []) if entry["kind"] == "out" for part in (entry["stream"], entry["text"])
    ]


def json_object(text: bytes | str) -> dict[str, Any]:
    """The object that this JSON is."""
    value: dict[str, Any] = json.loads(text)
    return value
