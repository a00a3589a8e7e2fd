"""The cost of tracing: programs of growing length, plain and traced, beside torchlens and torchviz, against the
targets.

`python -m benchmarks.trace [50 200 1000]` measures everything in one run: our recorder in forked children, the other
tools in fresh processes (`benchmarks/other_tracers.py` says how to install them), the best of three each. The loops of
10,000 iterations run once, with the limits of a visitor's program. KB are those of the trace before gzip.
"""

import argparse
import gc
import json
import os
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch._dynamo  # or the first optimizer pays for it

from benchmarks.other_tracers import MODULES, TOOLS, measure
from benchmarks.programs import STEPS, adam, adam_loop, beside_living_tensors, chain, loop, rebind
from gradbox.recorder.probes import ops
from gradbox.wire.job_records import JobRecord
from server.worker.program_run import run_program_and_exit

LIMITS = {"steps": 10**9, "trace": 10**10, "output": 10**9}
VISITOR_LIMITS = {"steps": 2000}
LIVING_COUNTS = (10, 100, 1000)
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

    def microseconds_per_statement(self, statements: int) -> float:
        """µs that tracing adds to a statement."""
        return (self.traced - self.plain) / statements * 1e6


def run_in_child(work: Work) -> dict[str, Any]:
    """Do the work in a fork of this process. Returns its seconds, the bytes and steps that it wrote and how it
    ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        totals: dict[str, Any] = {"bytes": 0, "steps": 0, "status": "died"}

        def write(data: bytes) -> None:
            totals["bytes"] += len(data)
            for line in data.splitlines():
                totals["steps"] += line.startswith(b'{"step"')
                if line.startswith(b'{"outcome"'):
                    totals["status"] = status_text(json.loads(line)["outcome"])
                    send_totals()

        def send_totals() -> None:
            os.write(writing, json.dumps({"seconds": time.perf_counter() - began, **totals}).encode())

        began = time.perf_counter()
        work(write)
        send_totals()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    if not data:
        raise RuntimeError("a measured program died")
    result: dict[str, Any] = json.loads(data)
    return result


def status_text(outcome: dict[str, Any]) -> str:
    """How a run ended, in words."""
    limit = outcome.get("stopped", {}).get("limit")
    return f"{outcome['status']} at {limit}" if limit else str(outcome["status"])


def measure_cost(source: str, limits: dict[str, int], times: int = 3) -> Cost:
    """The cost of a program: the fastest of so many runs, plain and traced."""
    code = compile(source, "<program>", "exec")
    plain = min(run_in_child(lambda _: exec(code, {}))["seconds"] for _ in range(times))
    job: JobRecord = {"source": source, "limits": {**limits}}
    traced = min(
        (run_in_child(lambda write: run_program_and_exit(job, write)) for _ in range(times)),
        key=lambda run: run["seconds"],
    )
    return Cost(plain, traced["seconds"], traced["steps"], traced["bytes"], traced["status"])


def measure_lengths(sizes: list[int]) -> dict[str, dict[int, Cost]]:
    """The three programs at each length."""
    print(f"{'program':10} {'n':>6} {'plain':>10} {'traced':>10} {'a statement':>12} {'steps':>7} {'KB':>7}")
    costs: dict[str, dict[int, Cost]] = {}
    for program in (rebind, chain, adam):
        for n in sizes:
            now = costs.setdefault(program.__name__, {})[n] = measure_cost(program(n), LIMITS)
            times = f"{now.plain * 1e3:8.1f}ms {now.traced * 1e3:8.1f}ms {now.microseconds_per_statement(n):9.0f} us"
            print(f"{program.__name__:10} {n:6} {times} {now.steps:7} {now.size / 1e3:7.0f}", flush=True)
    return costs


def measure_loops() -> None:
    print(f"\n{'loop':10} {'n':>6} {'plain':>10} {'traced':>10} {'steps':>7} {'KB':>7}  outcome")
    for program in (loop, adam_loop):
        now = measure_cost(program(STEPS), VISITOR_LIMITS, times=1)
        row = f"{now.plain * 1e3:8.1f}ms {now.traced * 1e3:8.1f}ms {now.steps:7} {now.size / 1e3:7.0f}  {now.status}"
        print(f"{program.__name__:10} {STEPS:6} {row}", flush=True)


def measure_living_tensors() -> dict[int, float]:
    """µs that tracing adds to a statement of `rebind`, by how many other tensors live."""
    print(f"\n{'living tensors':>14} {'a statement':>12}")
    costs = {}
    for living in LIVING_COUNTS:
        without, with_them = (measure_cost(beside_living_tensors(living, n), LIMITS) for n in (0, STATEMENTS))
        costs[living] = with_them.microseconds_per_statement(STATEMENTS) - without.microseconds_per_statement(
            STATEMENTS
        )
        print(f"{living:14} {costs[living]:9.0f} us", flush=True)
    return costs


def measure_others(sizes: list[int]) -> dict[tuple[str, str, int], float]:
    """µs an operation, by tool, program and length, where the tool is installed and does not fail."""
    print(f"\n{'tool':10} {'program':8} {'n':>6} {'an operation':>13}")
    costs = {}
    for tool in TOOLS:
        for program in MODULES:
            if (tool, program) == ("torchviz", "rebind"):
                continue  # without a graph it has nothing to draw
            for n in sizes:
                result = measure(tool, program, n)
                if "seconds" in result:
                    costs[tool, program, n] = result["seconds"] / n * 1e6
                row = f"{costs[tool, program, n]:10.0f} us" if "seconds" in result else f"   {result['error']}"
                print(f"{tool:10} {program:8} {n:6} {row}", flush=True)
    return costs


def print_summary(
    costs: dict[str, dict[int, Cost]], by_living: dict[int, float], tools: dict[tuple[str, str, int], float]
) -> None:
    """Print each target of the design and whether it holds."""
    print("\ntarget")
    for program, most in (("rebind", 150), ("chain", 200)):
        for n, now in costs[program].items():
            print_target(
                f"{program} {n}: at most {most} us a statement",
                now.microseconds_per_statement(n),
                now.microseconds_per_statement(n) <= most,
                "us",
            )
    few, many = by_living[LIVING_COUNTS[0]], by_living[LIVING_COUNTS[-1]]
    print_target(
        f"{LIVING_COUNTS[-1]} living tensors cost what {LIVING_COUNTS[0]} do, within a quarter",
        many / few,
        many <= few * 1.25,
        "x",
    )
    for program in MODULES:
        for n, now in costs[program].items():
            theirs = tools.get(("torchlens", program, n))
            if theirs is None:
                print(f"  not measured  {program} {n}: at least 8x less than torchlens")
            else:
                ratio = theirs / now.microseconds_per_statement(n)
                print_target(f"{program} {n}: at least 8x less than torchlens", ratio, ratio >= 8, "x")
    for n, now in costs["rebind"].items():
        print_target(f"rebind {n}: at most 1 KB a step", now.size / now.steps / 1e3, now.size <= now.steps * 1000, "KB")
    for n, now in costs["adam"].items():
        for what, count in (("recorded steps, visits included", now.steps), ("statements", n)):
            size = now.size / count / 1e3
            print_target(f"adam {n}: 1000 {what}, at most 5 MB", size, size <= 5, "MB")


def print_target(target: str, value: float, holds: bool, unit: str) -> None:
    print(f"  {'holds' if holds else 'missed':12}  {target}: {value:.3g} {unit}")


def main(sizes: list[int]) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    ops.register_recording_kernels()
    gc.collect()
    gc.freeze()  # as the workers' first process does
    costs = measure_lengths(sizes)
    measure_loops()
    by_living = measure_living_tensors()
    print_summary(costs, by_living, measure_others(sizes))


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.trace", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[50, 200, 1000], help="numbers of statements")
    main(parser.parse_args().sizes)
