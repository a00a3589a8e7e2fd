"""`python -m server` as a fork of a process that has imported it: what a command takes of a second, a fork takes of
milliseconds.

The pools of such a command fork their zygotes and assemblers too: see tests.forks.prepared_zygotes and
tests.forks.forked_assemblers. What a command imports, and how it begins, is tested by commands proper.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Self

from benchmarks.measured_server import MeasuredServer
from tests.forks import forked_assemblers, prepared_zygotes
from tests.forks.host_sockets import end_at_exit, socket_of_host

ROOT = Path(__file__).parents[2]
HOST = "SERVER_HOST"
"""The environment variable that names the host's socket to other processes of the tests."""


@cache
def host() -> str:
    """The name of the socket at which a host forks commands. The first call begins to start it; it ends with this
    process."""
    return socket_of_host(HOST, socket.SOCK_SEQPACKET, start_host)


def start_host(listener: int) -> None:
    """Begin to start the host, which listens at this descriptor."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forks.server_host", str(listener)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("GRADBOX_")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[listener],
    )
    end_at_exit(process)


class ForkedServer:
    """A running command, which is used as a `subprocess.Popen` is.

    arguments: what stands after `python -m server` environment: all of it before: functions of modules that it calls
        first stdin, stdout, stderr: files; None is an empty one for stdin, and this process's own for the others
    """

    def __init__(
        self,
        arguments: list[str],
        environment: dict[str, str],
        before: tuple[Callable[[], None], ...] = (prepared_zygotes.use, forked_assemblers.use),
        *,
        stdin: IO[bytes] | None = None,
        stdout: IO[bytes] | None = None,
        stderr: IO[bytes] | None = None,
    ) -> None:
        request = {
            "before": [f"{function.__module__}:{function.__qualname__}" for function in before],
            "arguments": arguments,
            "environment": environment,
            "folder": str(ROOT),
            "descriptors": resource.getrlimit(resource.RLIMIT_NOFILE),
        }
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.settimeout(120)
        self._connection.connect(f"\0{host()}")
        with open(os.devnull, "rb") as empty:
            streams = [(stdin or empty).fileno(), stdout.fileno() if stdout else 1, stderr.fileno() if stderr else 2]
            socket.send_fds(self._connection, [json.dumps(request).encode()], streams)
        answer = self._connection.recv(100)
        assert answer, "the servers' host has ended"
        self.pid = int(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()

    def poll(self) -> int | None:
        """The status; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The status, once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                answer = self._connection.recv(100)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("a forked server", timeout or 0.0) from None
            assert answer, "the servers' host has ended"
            self.returncode = int(answer)
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkedMeasuredServer(MeasuredServer):
    """A MeasuredServer that is forked; its assemblers are its own, and measured.

    before: functions of modules that it calls first
    """

    def __init__(self, before: tuple[Callable[[], None], ...] = (), **settings: Any) -> None:
        super().__init__(**settings)
        self._before = (prepared_zygotes.use, *before)

    def launch(self, arguments: list[str], environment: dict[str, str], log: IO[bytes]) -> ForkedServer:
        variables = {**environment, prepared_zygotes.HOST: prepared_zygotes.host()}
        with open(os.devnull, "wb") as nothing:
            return ForkedServer(arguments, variables, self._before, stdout=nothing, stderr=log)


def run_command(
    *arguments: str, text: str | None = None, environment: dict[str, str] | None = None, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """What a command prints, and its status.

    text: its standard input
    environment: by default that of this process
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        given.write((text or "").encode())
        given.seek(0)
        variables = environment or prepared_zygotes.environment()
        process = ForkedServer(list(arguments), variables, stdin=given, stdout=out, stderr=errors)
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        for file in (out, errors):
            file.seek(0)
        printed = out.read().decode(), errors.read().decode()
    return subprocess.CompletedProcess(["python", "-m", "server", *arguments], status, *printed)
