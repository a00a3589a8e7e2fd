"""The cache of results, under keys of everything that a result depends on; the least recently used are evicted
first."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping

from gradbox.wire.api import Job
from server import __version__


class ResultCache:
    """Keeps the results of runs.

    capacity: bytes of results that it holds
    """

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


def result_cache_key(job: Job, versions: Mapping[str, str]) -> str:
    """A digest of everything that a result depends on: the job, and the versions that ran it (torch, numpy, Python)."""
    parts = [job.model_dump(by_alias=True), {**versions, "tracer": __version__}]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
