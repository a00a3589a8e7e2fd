"""A real PostgreSQL for as long as a test needs one, on a port of this machine, its files in a folder of its own."""

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg

from tests.support.waiting import PATIENCE, wait_until

NAMES = ("postgres", "nobody")
"""Users that it runs as where we are root, whom it does not like."""


def programs() -> Path | None:
    """Where `initdb` lies, if anywhere."""
    executable = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(executable).parent if executable else debian[-1].parent if debian else None


def user() -> dict[str, Any]:
    """Arguments for a process that is not root's."""
    if os.geteuid() != 0:
        return {}
    for name in NAMES:
        with suppress(KeyError):
            return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
    raise AssertionError(f"none of {NAMES} is a user here")


@contextmanager
def running(bin_: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """The address of one, without the name of a database.

    host: of this machine; who reaches it there is let in
    """
    someone = user()
    folder = Path(tempfile.mkdtemp(prefix="gradbox-postgres-", dir="/tmp"))
    try:
        if someone:
            shutil.chown(folder, someone["user"])
        arguments: dict[str, Any] = {
            "cwd": folder,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            **someone,
        }
        making: list[str | Path] = [
            bin_ / "initdb",
            "-D",
            folder / "data",
            "-U",
            "gradbox",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
        ]
        subprocess.run([*making, "--no-sync"], check=True, stderr=subprocess.PIPE, **arguments)
        with (folder / "data" / "pg_hba.conf").open("a") as access:
            access.write(f"host all all {host}/24 trust\n")
        with socket.socket() as free:
            free.bind((host, 0))
            port = free.getsockname()[1]
        options = {"listen_addresses": host, "unix_socket_directories": "", "max_connections": 50}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [bin_ / "postgres", "-D", folder / "data", "-p", str(port), *words],
                stderr=log,
                start_new_session=True,
                **arguments,
            )
        try:
            address = f"postgresql://gradbox@{host}:{port}"

            def is_ready() -> bool:
                assert server.poll() is None, (folder / "log").read_text()
                with suppress(OSError, asyncpg.PostgresError):
                    asyncio.run(obey(address, "SELECT 1"))
                    return True
                return False

            wait_until(is_ready)
            yield address
        finally:
            server.send_signal(2)  # what it calls a fast shutdown
            server.wait(PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def obey(address: str, command: str) -> None:
    """Have it do this."""
    connection = await asyncpg.connect(f"{address}/postgres")
    try:
        await connection.execute(command)
    finally:
        await connection.close()


def database(address: str, name: str) -> str:
    """The address of a new, empty database there."""
    asyncio.run(obey(address, f'CREATE DATABASE "{name}"'))
    return f"{address}/{name}"


def processes(address: str) -> list[int]:
    """The ids of the processes of the one at this address, its postmaster first."""
    port, parents = address.rpartition(":")[2].partition("/")[0], {}
    postmaster = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if words[0].endswith(b"/postgres") and words[words.index(b"-p") + 1] == port.encode():
                postmaster = int(folder.name)
    assert postmaster, f"no PostgreSQL at {address}"
    return [postmaster, *(pid for pid, parent in parents.items() if parent == postmaster)]


@contextmanager
def hanging(address: str) -> Iterator[None]:
    """The one at this address takes connections, and says nothing, for as long as this lasts."""
    stopped = processes(address)
    try:
        for pid in stopped:
            with suppress(ProcessLookupError):  # a connection's process may have ended since
                os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
