"""Plays one assault against a server of its own and measures it: waits, memory, what is left of it, the time to
stop."""

import json
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from benchmarks.load import program
from benchmarks.measured_server import MIB, ROOT, MeasuredServer, ServerProcess, proc_bytes, proc_stat
from server.pool.machine_resources import RESERVED_MEMORY
from tests.assault.attackers import Assault, ask, save
from tests.chaos.clients import run_honest_programs
from tests.chaos.server_state import log_errors, wait_until
from tests.server.http.loop_pieces import MAX_SECONDS, VARIABLE, LoopPiece, read_pieces

ALONE = 6.0
"""Seconds that the visitor is measured before the assault."""

Play = Callable[[Assault], None]

PAGE_BAR, RUN_BAR, STOP_BAR = 0.5, 2.0, 10.0
"""Seconds that the visitor may wait for a page and for a run, and that the server may take to stop."""

LOCK_BAR = 0.1
"""Seconds that the event loop may wait for Python's lock."""

MEMORY_BAR = RESERVED_MEMORY
"""Bytes of the server and its helpers, without the processes that run programs."""

SOCKETS_BAR = 400 * MIB
"""Bytes of the kernel's TCP sockets, which no limit of a process or a container's memory shows."""

SPARE_DESCRIPTORS = 24
"""Descriptors that may stay open: connections to the database, which are made when they are first needed."""

SPARE_MEMORY = 300 * MIB
"""Bytes by which the server may have grown: its caches, and what the allocator keeps."""

DESCRIPTORS, USUAL_DESCRIPTORS = 16_384, 1024
"""What this process may open, and what a server may that is started from a shell or by systemd."""


@dataclass
class Measured:
    """What came of an assault.

    waits: by what was waited for, as the visitor reports
    alone: before the assault, without it
    peak, sockets: bytes of the server and its helpers, and of the kernel's sockets
    longest_piece: that kept the event loop
    lock_wait, collecting: seconds of its longest wait for Python's lock, and of the garbage collector's longest pass
    stop: seconds that the server took to end; None where it did not
    run_bar: seconds that the visitor may wait for a run
    afterwards: "" where everything was as before
    """

    waits: dict[str, dict[str, float]] = field(default_factory=dict)
    alone: dict[str, dict[str, float]] = field(default_factory=dict)
    peak: int = 0
    sockets: int = 0
    longest_piece: LoopPiece | None = None
    collecting: float = 0.0
    lock_wait: float = 0.0
    stop: float | None = None
    afterwards: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    run_bar: float = RUN_BAR

    @property
    def piece(self) -> float:
        """Seconds of the longest piece of work; 0 where all were short."""
        return self.longest_piece.own_seconds if self.longest_piece is not None else 0.0

    def broken(self) -> list[str]:
        """The bars that it does not hold."""
        bars = {
            "page": longest(self.waits, "pages") > PAGE_BAR,
            "run": longest(self.waits, "runs") > self.run_bar,
            "memory": self.peak > MEMORY_BAR,
            "sockets": self.sockets > SOCKETS_BAR,
            "loop": self.piece > MAX_SECONDS,
            "lock": self.lock_wait > LOCK_BAR,
            "stop": self.stop is None or self.stop > STOP_BAR,
            "afterwards": bool(self.afterwards),
        }
        return [name for name, missed in bars.items() if missed]


def longest(waits: dict[str, dict[str, float]], kind: str) -> float:
    """The longest of the waits that a visitor reports for pages or runs."""
    return waits.get(kind, {}).get("longest", 0.0)


class PeakMemory(threading.Thread):
    """Samples the memory of a server and of its helpers, without the processes that run programs."""

    def __init__(self, server: MeasuredServer) -> None:
        super().__init__(daemon=True)
        self._server, self._over, self.peak, self.sockets = server, threading.Event(), 0, 0

    def __enter__(self) -> Self:
        for pid in self._processes():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")  # its peak counts from now
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.wait(0.25):
            peaks = 0
            for pid in self._processes():
                with suppress(OSError):
                    peaks += proc_bytes(pid, "status", "VmHWM:")
            self.peak = max(self.peak, peaks)
            self.sockets = max(self.sockets, socket_bytes())

    def _processes(self) -> list[int]:
        workers, parents = self._server.workers(), {}
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parents[int(path.name)] = int(proc_stat(int(path.name))[1])
        found = [self._server.pid]
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid and child not in workers]
        return found


def socket_bytes() -> int:
    """Bytes of the kernel's TCP sockets, of all processes and of none."""
    words = next(
        line for line in Path("/proc/net/sockstat").read_text().splitlines() if line.startswith("TCP:")
    ).split()
    return int(words[words.index("mem") + 1]) * resource.getpagesize()


