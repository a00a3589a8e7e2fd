"""The process that assembles traces, so that no line of a child, whatever it is, holds up the server.

`python -m server.pool.assembler_process` reads requests from the standard input, one after another, and writes each
trace to the standard output. A large one is assembled by a fork of the process, which ends with it: so this process
stays small, and the memory that a trace takes has a bound of its own.
"""

import contextlib
import ctypes
import gc
import math
import os
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import IO

from gradbox.assembly.assemble import assemble_compressed_trace
from gradbox.wire.processes import LARGE_TRACE_BYTES, AssemblyReply, AssemblyRequest

MAX_MEMORY_BYTES = 1 << 30
"""Address space in bytes, whatever the size of a trace."""

FORK_MEMORY, MEMORY_PER_BYTE = 48 << 20, 32
"""A fork may use `FORK_MEMORY` bytes of data plus `MEMORY_PER_BYTE` for each byte of the lines. What a recorder writes
needs at most 27 for a byte, in a step that has nothing but windows of one element."""

MAX_LINE_BYTES = 1_000_000
"""The longest line in bytes that is read on the second try, after a line needed more memory than that."""

FORK_CPU_SECONDS, FORK_SECONDS = 10, 50
"""Seconds of processor time, and of the clock, after which a fork is killed. The longest that a program may write takes
two or three of the processor's, whatever else the machine does. A fork that got no memory may hang."""

PR_SET_PDEATHSIG = 1


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the server alone
    die_with_parent()
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")  # when memory runs out, kill it before the server
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    gc.freeze()
    gc.disable()  # a pass over a million new objects takes longer than making them
    for line in requests:
        request = AssemblyRequest.model_validate_json(line)
        data = requests.read(request.size)
        if request.size <= LARGE_TRACE_BYTES:
            write_reply(replies, *assemble_compressed_trace(request, data))
            gc.collect()
        elif not any(
            assemble_in_fork(request, data, replies, max_line_bytes) for max_line_bytes in (math.inf, MAX_LINE_BYTES)
        ):
            sys.exit("assembling failed twice")
        del data


def assemble_in_fork(request: AssemblyRequest, data: bytes, replies: IO[bytes], max_line_bytes: float) -> bool:
    """Assemble a trace in a fork of this process. Returns whether the fork replied; it does not reply when it needs too
    much memory or time.

    max_line_bytes: length in bytes from which a line ends the trace
    """
    parent, pid = os.getpid(), os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] == 0
    status = 1
    try:
        die_with_parent()
        signal.alarm(FORK_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (FORK_CPU_SECONDS, FORK_CPU_SECONDS))
        if os.getppid() == parent:
            memory = FORK_MEMORY + MEMORY_PER_BYTE * len(data)
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            write_reply(replies, *assemble_compressed_trace(request, data, max_line_bytes))
            status = 0
    except MemoryError:
        pass
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(status)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, even while it is writing a line."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def write_reply(replies: IO[bytes], reply: AssemblyReply, body: bytes) -> None:
    replies.write(reply.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n" + body)
    replies.flush()


if __name__ == "__main__":
    main()
