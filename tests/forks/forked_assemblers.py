"""Assemblers that are forked from one prepared process: some four hundred pools of tests start one, and its imports
take longer than most tests do.

Such an assembler runs the same code, and ends with its server's end of the connection. The tests of the processes
proper do without, and so does every server that is started as a command, but for those of tests.forks.forked_server.
"""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from server.pool import assembly
from tests.forks.fork_host import ForkHost, start_module

HOST = ForkHost("tests.forks.assembler_host", "ASSEMBLER_HOST", start_module)

start_process = assembly.start_assembler_process


class ForkedAssembler:
    """What the server asks of an assembler's process, which is a child of the host."""

    def __init__(self, pid: int, stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter) -> None:
        self.pid, self.stdout, self.stdin = pid, stdout, stdin
        self._pidfd = os.pidfd_open(pid)

    def kill(self) -> None:
        """End it at once. Raises ProcessLookupError where it has ended."""
        signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def wait(self) -> None:
        """Wait until it has ended. To be called once."""
        with suppress(ConnectionError):
            while await self.stdout.read(1 << 16):
                pass
        self.stdin.close()
        os.close(self._pidfd)


async def fork() -> ForkedAssembler:
    """In place of `server.pool.assembly.start_assembler_process`: a fork of the host."""
    stdout, stdin = await asyncio.open_unix_connection(f"\0{HOST.name}", limit=assembly.MAX_LINE_BYTES)
    try:
        return ForkedAssembler(int.from_bytes(await stdout.readexactly(4), "big"), stdout, stdin)
    except BaseException:
        stdin.close()
        raise


def use() -> None:
    """Have every pool of this process fork its assemblers."""
    assembly.start_assembler_process = fork  # type: ignore[assignment]


@contextmanager
def unused() -> Iterator[None]:
    """Within, a pool starts its assemblers, as it does outside of tests."""
    before, assembly.start_assembler_process = assembly.start_assembler_process, start_process
    try:
        yield
    finally:
        assembly.start_assembler_process = before
