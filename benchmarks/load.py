"""Load test of a server: latency, runs per second, processor time and memory, against the design's targets.

`python -m benchmarks.load [--seconds 120] [--users 1 8 50]` starts a server on a free port of this machine. Each user
has an address of its own, keeps its connection open, and asks for the next run as soon as a trace has come. No program
is run twice, so no run is joined and no result comes from the cache. The clients live in this process, the server in
another. The same programs are also run without tracing, each in a fresh interpreter that imports torch: that is the
comparison.

With `--url https://…` it measures a server that runs somewhere: see benchmarks/load_url.py.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from benchmarks.load_url import measure_url
from benchmarks.measured_server import MIB, MeasuredServer

MAX_WAIT = 60.0
"""Seconds to wait for a response; after that the request counts as an error."""

SAMPLE_INTERVAL = 5.0
"""Seconds between two measurements of memory: each stops the measured process for some milliseconds."""

BASELINE_SECONDS = 30.0
"""Seconds, at most, for which fresh interpreters are measured."""

PROGRAM = """\
import torch
a = torch.tensor([1.0, 2.0, {n}.0], requires_grad=True)
b = a.clone()
c = b.detach()
d = c.view(3, 1)
e = a * 2
f = e + b
g = f.reshape(1, 3)
h = g @ d
total = h.sum()
total.backward()
print(a.grad[2].item())
a.grad.zero_()
w = torch.ones(3, 3, requires_grad=True)
y = torch.relu(w @ c)
loss = (y - c).pow(2).mean()
loss.backward()
w.data.add_(w.grad, alpha=-0.1)
v = w.detach()[0]
v[0] = 5.0
"""


def program(n: int) -> str:
    """A program of twenty statements; each n gives another program with another result."""
    return PROGRAM.format(n=n)


def trace_mistake(n: int, trace: Any) -> str:
    """What is wrong with the trace of `program(n)`, or an empty string."""
    status = trace["outcome"]["status"]
    if status != "finished":
        return str(status)
    printed = "".join(entry.get("text", "") for step in trace["steps"] for entry in step["log"])
    if printed.strip() != str(3.0 * n):
        return f"printed {printed!r}"
    lines = {step["line"] for step in trace["steps"] if step["kind"] == "statement"}
    return "" if lines == set(range(1, 21)) else f"lines {sorted(lines)}"


@dataclass
class LoadResult:
    """What some users got.

    seconds: of each successful run
    rejected: answers with status 429
    duration: seconds
    """

    users: int
    seconds: list[float] = field(default_factory=list)
    rejected: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    duration: float = 0.0

    def percentile(self, share: float) -> float:
        """The milliseconds within which that share of the runs was answered."""
        ordered = sorted(self.seconds) or [float("nan")]
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000

    @property
    def rate(self) -> float:
        """Runs a second."""
        return len(self.seconds) / self.duration

    def row(self) -> str:
        times = " ".join(f"{self.percentile(share):8.1f}" for share in (0.5, 0.9, 0.99, 1))
        return f"{self.users:6} {len(self.seconds):7} {self.rate:7.1f} {times}"


TABLE_HEAD = f"{'users':>6} {'runs':>7} {'runs/s':>7} {'p50 ms':>8} {'p90 ms':>8} {'p99 ms':>8} {'max ms':>8}"


class User:
    """One visitor with an address and a connection of its own."""

    def __init__(self, port: int, number: int) -> None:
        self._port, self._address = port, f"127.0.{1 + number // 250}.{1 + number % 250}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, source: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer. Raises OSError and EOFError."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(self._address, 0))
        reader, writer = self._streams
        body = json.dumps({"source": source}).encode()
        writer.write(
            f"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
            f"Accept-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        first, *rows = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
        data = await reader.readexactly(int(headers["content-length"]))
        return int(first.split()[1]), headers, data

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def run_programs(self, until: float, numbers: Iterator[int], result: LoadResult) -> None:
        """One run after the other until that time (of `time.perf_counter`)."""
        while (began := time.perf_counter()) < until:
            n = next(numbers)
            try:
                async with asyncio.timeout(MAX_WAIT):
                    status, headers, data = await self.post(program(n))
            except (OSError, EOFError, TimeoutError) as error:
                result.errors[type(error).__name__] += 1
                self.close()
                await asyncio.sleep(0.2)
                continue
            took = time.perf_counter() - began
            if status == 429:
                result.rejected += 1
                await asyncio.sleep(float(headers.get("retry-after", 1)))
            elif status != 200:
                result.errors[f"status {status}"] += 1
            elif fault := trace_mistake(n, json.loads(gzip.decompress(data))):
                result.errors[fault] += 1
            else:
                result.seconds.append(took)
        self.close()


async def apply_load(
    users: int, seconds: float, work: Callable[[int, float, LoadResult], Awaitable[None]]
) -> LoadResult:
    """Let so many users work for so many seconds.

    work: what one of them does, given its number, the end and the result
    """
    result, began = LoadResult(users), time.perf_counter()
    await asyncio.gather(*(work(k, began + seconds, result) for k in range(users)))
    result.duration = time.perf_counter() - began
    return result


async def sample_memory(server: MeasuredServer, peak: list[int]) -> None:
    """Append the memory of the server and its workers until cancelled."""
    while True:
        peak.append((await asyncio.to_thread(server.usage)).memory)
        await asyncio.sleep(SAMPLE_INTERVAL)


async def measure_server(server: MeasuredServer, users: int, seconds: float, numbers: Iterator[int]) -> LoadResult:
    """Measure the server under so many users, and print it."""

    async def work(k: int, until: float, result: LoadResult) -> None:
        await User(server.port, k).run_programs(until, numbers, result)

    await apply_load(1, 1.0, work)  # its code and its connections are warm from here on
    server.wait_until_idle()
    before, peak = server.usage(), [0]
    sampling = asyncio.create_task(sample_memory(server, peak))
    try:
        result = await apply_load(users, seconds, work)
    finally:
        sampling.cancel()
    server.wait_until_idle()
    after = server.usage()
    ran = max(len(result.seconds), 1)
    serving, working = ((getattr(after, name) - getattr(before, name)) / ran for name in ("serving", "working"))
    sizes = (before.memory, max(*peak, before.memory, after.memory), after.memory)
    print(
        f"{result.row()} {serving * 1000:5.1f} + {working * 1000:4.1f} {result.rejected:6} "
        f"{sum(result.errors.values()):6}",
        f"{'/'.join(f'{size / MIB:.0f}' for size in sizes):>13}",
        f"{f'{before.processes}/{after.processes}':>9} {f'{before.descriptors}/{after.descriptors}':>11}",
    )
    for fault, count in result.errors.most_common():
        print(f"      {count} x {fault}")
    sys.stdout.flush()
    return result


def children_processor_seconds() -> float:
    """Seconds of processor time that the children of this process have used, of those that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def measure_interpreters(at_once: int, seconds: float, numbers: Iterator[int]) -> LoadResult:
    """The same programs, each by an interpreter of its own, so many at once."""

    async def work(_: int, until: float, result: LoadResult) -> None:
        while (began := time.perf_counter()) < until:
            n = next(numbers)
            python = await asyncio.create_subprocess_exec(
                sys.executable, "-c", program(n), stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            try:
                printed, _error = await python.communicate()
            finally:
                if python.returncode is None:
                    python.kill()
            if printed.decode().strip() == str(3.0 * n):
                result.seconds.append(time.perf_counter() - began)
            else:
                result.errors["wrong"] += 1

    before = children_processor_seconds()
    result = await apply_load(at_once, seconds, work)
    spent = (children_processor_seconds() - before) / max(len(result.seconds), 1)
    print(f"{result.row()} {spent * 1000:12.1f} {sum(result.errors.values()):13}", flush=True)
    return result


def measured_targets(results: dict[int, LoadResult]) -> list[tuple[str, float | None, float, str]]:
    """(name, measured value or None, target, unit). A target is a maximum, for runs per second a minimum."""

    def of(users: int, ask: Callable[[LoadResult], float]) -> float | None:
        return ask(results[users]) if users in results else None

    best = max((result.rate for result in results.values()), default=None)
    return [
        ("one user: p50 at most 20 ms", of(1, lambda result: result.percentile(0.5)), 20, "ms"),
        ("one user: p99 at most 60 ms", of(1, lambda result: result.percentile(0.99)), 60, "ms"),
        ("at least 60 runs/s", best, 60, "runs/s"),
        ("50 users: no error", of(50, lambda result: float(sum(result.errors.values()))), 0, "errors"),
        ("50 users: p99 at most 2 s", of(50, lambda result: result.percentile(0.99)), 2000, "ms"),
    ]


def print_targets(results: dict[int, LoadResult]) -> None:
    """Print each target of the design and whether it holds."""
    print("\ntarget")
    for what, value, target, unit in measured_targets(results):
        if value is None:
            print(f"  not measured  {what}")
        else:
            holds = value >= target if unit == "runs/s" else value <= target  # not a number is neither
            print(f"  {'held' if holds else 'missed':12}  {what}: {value:.4g} {unit}")


async def main(seconds: float, users: list[int]) -> None:
    numbers = itertools.count(1)
    many = "1000000/minute"
    with MeasuredServer(request_limit=many, rate_limit=many, address_limit=many, cache=1_000_000) as server:
        print(f"{seconds:.0f} s for each number of users; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
        print("\nCPU: of the server and of its workers, a run. MiB: of all of them, before/peak/after.")
        print(f"{TABLE_HEAD} {'CPU ms':>12} {'429':>6} {'errors':>6} {'MiB':>13} {'processes':>9} {'descriptors':>11}")
        results = {count: await measure_server(server, count, seconds, numbers) for count in users}
    print(f"\na fresh interpreter a run\n{TABLE_HEAD} {'CPU ms':>12} {'errors':>13}")
    alone, together = [
        await measure_interpreters(at_once, min(seconds, BASELINE_SECONDS), numbers) for at_once in (1, 2)
    ]
    print("\nratio to a fresh interpreter")
    if 1 in results:
        print(f"  one user, p50: {alone.percentile(0.5) / results[1].percentile(0.5):.0f}x sooner")
    print(f"  runs/s, beside two at once: {max(result.rate for result in results.values()) / together.rate:.0f}x more")
    print_targets(results)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended, too
    parser = argparse.ArgumentParser("python -m benchmarks.load", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="seconds of load for each number of users (default %(default)s)"
    )
    parser.add_argument("--users", type=int, nargs="+", default=[1, 8, 50], help="numbers of users (default: 1 8 50)")
    parser.add_argument("--url", help="measure the server at this address with the first number of users")
    parser.add_argument("--pause", type=float, default=5.0, help="with --url: seconds from a trace to the next run")
    options = parser.parse_args()
    if options.url:
        sys.exit(measure_url(options.url, options.users[0], options.seconds, options.pause, program, trace_mistake))
    with suppress(KeyboardInterrupt):
        asyncio.run(main(options.seconds, options.users))
