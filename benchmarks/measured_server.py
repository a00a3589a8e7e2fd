"""A server of one's own on a free port of this machine, and what it and its workers use: processes, memory, time.

For benchmarks and for tests that kill, flood and starve it.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, Self

ROOT = Path(__file__).parent.parent
MIB = 1 << 20


@dataclass(frozen=True)
class ResourceUsage:
    """Of a server: processes, the first one's descriptors and bytes (RSS), and the bytes of all of them (PSS).

    serving, working: seconds of processor time that the server and its workers have used, those that ended included
        helpers: processes that assemble and draw; they start when there is more to do than those before can, and stay
    """

    processes: int
    descriptors: int
    resident: int
    memory: int
    serving: float
    working: float
    helpers: int

    @property
    def descriptors_besides_helpers(self) -> int:
        """Without the two pipes to each helper."""
        return self.descriptors - 2 * self.helpers


class ServerProcess(Protocol):
    """What is used of a `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, number: int, /) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class MeasuredServer:
    """A server on a free port of this machine, as a context; on leaving it every process of it is ended.

    settings: as in `server/settings.py`, in lower case. A class derived from this one may `launch` it in another way.
        Its workers have a memory limit that no other server's have: by it they are found, whoever their parent is. It
        stands in their command line, or as `w` and the bytes in their name, where a test has them forked from a
        prepared process.
    """

    def __init__(self, port: int = 0, **settings: Any) -> None:
        self.port = port or free_port()
        self._settings = settings
        self._memory = (1 << 30) + secrets.randbelow(1 << 24)
        self._folder = tempfile.TemporaryDirectory(prefix="gradbox-")
        self._log = Path(self._folder.name) / "log"
        self.process: ServerProcess | None = None

    @property
    def folder(self) -> str:
        """Where its files are."""
        return str(self._settings.get("data", self._folder.name))

    def change_settings(self, **settings: Any) -> None:
        """What it is started with from now on."""
        self._settings |= settings

    def __enter__(self) -> Self:
        try:
            self.start()
            self.wait_until_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def start(self) -> None:
        """Begin; does not wait for it."""
        settings = {"gpu": 0, "memory": self._memory, "data": self._folder.name, **self._settings}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GRADBOX_")}
        environment |= {f"GRADBOX_{name.upper()}": str(value) for name, value in settings.items()}
        with self._log.open("ab") as log:
            self.process = self.launch(["serve", "--port", str(self.port)], environment, log)

    def launch(self, arguments: list[str], environment: dict[str, str], log: IO[bytes]) -> "ServerProcess":
        """Start `python -m server` in a session of its own, so that Ctrl-C in a terminal reaches only this process."""
        return subprocess.Popen(
            [sys.executable, "-m", "server", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )

    def wait_until_idle(self, max_wait: float = 90.0) -> None:
        """Wait until it is ready, nothing runs or waits, and only the spare workers live."""
        until, quiet = time.monotonic() + max_wait, 0
        facts: Any = "no answer"
        while quiet < 5:
            if self.process is None or self.process.poll() is not None:
                raise AssertionError(f"the server has ended:\n{self.log()[-2000:]}")
            if time.monotonic() > until:
                raise AssertionError(f"the server does not come to rest: {facts}\n{self.log()[-2000:]}")
            try:
                metrics = self.metrics()
                names = ("ready", 'running{queue="cpu"}', 'waiting{queue="cpu"}', "spare_children")
                facts = *(metrics[f"gradbox_{name}"] for name in names), len(self.children())
                workers = float(self._settings.get("workers", 2))
                quiet = quiet + 1 if facts == (1, 0, 0, workers, workers) else 0
            except OSError as error:
                quiet, facts = 0, error
            time.sleep(0.05)

    def metrics(self) -> dict[str, float]:
        password = self._settings.get("password")
        headers = {"Authorization": f"Bearer {password}"} if password else {}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            rows = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in rows}

    @property
    def data(self) -> str:
        """The folder of its database and caches."""
        return str(self._settings.get("data", self._folder.name))

    def log(self) -> str:
        """What it has written."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def workers(self) -> dict[int, int]:
        """Its zygotes and their children that live, each with its parent."""
        workers, mark = {}, f'"memory": {self._memory}'.encode()
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                if mark in (path / "cmdline").read_bytes() or (path / "comm").read_text() == f"w{self._memory}\n":
                    state, parent, *_ = proc_stat(int(path.name))
                    if state != "Z":  # it has ended
                        workers[int(path.name)] = int(parent)
        return workers

    def zygote(self) -> int:
        workers = self.workers()
        return next(pid for pid, parent in workers.items() if parent not in workers)

    def children(self) -> list[int]:
        """Those that wait for a program or run one."""
        workers = self.workers()
        return sorted(pid for pid, parent in workers.items() if parent in workers)

    def usage(self) -> ResourceUsage:
        pids = [self.pid, *self.workers()]
        memory = 0
        for pid in pids:
            with suppress(OSError):  # it has ended, or belongs to a user whom we may not ask about
                memory += proc_bytes(pid, "smaps_rollup", "Pss:")
        descriptors = len(list(Path(f"/proc/{self.pid}/fd").iterdir()))
        resident = proc_bytes(self.pid, "status", "VmRSS:")
        serving, working = sum(processor_seconds(self.pid)[:2]), sum(processor_seconds(self.zygote()))
        return ResourceUsage(len(pids), descriptors, resident, memory, serving, working, self._helpers())

    def _helpers(self) -> int:
        count = 0
        for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
            with suppress(OSError):  # it has ended
                count += b"_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
        return count

    def stop(self) -> None:
        """End all of it, kindly first."""
        if self.process is not None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
            self.process.kill()
            self.process.wait()
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


def proc_stat(pid: int) -> list[str]:
    """State, parent and what follows of /proc/PID/stat. Raises OSError where there is no such process."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def processor_seconds(pid: int) -> list[float]:
    """Seconds of processor time: as itself and in the kernel, and both again of its children that ended."""
    return [int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in proc_stat(pid)[11:15]]


def proc_bytes(pid: int, file: str, row: str) -> int:
    """A row of a file of /proc/PID, in bytes. Raises OSError where it can't be read."""
    lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(row)), 0)
