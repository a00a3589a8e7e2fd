"""Programs on a GPU, where there is one; and, everywhere, that the confinement which leaves a GPU's driver its ways still
keeps files, network and processes."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from server.pool.local import Pool
from server.settings import Settings
from server.wire.api import Job
from server.wire.trace import Trace
from tests.pools import eventually

ROOT = Path(__file__).parent.parent
needs_gpu = pytest.mark.skipif(torch.cuda.device_count() == 0, reason="no GPU that torch can use on this machine")
MEMORY = 2 << 30

TRIAL = """
import json, os, socket, sys
from server.worker import confine

tried = {}
def attempt(name, act):
    try:
        act()
        tried[name] = "done"
    except OSError as error:
        tried[name] = "refused"

def driver():
    tried["driver"] = os.environ.get("HOME_OF_THE_DRIVER")

reading, writing = os.pipe()
told = os.dup2(writing, 40)
confine.Confinement(confine.try_layers(), 1 << 30, 5, 61_500, driver).apply((told,), 0)
attempt("a library", lambda: open("/usr/lib/os-release").read())
attempt("a secret", lambda: open("/etc/passwd").read())
attempt("the project", lambda: open(sys.argv[1]).read())
attempt("a new file", lambda: open("/tmp/made-by-a-child", "w").write("x"))
attempt("a socket", lambda: socket.socket().connect(("127.0.0.1", 1)))
attempt("a process", os.fork)
attempt("a signal", lambda: os.kill(os.getppid(), 0))
tried["environment"] = dict(os.environ)
os.write(told, json.dumps(tried).encode())
os._exit(0)
"""


def test_what_a_driver_needs_opens_no_other_way(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    program = TRIAL.replace("reading, writing = os.pipe()\n", f"writing = {writing}\n")
    secret = tmp_path / "secret"
    secret.write_text("x")
    env = {**os.environ, "HOME_OF_THE_DRIVER": "here"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(secret)], cwd=ROOT, env=env, pass_fds=[writing], timeout=60
    )
    os.close(writing)
    assert done.returncode == 0, done.stderr
    with os.fdopen(reading) as pipe:
        tried = json.loads(pipe.read())
    assert tried.pop("driver") == "here", "the driver is started before the environment goes"
    assert tried.pop("environment") == {}
    assert tried.pop("a library") == "done"
    assert set(tried.values()) == {"refused"}, tried


@pytest.fixture(scope="module")
def ran() -> Iterator[Any]:
    loop = asyncio.new_event_loop()
    settings = Settings({}, gpu_memory=MEMORY)
    pool = Pool(settings)

    async def up() -> None:
        await pool.start()
        await pool.zygote.wait_until_booted()
        while "cuda" not in pool.devices:
            await asyncio.sleep(0.1)

    loop.run_until_complete(asyncio.wait_for(up(), 120))

    def run(source: str) -> Trace:
        return loop.run_until_complete(pool.run(Job(source=source, device="cuda", limits=settings.limits()))).decoded()

    yield run
    loop.run_until_complete(pool.close())
    loop.close()


def entities(trace: Trace, letter: str) -> dict[str, dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for step in trace.steps:
        for uid, fields in step.set.items():
            if uid[0] == letter:
                merged.setdefault(uid, {}).update(fields)
    return merged


@needs_gpu
def test_storages_lie_on_their_device(ran: Any) -> None:
    trace = ran(
        "import torch\na = torch.ones(3, device='cuda', requires_grad=True)\nb = torch.ones(3)\n(a * 2).sum().backward()\n"
    )
    assert trace.outcome.status == "finished", trace.outcome
    assert {facts["device"] for facts in entities(trace, "s").values()} >= {"cuda:0", "cpu"}
    grad = next(facts for facts in entities(trace, "s").values() if facts.get("cells") == {"float32": [2.0, 2.0, 2.0]})
    assert grad["device"] == "cuda:0"


@needs_gpu
def test_the_allocator_is_told_step_by_step(ran: Any) -> None:
    trace = ran("import torch\na = torch.ones(1000, device='cuda')\ndel a\nb = torch.ones(10, device='cuda')\n")
    device = [step.set["d1"] for step in trace.steps if "d1" in step.set]
    allocated = [facts["allocated"] for facts in device if "allocated" in facts]
    assert 4096 in allocated and allocated[-1] == 512
    states = [block for facts in device for block in facts.get("blocks") or []]
    assert any(block["state"] == "active_allocated" and block.get("storage") for block in states)
    assert entities(trace, "d")["d1"]["peak"] >= 4096
    assert trace.runtime.device_name == entities(trace, "d")["d1"]["name"]


@needs_gpu
def test_gradients_are_those_of_plain_torch(ran: Any) -> None:
    source = "import torch\ntorch.manual_seed(3)\nw = torch.randn(4, 4, device='cuda', requires_grad=True)\n(w @ w).relu().sum().backward()\nprint(w.grad.sum().item())\n"
    plain = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120).stdout
    trace = ran(source)
    assert "".join(entry["text"] for step in trace.steps for entry in step.log if entry["kind"] == "out") == plain


@needs_gpu
def test_memory_of_the_gpu_ends(ran: Any) -> None:
    trace = ran("import torch\nx = torch.ones(2)\na = torch.empty(3 << 30, dtype=torch.uint8, device='cuda')\n")
    assert trace.outcome.status == "stopped" and trace.outcome.stopped.limit == "memory"
    assert ran("import torch\na = torch.ones(2, device='cuda')\n").outcome.status == "finished"


@needs_gpu
def test_nothing_of_one_program_is_left_for_the_next(ran: Any) -> None:
    source = "import torch\nprint(torch.cuda.memory_allocated(), torch.cuda.memory_reserved() < 64 << 20)\n"
    first = ran(source + "a = torch.ones(1 << 27, device='cuda')\ndel a\n")
    again = ran(source)
    for trace in (first, again):
        assert trace.outcome.status == "finished", trace.outcome
        assert "".join(entry["text"] for step in trace.steps for entry in step.log if entry["kind"] == "out") == (
            "0 True\n"
        )


@needs_gpu
def test_segments_are_full_of_blocks(ran: Any) -> None:
    trace = ran("import torch\na = torch.ones(1000, device='cuda')\nb = torch.ones(1 << 20, device='cuda')\n")
    device = entities(trace, "d")["d1"]
    assert sum(segment["size"] for segment in device["segments"]) == device["reserved"]
    assert {segment["pool"] for segment in device["segments"]} == {"small", "large"}
    whole = [step.set["d1"]["blocks"] for step in trace.steps if "blocks" in step.set.get("d1", {})]
    assert whole and all(sum(block["size"] for block in blocks) > 0 for blocks in whole)


@needs_gpu
def test_an_endless_kernel_loop_is_stopped(ran: Any) -> None:
    trace = ran("import torch\na = torch.ones(2000, 2000, device='cuda')\nwhile True:\n    a = a @ a\n")
    assert trace.outcome.status == "stopped"
    assert ran("import torch\na = torch.ones(2, device='cuda')\n").outcome.status == "finished"


OWN_CODE = """
import json, torch, gradbox
from server.worker.probes import device_bytes
fetched = []
fetch = device_bytes.to_cpu
def counted(tensor):
    fetched.append(tensor.nbytes)
    return fetch(tensor)
