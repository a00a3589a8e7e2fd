"""How the server bears its visitors: latency, runs a second, memory, and what it leaves behind, against the bars.

`python -m benchmarks.load [--seconds 120] [--users 1 8 50]`. It starts a server of its own on a free port of this machine.
Each user has an address of its own, keeps its connection, and presses Run again as soon as the trace has come; no program
is run twice, so that nothing is joined or kept. The clients live in this process, the server in another. Beside it, in
the same run: a fresh interpreter a run that imports torch and executes the same program plainly.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import os
import resource
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parent.parent
MIB = 1 << 20
PATIENCE = 60.0
"""Seconds after which an answer that has not come is an error."""

EVERY = 5.0
"""Seconds between two looks at the memory: each one holds up what it looks at for a few milliseconds."""

BASELINE = 30.0
"""Most seconds that fresh interpreters are measured."""

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
    """Twenty statements that are another program, with another result, for every n."""
    return PROGRAM.format(n=n)


def wrong(n: int, trace: Any) -> str:
    """What is wrong with the trace of `program(n)`; "" where nothing is."""
    status = trace["outcome"]["status"]
    if status != "finished":
        return str(status)
    printed = "".join(entry.get("text", "") for step in trace["steps"] for entry in step["log"])
    if printed.strip() != str(3.0 * n):
        return f"printed {printed!r}"
    lines = {step["line"] for step in trace["steps"] if step["kind"] == "statement"}
    return "" if lines == set(range(1, 21)) else f"lines {sorted(lines)}"


@dataclass(frozen=True)
class Figures:
    """Of a server: processes, the first one's descriptors and bytes (RSS), and the bytes of all of them (PSS).

    serving, working: seconds of processor time that the server and its workers have used, those that ended included.
    """

    processes: int
    descriptors: int
    resident: int
    memory: int
    serving: float
    working: float


class Site:
    """A server on a free port of this machine, as a context; left, nothing of it lives on.

    settings: as in `server/settings.py`, in lower case. before: Python that it executes before it starts.
    All its workers carry a limit of memory that is its alone, by which they are found whoever their parent is.
    """

    def __init__(self, port: int = 0, before: str = "pass", **settings: Any) -> None:
        self.port = port or free_port()
        self._before, self._settings = before, settings
        self._memory = (1 << 30) + secrets.randbelow(1 << 24)
        self._folder = tempfile.TemporaryDirectory(prefix="gradbox-")
        self._log = Path(self._folder.name) / "log"
        self.server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
            self.settle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def start(self) -> None:
        """Begin; does not wait for it."""
        told = {"gpu": 0, "memory": self._memory, "data": self._folder.name, **self._settings}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GRADBOX_")}
        code = f"import sys; from server.__main__ import main; {self._before}; sys.exit(main())"
        with self._log.open("ab") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-c", code, "serve", "--port", str(self.port)],
                cwd=ROOT,
                env={**kept, **{f"GRADBOX_{name.upper()}": str(value) for name, value in told.items()}},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,  # Ctrl-C in a terminal is ours to hear
            )

    def settle(self, patience: float = 90.0) -> None:
        """Wait until it is ready, nothing runs or waits, and only the spare workers live."""
        until, quiet = time.monotonic() + patience, 0
        facts: Any = "no answer"
        while quiet < 5:
            if self.server is None or self.server.poll() is not None:
                raise AssertionError(f"the server has ended:\n{self.log()[-2000:]}")
            if time.monotonic() > until:
                raise AssertionError(f"the server does not come to rest: {facts}\n{self.log()[-2000:]}")
            try:
                told = self.metrics()
                names = ("ready", "running", "waiting", "spare_children")
                facts = *(told[f"gradbox_{name}"] for name in names), len(self.children())
                workers = float(self._settings.get("workers", 2))
                quiet = quiet + 1 if facts == (1, 0, 0, workers, workers) else 0
            except OSError as error:
                quiet, facts = 0, error
            time.sleep(0.05)

    def metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            rows = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in rows}

    def log(self) -> str:
        """What it has written."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    @property
    def pid(self) -> int:
        assert self.server is not None
        return self.server.pid

    def workers(self) -> dict[int, int]:
        """Its zygotes and their children that live, each with its parent."""
        found, mark = {}, f'"memory": {self._memory}'.encode()
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                if mark in (path / "cmdline").read_bytes():
                    found[int(path.name)] = int(stat(int(path.name))[1])
        return found

    def zygote(self) -> int:
        return next(pid for pid, parent in self.workers().items() if parent == self.pid)

    def children(self) -> list[int]:
        """Those that wait for a program or run one."""
        workers = self.workers()
        return sorted(pid for pid, parent in workers.items() if parent in workers)

    def figures(self) -> Figures:
        everyone = [self.pid, *self.workers()]
        memory = 0
        for pid in everyone:
            with suppress(OSError):  # it has ended, or belongs to a user whom we may not ask about
                memory += kilobytes(pid, "smaps_rollup", "Pss:")
        descriptors = len(list(Path(f"/proc/{self.pid}/fd").iterdir()))
        resident = kilobytes(self.pid, "status", "VmRSS:")
        serving, working = sum(processor(self.pid)[:2]), sum(processor(self.zygote()))
        return Figures(len(everyone), descriptors, resident, memory, serving, working)

    def stop(self) -> None:
        """End all of it, kindly first."""
        if self.server is not None:
            self.server.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.server.wait(5)
            self.server.kill()
            self.server.wait()
        for _ in range(100):
            left = self.workers()
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return
            time.sleep(0.05)
        raise AssertionError(f"these can't be ended: {left}")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def stat(pid: int) -> list[str]:
    """State, parent and what follows of /proc/PID/stat. Raises OSError where there is no such process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def processor(pid: int) -> list[float]:
    """Seconds of processor time: as itself and in the kernel, and both again of its children that ended."""
    return [int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in stat(pid)[11:15]]


def kilobytes(pid: int, file: str, row: str) -> int:
    """A row of a file of /proc/PID, in bytes. Raises OSError where it can't be read."""
    lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(row)), 0)


