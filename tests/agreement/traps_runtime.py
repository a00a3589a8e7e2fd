"""Traps of running: modes, threads, limits, operations that no hook sees, other devices."""

import asyncio
import threading
import warnings
from typing import Any, NoReturn

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from gradbox.recorder import stack
from gradbox.recorder.probes.backward import BackwardRecorder
from gradbox.wire.api import Job
from gradbox.wire.trace import Trace
from server.pool.local import LocalPool
from server.settings import Settings
from server.worker.program_run import ProgramRun
from tests.agreement.alarm_worker import WALL
from tests.agreement.traps import PlantedFault, Seen, Step, Trap, in_a_function_mode, on_each_step, put
from tests.recorder.test_goldens import PROGRAMS, text
from tests.support.tracing import trace

# 18


def each_line_has_its_warning(seen: Seen) -> None:
    seen.is_plain()
    assert seen.lines("warning") == [4, 5]


# 24


class PerThread:
    """An attribute of which every thread has its own, an empty list at first."""

    def __init__(self) -> None:
        self._own = threading.local()

    def __get__(self, instance: Any, _: Any = None) -> Any:
        return self._own.__dict__.setdefault(str(id(instance)), [])

    def __set__(self, instance: Any, value: Any) -> None:
        self._own.__dict__[str(id(instance))] = value


def all_visits_arrive(seen: Seen) -> None:
    """A backward in a backward, 64 deep: from the 61st on torch's engine goes on in another thread, on a CPU too."""
    seen.is_plain()
    assert seen.printed == f"[{DEEP}] [2.0]\n"
    parents = {uid: fields.get("parent") for step in seen.steps for uid, fields in step["set"].items() if uid[0] == "b"}
    assert parents == {f"b{k}": f"b{k - 1}" if k > 1 else None for k in range(1, DEEP + 1)}
    assert len(seen.visits) == 2 * DEEP and not any(visit.get("failed") for visit in seen.visits)
    assert [visit["grad_inputs"][0]["cells"] for visit in seen.visits if visit["grad_inputs"]] == [[2.0]] * DEEP
    assert [op["name"] for step in seen.steps for op in step["log"] if op["kind"] == "op"].count(
        "aten::mul.Tensor"
    ) == 2 * DEEP


def waiting_frames_stay(seen: Seen) -> None:
    frames = [uid for step in seen.steps for uid, f in step["set"].items() if f.get("kind") == "frame"]
    assert len(frames) == DEEP + 1


DEEP = 64
NESTED = (
    "import torch\ndeep = [0]\ndef again(g):\n    deep[0] += 1\n"
    f"    if deep[0] < {DEEP}:\n        with torch.enable_grad():\n"
    "            a = torch.ones(1, requires_grad=True)\n            b = a * 2\n"
    "        b.register_hook(again)\n        b.backward()\n"
    "x = torch.ones(1, requires_grad=True)\ny = x * 2\ny.register_hook(again)\ny.backward()\nprint(deep, "
    "x.grad.tolist())\n"
)


# 26


def stopped_in_time(trace: Trace) -> None:
    assert trace.outcome.stopped is not None
    assert (trace.outcome.stopped.limit, trace.outcome.stopped.value, len(trace.steps)) == ("wall", WALL, 1)


class Pooled(Trap):
    """Run by a pool, whose limit on time lies outside of the child; stepping in is a limit inside of it."""

    def run(self, planted_fault: PlantedFault | None = None) -> Trace:
        async def run_pooled() -> Trace:
            pool = (
                LocalPool(Settings({}, wall=2 * WALL), "tests.agreement.alarm_worker:prepare")
                if planted_fault
                else LocalPool(Settings({}, wall=WALL))
            )
            await pool.start()
            try:
                return (await pool.run_job(Job(source=self.source))).decoded()
            finally:
                await pool.close()

        return asyncio.run(run_pooled())


# 27


def hooks_are_heard(seen: Seen) -> None:
    seen.is_plain()
    heard = {step["line"]: [op["name"] for op in step["log"] if op["kind"] == "op"] for step in seen.steps}
    assert [any("mul" in name for name in heard[line]) for line in (4, 7)] == [True, True]


