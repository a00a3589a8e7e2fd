"""The sockets of hosts: processes that are prepared once and then forked, by all the processes of a run of the
tests."""

import atexit
import os
import secrets
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress

from tests.support.waiting import PATIENCE

CHECK_INTERVAL = 0.5
"""Seconds between two looks of a host whether a fork or the parent has ended."""


def socket_of_host(variable: str, kind: socket.SocketKind, start: Callable[[int], None]) -> str:
    """The name of the socket at which a host listens.

    variable: of the environment; where it is set, that is the name
    kind: of the socket
    start: begins to start the host, which listens at this descriptor and ends with this process
    """
    if variable in os.environ:
        return os.environ[variable]
    name = f"gradbox-{variable.lower()}-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, kind) as listener:
        listener.bind(f"\0{name}")
        listener.listen(64)
        start(listener.fileno())
    return name


def end_at_exit(process: subprocess.Popen[bytes]) -> None:
    """Kill the process when this one ends."""

    def end() -> None:
        process.kill()
        process.wait(PATIENCE)

    atexit.register(end)


def reap_children() -> None:
    """Collect the forks of this process that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
