"""The process whose forks assemble traces, as the server's own processes do that it starts: see
tests.forks.forked_assemblers."""

import os
import socket
import sys
from typing import NoReturn

from gradbox.assembly.assemble import assemble_compressed_trace
from gradbox.wire.api import Job
from gradbox.wire.processes import AssemblyRequest
from server.pool import assembler_process
from tests.forks.fork_host import serve_connections


def become_assembler(connection: socket.socket) -> NoReturn:
    """Tell this fork's pid, then answer the requests of the connection until it ends, as
    `server.pool.assembler_process` does."""
    try:
        connection.sendall(os.getpid().to_bytes(4, "big"))
        for descriptor in (0, 1):
            os.dup2(connection.fileno(), descriptor)
        connection.close()
        sys.stdin = open(0)  # noqa: SIM115 for as long as this process lives
        assembler_process.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


if __name__ == "__main__":
    assemble_compressed_trace(
        AssemblyRequest(job=Job(source="")), b""
    )  # what the first trace makes, no fork has to make again
    serve_connections(int(sys.argv[1]), int(sys.argv[2]), become_assembler)