class Heard(TorchFunctionMode):
    """An operation log made by a function mode."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Step] = []

    def __torch_function__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.log.append({"kind": "op", "name": function.__name__, "inputs": [], "outputs": []})
        return function(*args, **(kwargs or {}))


def hear_by_a_function_mode() -> None:
    mode = Heard()

    def change(step: Step) -> None:
        step["log"] = [entry for entry in step["log"] if entry["kind"] != "op"] + mode.log
        mode.log = []

    on_each_step(change)()
    mode.__enter__()


# 32


def stopped_at_the_limit(seen: Seen) -> None:
    """The recorder has no limit on memory yet; the limit on printed text takes the same way."""
    assert seen.outcome["status"] == "stopped"
    assert (seen.outcome["stopped"]["limit"], seen.outcome["stopped"]["line"]) == ("output", 3)
    assert seen.printed == ("x" * 99 + "\n") * 5 and not any(step["kind"] == "raise" for step in seen.steps)


def raise_instead(_: ProgramRun, limit: str, value: float) -> NoReturn:
    raise MemoryError(f"{limit}: {value}")


# 35


def same_on_both(pairs: list[tuple[str, str]]) -> None:
    assert len(pairs) in (1, len(PROGRAMS))
    for traced, plain in pairs:
        assert traced == plain


def on_another_processor() -> None:
    """Functions that no processor rounds alike come out one bit greater, and products are summed more exactly."""
    library = torch.library.Library("aten", "IMPL")
    KEPT.append(library)

    def neighbour(function: Any) -> Any:
        return lambda t: torch.from_numpy(np.nextafter(function(t.detach().numpy()), np.float32(np.inf)))

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        exact = a.detach().numpy().astype("f8") @ b.detach().numpy().astype("f8")
        return torch.from_numpy(exact.astype("f4"))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch points out that a kernel is replaced
        for function in (np.exp, np.log, np.sin, np.cos, np.tanh, np.sqrt):
            library.impl(function.__name__, neighbour(function), "CPU", allow_override=True)
        library.impl("sigmoid", neighbour(lambda x: 1 / (1 + np.exp(-x))), "CPU", allow_override=True)
        library.impl("mm", product, "CPU", allow_override=True)


KEPT: list[Any] = []


class Twice(Trap):
    """Every golden program, or the planted fault's, here and on another processor."""

    def run(self, planted_fault: PlantedFault | None = None) -> list[tuple[str, str]]:
        sources = (
            [planted_fault.source]
            if planted_fault and planted_fault.source
            else [path.read_text() for path in PROGRAMS]
        )
        return [(text(trace(source)), text(trace(source, before=on_another_processor))) for source in sources]


TRAPS = [
    Trap(
        18,
        "warnings_under_a_mode",
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\na = y.grad\nb = y.grad\n",
        each_line_has_its_warning,
        {"runs under a function mode": PlantedFault(in_a_function_mode)},
    ),
    Trap(
        24,
        "backward_in_another_thread",
        NESTED,
        all_visits_arrive,
        {"keeps its passes by thread": PlantedFault(lambda: setattr(BackwardRecorder, "running_passes", PerThread()))},
        needs_threads=True,
    ),
    Trap(
        24,
        "frames_of_the_waiting_thread",
        NESTED,
        waiting_frames_stay,
        {"sees one thread's stack": PlantedFault(put(stack, threads_waiting_for_engine=[]))},
        needs_threads=True,
    ),
    Pooled(
        26,
        "statements_without_an_end",
        "a = 1\nb = sum(range(10**12))\n",
        stopped_in_time,
        {"limits time from inside": PlantedFault()},
    ),
    Trap(
        27,
        "fast_paths_under_a_mode",
        "import torch\nlayer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)\n"
        "enc = torch.nn.TransformerEncoder(layer, 1).eval()\nmask = torch.tensor([[False, True, True]])\n"
        "with torch.no_grad():\n    print(enc(torch.randn(1, 3, 8), src_key_padding_mask=mask).tolist())\n",
        lambda seen: seen.is_plain(),
        {"runs under a function mode": PlantedFault(in_a_function_mode)},
    ),
    Trap(
        27,
        "operations_no_mode_hears",
        "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, a): return a * 1\n    @staticmethod\n    def backward(ctx, g):\n        return g * 3\n"
        "x = torch.ones(1, requires_grad=True)\nF.apply(x).backward()\n",
        hooks_are_heard,
        {"hears by a function mode": PlantedFault(hear_by_a_function_mode)},
    ),
    Trap(
        32,
        "limits_are_no_exceptions",
        "while True:\n    try:\n        print('x' * 99)\n    except BaseException:\n        break\n",
        stopped_at_the_limit,
        {"raises where the program may catch it": PlantedFault(put(ProgramRun, _stop_at_limit=raise_instead))},
        limits={"output": 500},
    ),
    Twice(
        35,
        "last_bits_of_goldens",
        "",
        same_on_both,
        {
            "stores a function's bits": PlantedFault(source="import torch\ny = torch.tensor([0.1, 0.7]).exp()\n"),
            "stores a product's bits": PlantedFault(source="import torch\ny = torch.rand(8, 8) @ torch.rand(8, 8)\n"),
        },
    ),
]
