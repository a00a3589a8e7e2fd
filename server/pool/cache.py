"""Results of programs that ran before, by all that they depend on; the least recently used go first."""

import gzip
import hashlib
import json
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping

from server import __version__
from server.wire.api import Job
from server.wire.trace import Trace, text

ENDINGS = ("finished", "raised", "refused")
LIMITS = ("steps", "output", "tensors", "trace")
"""Limits that the same program reaches at the same place again; time and memory are the machine's as well."""

_INT = r"\s*\(\s*(?:seed\s*=\s*)?\d[\d_]*\s*[,)]"  # an argument that fixes it
_NAME = r"""\s*\(\s*[\w.]+\s*,\s*["'](?!(?:time|seed|Random)["'])\w+["']\s*[,)]"""
_CODE = r"""(?<![A-Za-z#]\ )(?<!["'])"""  # not within a sentence or at the beginning of one: there no import can be

UNFIXED = re.compile(
    rf"""
    (?<!\w)(?=[A-Za-z_])  # at the beginning of a word
    (?: # clocks, what tells them, and chance from outside
        (?: datetime\w* | timeit | logging | benchmark | profile\w* | elapsed_time | clock\w* | Event | Timer
            | (?:perf_counter | monotonic | process_time | thread_time)(?:_ns)? | time_ns
            | localtime | gmtime | ctime | asctime | strftime | utcnow | (?<=\.)(?:now | today | times)
            | getrusage | getloadavg | mem_get_info | getpid | gettid | get_ident | (?<=\.)measure
            | _?urandom | getrandom | SystemRandom | secrets | uuid\d? | seed_all | BitGenerator )\b
        # the same words are often a variable, or English
        | {_CODE} time\b
        | {_CODE} Random\b (?!{_INT})
        | {_CODE} (?<!manual_seed\()(?<!manual_seed_all\() seed\b (?!{_INT} | \s*(?::\s*int\s*)?=\s*\d)
        | (?:import|from)\ (?:time | Random | seed)\b
        # fixed by a number, where one stands there
        | (?:default_rng | RandomState | SeedSequence | PCG64(?:DXSM)? | MT19937 | Philox | SFC64)\b (?!{_INT})
        # ways to all these without their names
        | getattr\b (?!{_NAME})
        | (?: attrgetter | methodcaller | getattr_static | getmembers\w* | getclosurevars | get_referents | get_field
            | vars | globals | locals | builtins | importlib | (?<!\.)eval | exec | eval_str | runstring | rundocs
            | get_type_hints | get_annotations | ForwardRef | CompilationUnit | _C
            | __dict__ | __getattr__ | __getattribute__ | __import__ | __builtins__ )\b
        | import\s*\*
    )
    """,
    re.VERBOSE,
)
"""What may make a program another one each time, judged by its text alone, for nobody but the worker parses it."""


class Cache:
    """room: bytes of results that are kept."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._entries: OrderedDict[str, bytes] = OrderedDict()
        self.hits = self.misses = self.size = 0

    def get(self, name: str) -> bytes | None:
        """What was put under this key, where it is still there."""
        body = self._entries.get(name)
        if body is None:
            self.misses += 1
            return None
        self.hits += 1
        self._entries.move_to_end(name)
        return body

    def put(self, name: str, body: bytes) -> None:
        """Keep it, in place of what was there. One of more than a quarter of the room is not kept."""
        self.size -= len(self._entries.pop(name, b""))
        if len(body) > self._room // 4:
            return
        self._entries[name] = body
        self.size += len(body)
        while self.size > self._room:
            self.size -= len(self._entries.popitem(last=False)[1])


def key(job: Job, versions: Mapping[str, str]) -> str:
    """Of everything that a result depends on: the whole job, and what ran it. versions: torch's, numpy's, Python's."""
    parts = [job.model_dump(by_alias=True), {**versions, "tracer": __version__}]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def packed(trace: Trace) -> bytes:
    """The trace's JSON, gzipped; the same bytes for the same trace. Takes long: not for the event loop."""
    return gzip.compress(text(trace).encode(), compresslevel=1, mtime=0)


def keepable(trace: Trace, source: str) -> bool:
    """Whether the same program would give this trace again: nothing but the program and its seed decided on it.

    source: as it was pasted. A word in a comment may cost a program its place here.
    """
    outcome = trace.outcome
    if outcome.status == "refused":
        return True
    limit = outcome.stopped.limit if outcome.status == "stopped" and outcome.stopped else None
    if outcome.status not in ENDINGS and limit not in LIMITS:
        return False
    if trace.focus is not None and trace.focus.repeatable is False:
        return False
    return fixed(source) and fixed(trace.program.source)


def fixed(source: str) -> bool:
    """Whether nothing in a program's text may make it another one each time."""
    return UNFIXED.search(unicodedata.normalize("NFKC", source)) is None
