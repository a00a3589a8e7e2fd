"""Lines from a child may come from an attacker: each is refused or bounded, and the server's memory stays flat."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradbox.assembly.assemble import assemble_trace
from gradbox.wire.api import Job
from gradbox.wire.processes import AssemblyRequest, Usage
from gradbox.wire.trace import Error, Outcome, Trace, trace_json
from tests.support.stand_in_recorder import END, HEADER, step

pytestmark = pytest.mark.slow

JOB = Job(source="x = 1\n", limits={"steps": 2000, "trace": 8_000_000})
USAGE = Usage(wall_ms=1.0, cpu_ms=2.0, peak_bytes=3)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


START = encoded(HEADER) + encoded(step(0))


def assembled(data: bytes, outcome: Outcome | None = None) -> Trace:
    request = AssemblyRequest(
        job=JOB, versions={"torch": "0", "numpy": "0", "python": "0"}, outcome=outcome, usage=USAGE
    )
    return Trace.model_validate_json(
        assemble_trace(request, data).trace.json()
    )  # what the server sends is a trace, always


def with_fields(uid: str, fields: Any) -> bytes:
    return encoded({"step": {**step(1)["step"], "set": {uid: fields}}})


LINES = {
    "half a line": b'{"step":{"i":1,"ki',
    "no JSON": b"\xff\xfe\x00garbage\n",
    "a null byte": b'{"step":{"i":1,"kind":"statement","line":1,"value":"\x00"}}\n',
    "a number of a million digits": b'{"step":{"i":1,"kind":"statement","line":' + b"9" * 1_000_000 + b"}}\n",
    "200,000 brackets": b'{"step":{"i":1,"kind":"statement","line":1,"value":' + b"[" * 200_000 + b"}}\n",
    "200,000 braces": b'{"step":{"i":1,"kind":"statement","line":1,"value":' + b'{"a":' * 200_000 + b"\n",
    "a list for an object": encoded([1, 2, 3]),
    "a bare number": b"1\n",
    "null": b"null\n",
    "another header": encoded(HEADER),
    "steps out of order": encoded(step(7)),
    "the same step twice": encoded(step(0)),
    "a negative step": encoded({"step": {**step(1)["step"], "i": -1}}),
    "an unknown kind": encoded({"step": {**step(1)["step"], "kind": "magic"}}),
    "a field that nobody knows": encoded({"step": {**step(1)["step"], "surprise": 1}}),
    "an entity of no letter": with_fields("z1", {}),
    "an entity without a number": with_fields("", {}),
    "a uid that is a path": with_fields("../../etc", {}),
    "a tensor that is a list": with_fields("t1", []),
    "a shape of words": with_fields("t1", {"kind": "tensor", "shape": ["a"]}),
    "cells that are a tree": with_fields("s1", {"kind": "storage", "cells": {"float32": [[[1]]]}}),
    "NaN as JSON has it not": b'{"step":{"i":1,"kind":"statement","line":1,"value":NaN}}\n',
    "markup for a uid": with_fields("<script>", {}),
    "the prototype for a field": with_fields("t1", {"__proto__": {"polluted": 1}}),
    "a log of nothing": encoded({"step": {**step(1)["step"], "log": [{}]}}),
    "a log entry of two kinds": encoded({"step": {**step(1)["step"], "log": [{"kind": "op", "event": "written"}]}}),
    "an outcome without a cost": encoded({"outcome": {"status": "finished"}}),
    "an outcome that it can't know": encoded({**END, "outcome": {"status": "lost"}}),
    "a crash that it claims": encoded({**END, "outcome": {"status": "crashed", "signal": 9}}),
    "a limit that does not exist": encoded(
        {**END, "outcome": {"status": "stopped", "stopped": {"limit": "x", "value": 1}}}
    ),
    "counts of loops that share one hash": encoded(
        {**END, "again": {str(k * (2**61 - 1)): 1 for k in range(1, 20_000)}}
    ),
    "a cell far beyond its storage": with_fields(
        "s1", {"kind": "storage", "cells": {"float32": [1]}, "cells_at": {"float32": {str(2**32 - 6): 1}}}
    ),
    "more cells than a storage lists": with_fields(
        "s1", {"kind": "storage", "cells": {"float32": [{"$f": "nan"}] * 600_000}}
    ),
    "a fault of ours": encoded({"fault": "x" * 100_000}),
    "a fault that is a tree": encoded({"fault": {"a": 1}}),
}


@pytest.mark.parametrize("name", LINES)
def test_an_invalid_line_ends_the_trace(name: str) -> None:
    trace = assembled(START + LINES[name] + encoded(END))
    assert trace.outcome.status == "crashed" and len(trace.steps) == 1
    assert len(trace_json(trace)) < 5000


@pytest.mark.parametrize("name", [name for name in LINES if name != "another header"])
def test_a_trace_with_an_invalid_first_line_has_crashed(name: str) -> None:
    trace = assembled(LINES[name] + encoded(END))
    assert trace.outcome.status == "crashed" and trace.steps == []
    assert trace.program.source in (JOB.source, "x = 1\n")


def test_outcome_and_cost_come_from_the_parent_process() -> None:
    claimed = {**END, "cost": {"wall_ms": -5, "cpu_ms": 1e300, "peak_bytes": 10**18}}
    trace = assembled(START + encoded(claimed))
    assert trace.outcome.status == "finished"
    assert (trace.cost.wall_ms, trace.cost.cpu_ms, trace.cost.peak_bytes) == (1.0, 2.0, 3)
    killed = Outcome(status="crashed", signal=9, error=Error(type="Crash", message="killed"))
    assert assembled(START + encoded(END), killed).outcome == killed


def test_steps_beyond_the_limit_end_the_trace() -> None:
    trace = assembled(START + b"".join(encoded(step(k)) for k in range(1, 5000)) + encoded(END))
    assert (trace.outcome.status, len(trace.steps)) == ("crashed", JOB.limits["steps"] + 1)


def test_lines_after_the_outcome_are_ignored() -> None:
    trace = assembled(START + encoded(END) + encoded(step(1)) * 1000)
    assert (trace.outcome.status, len(trace.steps)) == ("finished", 1)


def test_a_whole_trace_cut_anywhere_is_a_trace() -> None:
    data = START + b"".join(encoded(step(k)) for k in range(1, 30)) + encoded(END)
    for at in range(0, len(data), 37):
        trace = assembled(data[:at])
        assert trace.outcome.status in ("crashed", "finished") and len(trace.steps) <= 30


def test_any_bytes_changed_is_a_trace() -> None:
    chance = random.Random(4)
    stream = START + b"".join(encoded(step(k)) for k in range(1, 8)) + encoded(END)
    for _ in range(500):
        data = bytearray(stream)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.choice(b'{}[]":,0919aent\n\x00\xff')
        assembled(bytes(data))


MEMORY = """
from pathlib import Path
from tests.wire import test_hostile as t

