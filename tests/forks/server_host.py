"""The process that has imported the server once and forks it, for tests.forks.forked_server: an import takes a second.

`python -m tests.forks.server_host FD`: FD is a listening Unix socket. A connection brings one message, a `Request` as
JSON, and the command's three standard streams; the first answer is its pid, the second, once it has ended, its status.
Where the connection is closed before, the command is killed.
"""

import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
from contextlib import suppress
from typing import TypedDict

from server.__main__ import main as run_server

PR_SET_PDEATHSIG = 1
CHECK_INTERVAL_MS = 500
"""Milliseconds between two looks whether the parent has ended."""


class Request(TypedDict):
    """before: `module:function`s that are called first
    arguments: of `python -m server`
    descriptors: limits of their number
    """

    before: list[str]
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    descriptors: tuple[int, int]


def main() -> int | None:
    """Serve until the parent has ended, with None; in each fork run its command, with its status."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(fileno=int(sys.argv[1]))
    gc.collect()
    gc.freeze()
    running: dict[int, tuple[int, socket.socket]] = {}  # by pidfd: the pid, and who waits for its end
    while os.getppid() == parent:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        for pidfd, (_, connection) in running.items():
            poll.register(pidfd, select.POLLIN)
            poll.register(connection, 0)  # tells of its end all the same
        ready = {descriptor for descriptor, _ in poll.poll(CHECK_INTERVAL_MS)}
        for pidfd, (pid, connection) in list(running.items()):
            if pidfd in ready:
                report_end(pid, connection)
                os.close(pidfd)
                del running[pidfd]
            elif connection.fileno() in ready:
                os.kill(pid, signal.SIGKILL)
        if listener.fileno() in ready:
            connection = listener.accept()[0]
            message, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
            if len(streams) != 3:  # whoever asked is gone
                connection.close()
                continue
            pid = os.fork()
            if pid == 0:
                for descriptor in (listener, connection, *(other for _, other in running.values())):
                    descriptor.close()
                for pidfd in running:
                    os.close(pidfd)
                return run_command(json.loads(message), streams)
            for stream in streams:
                os.close(stream)
            running[os.pidfd_open(pid)] = pid, connection
            with suppress(OSError):
                connection.send(str(pid).encode())
    return None


def report_end(pid: int, connection: socket.socket) -> None:
    """Collect a fork that has ended, and send its status to the test that waits for it."""
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        connection.send(str(status).encode())
    connection.close()


def run_command(request: Request, streams: list[int]) -> int:
    """Run `python -m server` in this fork. Its status, with which this process then ends as any Python does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()  # so that Ctrl-C in a terminal reaches only the tests
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    soft, hard = request["descriptors"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    for name in request["before"]:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)()
    return run_server(request["arguments"])


if __name__ == "__main__":
    sys.exit(main())
