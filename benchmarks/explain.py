"""What explaining costs: the findings of long traces, most of which have nothing to explain, beside their runs.

`python -m benchmarks.explain [PROGRAM…] [--file FILE…] [--times 15] [--each] [--base CHECKOUT]` runs each program once
in the pool and explains its trace in Node, as the page and the renderer do in V8: first in a fresh engine, then so many
times. The targets: 50 ms at 2,000 steps, and less than 5 % of a run that has nothing to explain. Both are of the
processor's milliseconds, which others on the machine disturb less.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from gradbox.wire.api import Job
from server.pool.local import LocalPool
from server.settings import Settings
from tests.support.explaining import NODE

ROOT = Path(__file__).parent.parent
STEP_COUNT = 2000
MAX_MS = 50.0
MAX_SHARE = 0.05
MIN_MEASURED_MS = 0.1
"""Of a part that gets a line."""
MAX_RUN_SECONDS = 60
"""That a run may take on a busy machine."""

NET = """\
import torch
from torch import nn
torch.manual_seed(0)
"""
TRAINING = f"""{NET}
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(16, 4), torch.randn(16, 1)
for rate in (0.1, 0.01, 0.001):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for epoch in range(40):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
RECURRENT = f"""{NET}
cell, head = nn.RNNCell(3, 5), nn.Linear(5, 1)
parameters = [*cell.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.01)
xs, ys = torch.randn(45, 8, 2, 3), torch.randn(45, 8, 2, 1)
state = torch.zeros(2, 5)
for sequence in range(45):
    state = state.detach()
    loss = torch.zeros(())
    for t in range(8):
        state = cell(xs[sequence, t], state)
        loss = loss + ((head(state) - ys[sequence, t]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    print(sequence, loss.item())
"""
GAN = f"""{NET}
G = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
step_g, step_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for batch in range(300):
    real = torch.randn(16, 2) + 2
    fake = G(torch.randn(16, 2))
    loss_d = bce(D(real), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))
    step_d.zero_grad()
    loss_d.backward()
    step_d.step()
    loss_g = bce(D(fake), torch.ones(16, 1))
    step_g.zero_grad()
    loss_g.backward()
    step_g.step()
"""
CROWD = "import torch\nkept = [torch.full((4,), float(k)) for k in range(300)]\n" + "".join(
    f"kept[{k % 300}][1] = {k}.0\n" for k in range(1980)
)
CHAIN = (
    "import torch\nx0 = torch.ones(4, requires_grad=True)\n"
    + "".join(f"x{k + 1} = x{k} * 1.001\n" for k in range(990))
    + "x990.sum().backward()\n"
)
MILLION = "import torch\nm = torch.randn(1000, 1000)\nrow, col, t = m[500], m[:, 250], m.t()\n" + "".join(
    f"m[{k}] += {k % 7}\n" for k in range(200)
)
RAISES = TRAINING + "loss.backward()\n"
PROGRAMS = {
    "training": TRAINING,
    "recurrent": RECURRENT,
    "gan": GAN,
    "crowd": CROWD,
    "chain": CHAIN,
    "million": MILLION,
    "raises": RAISES,
}

SCRIPT = """
import { readFileSync } from "node:fs";
const [checkout, times] = [process.argv[1], Number(process.argv[2])];
const part = (name) => import(`${checkout}/static/js/${name}.ts`);
const [{ openTrace }, { RunFacts }, { DIAGNOSES }, { explain }] = await Promise.all(
  ["trace/state", "findings/facts/run_facts", "findings/registry", "findings/explain"].map(part),
);
const read = JSON.parse(readFileSync(0, "utf8"));
const list = [], processor = [], parts = {};
let findings = [];
const timed = (name, work) => {
  const began = performance.now();
  work();
  (parts[name] ??= []).push(performance.now() - began);
};
for (let k = 0; k <= times; k++) {
  const used = process.cpuUsage(), began = performance.now();
  findings = explain(openTrace({ ...read })); // another trace each time: what is cached is cached by the trace
  list.push(performance.now() - began);
  const { user, system } = process.cpuUsage(used);
  processor.push((user + system) / 1000);
}
for (let k = 0; k < times; k++) {
  const facts = new RunFacts(openTrace({ ...read }));
  timed("index", () => facts.index);
  for (const { kind, diagnose, onError } of DIAGNOSES) if (!onError || facts.error) timed(kind, () => diagnose(facts));
}
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const kinds = findings.map(({ kind }) => kind);
const each = Object.fromEntries(Object.entries(parts).map(([name, numbers]) => [name, median(numbers)]));
console.log(JSON.stringify({
  first: processor[0], median: median(list.slice(1)), processor: median(processor.slice(1)), kinds, each,
}));
"""


