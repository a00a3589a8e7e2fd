"""The trace of a program that still runs."""

import asyncio
import json
from typing import Any

import pytest

from gradbox.wire.api import Job
from gradbox.wire.gradient_check import GradientCheckOptions
from gradbox.wire.processes import AssemblyReply, AssemblyRequest
from server.pool import growing_trace
from server.pool.assembly import AssemblyFailed
from server.pool.growing_trace import GrowingTrace
from tests.support.stand_in_recorder import HEADER, step


class StandInAssembler:
    """Returns the lines themselves, and counts."""

    def __init__(self) -> None:
        self.requests: list[AssemblyRequest] = []
        self.fails = False

    async def assemble_trace(self, request: AssemblyRequest, data: bytearray) -> tuple[AssemblyReply, bytes]:
        self.requests.append(request)
        await asyncio.sleep(0)
        if self.fails:
            raise AssemblyFailed("TimeoutError")
        return AssemblyReply(status="running", deterministic=True, cacheable=False, result="", size=len(data)), bytes(
            data
        )


def line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def growing(assembler: StandInAssembler, lines: bytearray, job: Job | None = None) -> GrowingTrace:
    return GrowingTrace(assembler, job or Job(source="x = 1"), {"torch": "0"}, lines)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_trace, "MIN_INTERVAL", 0.0)


def test_a_trace_has_the_lines_that_came_whole_and_is_made_again_only_where_more_came() -> None:
    async def read() -> None:
        assembler, lines = StandInAssembler(), bytearray()
        trace = growing(assembler, lines)
        assert await trace.read() is None
        lines.extend(line(HEADER))
        assert await trace.read() is None, "there is no step"
        whole = line(HEADER) + line(step(0))
        lines[:] = whole + line(step(1))[:9]
        assert await trace.read() == whole
        assert list(await asyncio.gather(trace.read(), trace.read())) == [whole, whole]
        assert len(assembler.requests) == 1, "nothing more has come whole"
        outcome = assembler.requests[0].outcome
        assert outcome is not None and outcome.status == "running"
        lines[:] = whole + line(step(1))
        assert await trace.read() == bytes(lines) and len(assembler.requests) == 2

    asyncio.run(read())


def test_many_who_ask_get_the_same_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read() -> None:
        monkeypatch.setattr(growing_trace, "MIN_INTERVAL", 3600.0)
        assembler, lines = StandInAssembler(), bytearray(line(HEADER) + line(step(0)))
        trace = growing(assembler, lines)
        first = await trace.read()
        lines.extend(line(step(1)))
        assert await asyncio.gather(*(trace.read() for _ in range(9))) == [first] * 9
        assert len(assembler.requests) == 1

    asyncio.run(read())


def test_a_long_trace_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read() -> None:
        assembler, lines = StandInAssembler(), bytearray(line(HEADER) + line(step(0)))
        monkeypatch.setattr(growing_trace, "MAX_BYTES", len(lines))
        trace = growing(assembler, lines)
        first = await trace.read()
        lines.extend(line(step(1)))
        assert await trace.read() == first and first is not None

    asyncio.run(read())


def test_lines_of_which_no_trace_can_be_made_are_not_tried_again() -> None:
    async def read() -> None:
        assembler, lines = StandInAssembler(), bytearray(line(HEADER) + line(step(0)))
        assembler.fails = True
        trace = growing(assembler, lines)
        assert [await trace.read(), await trace.read()] == [None, None]
        assert len(assembler.requests) == 1

    asyncio.run(read())


def test_a_gradient_check_has_no_steps() -> None:
    async def read() -> None:
        lines = bytearray(line(HEADER) + line(step(0)))
        job = Job(source="x = 1", check=GradientCheckOptions())
        assert await growing(StandInAssembler(), lines, job).read() is None

    asyncio.run(read())
