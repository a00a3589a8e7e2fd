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
"""Bytes of addresses, whatever the size of a trace."""

FORK_MEMORY, MEMORY_PER_BYTE = 48 << 20, 32
"""Bytes of data of a fork: so many, and so many for each byte of the lines. What a recorder writes needs at most 27 for
a byte, where a step has nothing but windows of one element."""

MAX_LINE_BYTES = 1_000_000
"""Bytes of a line that are read where one of the lines needed more memory than that."""

FORK_SECONDS = 15
"""Seconds until a fork is ended, which may hang where it got no memory."""

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
    """Whether a fork of this process has assembled the trace and replied; not where that took too much memory or time.

    max_line_bytes: bytes of a line past which the trace ends
    """
    parent, pid = os.getpid(), os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] == 0
    status = 1
    try:
        die_with_parent()
        signal.alarm(FORK_SECONDS)
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
    """Have this process killed when its parent ends, also in the middle of a line."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def write_reply(replies: IO[bytes], reply: AssemblyReply, body: bytes) -> None:
    replies.write(reply.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n" + body)
    replies.flush()


if __name__ == "__main__":
    main()
