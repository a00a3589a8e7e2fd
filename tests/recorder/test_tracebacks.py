"""A traceback that a program prints is the one of plain Python: none of our frames is in it."""

import textwrap

import pytest

from tests.forks.plain_python import run_plain
from tests.referee.canonical import masked
from tests.support.tracing import events, printed, trace

pytestmark = pytest.mark.slow

RAISING = {
    "an operation": "torch.ones(2) @ torch.ones(3)",
    "an operation in a function of torch": "torch.nn.Linear(2, 3)(torch.ones(1, 4))",
    "backward": "y = torch.ones(2, requires_grad=True).exp().sum()\ny.backward()\ny.backward()",
    "a hook in backward": "x = torch.ones(2, requires_grad=True)\nx.register_hook(lambda g: 1 / 0)\n(x * 2).sum().backward()",  # noqa: E501
    "a gradient": "torch.autograd.grad(torch.ones(1), torch.ones(1))",
    "a transform": "torch.func.vmap(lambda x: x.item())(torch.ones(2))",
    "a trace": "torch.jit.trace(lambda x: x @ torch.ones(3), torch.ones(2))",
    "a script": "torch.jit.script(torch.nn.Linear(2, 3))(torch.ones(1, 4))",
    "a mode": (
        "from torch.utils._python_dispatch import TorchDispatchMode\nclass M(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n        1 / 0\nwith M():\n    "
        "torch.ones(2)"
    ),
    "a cause": "try:\n    torch.ones(2).view(3)\nexcept RuntimeError as error:\n    raise ValueError('no') from error",
    "what was handled": "try:\n    torch.ones(2).view(3)\nexcept RuntimeError:\n    torch.ones(3).view(2)",
    "swapped tensors": "torch.utils.swap_tensors(torch.ones(2), 3)",
    "calls of the program": "def f(k):\n    return torch.ones(k).view(5) if k < 3 else f(k - 1)\nf(6)",
}


@pytest.mark.parametrize("name", RAISING)
@pytest.mark.parametrize("shown", ["print(traceback.format_exc())", "traceback.print_exc(file=sys.stdout)"])
def test_the_traceback_equals_plain_pythons(name: str, shown: str) -> None:
    body = textwrap.indent(RAISING[name], "    ")
    source = f"import sys\nimport torch\nimport traceback\ntry:\n{body}\nexcept Exception:\n    {shown}\n"
    text = printed(trace(source))
    assert "Traceback (most recent call last)" in text
    assert text == run_plain(source)["printed"]


STACKS = {
    "a function": "def f(k):\n    if k:\n        return f(k - 1)\n    SHOW\nf(2)",
    "a hook in backward": "def hook(g):\n    SHOW\nx = torch.ones(2, requires_grad=True)\nx.register_hook(hook)\n(x * 2).sum().backward()",  # noqa: E501
    "a module": (
        "class M(torch.nn.Module):\n    def forward(self, x):\n        SHOW\n        return x\n"
        "torch.nn.Sequential(M(), M())(torch.ones(1))"
    ),
    "a subclass": (
        "class T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), "
        "kwargs=None):\n"
        "        SHOW\n        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "torch.ones(2).as_subclass(T).sin()"
    ),
    "a mode": (
        "from torch.utils._python_dispatch import TorchDispatchMode\nclass M(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n        SHOW\n"
        "        return func(*args, **(kwargs or {}))\nwith M():\n    torch.ones(2)"
    ),
    "the module": "SHOW",
}


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize(
    "shown", ["traceback.format_stack()", "traceback.StackSummary.extract(traceback.walk_stack(None)).format()[::-1]"]
)
def test_a_stack_is_the_one_of_a_script(name: str, shown: str) -> None:
    """Plain Python's begins with the frames of its host."""
    rows = f"print(*(row for row in {shown} if 'File \"<program>' in row or '-packages/torch' in row))"
    source = f"import torch\nimport traceback\n{STACKS[name].replace('SHOW', rows)}\n"
    text = printed(trace(source))
    assert text.lstrip().startswith('File "<program>"')
    assert text == run_plain(source)["printed"]


def test_the_stack_of_an_anomaly_begins_with_the_program() -> None:
    source = (
        "import torch\nx = torch.zeros(1, requires_grad=True)\nwith torch.autograd.detect_anomaly():\n"
        "    try:\n        (x.sqrt() * 0).backward()\n    except RuntimeError as error:\n        print(error)\n"
    )
    warned = [event["text"] for event in events(trace(source), "warning")]
    assert "line 5, in <module>" in warned[-1] and "server/worker" not in warned[-1]


def test_an_error_of_a_traced_function_lists_the_calls_of_the_program() -> None:
    source = (
        "import torch\ntraced = torch.jit.trace(lambda a: a[0] * 2, torch.ones(2))\n"
        "try:\n    traced(torch.tensor(1.0))\nexcept RuntimeError as error:\n    print(error)\n"
    )
    text = printed(trace(source))
    assert "<program>(2): <lambda>" in text and "server/worker" not in text
    assert masked(text) == masked(run_plain(source)["printed"])
