"""A forward and a backward of a model with 100 million elements, plain and watched: run by
tests/sessions/test_own_code_memory.py.

Prints the peaks of the process's memory as JSON, in bytes: before any, after the plain one, after the watched one.
"""

import json
import time
from pathlib import Path

import torch

import gradbox

SIDE = 10_000


def peak() -> int:
    """The peak since this program was started; that of `getrusage` may be one of the process that started it."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def train() -> None:
    model.zero_grad()
    out = model(x)
    loss = out.square().mean()
    loss.backward()


with gradbox.watch(show=False):  # what the recorder itself imports and keeps
    begun = torch.ones(2) * 2
before = peak()
model, x = torch.nn.Linear(SIDE, SIDE, bias=False), torch.ones(1, SIDE)
train()
train()
plain = peak()
began = time.perf_counter()
with gradbox.watch(show=False) as region:
    train()
result: dict[str, object] = {
    "before": before,
    "plain": plain,
    "watched": peak(),
    "seconds": time.perf_counter() - began,
}
trace = region.run.trace
summaries = [f["summary"] for step in trace["steps"] for f in step["set"].values() if f.get("summary")]
result["facts"] = [trace["outcome"]["status"], len(trace["steps"]), len(region.run.body), len(summaries)]
print(json.dumps(result))
