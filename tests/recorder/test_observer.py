"""A step looks only at what its statement may have changed; an observation of everything finds nothing more."""

from pathlib import Path

import pytest

from tests.agreement.test_agreement import PROGRAMS
from tests.support import random_programs
from tests.support.full_observation import unobserved
from tests.support.recorder_changes import overlook_statements
from tests.support.sampling import every, sampled

pytestmark = pytest.mark.slow

SEEDS = range(5000, 5080)


@pytest.mark.parametrize("path", sampled(PROGRAMS, every(4)), ids=lambda path: path.stem)
def test_a_step_observes_every_change(path: Path) -> None:
    assert unobserved(path.read_text()) == []


@pytest.mark.parametrize("seed", sampled(SEEDS, every(4)))
def test_a_step_of_a_random_program_observes_every_change(seed: int) -> None:
    assert unobserved(random_programs.program(seed)) == []


BACKWARD_OF_ONE_STATEMENT = (
    "items.append(1)\nnet = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())\nx.requires_grad_()\n"
)
HOOKS_AMID_BACKWARD = [
    "x.register_hook(lambda g: items.append(g))",
    "x.register_hook(items.append)",
    "import functools\nx.register_hook(functools.partial(list.append, items))",
    "net[0].weight.register_post_accumulate_grad_hook(items.append)",
    "net[0].register_full_backward_hook(lambda *a: items.append(2))",
    "import operator\nx.register_hook(lambda g: operator.setitem(net.__dict__, 'seen', items))",
    "(net(x)[0] * 1).grad_fn.register_prehook(items.append)",
    "x.register_hook(lambda g: net[1].eval() and None)",
]
"""What runs between the visits of a backward, and changes what the names of its statement lead to."""

HIDDEN = [
    "f = lambda: items\nf().append(1)",
    "def f():\n    return items\nf().append(1)",
    "def f():\n    return [x]\nf()[0].requires_grad_()",
    "def f():\n    return x\nf().grad = torch.ones(2)",
    "def f():\n    yield items\nnext(f()).append(1)",
    "def f():\n    x.requires_grad_()\nf()",
    "def f():\n    global items\n    items = 5\nf()",
    "g = (items.append(k) for k in range(3))\nlist(g)",
    "import functools\np = functools.partial(items.append)\np(4)",
    "import functools\np = functools.partial(torch.Tensor.requires_grad_, x)\np()",
    "m = x.requires_grad_\nm()",
    "m = items.append\nm(4)",
    "import weakref\nr = weakref.ref(x)\nr().requires_grad_()",
    "h = x.requires_grad_().register_hook(print)\nh.remove()",
    "y = x.requires_grad_().exp()\nz = y + 1\nitems.append(y)\ny = None\nitems.pop().mul_(1)",
    "globals()['items'] = 3",
    "setattr(x, 'grad', torch.ones(2))",
    "class A:\n    pass\na = A()\na._kept = x\na._kept.requires_grad_()",
    "class A:\n    kept = items\nA.kept.append(3)",
    "d = {'a': [x]}\nd['a'][0].requires_grad_()",
    "v = x[:1]\nx.requires_grad_()\nx.detach().add_(1)",
    "x.requires_grad_()\ny = x * 1\nv = y[:1]\ny.mul_(2)\ny.detach_()",
    "try:\n    items.append(1)\n    1 / 0\nexcept ZeroDivisionError as e:\n    pass\nk = 1",
    "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    g()\n    return n\nf()",
    "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), 0.1)\n"
    "s = torch.optim.lr_scheduler.StepLR(opt, 1)\nnet(x).sum().backward()\nopt.step()\ns.step()\nopt.zero_grad()",
    "net = torch.nn.Linear(2, 1)\nnet.register_forward_hook(lambda m, i, o: items.append(o))\nnet(x)",
    "n = x.numpy()\nn[0] = 9\ndef f(a):\n    a[1] = 8\nf(n)",
    "import numpy as q\nq.asarray(x)[0] = 9",
    "p = x.untyped_storage()\nx.sum()\np[0] = 1\ndel x\ndel p",
    "x.apply_(lambda v: v + 1)",
    "a = []\nb = [a]\na.append(b)\ndel a\ndel b",
    "for i, (k, v) in enumerate({'a': x}.items()):\n    v.requires_grad_()",
    "with torch.no_grad():\n    y = x.requires_grad_() * 2\ny.data = torch.zeros(3)",
    "net = torch.nn.Sequential(torch.nn.Dropout())\nswitch = net.eval\nswitch()",
    "net = torch.nn.Sequential(torch.nn.Dropout())\ndef switch(m):\n    m.training = False\nnet.apply(switch)",
    "net = torch.nn.Sequential(torch.nn.Dropout())\nnet.apply(lambda m: m.eval())",
    "net = torch.nn.Dropout()\ndef mode():\n    return net\nmode().eval()",
    "net = torch.nn.Dropout()\nlist(map(torch.nn.Module.eval, [net]))",
    "class Net(torch.nn.Module):\n    def __init__(this):\n        super().__init__()\n        k = 1\nNet()",
    "net = torch.nn.Linear(1, 1)\nsetattr(net, 'requires_grad', False)",
    "scaler = torch.amp.GradScaler('cpu')\ngrow = scaler.scale\ngrow(x)",
    *(f"{BACKWARD_OF_ONE_STATEMENT}{hook}\n(net(x) * items[0]).sum().backward()" for hook in HOOKS_AMID_BACKWARD),
    "from torch.utils.checkpoint import checkpoint\nnet = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2))\n"
    "checkpoint(net, x.requires_grad_(), use_reentrant=False).exp().sum().backward()",
    "from torch.utils.checkpoint import checkpoint\n"
    "net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Tanh(), torch.nn.Linear(2, 2))\n"
    "checkpoint(net, torch.ones(3, 2, requires_grad=True), use_reentrant=False).exp().sum().backward()",
    "class Log(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, v, kept):\n        ctx.kept = kept\n"
    "        return v * 1\n    @staticmethod\n    def backward(ctx, g):\n        ctx.kept.append(1)\n        return g, "
    "None\n"
    "Log.apply(x.requires_grad_(), items).exp().sum().backward()",
    "def pack(v):\n    return v\ndef unpack(v):\n    items.append(1)\n    return v\n"
    "with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\n"
    "    [x.requires_grad_().exp().exp().sum(), items][0].backward()",
]
"""What a statement changes on ways that its text does not show, or hardly."""


@pytest.mark.parametrize("source", HIDDEN)
def test_changes_that_the_text_hides_are_observed(source: str) -> None:
    assert unobserved(f"import torch\nx = torch.ones(2)\nitems = []\n{source}\nlast = 0\n") == []


def test_an_incomplete_observation_is_noticed() -> None:
    assert unobserved("x = 1\nx = 2\n", overlook_statements) != []