@dataclass
class Tally:
    """What some users met. seconds: of each run that went well. busy: how often they were told to come back."""

    users: int
    seconds: list[float] = field(default_factory=list)
    busy: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    lasted: float = 0.0

    def at(self, share: float) -> float:
        """The milliseconds within which that share of the runs was answered."""
        ordered = sorted(self.seconds) or [float("nan")]
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000

    @property
    def rate(self) -> float:
        """Runs a second."""
        return len(self.seconds) / self.lasted

    def row(self) -> str:
        times = " ".join(f"{self.at(share):8.1f}" for share in (0.5, 0.9, 0.99, 1))
        return f"{self.users:6} {len(self.seconds):7} {self.rate:7.1f} {times}"


HEAD = f"{'users':>6} {'runs':>7} {'runs/s':>7} {'p50 ms':>8} {'p90 ms':>8} {'p99 ms':>8} {'max ms':>8}"


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

    def leave(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def press(self, until: float, numbers: Iterator[int], tally: Tally) -> None:
        """Run after run until that time."""
        while (began := time.perf_counter()) < until:
            n = next(numbers)
            try:
                async with asyncio.timeout(PATIENCE):
                    status, headers, data = await self.post(program(n))
            except (OSError, EOFError, TimeoutError) as error:
                tally.errors[type(error).__name__] += 1
                self.leave()
                await asyncio.sleep(0.2)
                continue
            took = time.perf_counter() - began
            if status == 429:
                tally.busy += 1
                await asyncio.sleep(float(headers.get("retry-after", 1)))
            elif status != 200:
                tally.errors[f"status {status}"] += 1
            elif fault := wrong(n, json.loads(gzip.decompress(data))):
                tally.errors[fault] += 1
            else:
                tally.seconds.append(took)
        self.leave()


async def loaded(users: int, seconds: float, work: Callable[[int, float, Tally], Awaitable[None]]) -> Tally:
    """So many users at work for so long. work: one of them, by its number, until a time."""
    tally, began = Tally(users), time.perf_counter()
    await asyncio.gather(*(work(k, began + seconds, tally) for k in range(users)))
    tally.lasted = time.perf_counter() - began
    return tally


async def watched(site: Site, peak: list[int]) -> None:
    """Note the highest memory until cancelled."""
    while True:
        peak.append((await asyncio.to_thread(site.figures)).memory)
        await asyncio.sleep(EVERY)


async def served(site: Site, users: int, seconds: float, numbers: Iterator[int]) -> Tally:
    """Measure the server under so many users, and print it."""

    async def work(k: int, until: float, tally: Tally) -> None:
        await User(site.port, k).press(until, numbers, tally)

    await loaded(1, 1.0, work)  # its code and its connections are warm from here on
    site.settle()
    before, peak = site.figures(), [0]
    watching = asyncio.create_task(watched(site, peak))
    try:
        tally = await loaded(users, seconds, work)
    finally:
        watching.cancel()
    site.settle()
    after = site.figures()
    ran = max(len(tally.seconds), 1)
    serving, working = ((getattr(after, name) - getattr(before, name)) / ran for name in ("serving", "working"))
    sizes = (before.memory, max(*peak, before.memory, after.memory), after.memory)
    print(
        f"{tally.row()} {serving * 1000:5.1f} + {working * 1000:4.1f} {tally.busy:6} {sum(tally.errors.values()):6}",
        f"{'/'.join(f'{size / MIB:.0f}' for size in sizes):>13}",
        f"{f'{before.processes}/{after.processes}':>9} {f'{before.descriptors}/{after.descriptors}':>11}",
    )
    for fault, count in tally.errors.most_common():
        print(f"      {count} x {fault}")
    sys.stdout.flush()
    return tally


def children_processor() -> float:
    """Seconds of processor time that the children of this process have used, of those that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def fresh(at_once: int, seconds: float, numbers: Iterator[int]) -> Tally:
    """The same programs, each by an interpreter of its own, so many at once."""

    async def work(_: int, until: float, tally: Tally) -> None:
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
                tally.seconds.append(time.perf_counter() - began)
            else:
                tally.errors["wrong"] += 1

    before = children_processor()
    tally = await loaded(at_once, seconds, work)
    spent = (children_processor() - before) / max(len(tally.seconds), 1)
    print(f"{tally.row()} {spent * 1000:12.1f} {sum(tally.errors.values()):13}", flush=True)
    return tally


def bars(tallies: dict[int, Tally]) -> list[tuple[str, float | None, float, str]]:
    """(what, measured or None, the bar, unit); a bar is the most that may be, for runs a second the least."""

    def of(users: int, ask: Callable[[Tally], float]) -> float | None:
        return ask(tallies[users]) if users in tallies else None

    best = max((tally.rate for tally in tallies.values()), default=None)
    return [
        ("one user: p50 at most 25 ms", of(1, lambda tally: tally.at(0.5)), 25, "ms"),
        ("one user: p99 at most 80 ms", of(1, lambda tally: tally.at(0.99)), 80, "ms"),
        ("at least 60 runs/s", best, 60, "runs/s"),
        ("50 users: no error", of(50, lambda tally: float(sum(tally.errors.values()))), 0, "errors"),
        ("50 users: p99 at most 2 s", of(50, lambda tally: tally.at(0.99)), 2000, "ms"),
    ]


def summary(tallies: dict[int, Tally]) -> None:
    """Each bar of the design, and whether it holds."""
    print("\nbar")
    for what, value, bar, unit in bars(tallies):
        if value is None:
            print(f"  not measured  {what}")
        else:
            holds = value >= bar if unit == "runs/s" else value <= bar  # not a number is neither
            print(f"  {'held' if holds else 'missed':12}  {what}: {value:.4g} {unit}")


async def main(seconds: float, users: list[int]) -> None:
    numbers = itertools.count(1)
    many = "1000000/minute"
    with Site(rate_limit=many, address_limit=many, cache=1_000_000) as site:
        print(f"{seconds:.0f} s for each number of users; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
        print("\nCPU: of the server and of its workers, a run. MiB: of all of them, before/peak/after.")
        print(f"{HEAD} {'CPU ms':>12} {'429':>6} {'errors':>6} {'MiB':>13} {'processes':>9} {'descriptors':>11}")
        tallies = {count: await served(site, count, seconds, numbers) for count in users}
    print(f"\na fresh interpreter a run\n{HEAD} {'CPU ms':>12} {'errors':>13}")
    alone, together = [await fresh(at_once, min(seconds, BASELINE), numbers) for at_once in (1, 2)]
    print("\nratio to a fresh interpreter")
    if 1 in tallies:
        print(f"  one user, p50: {alone.at(0.5) / tallies[1].at(0.5):.0f}x sooner")
    print(f"  runs/s, beside two at once: {max(tally.rate for tally in tallies.values()) / together.rate:.0f}x more")
    summary(tallies)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended, too
    parser = argparse.ArgumentParser("python -m benchmarks.load")
    parser.add_argument("--seconds", type=float, default=120.0, help="of load for each number of users")
    parser.add_argument("--users", type=int, nargs="+", default=[1, 8, 50])
    words = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(main(words.seconds, words.users))
