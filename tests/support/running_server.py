"""A server of a test's own, with its own settings, on a free loopback port."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.forks import prepared_zygotes
from tests.forks.forked_server import ForkedServer
from tests.support.waiting import PATIENCE, PATIENT, wait_for_answer


@contextmanager
def running_server(folder: Path, prefix: str | None = None, **settings: str) -> Iterator[str]:
    """The address of a server that is ready to run programs. It is terminated at the end. Raises AssertionError when it
    isn't ready after a minute.

    folder: of its database and caches. prefix: the path of its public URL; None leaves the URL unset. settings: without
    GRADBOX_. Raises AssertionError when it doesn't get ready.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    patient = {name.upper(): str(value) for name, value in PATIENT.items()}
    settings = {"LIVE": "offered", **patient, **settings}  # programs run when a test says so
    variables = {f"GRADBOX_{name}": value for name, value in settings.items()}
    public = {} if prefix is None else {"GRADBOX_PUBLIC_URL": address + prefix}
    environment = prepared_zygotes.environment(GRADBOX_DATA=str(folder), **public, **variables)
    server = ForkedServer(["serve", "--port", str(port)], environment)
    try:
        wait_for_answer(f"{address}/readyz")
        yield address + (prefix or "")
    finally:
        server.terminate()
        server.wait(PATIENCE)
