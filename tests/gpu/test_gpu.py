"""Programs on a GPU, where there is one; and, everywhere, that the confinement which leaves a GPU's driver its ways
still keeps files, network and processes."""

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

from gradbox.wire.api import Job
from gradbox.wire.trace import Trace
from server.pool.local import LocalPool
from server.settings import Settings
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
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
confine.Confinement(confine.try_layers(), 1 << 30, 5, 61_500, driver).confine_process((told,), 0)
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


def test_the_files_that_a_driver_needs_open_no_others(tmp_path: Path) -> None:
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
    pool = LocalPool(settings)

    async def up() -> None:
        await pool.start()
        await pool.zygote.wait_until_booted()
        while "cuda" not in pool.devices:
            await asyncio.sleep(0.1)  # until they are

    loop.run_until_complete(asyncio.wait_for(up(), 120))

    def run(source: str) -> Trace:
        return loop.run_until_complete(
            pool.run_job(Job(source=source, device="cuda", limits=settings.run_limits()))
        ).decoded()

    yield run
    loop.run_until_complete(pool.close())
    loop.close()


def python_path() -> str:
    """Where this process finds its packages besides its own folders."""
    return os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


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
        "import torch\na = torch.ones(3, device='cuda', requires_grad=True)\nb = torch.ones(3)\n(a * "
        "2).sum().backward()\n"
    )
    assert trace.outcome.status == "finished", trace.outcome
    assert {facts["device"] for facts in entities(trace, "s").values()} >= {"cuda:0", "cpu"}
    grad = next(facts for facts in entities(trace, "s").values() if facts.get("cells") == {"float32": [2.0, 2.0, 2.0]})
    assert grad["device"] == "cuda:0"


@needs_gpu
def test_every_step_records_the_allocator(ran: Any) -> None:
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
    source = "import torch\ntorch.manual_seed(3)\nw = torch.randn(4, 4, device='cuda', requires_grad=True)\n(w @ w).relu().sum().backward()\nprint(w.grad.sum().item())\n"  # noqa: E501
    plain = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120).stdout
    trace = ran(source)
    assert "".join(entry["text"] for step in trace.steps for entry in step.log if entry["kind"] == "out") == plain


