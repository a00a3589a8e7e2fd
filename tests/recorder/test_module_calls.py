"""Calls of modules in the trace: what torch's own hooks say of them, and nothing that a program could see."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradbox.recorder.probes.module_calls import wrap_function_with_begin_and_end
from tests.forks.forked_script import run_python
from tests.forks.plain_python import call_in_plain
from tests.recorder.module_calls_truth import calls_of_script
from tests.recordings.store import kept_document, kept_trace
from tests.support.explaining import call_page

ROOT = Path(__file__).parents[2]
NETS = sorted((ROOT / "benchmarks/nets").glob("*.py"))

SPECIAL = {
    "answers_in_a_dict": """\
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 4), nn.Linear(4, 2)
    def forward(self, x, *, mask=None):
        hidden = self.body(x).relu()
        return {"logits": self.head(hidden * mask), "more": {"hidden": [hidden]}}
model = Model()
out = model(torch.ones(2, 3), mask=torch.ones(2, 1))
out["logits"].sum().backward()
""",
    "one_module_many_times": """\
import torch
from torch import nn
cell = nn.GRUCell(3, 5)
h = torch.zeros(2, 5)
for t in range(4):
    h = cell(torch.ones(2, 3), h)
h.sum().backward()
""",
    "checkpointed": """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
net = nn.Sequential(nn.Linear(3, 3), nn.Identity(), nn.Tanh())
x = torch.ones(2, 3, requires_grad=True)
checkpoint(net, x, use_reentrant=True).sum().backward()
""",
    "own_function_at_the_end": """\
import torch
from torch import nn
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
class Doubled(nn.Module):
    def forward(self, x):
        return Double.apply(x)
net = nn.Sequential(nn.Linear(3, 3), Doubled(), nn.Flatten())
net(torch.ones(2, 3)).sum().backward()
""",
    "own_call_and_hooks": """\
import torch
from torch import nn
class Loud(nn.Linear):
    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs) + 1
net = Loud(3, 2)
net.register_forward_hook(lambda module, args, out: None)
net.register_full_backward_hook(lambda module, grads, outs: None)
net(torch.ones(2, 3)).sum().backward()
""",
}


def told_by_hooks(paths: list[Path]) -> list[list[dict[str, Any]]]:
    return [json.loads(call_in_plain(calls_of_script, str(path))) for path in paths]


def told_by_traces(sources: list[str]) -> list[list[dict[str, Any]]]:
    return [call_page("recorder/module_calls", kept_document(source)) for source in sources]


def assert_equal_calls(paths: list[Path]) -> None:
    hooks, traces = told_by_hooks(paths), told_by_traces([path.read_text() for path in paths])
    assert len(hooks) == len(traces) == len(paths)
    for path, expected, calls in zip(paths, hooks, traces, strict=True):
        shown = [{name: call[name] for name in ("type", "within", "inputs", "outputs", "nodes")} for call in calls]
        assert shown == expected, path.stem
    assert sum(map(len, traces)) >= 10


def test_calls_are_those_that_hooks_tell_of() -> None:
    assert_equal_calls(NETS[::3])


@pytest.mark.exhaustive
def test_calls_of_every_net_are_those_that_hooks_tell_of() -> None:
    assert_equal_calls(NETS)


def test_calls_of_odd_modules_are_those_that_hooks_tell_of(tmp_path: Path) -> None:
    for name, source in SPECIAL.items():
        (tmp_path / f"{name}.py").write_text(source)
    assert_equal_calls(sorted(tmp_path.glob("*.py")))


def events_of(traced: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for step in traced["steps"] for entry in step["log"] if entry["kind"] == "event"]


RAISES = """\
import torch, traceback
from torch import nn
class Inner(nn.Module):
    def forward(self, x):
        return x @ torch.ones(5, 5)
net = nn.Sequential(Inner(), nn.ReLU())
try:
    net(torch.ones(2, 3))
except RuntimeError:
    traceback.print_exc()
