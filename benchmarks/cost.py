"""What recording costs, in multiples of a plain torch operation, compared with the figures kept from the last time.

`python -m benchmarks.cost` takes about a minute, names what has moved by more than a tenth, and exits with 1 if
something became dearer. `--keep` writes today's figures into `benchmarks/cost.json`, one entry for each kind of
machine.

Every figure is processor time of a fork of one prepared process, as a server's children are; the operation that is the
unit is measured in turn with them. Multiples of it change less from machine to machine, and beside other work, than
microseconds do.
"""

import argparse
import gc
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
import torch._dynamo  # or the first optimizer pays for it

from benchmarks.other_tracers import TOOLS, measure
from benchmarks.programs import beside_living_tensors, chain, rebind
from gradbox.recorder.probes import ops
from server.worker.program_run import run_program_and_exit

KEPT = Path(__file__).with_name("cost.json")
ROUNDS = 5
STATEMENTS = 1000
LONG = 8000
WINDOW = 100
"""Statements at each end of the long program that are compared."""

LIMITS = {"steps": 10**9, "trace": 10**10, "output": 10**9}
MOVED = 0.1
"""What a figure may differ by, as a share of the one that was kept."""

Figures = dict[str, float]
Work = Callable[[Callable[[bytes], None]], None]


def with_graph(n: int) -> str:
    """One name bound over and over, by operations that each make a node."""
    return "import torch\nx = torch.ones(4, requires_grad=True)\n" + "x = x * 1.01\n" * n


def without_tensor(n: int) -> str:
    return "import torch\n" + "y = 1\n" * n


class Recorded(NamedTuple):
    """seconds: of the processor, also after each line that was written
    calls: of Python functions, where they are counted
    """

    seconds: float
    size: int
    times: list[float]
    calls: int


def in_child(work: Work, count_calls: bool = False) -> Recorded:
    """Do the work in a fork of this process."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        size, calls, times = 0, 0, []

        def write(data: bytes) -> None:
            nonlocal size
            size += len(data)
            times.append(time.process_time() - began)
            if b'{"outcome"' in data:
                finish()

        def finish() -> None:
            sys.setprofile(None)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(json.dumps([time.process_time() - began, size, times, calls]).encode())
            os._exit(0)

        def count_call(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        if count_calls:
            sys.setprofile(count_call)
        began = time.process_time()
        work(write)
        finish()
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    if not text:
        raise RuntimeError("a measured program died")
    return Recorded(*json.loads(text))


def recorded(source: str, count_calls: bool = False) -> Recorded:
    return in_child(lambda write: run_program_and_exit({"source": source, "limits": dict(LIMITS)}, write), count_calls)


def plain(source: str) -> float:
    code = compile(source, "<program>", "exec")
    return in_child(lambda _: exec(code, {})).seconds


def measure_figures() -> Figures:
    """The figures of this machine, by name."""
    programs: dict[str, Callable[[int], str]] = {
        "a statement that makes a node": with_graph,
        "a named result of a chain": chain,
        "a statement without a graph": rebind,
        "a statement without a tensor": without_tensor,
        "a statement beside 10 tensors": lambda n: beside_living_tensors(10, n),
        "a statement beside 1,000 tensors": lambda n: beside_living_tensors(1000, n),
    }
    best: Figures = {}
    sizes: dict[str, int] = {}

    def note(name: str, seconds: float) -> None:
        best[name] = min(seconds, best.get(name, seconds))

    for _ in range(ROUNDS):
        note("unit", plain(with_graph(20 * STATEMENTS)))
        note("unit without", plain(with_graph(0)))
        for name, program in programs.items():
            for label, n in ((name, STATEMENTS), (f"{name}, none", 0)):
                result = recorded(program(n))
                note(label, result.seconds)
                sizes[label] = result.size
    unit = (best["unit"] - best["unit without"]) / (20 * STATEMENTS)
    print(f"the unit, a plain x * 1.01 that makes a node: {unit * 1e6:.2f} µs", flush=True)
    each = {name: (best[name] - best[f"{name}, none"]) / STATEMENTS / unit for name in programs}
    figures = {f"{name}, times the unit": each[name] for name in list(programs)[:4]}
    for name in list(programs)[:3]:
        figures[f"{name}, bytes"] = (sizes[name] - sizes[f"{name}, none"]) / STATEMENTS
    few, many = list(programs)[4:]
    figures["beside 1,000 tensors, times beside 10"] = each[many] / each[few]
    times = recorded(with_graph(LONG)).times
    first, last = (times[at + WINDOW] - times[at] for at in (WINDOW, len(times) - WINDOW - 5))
    figures[f"statement {LONG:,}, times statement {WINDOW}"] = last / first
    calls = [recorded(with_graph(n), count_calls=True).calls for n in (100, 200)]
    figures["a statement that makes a node, calls of Python functions"] = (calls[1] - calls[0]) / 100
    for tool in TOOLS:
        other = measure(tool, "chain", STATEMENTS // 5)
        if "seconds" in other:
            name = f"{tool}, an operation of the same chain, times the unit"
            figures[name] = other["seconds"] / (STATEMENTS // 5) / unit
    return figures


def machine() -> str:
    """This kind of machine, in words."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {os.cpu_count()} processors, Python {platform.python_version()}, torch {torch.__version__}"


def compare(figures: Figures, kept: Figures) -> list[str]:
    """Print the figures beside those that were kept; the names of those that became dearer."""
    dearer = []
    for name, value in figures.items():
        before = kept.get(name)
        note = "new" if before is None else f"{before:10.4g} before"
        if before is not None and abs(value - before) > MOVED * before:
            note += f"  MOVED by {value / before - 1:+.0%}"
            if value > before and not name.startswith(TOOLS):
                dearer.append(name)
        print(f"{value:10.4g}  {note:32}  {name}")
    return dearer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.cost", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write the figures into benchmarks/cost.json")
    keep = parser.parse_args(arguments).keep
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    ops.register_recording_kernels()
    gc.collect()
    gc.freeze()  # as the workers' first process does
    everything: dict[str, Figures] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}")
    figures = measure_figures()
    if machine() not in everything:
        print("no figures of this kind of machine are kept; --keep writes these")
    dearer = compare(figures, everything.get(machine(), {}))
    if keep:
        everything[machine()] = {name: float(f"{value:.4g}") for name, value in figures.items()}
        KEPT.write_text(json.dumps(everything, indent=2, sort_keys=True) + "\n")
    if dearer:
        print(f"dearer by more than a tenth: {'; '.join(dearer)}")
    return int(bool(dearer) and not keep)


if __name__ == "__main__":
    sys.exit(main())
