"""The processes that assemble traces: what a child wrote is never read in the server's own, and no line costs the next
one."""

import asyncio
import gzip
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradbox.assembly.assemble import assemble_compressed_trace, assemble_trace
from gradbox.wire.api import GradientCheckReply, Job
from gradbox.wire.gradient_check import GradientCheckOptions
from gradbox.wire.processes import LARGE_TRACE_BYTES, AssemblyReply, AssemblyRequest
from server.pool import assembly as module
from server.pool.assembly import Assembler, AssemblyFailed
from server.pool.local import LocalPool
from server.pool.machine_resources import read_kernel_value
from server.settings import Settings
from tests.forks import forked_assemblers
from tests.support.stand_in_recorder import END, HEADER, step

pytestmark = pytest.mark.slow

REQUEST = AssemblyRequest(job=Job(source="x = 1\n", limits={"steps": 2000}))
LINES = b"\n".join(json.dumps(line).encode() for line in (HEADER, step(0), END)) + b"\n"
STUCK = (sys.executable, "-c", "import time; time.sleep(600)")


@pytest.fixture(scope="module", autouse=True)
def _processes_proper() -> Iterator[None]:
    """What is tested here are the processes that the server starts."""
    with forked_assemblers.unused():
        yield


def assembling(work: Callable[[Assembler], Awaitable[None]], processes: int = 2) -> None:
    async def main() -> None:
        assembler = Assembler(processes)
        assembler.start()
        try:
            await work(assembler)
        finally:
            await assembler.close()

    asyncio.run(main())


async def assert_works(assembler: Assembler) -> int:
    """Assemble a trace; the pid of the process that did it."""
    reply, body = await assembler.assemble_trace(REQUEST, LINES)
    assert (reply.status, len(json.loads(gzip.decompress(body))["steps"])) == ("finished", 1)
    return assembler._idle[-1].pid


def test_processes_are_reused_and_their_number_is_bounded() -> None:
    async def work(assembler: Assembler) -> None:
        assert await assert_works(assembler) == await assert_works(assembler)
        await asyncio.gather(*(assembler.assemble_trace(REQUEST, LINES) for _ in range(6)))
        assert len(assembler._idle) == 2

    assembling(work)


CHECKING = AssemblyRequest(job=Job(source="x = 1\n", check=GradientCheckOptions()))
ROUND: dict[str, Any] = {"n": 0, "backwards": 1, "losses": [1.5] * 8, "lr": [0.1] * 16}
ROUNDS: dict[str, Any] = {
    "count": 1, "optimizers": 1, "every": 1, "losses": [], "rows": [], "stretches": [], "rounds": [ROUND] * 500,
    "recorded": [], "new_rates": [], "printed": [], "printed_every": 1,
}  # fmt: skip


def test_what_is_sent_of_a_gradient_check_is_the_check_alone() -> None:
    """Whatever else the child wrote: steps, a header of its own, rounds, the lists of an error."""
    check = {**END, "gradient_check": {"problem": "no_leaves"}}
    lines = b"\n".join(json.dumps(line).encode() for line in (HEADER, {"rounds": ROUNDS}, {**check, "rounds": ROUNDS}))
    plain = AssemblyRequest(job=Job(source="x = 1\n"))
    assert assemble_trace(CHECKING, lines).trace.rounds is not None
    assert assemble_trace(plain, lines).trace.gradient_check is None
    reply, body = assemble_compressed_trace(CHECKING, lines)
    sent = json.loads(gzip.decompress(body))
    assert reply.status == sent["status"] == "finished" and sent["check"]["problem"] == "no_leaves"
    assert set(sent) == {"status", "message", "check"}
    trace = assemble_trace(CHECKING, LINES).trace
    assert not trace.steps and trace.outcome.status == "crashed"


