"""Processes that have imported torch once and fork a child for each request, so that a test need not fork pytest
itself.

A host is a module whose `main` calls `serve`; the first `ForkHost` of a run of the tests starts it, one that needs
torch as a fork of tests.forks.torch_host. A request is JSON on a connection of its own; the answer is what the child
writes there, until it has ended.
"""

import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

from tests.forks.host_sockets import CHECK_INTERVAL, end_at_exit, reap_children, socket_of_host
from tests.forks.huge_pages import join_pages

ROOT = Path(__file__).parents[2]

Request = dict[str, Any]
Write = Callable[[bytes], None]


def host_environment() -> dict[str, str]:
    """The environment of a host: this process's, with one thread for each library and one order of sets."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONHASHSEED": "0"}


class ForkHost:
    """The asking side.

    module: the host's
    variable: of the environment, names its socket to other processes
    start: begins to start it, by default as a fork of tests.forks.torch_host
    """

    def __init__(self, module: str, variable: str, start: Callable[[str, int], None] | None = None) -> None:
        self._module, self.variable, self._start = module, variable, start or fork_from_torch

    @cached_property
    def name(self) -> str:
        """Of the host's socket. Begins to start the host where no other process of the tests has done so."""
        return socket_of_host(self.variable, socket.SOCK_STREAM, lambda listener: self._start(self._module, listener))

    def ask(self, **request: Any) -> bytes:
        """What a child writes for this request. Raises OSError where the host is gone."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(f"\0{self.name}")
            connection.sendall(json.dumps(request).encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answer:
                return answer.read()


def start_module(module: str, listener: int) -> None:
    """Begin to start `python -m MODULE`, with a listening socket and the pid of this process, with which it ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(listener), str(os.getpid())],
        cwd=ROOT,
        env=host_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[listener],
    )
    end_at_exit(process)


TORCH = "TORCH_HOST"
"""The environment variable that names the socket of tests.forks.torch_host to other processes of the tests."""


@cache
def torch_host() -> str:
    """The name of the socket of tests.forks.torch_host. The first call begins to start it."""
    return socket_of_host(TORCH, socket.SOCK_STREAM, lambda listener: start_module("tests.forks.torch_host", listener))


def fork_from_torch(module: str, listener: int) -> None:
    """Begin to start a host as a fork of tests.forks.torch_host."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(f"\0{torch_host()}")
        socket.send_fds(connection, [module.encode()], [listener])


RECORDER = ForkHost("tests.forks.recorder_host", "RECORDER_HOST")
PLAIN = ForkHost("tests.forks.plain_host", "PLAIN_HOST")
COMMAND = ForkHost("tests.forks.command_host", "COMMAND_HOST")


def serve(descriptor: int, parent: int, handle: Callable[[Request, Write], None]) -> None:
    """Call `handle` in a fork for the request of each connection, until the parent has ended."""
    serve_connections(descriptor, parent, lambda connection: answer(connection, handle))


def serve_connections(descriptor: int, parent: int, act: Callable[[socket.socket], NoReturn]) -> None:
    """Call `act` in a fork for each connection to the socket of this descriptor, until the process with that pid, the
    parent, has ended."""
    listener = socket.socket(fileno=descriptor)
    gc.collect()
    gc.freeze()
    join_pages()
    listener.settimeout(CHECK_INTERVAL)
    while os.getppid() == parent:
        with suppress(TimeoutError):
            connection = listener.accept()[0]
            if os.fork() == 0:
                listener.close()
                act(connection)
            connection.close()
        reap_children()


def answer(connection: socket.socket, handle: Callable[[Request, Write], None]) -> NoReturn:
    """Handle the request of a connection in this fork, which ends with it; its standard error says why it raised."""
    try:
        with connection.makefile("rb") as request:
            given = json.loads(request.read())
        handle(given, lambda data: write_all(connection.fileno(), data))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


def forked(act: Callable[[Write], None]) -> bytes:
    """What `act` writes in a fork of this process, which ends with it; its standard error says why it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            act(lambda data: write_all(writing, data))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return data


def write_all(to: int, data: bytes) -> None:
    """Write all of it to a descriptor."""
    while data:
        data = data[os.write(to, data) :]
