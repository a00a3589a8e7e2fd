"""The process that assembles traces, so that no line of a child, whatever it is, holds up the server.

`python -m server.pool.assembler_process` reads requests from the standard input, one after another, and writes each trace
to the standard output.
"""

import contextlib
import ctypes
import gc
import os
import resource
import signal
import sys
from pathlib import Path

from server.pool.assemble import assemble_compressed
from server.pool.machine import resident_memory
from server.wire.assembly import AssemblyRequest

MAX_MEMORY = 1 << 30
"""Bytes of addresses. A line that needs more ends the process, and its run has no trace."""

KEPT_MEMORY = 200 << 20
"""Bytes in use after which the process ends with its reply, for the next one to begin small."""

PR_SET_PDEATHSIG = 1


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the server alone
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # also in the middle of a line
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")  # when memory runs out, kill it before the server
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    gc.freeze()
    gc.disable()  # a pass over a million new objects takes longer than making them
    for line in requests:
        request = AssemblyRequest.model_validate_json(line)
        reply, body = assemble_compressed(request, requests.read(request.size))
        reply.ends = (resident_memory() or 0) > KEPT_MEMORY
        replies.write(reply.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n" + body)
        replies.flush()
        if reply.ends:
            return
        gc.collect()


if __name__ == "__main__":
    main()
