"""Every limit ends in a partial trace that names it, its value and the line, and the next program is served."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gradbox.wire.api import Job
from gradbox.wire.trace import Stopped, Trace
from server.pool import machine_workers
from server.pool.child import Child
from server.pool.local import LocalPool
from server.pool.machine_workers import ProgramClock, last_line_from_traceback, wait_for_traceback
from server.settings import Settings
from tests.support.waiting import PATIENT

pytestmark = pytest.mark.slow

FIRST = "import torch\na = torch.ones(2)\n"
SMALL: dict[str, Any] = {**PATIENT, "memory": 600_000_000, "output": 1000, "tensors": 50, "trace": 700_000}
"""The clocks of none of these are to come before the limit that a test is about, on a slow machine either."""

SHORT: dict[str, dict[str, Any]] = {"cpu": {**SMALL, "cpu": 1}, "wall": {**SMALL, "wall": 5.0}}
"""For programs that never end, by the limit that ends them."""

Run = Callable[[str], Trace]


@contextmanager
def running(limits: dict[str, Any]) -> Iterator[Run]:
    """Runs programs in a pool with these limits."""
    loop = asyncio.new_event_loop()
    settings = Settings({}, **limits)
    pool = LocalPool(settings)
    loop.run_until_complete(pool.start())

    def run(source: str) -> Trace:
        return loop.run_until_complete(pool.run_job(Job(source=source, limits=settings.run_limits()))).decoded()

    yield run
    loop.run_until_complete(pool.close())
    loop.close()


@pytest.fixture(scope="module")
def ran() -> Iterator[Run]:
    """Runs a program with small limits, in one pool for all."""
    with running(SMALL) as run:
        yield run


@pytest.fixture(scope="module")
def ran_shortly() -> Iterator[dict[str, Run]]:
    """The same with less time, by the limit."""
    with running(SHORT["cpu"]) as cpu, running(SHORT["wall"]) as wall:
        yield {"cpu": cpu, "wall": wall}


def stopped(trace: Trace, limit: str, limits: dict[str, Any] = SMALL) -> int | None:
    """The line at which it was stopped, by that limit; what it did before is there."""
    reason = trace.outcome.stopped
    assert trace.outcome.status == "stopped" and reason is not None, trace.outcome
    assert (reason.limit, reason.value) == (limit, {**limits, "steps": 2000}[limit])
    assert any("t1" in step.set for step in trace.steps), "what came before it is not there"
    return reason.line


ENDLESS = {
    "a loop": ("while True:\n    pass\n", "cpu", (3, 4)),
    "a sum": ("b = 1\nsum(range(10**12))\n", "cpu", (4,)),
    "a power": ("b = 10**10**9\n", "cpu", (3,)),
    "a large product": ("b = torch.ones(4000, 4000)\nfor k in range(10**6):\n    c = b @ b\n", "cpu", (5, 4)),
    "a comprehension": ("b = [0 for _ in range(10**12) if False]\n", "cpu", (3,)),
    "inside a function": ("def f(n):\n    return sum(range(n))\nb = f(10**12)\n", "cpu", (4,)),
    "a hook in backward": (
        "w = torch.ones(1, requires_grad=True)\nw.register_hook(lambda g: sum(range(10**12)))\n(w * "
        "2).sum().backward()\n",
        "cpu",
        (4,),
    ),
    "sleep": ("import time\ntime.sleep(6000)\n", "wall", (4,)),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_statement_that_never_ends_is_named(ran_shortly: dict[str, Run], name: str) -> None:
    more, limit, lines = ENDLESS[name]
    run = ran_shortly[limit]
    assert stopped(run(FIRST + more), limit, SHORT[limit]) in lines
    assert run("x = 1\n").outcome.status == "finished"


NEEDS_HALF_A_SECOND = "import time\nwhile time.thread_time() < 0.5:\n    pass\nprint('done')\n"


def test_time_that_others_had_the_processor_is_none_of_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_workers, "MAX_WALL_TIME_FACTOR", 1000)
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})  # the loops and the program share one
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        with running({**PATIENT, "wall": 1.0}) as run:
            outcome = run(NEEDS_HALF_A_SECOND).outcome
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        os.sched_setaffinity(0, processors)
    assert outcome.status == "finished"


class Clock:
    """A clock of the machine, and how long a program has waited, as a test sets them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.waited = 100.0, 7.0
        monkeypatch.setattr("server.pool.machine_workers.time.perf_counter", lambda: self.now)
        monkeypatch.setattr(machine_workers, "seconds_waited_for_processor", lambda _pid: self.waited)


def test_a_programs_clock_stands_still_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Clock(monkeypatch)
    clock = ProgramClock(1, 10.0)
    assert clock.seconds_left() == 10.0
    machine.now, machine.waited = 112.0, 12.0
    assert clock.seconds_left() == 3.0
    machine.now = 115.0
    assert clock.seconds_left() == 0
    assert clock.stopped() == Stopped(limit="wall", value=10.0, waited=5.0)


