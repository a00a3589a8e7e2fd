"""A server of a test's own, with its settings, on a free loopback port."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent


@contextmanager
def serving(folder: Path, prefix: str | None = None, **settings: str) -> Iterator[str]:
    """The address of a server that runs programs. prefix: of its public address; None where it is told none."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    told = {f"GRADBOX_{name}": value for name, value in settings.items()}
    public = {} if prefix is None else {"GRADBOX_PUBLIC_URL": address + prefix}
    environment = {**os.environ, "GRADBOX_DATA": str(folder), **public, **told}
    server = subprocess.Popen([sys.executable, "-m", "server", "serve", "--port", str(port)], cwd=ROOT, env=environment)
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{address}/readyz") as answer:
                    if answer.status == 200:
                        break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("the server does not get ready")
        yield address + (prefix or "")
    finally:
        server.terminate()
        server.wait(20)