def peak():  # of this process alone: ru_maxrss begins with that of the one it was forked from
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024

room = 2_000_000
floods = [
    t.START + b'{"step":{"i":1,"kind":"statement","line":1,"value":' + b'[' * room,
    t.START + b'{"step":{"i":1,"kind":"statement","line":1,"log":[' + b'{},' * (room // 3) + b'{}]}}\\n',
    t.START + b'{"step":{"i":1,"kind":"statement","line":1,"set":{' + b'"t1":{},' * (room // 8) + b'"t2":{}}}}\\n',
    t.START + b'{"step":{"i":1,"kind":"statement","line":1,"iter":[' + b'1,' * (room // 2) + b'1]}}\\n',
    t.START + b'{"step":{"i":1,"kind":"statement","line":1,"set":{"s1":{"cells":{"float32":[' + b'0,' * (room // 2) + b'0]}}}}}\\n',
    t.START + b'{"step":{"i":1,"kind":"statement","line":1,"set":{"f1":{"vars":{'
    + b','.join(b'"%d":[]' % k for k in range(room // 11)) + b'}}}}}\\n',
    t.START + b'{"step":' * (room // 8),
    t.START + b'\\n' * room,
    b'x' * room,
]
peaks = []
for turn in range(2):
    for flood in floods:
        t.assembled(flood)
    peaks.append(peak())
print(*peaks)
"""  # noqa: E501


def test_floods_leave_the_memory_flat() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, last = map(int, done.stdout.split())
    assert last <= first * 1.1 + 20, "it grows from one flood to the next"
    assert last < 500, f"{last} MB for lines of 2 MB"
