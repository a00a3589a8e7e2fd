"""A spare child rehearses while it waits: a run then costs few page faults, and the program can tell nothing of it."""

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from server.pool.zygote import Zygote
from server.wire.link import WorkerOptions
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.slow

TWENTY_STATEMENTS = """\
import torch
torch.manual_seed(0)
x = torch.randn(4, 3)
w = torch.randn(3, 2, requires_grad=True)
b = torch.zeros(2, requires_grad=True)
y = x @ w + b
h = y.relu()
t = torch.ones(4, 2)
loss = ((h - t) ** 2).mean()
loss.backward()
print(w.grad)
with torch.no_grad():
    w -= 0.1 * w.grad
    b -= 0.1 * b.grad
w.grad = None
b.grad = None
z = w.detach()
v = z.view(6)
v[0] = 1.0
print(v.sum())
"""

OBSERVANT = """\
import gc, random, sys, warnings
import numpy
import torch
print(gc.isenabled(), sys.argv, __name__, sys.getrecursionlimit())
print(random.random(), numpy.random.rand(), torch.rand(2), torch.is_grad_enabled(), torch.get_num_threads())
print([str(filter) for filter in warnings.filters], gc.get_count()[1:])
class Cycle:
    pass
for k in range(30):
    cycle = Cycle()
    cycle.me, cycle.tensor = cycle, torch.ones(3)
    rest = [[k] for _ in range(300)]
x = torch.ones(2, requires_grad=True)
handle = x.register_hook(lambda grad: grad)
print(handle.id)
y = (x * 2).sum()
print(y.grad_fn.name(), y.grad_fn._sequence_nr())
y.backward()
print(x.grad)
"""

MAX_FAULTS = 1000
RESTED = None
"""How long a spare child waits that has rehearsed: until it has."""


async def lines(zygote: Zygote, source: str) -> list[dict[str, Any]]:
    """The trace that a child of the zygote writes."""
    child = await zygote.take_child()
    try:
        child.start_job(json.dumps({"source": source}).encode(), 8_000_000)
        async with asyncio.timeout(PATIENCE):
            await child.ended.wait()
        return [json.loads(line) for line in bytes(child.data).splitlines()]
    finally:
        await zygote.kill_child(child)


def has_rehearsed(zygote: Zygote) -> bool:
    """Whether its spare child reads from the pipe of its job. Until it rehearses it polls it."""
    (child,) = Path(f"/proc/{zygote.pid}/task/{zygote.pid}/children").read_text().split()
    return "pipe" in Path(f"/proc/{child}/wchan").read_text()


async def runs(waits: list[tuple[str, float | None]]) -> list[list[dict[str, Any]]]:
    """The traces of programs, one run after the other, each by a spare child that waited for so many seconds."""
    zygote = Zygote(WorkerOptions(1, "best", 1 << 30, 10, "tests.server.worker.counting_worker:prepare"), 120)
    zygote.start()
    try:
        traces = []
        for source, seconds in waits:
            await zygote.wait_until_booted()
            while not zygote.spare_count:
                await asyncio.sleep(0.001)  # until there is one
            if seconds is None:
                await eventually(lambda: has_rehearsed(zygote))
            else:
                await asyncio.sleep(seconds)  # the child has not begun to rehearse, or is in the midst of it
            traces.append(await lines(zygote, source))
        return traces
    finally:
        await zygote.close()


@cache
def traces_of_both() -> list[list[dict[str, Any]]]:
    """Three of the first program, by children that have rehearsed, and five of the other, by children that have or have
    not."""
    return asyncio.run(
        runs([*[(TWENTY_STATEMENTS, RESTED)] * 3, *((OBSERVANT, wait) for wait in (RESTED, 0, 0.305, 0.32, RESTED))])
    )


def test_a_run_of_twenty_statements_takes_few_page_faults() -> None:
    traces = traces_of_both()[:3]
    assert all(trace[-1]["outcome"]["status"] == "finished" for trace in traces)
    assert min(trace[-1]["faults"] for trace in traces) <= MAX_FAULTS


def test_a_program_can_not_tell_whether_its_process_rehearsed() -> None:
    traces = traces_of_both()[3:]
    rested = traces[0][:-1]
    assert traces[0][-1]["outcome"]["status"] == "finished", traces[0][-1]
    for trace in traces[1:]:
        assert trace[:-1] == rested