class PiecesServer(MeasuredServer):
    """A server that writes down what keeps its event loop."""

    @property
    def pieces(self) -> Path:
        return Path(self._folder.name) / "pieces"

    def launch(self, arguments: list[str], environment: dict[str, str], log: IO[bytes]) -> ServerProcess:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.server.http.loop_pieces", *arguments],
            cwd=ROOT,
            env={**environment, VARIABLE: str(self.pieces)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


class Visitor:
    """The polite visitor's process, as a context.

    pictures: whether it asks for pictures, too
    """

    def __init__(self, server: MeasuredServer, saved: str, pictures: bool) -> None:
        self._arguments = [str(server.port), saved, *(["pictures"] if pictures else [])]
        self.waits: dict[str, dict[str, float]] = {}

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.assault.visitor", *self._arguments]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        self.waits = json.loads(self._process.communicate(timeout=60)[0])


def measure(
    play: Play,
    seconds: float,
    settings: dict[str, Any],
    pictures: bool = False,
    launch: type[MeasuredServer] = PiecesServer,
) -> Measured:
    """Play an assault for so long, on a server with these settings, all others as they come.

    launch: makes the server
    """
    measured = Measured()
    limit_descriptors(USUAL_DESCRIPTORS)
    with launch(**settings) as server:
        limit_descriptors(DESCRIPTORS)
        saved = warm_up(server)
        before = state(server)
        with Visitor(server, saved, pictures) as visitor:
            time.sleep(min(ALONE, seconds))
        measured.alone = visitor.waits
        with PeakMemory(server) as memory, Visitor(server, saved, pictures) as visitor:
            time.sleep(2)
            with playing(play, server, 1, saved) as assault:
                time.sleep(seconds)
            measured.counts = assault.counts
        measured.waits, measured.peak, measured.sockets = visitor.waits, memory.peak, memory.sockets
        try:
            server.wait_until_idle(60)
            run_honest_programs(server, range(900, 904), 30)
            wait_until("it is as before", lambda: not differences(before, state(server)), 45)
        except (AssertionError, OSError) as error:
            measured.afterwards = differences_now(before, server) or f"{type(error).__name__}: {error}".splitlines()[0]
        measured.errors = log_errors(server.log())
        with playing(play, server, 2, saved) as assault:
            measured.stop = time_to_stop(server)
        if isinstance(server, PiecesServer):
            pieces = read_pieces(server.pieces)
            measured.longest_piece = next(iter(pieces), None)
            waits = read_pieces(server.pieces, lock_waits=True)
            measured.lock_wait = max((piece.seconds for piece in waits), default=0.0)
            measured.collecting = max((piece.collecting for piece in pieces), default=0.0)
    return measured


class playing:  # noqa: N801
    """An assault that goes on while this context lasts; entered once all of it does.

    seed: differs at each playing
    """

    def __init__(self, play: Play, server: MeasuredServer, seed: int, saved: str) -> None:
        self._assault = Assault(server, seed * 1_000_000, saved)
        self._thread = threading.Thread(target=self._play, args=(play,), daemon=True)

    def _play(self, play: Play) -> None:
        try:
            play(self._assault)
        except Exception as error:
            self._assault.counts[f"{type(error).__name__}: {error}"[:150]] += 1
            self._assault.at_full.set()

    def __enter__(self) -> Assault:
        self._thread.start()
        self._assault.at_full.wait(90)
        time.sleep(1)
        return self._assault

    def __exit__(self, *_: object) -> None:
        self._assault.over.set()
        self._thread.join(90)


def limit_descriptors(count: int) -> None:
    """So many for this process, and for those that it starts from now on."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count if hard == resource.RLIM_INFINITY else min(count, hard), hard))


def warm_up(server: MeasuredServer) -> str:
    """Have everything done once that is kept ready afterwards; the id of a saved program."""
    saved = save(server, program(700_000))
    for kind in ("", ".json", ".trace.json", ".svg", ".card.png", ".html"):
        ask(server, "GET", f"/s/{saved}{kind}")
    server.wait_until_idle()
    return saved


def state(server: MeasuredServer) -> dict[str, Any]:
    """What has to be the same afterwards."""
    usage = server.usage()
    pages = {path: ask(server, "GET", path, max_wait=20)[0] for path in ("/", "/gallery", "/readyz", "/healthz")}
    return {"processes": usage.processes, "descriptors": usage.descriptors, "memory": usage.resident, "pages": pages}


def differences(before: dict[str, Any], after: dict[str, Any]) -> str:
    """How a server differs from what it was; "" where it does not."""
    found = [
        f"{name}: {before[name]}, then {after[name]}" for name in ("processes", "pages") if before[name] != after[name]
    ]
    if after["descriptors"] > before["descriptors"] + SPARE_DESCRIPTORS:
        found.append(f"descriptors: {before['descriptors']}, then {after['descriptors']}")
    if after["memory"] > before["memory"] + SPARE_MEMORY:
        found.append(f"memory: {before['memory'] / MIB:.0f}, then {after['memory'] / MIB:.0f} MiB")
    return "; ".join(found)


def differences_now(before: dict[str, Any], server: MeasuredServer) -> str:
    try:
        return differences(before, state(server))
    except OSError as error:
        return f"no answer: {type(error).__name__}"


def time_to_stop(server: MeasuredServer) -> float | None:
    """End it, in the midst of what it does; the seconds until none of its processes is left, None for too many."""
    assert server.process is not None
    began = time.monotonic()
    server.process.terminate()
    with suppress(subprocess.TimeoutExpired, AssertionError):
        server.process.wait(4 * STOP_BAR)
        wait_until("its workers are gone", lambda: not server.workers(), 5)
        return time.monotonic() - began
    return None