def test_every_list_of_a_round_is_bounded() -> None:
    plain = AssemblyRequest(job=Job(source="x = 1\n"))
    stretch = {"first": 0, "loops": [], "inner": 0, "iteration": [], "total": [], "by": 0}
    forged: list[dict[str, Any]] = [
        {"rounds": [{**ROUND, "lr": [0.1] * 17}]},
        {"rounds": [{**ROUND, "losses": [0.1] * 9}]},
        {"rows": [{"tensors": ["t1"] * 4097}]},
        *({"stretches": [{**stretch, name: [0] * 65}]} for name in ("loops", "iteration", "total")),
    ]
    for fields in forged:
        lines = b"\n".join(json.dumps(line).encode() for line in (HEADER, {"rounds": {**ROUNDS, **fields}}, END))
        trace = assemble_trace(plain, lines).trace
        assert (trace.outcome.status, trace.rounds) == ("crashed", None), fields


def test_a_gradient_check_is_bounded_in_size() -> None:
    """It has no more elements than one varies."""

    def assembled(end: dict[str, Any]) -> GradientCheckReply:
        lines = json.dumps(HEADER).encode() + b"\n" + json.dumps(end).encode() + b"\n"
        return GradientCheckReply.model_validate_json(gzip.decompress(assemble_compressed_trace(CHECKING, lines)[1]))

    row = {"index": [0], "torch": 1.0, "double": 1.0, "numeric": 1.0, "difference": 0.0, "verdict": "agrees"}
    leaf = {"name": "x", "line": 1, "shape": [600], "dtype": "float32", "elements": 600, "verdict": "agrees"}
    check = assembled({**END, "gradient_check": {"leaves": [{**leaf, "rows": [row] * 600}]}}).check
    assert check is not None and len(check.leaves[0].rows) == 600
    forged = assembled({**END, "gradient_check": {"leaves": [{**leaf, "rows": [row] * 600}] * 2}})
    assert (forged.status, forged.check) == ("crashed", None)
    error = {"type": "E", "message": "m", "line": 1, "stack": [{"line": 1, "frame": "f"}] * 1000}
    raised = assembled({**END, "outcome": {"status": "raised", "error": error}})
    assert (raised.status, raised.message, raised.check) == ("raised", "E: m", None)


def test_a_killed_assembler_is_replaced_without_losing_a_trace() -> None:
    async def work(assembler: Assembler) -> None:
        first = await assert_works(assembler)
        os.kill(first, signal.SIGKILL)
        assert await assert_works(assembler) != first
        assert assembler.failures == 0

    assembling(work)


def peak_memory(pid: int) -> int:
    """Bytes that a process has had in memory at most, before its forks."""
    peak = read_kernel_value(Path(f"/proc/{pid}/status"), "VmHWM:")
    assert peak
    return peak


def step_with(storages: int, contents: str) -> bytes:
    """The line of a first step with so many storages of these contents."""
    entities = ",".join(f'"s{k}":{{"kind":"storage",{contents}}}' for k in range(1, storages + 1))
    return b'{"step":{"i":0,"kind":"statement","line":1,"set":{%s}}}\n' % entities.encode()


def test_a_small_trace_waits_for_no_large_one() -> None:
    large = b"x" * (LARGE_TRACE_BYTES + 1)

    async def work(assembler: Assembler) -> None:
        goes_on = asyncio.Event()
        assemble_now = assembler._assemble_now

        async def stand_still(request: AssemblyRequest, data: bytes | bytearray) -> tuple[AssemblyReply, bytes]:
            if len(data) > LARGE_TRACE_BYTES:
                await goes_on.wait()
            return await assemble_now(request, data)

        assembler._assemble_now = stand_still
        waiting = [asyncio.create_task(assembler.assemble_trace(REQUEST, large, ["many"])) for _ in range(6)]
        await asyncio.sleep(0)
        await assert_works(assembler)
        assert not any(task.done() for task in waiting)
        goes_on.set()
        assert {reply.status for reply, _ in await asyncio.gather(*waiting)} == {"crashed"}

    assembling(work)