print(nn.ReLU()(torch.ones(1)))
"""


def test_a_call_that_raises_has_the_traceback_of_plain_torch(tmp_path: Path) -> None:
    path = tmp_path / "raises.py"
    path.write_text(RAISES)
    plain = call_in_plain(run_python, str(tmp_path), [str(path)])[2]
    traced = kept_trace(RAISES)
    printed = "".join(
        e["text"] for s in traced["steps"] for e in s["log"] if e["kind"] == "out" and e["stream"] == "stderr"
    )

    def places(text: str) -> list[str]:
        frames = [line.strip() for line in text.splitlines() if line.startswith("  File ")]
        return [frame.replace(str(path), "<program>") for frame in frames]

    assert places(printed) == places(plain) != []
    calls = [event for event in events_of(traced) if event["event"] == "module_called"]
    ends = [event for event in events_of(traced) if event["event"] == "module_returned"]
    assert [(call["type"], call.get("within")) for call in calls] == [
        ("Sequential", None),
        ("Inner", 0),
        ("ReLU", None),
    ]
    assert [(end["call"], end.get("failed", False)) for end in ends] == [(1, True), (0, True), (2, False)]


def test_operations_have_the_number_of_the_innermost_call() -> None:
    traced = kept_trace(
        "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\n"
        "y = net(torch.ones(1, 2))\nz = y * 2\n"
    )
    by_name = {e["name"]: e.get("call") for s in traced["steps"] for e in s["log"] if e["kind"] == "op"}
    assert (by_name["aten::linear"], by_name["aten::relu"], by_name["aten::mul.Tensor"]) == (1, 2, None)


def test_calls_in_unrecorded_iterations_are_not_recorded() -> None:
    traced = kept_trace(
        "import torch\nnet = torch.nn.Linear(2, 2)\nx = torch.ones(1, 2)\n"
        "for i in range(2000):\n    y = net(x)\nz = net(y)\n"
    )
    calls = [event for event in events_of(traced) if event["event"] == "module_called"]
    ends = [event for event in events_of(traced) if event["event"] == "module_returned"]
    assert 3 < len(calls) < 1500
    assert [call["call"] for call in calls] == list(range(len(calls)))
    assert [end["call"] for end in ends] == [call["call"] for call in calls]


def test_a_function_of_another_form_is_left_alone() -> None:
    def unlike(self: object, x: object) -> tuple[object, object]:
        return self, x

    assert wrap_function_with_begin_and_end(unlike, print, print) is None


def test_the_observed_call_has_torchs_name_file_and_lines() -> None:
    class Plain:
        def call(self, *args: int, **named: int) -> tuple[int, ...]:
            if named:
                return tuple(named.values())
            return args

    begun: list[object] = []
    ended: list[object] = []

    def begin(*arguments: object) -> str:
        begun.append(arguments)
        return "number"

    def end(number: str, result: object = None, failed: bool = False) -> object:
        ended.append((number, result, failed))
        return result

    observed = wrap_function_with_begin_and_end(Plain.call, begin, end)
    plain = Plain()
    assert observed(plain, 1, 2) == (1, 2)
    assert observed(plain, a=3) == (3,)
    assert begun == [(plain, (1, 2), {}), (plain, (), {"a": 3})]
    assert ended == [("number", (1, 2), False), ("number", (3,), False)]
    for name in ("co_name", "co_qualname", "co_filename", "co_firstlineno"):
        assert getattr(observed.__code__, name) == getattr(Plain.call.__code__, name)
    lines = {line for _, _, line in Plain.call.__code__.co_lines()}
    assert {line for _, _, line in observed.__code__.co_lines() if line} <= lines


def test_norms_of_large_memory_are_torchs() -> None:
    traced = kept_trace("import torch\ntorch.manual_seed(0)\nx = torch.randn(50, 50)\nn = x.norm().item()\n")
    summaries = [
        fields["summary"]["float32"]
        for step in traced["steps"]
        for fields in step["set"].values()
        if fields.get("kind") == "storage" and "summary" in fields
    ]
    norms = [summary["norm"] for summary in summaries if summary.get("norm")]
    values = [fields.get("vars", {}) for step in traced["steps"] for fields in step["set"].values()]
    expected = next(names["n"] for names in values if "n" in names)
    assert norms and abs(norms[-1] - expected) < 1e-4 * expected