def test_a_program_that_only_waits_is_ended_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Clock(monkeypatch)
    clock = ProgramClock(1, 10.0)
    machine.now, machine.waited = 159.0, 64.0
    assert clock.seconds_left() == 1.0
    machine.now, machine.waited = 160.0, 65.0
    assert clock.seconds_left() == 0
    assert clock.stopped() == Stopped(limit="wall", value=2.0, waited=58.0)


def test_a_wait_that_nobody_notices_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Clock(monkeypatch)
    clock = ProgramClock(1, 10.0)
    machine.now, machine.waited = 110.9, 7.9
    assert clock.stopped() == Stopped(limit="wall", value=10.0)


def test_a_late_traceback_of_a_crashed_child_is_awaited() -> None:
    async def line() -> int | None:
        child = Child(1, 0, -1, -1, data=bytearray(b'{"step":{"i":1,"line":2}}\n'))
        for delay, text in ((0.15, b'  File "<program>", line 1'), (0.2, b"2 in <module>\n")):
            asyncio.get_running_loop().call_later(delay, child.data.extend, text)
        await wait_for_traceback(child)
        return last_line_from_traceback(child)

    assert asyncio.run(line()) == 12


@pytest.mark.parametrize(
    "more",
    [
        "b = torch.ones(10**9)\n",
        "b = bytearray(10**10)\n",
        "b = []\nfor k in range(100):\n    b.append(torch.ones(10**7))\n",
        "b = [0] * 10**9\n",
        "b = torch.ones(8000, 8000).double() @ torch.ones(8000, 8000).double()\n",
    ],
)
def test_running_out_of_memory_is_a_limit(ran: Run, more: str) -> None:
    trace = ran(FIRST + more)
    line = stopped(trace, "memory")
    assert line is not None and line >= 3
    assert trace.outcome.error is not None and "emory" in trace.outcome.error.type + trace.outcome.error.message


def test_a_program_may_catch_a_memory_error(ran: Run) -> None:
    trace = ran(FIRST + "try:\n    b = torch.ones(10**9)\nexcept RuntimeError as error:\n    print('caught')\n")
    assert trace.outcome.status == "finished"


def test_printed_text_is_limited(ran: Run) -> None:
    trace = ran(FIRST + "while True:\n    print('x' * 300)\n")
    assert stopped(trace, "output") == 4
    texts = [entry["text"] for step in trace.steps for entry in step.log if entry["kind"] == "out"]
    assert len("".join(texts)) == 1000


def test_the_number_of_living_tensors_is_limited(ran: Run) -> None:
    trace = ran(FIRST + "b = []\nfor k in range(1000):\n    b.append(torch.ones(1))\n")
    assert stopped(trace, "tensors") in (4, 5)
    assert ran(FIRST + "for k in range(1000):\n    b = torch.ones(1)\n").outcome.status == "finished"


def test_the_size_of_a_trace_is_limited(ran: Run) -> None:
    more = "".join(f"b = torch.arange(1000.) + {k}\n" for k in range(400))
    assert stopped(ran(FIRST + more), "trace") is not None


def test_the_number_of_steps_is_limited(ran: Run) -> None:
    source = FIRST + "def f(n):\n    pass\n" + "x = [f(k) for k in range(5000)]\n"
    assert stopped(ran(source), "steps") is not None


NESTED = {
    "brackets": "x = " + "(" * 5000 + ")" * 5000,
    "terms": "x = " + "+".join("1" for _ in range(30_000)),
    "a null byte": "x = 1\0\n",
    "minus signs": "x = " + "-" * 20_000 + "1",
    "attributes": "x = a" + ".b" * 20_000,
    "blocks": "".join(" " * k + "if 1:\n" for k in range(120)) + " " * 120 + "pass\n",
    "half of a character": "x = '\ud800'",
    "a long number": "x = " + "9" * 10_000,
    "strings": "x = " + "'a' " * 20_000,
    "calls": "x = " + "f(" * 3000 + ")" * 3000,
}


@pytest.mark.parametrize("name", NESTED)
def test_a_program_nested_too_deeply_is_refused_without_a_crash(ran: Run, name: str) -> None:
    trace = ran(NESTED[name].encode("utf-8", "replace").decode())
    assert trace.outcome.status in ("refused", "raised", "finished"), trace.outcome
    if trace.outcome.status == "refused":
        assert trace.outcome.error is not None and trace.outcome.error.refusals[0].line >= 1


def test_a_crash_is_a_trace_with_its_line(ran: Run) -> None:
    far = (
        "import numpy as np\nb = np.lib.stride_tricks.as_strided(np.zeros(1), (10**11,), (8,))\nc = b[10**10:].sum()\n"
    )
    trace = ran(FIRST + far)
    assert (trace.outcome.status, trace.outcome.signal) == ("crashed", 11)
    assert trace.outcome.error is not None and trace.outcome.error.line == 5
    assert len(trace.steps) >= 3