class Cost(NamedTuple):
    """Of explaining one trace, in milliseconds.

    run: of its run
    first: of the processor, in a fresh engine
    median: that passed
    processor: the median of all threads of the engine
    each: the median of the index and of each kind's function, with what it is the first to ask for
    """

    steps: int
    size: int
    run: float
    first: float
    median: float
    processor: float
    kinds: list[str]
    each: dict[str, float]


async def traces_of(sources: list[str]) -> list[tuple[str, float]]:
    """The trace of each program as JSON, with the seconds that its run took; the boot of the workers is not in them."""
    settings = Settings()
    settings.wall = settings.cpu = MAX_RUN_SECONDS
    pool = LocalPool(settings)
    await pool.start()
    try:
        await pool.run_job(Job(source="import torch\n", limits=settings.run_limits()))
        out = []
        for source in sources:
            began = time.perf_counter()
            trace = await pool.run_job(Job(source=source, limits=settings.run_limits()))
            out.append((trace.json().decode(), time.perf_counter() - began))
        return out
    finally:
        await pool.close()


def explain(trace: str, run: float, times: int, checkout: Path = ROOT) -> Cost:
    """Explain a trace so many times in one engine, after a first time.

    run: the milliseconds of its run
    checkout: whose findings
    """
    node = [*NODE, "--input-type=module", "-e", SCRIPT, str(checkout), str(times)]
    done = subprocess.run(node, input=trace, capture_output=True, text=True, cwd=ROOT, check=True)
    return Cost(len(json.loads(trace)["steps"]), len(trace), run, **json.loads(done.stdout))


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser("python -m benchmarks.explain", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS], metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--file", nargs="*", type=Path, default=[], metavar="FILE", help="programs of your own")
    parser.add_argument("--times", type=int, default=15, help="how often each is explained (default %(default)s)")
    parser.add_argument("--base", type=Path, help="another checkout, whose findings are measured beside these")
    parser.add_argument("--each", action="store_true", help="print what each finding costs")
    return parser.parse_args()


def main() -> int:
    """Measure the programs that the command names."""
    args = arguments()
    names = args.programs or ([] if args.file else list(PROGRAMS))
    sources = {name: PROGRAMS[name] for name in names} | {file.stem: file.read_text() for file in args.file}
    traces = asyncio.run(traces_of(list(sources.values())))
    checkouts = {"": ROOT} | ({" base": args.base.resolve()} if args.base else {})
    print(f"{'program':15} {'steps':>6} {'KB':>6} {'run':>9} {'first':>9} {'median':>9} {'processor':>10}  findings")
    costs = {}
    for name, (trace, run) in zip(sources, traces, strict=True):
        for suffix, checkout in checkouts.items():
            cost = explain(trace, run * 1e3, args.times, checkout)
            print_cost(name + suffix, cost, args.each)
            if not suffix:
                costs[name] = cost
    print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n\ntarget")
    for name, cost in costs.items():
        most = MAX_MS * max(1.0, cost.steps / STEP_COUNT)
        print_target(
            f"{name}: at most {most:.0f} ms at {cost.steps} steps", f"{cost.processor:.1f} ms", cost.processor <= most
        )
        if not cost.kinds:
            share = cost.processor / cost.run
            print_target(f"{name}: less than {MAX_SHARE:.0%} of the run", f"{share:.1%}", share < MAX_SHARE)
    return 0


def print_cost(name: str, cost: Cost, each: bool) -> None:
    """A row.

    each: with the dearest parts, one a line
    """
    times = f"{cost.run:6.0f} ms {cost.first:6.1f} ms {cost.median:6.1f} ms {cost.processor:7.1f} ms"
    print(f"{name:15} {cost.steps:6} {cost.size // 1000:6} {times}  {' '.join(cost.kinds)}", flush=True)
    for part, took in sorted(cost.each.items(), key=lambda row: -row[1]) if each else []:
        if took >= MIN_MEASURED_MS:
            print(f"{'':15} {took:6.1f} ms {part}")


def print_target(target: str, value: str, holds: bool) -> None:
    print(f"  {'holds' if holds else 'missed':8}  {target}: {value}")


if __name__ == "__main__":
    sys.exit(main())
