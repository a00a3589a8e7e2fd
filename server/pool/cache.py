"""The cache of results, under keys of everything that a result depends on; the least recently used are evicted first."""

import hashlib
import json
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping

from server import __version__
from server.pool.recorded_trace import RecordedTrace
from server.wire.api import Job
from server.wire.limits import REPEATABLE

STATUSES = ("finished", "raised", "refused")

_INT = r"\s*\(\s*(?:seed\s*=\s*)?\d[\d_]*\s*[,)]"  # an argument that fixes it
_NAME = r"""\s*\(\s*[\w.]+\s*,\s*["'](?!(?:time|seed|Random)["'])\w+["']\s*[,)]"""
_CODE = r"""(?<![A-Za-z#]\ )(?<!["'])"""  # not within a sentence or at the beginning of one: there no import can be

NONDETERMINISTIC = re.compile(
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
"""Words by which a program may give another result each time: the web side judges by the text, it never parses it."""


class Cache:
    """capacity: bytes of results that it holds."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[str, bytes] = OrderedDict()
        self.hits = self.misses = self.size = 0

    def get(self, key: str) -> bytes | None:
        """The result under this key; None where it was never put or was evicted."""
        body = self._entries.get(key)
        if body is None:
            self.misses += 1
            return None
        self.hits += 1
        self._entries.move_to_end(key)
        return body

    def put(self, key: str, body: bytes) -> None:
        """Store a result in place of the one there. One of more than a quarter of the capacity is not stored."""
        self.size -= len(self._entries.pop(key, b""))
        if len(body) > self._capacity // 4:
            return
        self._entries[key] = body
        self.size += len(body)
        while self.size > self._capacity:
            self.size -= len(self._entries.popitem(last=False)[1])


def cache_key(job: Job, versions: Mapping[str, str]) -> str:
    """A digest of everything that a result depends on: the job, and the versions that ran it (torch, numpy, Python)."""
    parts = [job.model_dump(by_alias=True), {**versions, "tracer": __version__}]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cacheable(trace: RecordedTrace, source: str) -> bool:
    """Whether the same program would give this trace again: it depends on the program and its seed alone.

    source: as it was pasted.
    """
    outcome = trace.outcome
    if outcome.status == "refused":
        return True
    limit = outcome.stopped.limit if outcome.status == "stopped" and outcome.stopped else None
    if outcome.status not in STATUSES and limit not in REPEATABLE:
        return False
    if trace.focus is not None and trace.focus.repeatable is False:
        return False
    return deterministic(source) and deterministic(trace.header.program.source)


def deterministic(source: str) -> bool:
    """Whether nothing in a program's text may give it another result each time."""
    return NONDETERMINISTIC.search(unicodedata.normalize("NFKC", source)) is None
