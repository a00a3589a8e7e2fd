"""A server of a test's own, with its own settings, on a free loopback port."""

import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.forks import prepared_zygotes
from tests.forks.forked_server import ForkedServer


@contextmanager
def running_server(folder: Path, prefix: str | None = None, **settings: str) -> Iterator[str]:
    """The address of a server that is ready to run programs. It is terminated at the end.

    folder: of its database and caches. prefix: the path of its public URL; None leaves the URL unset. settings: without
    GRADBOX_. Raises AssertionError when it isn't ready after a minute.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    settings = {"LIVE": "offered", **settings}  # programs run when a test says so
    variables = {f"GRADBOX_{name}": value for name, value in settings.items()}
    public = {} if prefix is None else {"GRADBOX_PUBLIC_URL": address + prefix}
    environment = prepared_zygotes.environment(GRADBOX_DATA=str(folder), **public, **variables)
    server = ForkedServer(["serve", "--port", str(port)], environment)
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{address}/readyz") as response:
                    if response.status == 200:
                        break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("the server does not get ready")
        yield address + (prefix or "")
    finally:
        server.terminate()
        server.wait(20)
