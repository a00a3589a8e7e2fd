"""What is said of a program, each sentence with the verdict of plain CPython."""

import json
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from os import sched_getaffinity
from pathlib import Path
from typing import Any

from tests.forks.plain_python import HOST
from tests.recordings.store import kept_trace, recordings
from tests.support.explaining import ROOT, call_page

CLAIMS = ROOT / "static/locales/claims/captions.json"


@dataclass(frozen=True)
class Said:
    """A sentence: of which program and step, its key and text, and whether it is `true`, `false` or `unchecked`; then
    why."""

    program: str
    step: int
    line: int
    key: str
    text: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class ClaimTable:
    """The claims of sentences by key, why others have none, and the keys of phrases, which are parts of sentences."""

    claims: dict[str, list[str]]
    without: dict[str, str]
    phrases: list[str]


@cache
def claim_table() -> ClaimTable:
    return ClaimTable(**json.loads(CLAIMS.read_text()))


def sentences_of(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said at the steps of a trace."""
    found: list[dict[str, Any]] = call_page("recordings/sentences", trace)
    return found


def verdicts(trace: dict[str, Any], sentences: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The verdict of plain CPython on each sentence, with its reason."""
    function = "tests.referee.sentences.plain_check:check"
    names_alone: dict[str, list[str]] = {each["key"]: [] for each in sentences if each["key"].startswith("finding.")}
    data = HOST.ask(function=function, arguments=[trace, sentences, {**claim_table().claims, **names_alone}])
    if not data:
        return [("unchecked", "plain Python gave no answer")] * len(sentences)
    found: list[tuple[str, str]] = pickle.loads(data)
    return found


def judged(program: str, trace: dict[str, Any]) -> list[Said]:
    """What is said of a trace, with the verdicts."""
    sentences = sentences_of(trace)
    return with_verdicts(program, trace, sentences, verdicts(trace, sentences))


def with_verdicts(
    program: str, trace: dict[str, Any], sentences: Sequence[dict[str, Any]], found: Sequence[tuple[str, str]]
) -> list[Said]:
    return [
        Said(program, each["step"], trace["steps"][each["step"]]["line"], each["key"], each["text"], verdict, detail)
        for each, (verdict, detail) in zip(sentences, found, strict=True)
    ]


def judge_programs(paths: Sequence[Path]) -> Iterator[list[Said]]:
    """What is said of each program, in order; plain runs go beside each other."""
    with ThreadPoolExecutor(len(sched_getaffinity(0))) as threads:
        waiting: list[tuple[Path, Any, Any, Future[list[tuple[str, str]]]]] = []

        def first() -> list[Said]:
            path, trace, sentences, future = waiting.pop(0)
            return with_verdicts(path.stem, trace, sentences, future.result())

        for path in paths:
            trace = kept_trace(path.read_text())
            sentences = sentences_of(trace)
            waiting.append((path, trace, sentences, threads.submit(verdicts, trace, sentences)))
            if len(waiting) > 4:
                yield first()
        while waiting:
            yield first()


def record(paths: Sequence[Path]) -> None:
    """Record what is not kept, beside each other."""
    recordings().fill([path.read_text() for path in paths])
