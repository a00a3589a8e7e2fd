"""What is said of a program, each sentence with the verdict of plain CPython."""

import json
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from os import sched_getaffinity
from pathlib import Path
from typing import Any

from tests.forks.plain_python import HOST
from tests.recordings.store import kept_trace, recordings
from tests.support.explaining import ROOT, call_page

CLAIMS = ROOT / "static/locales/claims"

Claims = list[str] | dict[str, list[str]]
"""Of a key: expressions, or expressions by the moment at which they hold: `cause`, the role of a link, `end`."""


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
    """The claims of sentences by key, why others have none, and the keys of phrases, parts of sentences. A key
    may be a pattern; the one that is written out comes first."""

    claims: dict[str, Claims]
    without: dict[str, str]
    phrases: list[str]

    def of(self, key: str) -> Claims | None:
        """The claims of a key."""
        return self.claims.get(found) if (found := pattern_of(key, tuple(self.claims))) else None

    def reason(self, key: str) -> str | None:
        """Why a key has none."""
        return self.without.get(found) if (found := pattern_of(key, tuple(self.without))) else None


@cache
def pattern_of(key: str, patterns: tuple[str, ...]) -> str | None:
    fitting = (each for each in patterns if "*" in each and fnmatchcase(key, each))
    return key if key in patterns else max(fitting, key=len, default=None)


@cache
def claim_table() -> ClaimTable:
    tables = [json.loads(path.read_text()) for path in sorted(CLAIMS.glob("*.json"))]
    claims, without = ({k: v for each in tables for k, v in each[field].items()} for field in ("claims", "without"))
    return ClaimTable(claims, without, [key for each in tables for key in each["phrases"]])


def sentences_of(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said at the steps of a trace."""
    found: list[dict[str, Any]] = call_page("recordings/sentences", trace)
    return found


def verdicts(trace: dict[str, Any], sentences: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The verdict of plain CPython on each sentence, with its reason."""
    parts = [(number, part) for number, sentence in enumerate(sentences) for part in parts_of(sentence)]
    function = "tests.referee.sentences.plain_check:check"
    data = HOST.ask(function=function, arguments=[trace, [part for _, part in parts]])
    if not data:
        return [("unchecked", "plain Python gave no answer")] * len(sentences)
    out: list[list[tuple[str, str]]] = [[] for _ in sentences]
    for (number, _), verdict in zip(parts, pickle.loads(data), strict=True):
        out[number].append(verdict)
    one_is_enough = [sentence["key"].startswith("name.bare.") for sentence in sentences]
    return list(map(worst, out, one_is_enough))


def worst(found: Sequence[tuple[str, str]], one_is_enough: bool) -> tuple[str, str]:
    """The verdict on a sentence whose parts have these; one that is true may be enough."""
    order = ("true", "unchecked", "false") if one_is_enough else ("false", "unchecked", "true")
    return min(found, key=lambda verdict: order.index(verdict[0]))


def parts_of(sentence: dict[str, Any]) -> list[dict[str, Any]]:
    """A sentence with its claims, once for each moment of which they speak."""
    if sentence["key"].startswith("name.bare."):
        return [{**sentence, "step": step, "claims": ["leads(x)"]} for step in {*sentence["moments"].values()}]
    claims = fitting(sentence, claim_table().of(sentence["key"]))
    if not isinstance(claims, dict):
        names_alone: list[str] | None = [] if sentence["key"].startswith("name.") else None
        return [{**sentence, "claims": names_alone if claims is None else claims}]
    known = {moment: step for moment, step in sentence["moments"].items() if moment in claims}
    return [{**sentence, "step": step, "claims": claims[moment]} for moment, step in known.items()] or [
        {**sentence, "claims": None}
    ]


def fitting(sentence: dict[str, Any], claims: Claims | None) -> Claims | None:
    """Those of its claims that are of what it says: where it quotes no code, that this stands somewhere is none."""
    if claims is None or sentence.get("hasCode", True):
        return claims
    if isinstance(claims, list):
        return [each for each in claims if not each.startswith("stands(code,")] or None
    found = {moment: fitting(sentence, list(each)) for moment, each in claims.items()}
    return {moment: list(each) for moment, each in found.items() if each} or None


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
