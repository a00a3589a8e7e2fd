"""Reads large traces in a process of their own, because parsing one holds Python's lock and takes 40 times its size in
memory.

`python -m server.saved.large_traces NAME` reads a line with the sizes of gzipped traces, then the traces, from the
standard input, and prints the result of the function of that name as JSON.
"""

import asyncio
import gc
import gzip
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from gradbox.wire.limits import ends_repeatably
from gradbox.wire.trace import Trace
from server import HELPER_ENVIRONMENT, PROJECT_FOLDER
from server.gallery.course import judge_answer
from server.store.stored_traces import compare_traces, read_outcome
from server.wire.problems import ProblemError


def is_valid_trace(trace: bytes) -> bool:
    """Whether a trace is valid in every field."""
    try:
        Trace.model_validate_json(gzip.decompress(trace))
    except ValidationError:
        return False
    return True


def may_have_ended_nondeterministically(trace: bytes) -> bool:
    """Whether a clock, the machine or a person ended the run of a stored trace."""
    outcome = read_outcome(trace)
    return not ends_repeatably(outcome["status"], (outcome.get("stopped") or {}).get("limit"))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "accident": may_have_ended_nondeterministically,
    "compare": compare_traces,
    "judge": judge_answer,
    "validate": is_valid_trace,
}

LARGE_BYTES = 500_000
"""Bytes of decompressed traces from which on they are read in a process of their own."""

MAX_MEMORY_BYTES = 800 << 20
"""Bytes of address space of that process."""

TIMEOUT = 20.0
"""Seconds that the process may take."""


class TraceProcessor:
    """Runs one process at a time."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run_function(self, function_name: str, *traces: bytes) -> Any:
        """The result of one of FUNCTIONS for these gzipped traces, as JSON values. Raises ProblemError (503)."""
        if sum(map(unpacked_size, traces)) <= LARGE_BYTES:
            return await asyncio.to_thread(FUNCTIONS[function_name], *traces)
        async with self._turn:
            text = await run_function_in_process(function_name, *traces)
        if text is None:
            raise ProblemError(503, "busy", "this run is too large to be read now; try again", retry_after=5)
        return json.loads(text)


async def run_function_in_process(function_name: str, *traces: bytes) -> bytes | None:
    """The process's output; None if it failed or took too long."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "server.saved.large_traces", function_name, cwd=PROJECT_FOLDER, env=HELPER_ENVIRONMENT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    sizes = json.dumps([len(trace) for trace in traces]).encode()
    output = None
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                output, _ = await process.communicate(b"".join((sizes, b"\n", *traces)))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output if process.returncode == 0 else None


def unpacked_size(trace: bytes) -> int:
    """The decompressed size of one of the server's own gzipped traces, which gzip stores at its end."""
    return int.from_bytes(trace[-4:], "little")


def main(function_name: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    signal.alarm(int(TIMEOUT))  # where the server is gone
    gc.disable()  # a pass over a million new objects takes longer than making them
    os.nice(5)  # nobody's page waits for it
    sizes = json.loads(sys.stdin.buffer.readline())
    print(json.dumps(FUNCTIONS[function_name](*(sys.stdin.buffer.read(size) for size in sizes))))


if __name__ == "__main__":
    main(sys.argv[1])