device_bytes.to_cpu = counted
w = torch.ones(4000, 4000, device="cuda", requires_grad=True)
with gradbox.watch(show=False) as region:
    loss = (w * 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= w.grad
facts = {"outcome": region.run.trace["outcome"]["status"], "fetched": sum(fetched)}
facts["grad"] = w.grad.sum().item()
facts["summaries"] = [f["summary"]["float32"]["mean"] for s in region.run.trace["steps"] for f in s["set"].values()
                      if f.get("summary")]
facts["faults"] = [e for s in region.run.trace["steps"] for e in s["log"] if e.get("event") == "tracer_fault"]
print(json.dumps(facts))
"""


@needs_gpu
def test_own_code_on_a_gpu_has_only_what_is_shown_copied() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OWN_CODE], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, timeout=300,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    facts = json.loads(done.stdout)
    assert facts["outcome"] == "finished" and facts["faults"] == [] and facts["grad"] == pytest.approx(2.0, rel=1e-3)
    assert 1.0 in facts["summaries"] and 0 < facts["fetched"] < 1 << 20, "of 64 MB each"


@pytest.mark.skipif(torch.cuda.device_count() > 0, reason="this machine has a GPU")
def test_without_a_gpu_none_is_offered() -> None:
    async def check() -> None:
        pool = Pool(Settings({}))
        await pool.start()
        await pool.zygote.wait_until_booted()
        await eventually(lambda: "starting" not in pool.problem("cuda"))
        assert pool.devices == ("cpu",) and "this machine has no GPU" in pool.problem("cuda")
        await pool.close()

    asyncio.run(check())
