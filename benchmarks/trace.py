"""What tracing costs: programs at growing length, plain and traced, beside torchlens and torchviz, and against the bars.

`python -m benchmarks.trace [50 200 1000]`. Everything is measured in one run: ours in forked children, the others in
fresh processes (`benchmarks/others.py` says how to install them), best of three each; the loops of 10,000 iterations,
with the limits that a visitor's program has, run once. KB are those of the trace before gzip.
"""

import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch._dynamo  # or the first optimizer pays for it

from benchmarks.others import TOOLS, WORK, measured
from benchmarks.programs import STEPS, adam, adam_loop, beside, chain, loop, rebind
from server.worker.probes import ops
from server.worker.run import run

LIMITS = {"steps": 10**9, "trace": 10**10, "output": 10**9}
VISITOR = {"steps": 2000}
LIVING = (10, 100, 1000)
STATEMENTS = 200
"""Statements over which the cost beside living tensors is measured."""

Work = Callable[[Callable[[bytes], None]], None]


class Cost(NamedTuple):
    """Of one program: seconds plain and traced, and the trace."""

    plain: float
    traced: float
    steps: int
    size: int
    status: str

    def each(self, statements: int) -> float:
        """µs that tracing adds to a statement."""
        return (self.traced - self.plain) / statements * 1e6


def child(work: Work) -> dict[str, Any]:
    """Seconds of work done in a fork of this process, and how many bytes and steps it wrote, to which end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        told = {"bytes": 0, "steps": 0, "status": "died"}

        def write(data: bytes) -> None:
            told["bytes"] += len(data)
            for line in data.splitlines():
                told["steps"] += line.startswith(b'{"step"')
                if line.startswith(b'{"outcome"'):
                    told["status"] = status(json.loads(line)["outcome"])
                    tell()

        def tell() -> None:
            os.write(writing, json.dumps({"seconds": time.perf_counter() - began, **told}).encode())

        began = time.perf_counter()
        work(write)
        tell()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    if not data:
        raise RuntimeError("a measured program died")
    found: dict[str, Any] = json.loads(data)
    return found


def status(outcome: dict[str, Any]) -> str:
    """How a run ended, in words."""
    limit = outcome.get("stopped", {}).get("limit")
    return f"{outcome['status']} at {limit}" if limit else str(outcome["status"])


def cost(source: str, limits: dict[str, int], times: int = 3) -> Cost:
    """Of the fastest of so many runs."""
    code = compile(source, "<program>", "exec")
    plain = min(child(lambda _: exec(code, {}))["seconds"] for _ in range(times))
    job = {"source": source, "limits": limits}
    traced = min((child(lambda write: run(job, write)) for _ in range(times)), key=lambda told: told["seconds"])
    return Cost(plain, traced["seconds"], traced["steps"], traced["bytes"], traced["status"])


def lengths(sizes: list[int]) -> dict[str, dict[int, Cost]]:
    """The three programs at each length."""
    print(f"{'program':10} {'n':>6} {'plain':>10} {'traced':>10} {'a statement':>12} {'steps':>7} {'KB':>7}")
    found: dict[str, dict[int, Cost]] = {}
    for program in (rebind, chain, adam):
        for n in sizes:
            now = found.setdefault(program.__name__, {})[n] = cost(program(n), LIMITS)
            times = f"{now.plain * 1e3:8.1f}ms {now.traced * 1e3:8.1f}ms {now.each(n):9.0f} us"
            print(f"{program.__name__:10} {n:6} {times} {now.steps:7} {now.size / 1e3:7.0f}", flush=True)
    return found


def loops() -> None:
    print(f"\n{'loop':10} {'n':>6} {'plain':>10} {'traced':>10} {'steps':>7} {'KB':>7}  outcome")
    for program in (loop, adam_loop):
        now = cost(program(STEPS), VISITOR, times=1)
        row = f"{now.plain * 1e3:8.1f}ms {now.traced * 1e3:8.1f}ms {now.steps:7} {now.size / 1e3:7.0f}  {now.status}"
        print(f"{program.__name__:10} {STEPS:6} {row}", flush=True)


def standing() -> dict[int, float]:
    """µs that tracing adds to a statement of `rebind`, by how many other tensors live."""
    print(f"\n{'living tensors':>14} {'a statement':>12}")
    found = {}
    for living in LIVING:
        without, with_them = (cost(beside(living, n), LIMITS) for n in (0, STATEMENTS))
        found[living] = with_them.each(STATEMENTS) - without.each(STATEMENTS)
        print(f"{living:14} {found[living]:9.0f} us", flush=True)
    return found


def others(sizes: list[int]) -> dict[tuple[str, str, int], float]:
    """µs an operation, by tool, program and length, where the tool is installed and does not fail."""
    print(f"\n{'tool':10} {'program':8} {'n':>6} {'an operation':>13}")
    found = {}
    for tool in TOOLS:
        for program in WORK:
            if (tool, program) == ("torchviz", "rebind"):
                continue  # without a graph it has nothing to draw
            for n in sizes:
                told = measured(tool, program, n)
                if "seconds" in told:
                    found[tool, program, n] = told["seconds"] / n * 1e6
                row = f"{found[tool, program, n]:10.0f} us" if "seconds" in told else f"   {told['error']}"
                print(f"{tool:10} {program:8} {n:6} {row}", flush=True)
    return found


def summary(
    costs: dict[str, dict[int, Cost]], flat: dict[int, float], tools: dict[tuple[str, str, int], float]
) -> None:
    """Each bar of the design, and whether it holds."""
    print("\nbar")
    for program in ("rebind", "chain"):
        for n, now in costs[program].items():
            said(f"{program} {n}: at most 200 us a statement", now.each(n), now.each(n) <= 200, "us")
    few, many = flat[LIVING[0]], flat[LIVING[-1]]
    said(f"{LIVING[-1]} living tensors cost what {LIVING[0]} do, within a quarter", many / few, many <= few * 1.25, "x")
    for program in WORK:
        for n, now in costs[program].items():
            theirs = tools.get(("torchlens", program, n))
            if theirs is None:
                print(f"  not measured  {program} {n}: at least 8x less than torchlens")
            else:
                ratio = theirs / now.each(n)
                said(f"{program} {n}: at least 8x less than torchlens", ratio, ratio >= 8, "x")
    for n, now in costs["rebind"].items():
        said(f"rebind {n}: at most 1 KB a step", now.size / now.steps / 1e3, now.size <= now.steps * 1000, "KB")
    for n, now in costs["adam"].items():
        for what, count in (("recorded steps, visits included", now.steps), ("statements", n)):
            size = now.size / count / 1e3
            said(f"adam {n}: 1000 {what}, at most 5 MB", size, size <= 5, "MB")


def said(bar: str, value: float, holds: bool, unit: str) -> None:
    print(f"  {'holds' if holds else 'missed':12}  {bar}: {value:.3g} {unit}")


def main(sizes: list[int]) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    ops.listen()
    gc.collect()
    gc.freeze()  # as the workers' first process does
    costs = lengths(sizes)
    loops()
    flat = standing()
    summary(costs, flat, others(sizes))


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [50, 200, 1000])
