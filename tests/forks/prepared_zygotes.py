"""Zygotes that are forked from one prepared process: a test's pool is then ready in a moment, where a boot takes
seconds.

Such a zygote has the memory of one that has booted, and a session, options and children of its own. The tests of the
boot itself do without, and so does every server that is started as a command, but for those of
tests.forks.forked_server.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache

from server.pool import zygote
from server.pool.zygote import PREPARE_FUNCTION
from server.wire.link import WorkerOptions
from tests.forks import forked_assemblers
from tests.forks.host_sockets import end_at_exit, socket_of_host

HOST = "ZYGOTE_HOST"
"""The environment variable that names the host's socket to a server which a test starts."""

WORKERS = ("agreement.alarm_worker", "server.worker.counting_worker", "support.worker_without_files")
FORKED = {PREPARE_FUNCTION, *(f"tests.{worker}:prepare" for worker in WORKERS)}
"""What prepares the zygotes that a fork can be: the recorder, and modules with an `adapt`, which changes its worker."""

boot = zygote.start_zygote_process


class ForkedZygote:
    """What the server asks of the zygote's process, which is a child of the host."""

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid, self._pidfd = pid, pidfd

    def __del__(self) -> None:
        os.close(self._pidfd)

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it has ended. Raises subprocess.TimeoutExpired after so many seconds."""
        if not select.select([self._pidfd], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a forked zygote", timeout or 0)


@cache
def host() -> str:
    """The name of the socket at which a host forks zygotes. The first call begins to prepare it; it ends with this
    process."""
    options = WorkerOptions(1, "off", 0, 0, PREPARE_FUNCTION)
    return socket_of_host(
        HOST, socket.SOCK_SEQPACKET, lambda listener: end_at_exit(boot(listener, options, "tests.forks.zygote_host"))
    )


def fork(link: int, options: WorkerOptions) -> ForkedZygote | subprocess.Popen[bytes]:
    """In place of `server.pool.zygote.start_zygote_process`: a fork of the host, where the zygote is one that records
    programs on the CPU."""
    if options.prepare not in FORKED or options.device != "cpu":
        return boot(link, options)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(120)
        connection.connect(f"\0{host()}")
        socket.send_fds(connection, [json.dumps(asdict(options)).encode()], [link])
        data, descriptors, _, _ = socket.recv_fds(connection, 100, 1)
    assert descriptors, "the zygotes' host has ended"
    return ForkedZygote(int(data), descriptors[0])


def use() -> None:
    """Have every pool of this process fork its zygote; and no server of it measure its matrix before it is asked
    for."""
    zygote.start_zygote_process = fork  # type: ignore[assignment]
    matrix = sys.modules.get("server.matrix.service")  # where it is not imported, no server runs
    if matrix is not None:
        setattr(matrix, "WARM_UP_DELAY", float("inf"))  # noqa: B010 mypy does not know the module


@contextmanager
def unused() -> Iterator[None]:
    """Within, a pool boots its zygote, as it does outside of tests."""
    before, zygote.start_zygote_process = zygote.start_zygote_process, boot
    try:
        yield
    finally:
        zygote.start_zygote_process = before


def environment(**variables: str) -> dict[str, str]:
    """The environment of this process, with the names of the hosts that a server's pools fork, and these variables."""
    assemblers = forked_assemblers.HOST
    return {**os.environ, HOST: host(), assemblers.variable: assemblers.name, **variables}