def test_lines_that_wait_for_their_turn_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_BYTES", len(LINES))

    async def work(assembler: Assembler) -> None:
        assembling = [asyncio.create_task(assembler.assemble_trace(REQUEST, LINES)) for _ in range(2)]
        await asyncio.sleep(0)
        waiting = asyncio.create_task(assembler.wait_for_room())
        await asyncio.sleep(0)
        assert not waiting.done()
        await asyncio.gather(*assembling)
        await waiting
        await assembler.wait_for_room()

    assembling(work)


def test_a_large_trace_is_whole_and_leaves_its_process_small() -> None:
    cells = ",".join(['{"$f":"nan"}'] * 1024)
    line = step_with(500, f'"cells":{{"float32":[{cells}]}}')
    lines = json.dumps(HEADER).encode() + b"\n" + line + json.dumps(END).encode() + b"\n"

    async def work(assembler: Assembler) -> None:
        first = await assert_works(assembler)
        reply, body = await assembler.assemble_trace(REQUEST, lines)
        assert reply.status == "finished" and line[len(b'{"step":') : -2] in gzip.decompress(body)
        assert await assert_works(assembler) == first and peak_memory(first) < 100 << 20

    assembling(work)


def test_a_step_that_needs_too_much_memory_ends_the_trace_before_it() -> None:
    """Hundreds of thousands of reports of wrong names, or windows that no recorder writes."""
    names = ",".join(f'"x{k}":1' for k in range(600_000))
    windows = f'"windows":{{"float32":[{",".join(["[1,[1]]"] * 950_000)}]}}'
    lines = (json.dumps(HEADER).encode(), json.dumps(step(0)).encode())

    async def work(assembler: Assembler) -> None:
        first = await assert_works(assembler)
        for contents in (names, windows):
            hostile = step_with(1, contents).replace(b'"i":0', b'"i":1')
            reply, body = await assembler.assemble_trace(REQUEST, b"\n".join((*lines, hostile)))
            trace = json.loads(gzip.decompress(body))
            assert (reply.status, reply.cacheable, len(trace["steps"])) == ("lost", False, 1)
        assert assembler.failures == 0 and await assert_works(assembler) == first

    assembling(work)


def test_an_assembler_that_takes_too_long_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(module, "COMMAND", STUCK)
        monkeypatch.setattr(module, "TIMEOUT", 0.2)
        assembler = Assembler(1)
        with pytest.raises(AssemblyFailed):
            await assembler.assemble_trace(REQUEST, LINES)
        monkeypatch.undo()
        await assert_works(assembler)
        await assembler.close()

    asyncio.run(main())


def test_a_cancelled_request_leaves_no_reply_for_the_next() -> None:
    async def work(assembler: Assembler) -> None:
        await assert_works(assembler)
        waiting = asyncio.create_task(assembler.assemble_trace(REQUEST, LINES))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        other = REQUEST.model_copy(update={"job": Job(source="another = 1\n")})
        reply, body = await assembler.assemble_trace(other, b"")
        assert reply.status == "crashed"
        assert json.loads(gzip.decompress(body))["program"]["source"] == "another = 1\n"

    assembling(work, processes=1)


def test_closing_leaves_no_process() -> None:
    async def main() -> None:
        assembler = Assembler(2)
        assembler.start()
        await assert_works(assembler)
        pids = [process.pid for process in assembler._idle]
        await assembler.close()
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
        with pytest.raises(AssemblyFailed):
            await assembler.assemble_trace(REQUEST, LINES)

    asyncio.run(main())


def test_a_run_with_an_unreadable_trace_is_lost_rather_than_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        pool = LocalPool(Settings({}, sandbox="off"), "tests.support.stand_in_recorder:prepare")
        await pool.start()
        try:
            monkeypatch.setattr(module, "COMMAND", ("/nowhere/python",))
            await pool._assembler.close()
            trace = await pool.run_job(Job(source="finish", limits={}))
            assert (trace.status, trace.cacheable) == ("lost", False)
            assert trace.decoded().outcome.error is not None
        finally:
            await pool.close()

    asyncio.run(main())
