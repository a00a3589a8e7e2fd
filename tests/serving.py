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
def serving(folder: Path, prefix: str = "", **settings: str) -> Iterator[str]:
    """The public address of a server that runs programs. prefix: of its public address, which is set where there is one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    told = {f"GRADBOX_{name}": value for name, value in settings.items()}
    environment = {**os.environ, "GRADBOX_DATA": str(folder), "GRADBOX_PUBLIC_URL": address + prefix, **told}
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
        yield address + prefix
    finally:
        server.terminate()
        server.wait(20)