@needs_gpu
def test_running_out_of_gpu_memory_is_a_limit(ran: Any) -> None:
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
from gradbox.recorder.devices import device_kernels as kernels
w = torch.ones(4000, 4000, device="cuda", requires_grad=True)
torch.cuda.reset_peak_memory_stats()
with gradbox.watch(show=False) as region:
    loss = (w * 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= w.grad
facts = {"outcome": region.run.trace["outcome"]["status"], "grad": w.grad.sum().item()}
facts["copied"] = kernels.kernels_for_device(w.device).copied_bytes
facts["peak"] = torch.cuda.max_memory_allocated()
facts["summaries"] = [f["summary"]["float32"]["mean"] for s in region.run.trace["steps"] for f in s["set"].values()
                      if f.get("summary")]
facts["faults"] = [e for s in region.run.trace["steps"] for e in s["log"] if e.get("event") == "tracer_fault"]
print(json.dumps(facts))
"""


@needs_gpu
def test_own_code_on_a_gpu_has_only_what_is_shown_copied() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OWN_CODE], cwd=ROOT, env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    facts = json.loads(done.stdout)
    assert facts["outcome"] == "finished" and facts["faults"] == [] and facts["grad"] == pytest.approx(2.0, rel=1e-3)
    assert 1.0 in facts["summaries"] and 0 < facts["copied"] < 1 << 20, "of 64 MB each"
    plain = OWN_CODE.replace("with gradbox.watch(show=False) as region:", "if True:").partition("facts =")[0]
    plain += "print(torch.cuda.max_memory_allocated())"
    without = subprocess.run([sys.executable, "-c", plain], cwd=ROOT, env={**os.environ, "PYTHONPATH": python_path()},
                             capture_output=True, text=True, timeout=300)  # fmt: skip
    assert facts["peak"] == int(without.stdout), "the recorder takes none of torch's memory"


@needs_gpu
def test_a_failed_device_ends_one_program_alone(ran: Any) -> None:
    source = (
        "import torch\na = torch.ones(4, device='cuda')\ni = torch.tensor([9], device='cuda')\n"
        "b = a[i]\nc = torch.ones(3)\nprint(b.cpu())\n"
    )
    trace = ran(source)
    assert trace.outcome.status == "raised" and trace.outcome.error is not None
    assert trace.outcome.error.line == 6 and "device-side assert" in trace.outcome.error.message
    assert not [entry for step in trace.steps for entry in step.log if entry.get("event") == "tracer_fault"]
    picked = entities(trace, "t")[
        next(s.set["f1"]["vars"]["b"]["ref"] for s in trace.steps if "b" in s.set.get("f1", {}).get("vars", {}))
    ]
    assert entities(trace, "s")[picked["storage"]].get("cells") is None, "nobody knows what is in it"
    assert ran("import torch\na = torch.ones(2, device='cuda')\nprint(a)\n").outcome.status == "finished"


@needs_gpu
def test_a_graph_runs_when_it_is_replayed(ran: Any) -> None:
    source = (
        "import torch\na = torch.ones(3, device='cuda')\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n"
        "    b = a * 2\na.fill_(5)\ng.replay()\ntorch.cuda.synchronize()\n"
    )
    trace = ran(source)
    assert trace.outcome.status == "finished", trace.outcome
    cells = [facts["cells"].get("float32") for step in trace.steps for facts in step.set.values()
             if step.line == 7 and facts.get("cells")]  # fmt: skip
    assert [10.0, 10.0, 10.0] in cells, "the replay wrote it, though no operator was called"


@needs_gpu
@pytest.mark.usefixtures("ran")
def test_no_process_that_forks_has_a_second_thread_or_the_device() -> None:
    zygotes = [  # that of the GPU, and the one from which those of the CPU are forked in tests
        process for process in Path("/proc").glob("[0-9]*")
        if b"zygote" in (process / "cmdline").read_bytes()
        and (process / "stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid())
    ]  # fmt: skip
    assert len(zygotes) == 2
    for process in zygotes:
        opened = [os.readlink(path) for path in (process / "fd").iterdir()]
        assert not [name for name in opened if name.startswith("/dev/nvidia")]
        assert len(list((process / "task").iterdir())) == 1


@needs_gpu
def test_a_program_on_the_cpu_finds_no_gpu() -> None:
    async def check() -> str:
        pool = LocalPool(Settings({}))
        await pool.start()
        await pool.zygote.wait_until_booted()
        source = (
            "import torch\nprint(torch.cuda.is_available(), torch.cuda.device_count(), "
            "torch.accelerator.is_available())\n"
            "torch.ones(2, requires_grad=True).sum().backward()\ntorch.ones(1, device='cuda')\n"
        )
        trace = (await pool.run_job(Job(source=source))).decoded()
        await pool.close()
        assert trace.outcome.error is not None and "No CUDA GPUs are available" in trace.outcome.error.message
        return "".join(entry["text"] for step in trace.steps for entry in step.log if entry["kind"] == "out")

    assert asyncio.run(check()) == "False 0 False\n"


@pytest.mark.skipif(torch.cuda.device_count() > 0, reason="this machine has a GPU")
def test_without_a_gpu_none_is_offered() -> None:
    async def check() -> None:
        pool = LocalPool(Settings({}))
        await pool.start()
        await pool.zygote.wait_until_booted()
        await eventually(lambda: "starting" not in pool.unavailable_reason("cuda"))
        assert pool.devices == ("cpu",) and "this machine has no GPU" in pool.unavailable_reason("cuda")
        await pool.close()

    asyncio.run(check())
