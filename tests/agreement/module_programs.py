"""Statements for every class of `torch.nn`: they print digests of all bits that it computes, in train and in eval.

A digest is of raw bytes, dtype, shape, strides and the node behind a tensor.
"""

import re

from tests.agreement.module_cases import CASES, LINE

HEAD = """\
import hashlib
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence
plain = lambda thing: thing is None or isinstance(thing, (torch.Tensor, int, float, str))
parts = lambda thing: thing.values() if isinstance(thing, dict) else thing
leaves = lambda thing: [thing] if plain(thing) else [leaf for part in parts(thing) for leaf in leaves(part)]
tensors = lambda thing: [leaf for leaf in leaves(thing) if isinstance(leaf, torch.Tensor)]
dense = lambda t: t.to_dense() if t.is_sparse else t
bits = lambda t: bytes(dense(t).detach().reshape(-1).view(torch.uint8).tolist())
node = lambda t: t.grad_fn.name() if t.grad_fn is not None else t.requires_grad
facts = lambda t: (t.dtype, t.layout, list(t.shape), None if t.is_sparse else t.stride(), node(t))
one = lambda leaf: repr(facts(leaf)).encode() + bits(leaf) if isinstance(leaf, torch.Tensor) else repr(leaf).encode()
digest = lambda *things: hashlib.sha256(b"|".join(map(one, leaves(things)))).hexdigest()[:16]
total = lambda thing: sum(t.double().square().sum() for t in tensors(thing) if t.requires_grad)
grads = lambda things: [t.grad for t in tensors(things) if t.is_leaf and t.requires_grad]
"""

TRAINING = """\
module.train()
if any(True for _ in module.parameters()):
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        total({call}).backward()
        optimizer.step()
    print({told}, digest(module.state_dict()))
"""


HOLDERS = {
    "Module": (
        "self.net, self.scale = nn.Linear(8, 3), nn.Parameter(torch.randn(3))",
        "self.register_buffer('shift', torch.zeros(3))",
        "return self.net(x) * self.scale + self.shift.add_(1)",
    ),
    "ModuleList": (
        "self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Dropout()])",
        "self.layers.append(nn.Linear(8, 2))",
        "return self.layers[2](self.layers[1](self.layers[0](x)))",
    ),
    "ModuleDict": (
        "self.chosen = nn.ModuleDict({'a': nn.Linear(8, 2)})",
        "self.chosen['b'] = nn.Linear(8, 2, bias=False)",
        "return self.chosen['b'](x) + self.chosen['a'](x)",
    ),
    "ParameterList": (
        "self.weights = nn.ParameterList([torch.randn(8, 2)])",
        "self.weights.append(torch.randn(2))",
        "return x @ self.weights[0] + self.weights[1]",
    ),
    "ParameterDict": (
        "self.named = nn.ParameterDict({'w': torch.randn(8, 2)})",
        "self.named['b'] = torch.randn(2)",
        "return x @ self.named['w'] + self.named['b']",
    ),
}
"""Classes that hold others: two statements that fill one, and a forward that uses it."""

HOLDER = """\
class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        {}
        {}

    def forward(self, x):
        {}
"""

EXCLUDED = {
    "Container": "a deprecated name for Module",
    "RNNBase": "has no forward; RNN, LSTM and GRU are made of it",
    "RNNCellBase": "has no forward; RNNCell, LSTMCell and GRUCell are made of it",
}
"""Classes of `torch.nn` that have none, and why."""


def names() -> list[str]:
    """The classes that have statements here."""
    return sorted({name(make) for case in CASES for make in case.makes} | set(HOLDERS))


def name(make: str) -> str:
    match = re.match(r"\w+", make)
    assert match is not None
    return match[0]


def body(of: str) -> str:
    """The statements for a class, after HEAD: each of its modules in train and in eval, called with each of its
    inputs."""
    if of in HOLDERS:
        source = HOLDER.format(*HOLDERS[of])
        makes: list[tuple[dict[str, str], tuple[str, ...], str]] = [(LINE, ("x",), "Holder()")]
    else:
        source = ""
        makes = [(case.given, case.calls, f"nn.{make}") for case in CASES for make in case.makes if name(make) == of]
    for k, (given, calls, make) in enumerate(makes):
        source += "".join(section(given, calls, make, mode) for mode in ("train", "eval"))
        if k == 0 and len(calls) < 4:
            source += TRAINING.format(call=f"module({calls[0]})", told=repr(f"{make} trained"))
    return source


def section(given: dict[str, str], calls: tuple[str, ...], make: str, mode: str) -> str:
    """The statements for one module in one mode; in eval also where no gradient is wanted, where fast paths lie."""
    lines = ["torch.manual_seed(1)", *(f"{key} = {value}" for key, value in given.items())]
    lines += [f"module = {make}", f"module.{mode}()"]
    for call in calls:
        label = repr(f"{make} {mode} {call}")
        lines += [f"out = module({call})", f"print({label}, digest(out))"]
        if mode == "train" or call == calls[-1]:
            lines.append("total(out).backward()")
            lines.append(f"print('grads', digest(grads([{', '.join(given)}])), digest(grads(module.parameters())))")
        if mode == "eval":
            for where in ("no_grad", "inference_mode") if call == calls[-1] else ("no_grad",):
                lines += [f"with torch.{where}():", f"    print({label}, '{where}', digest(module({call})))"]
    lines.append(f"print({make + ' ' + mode!r}, digest(module.state_dict()))")
    return "\n".join(lines) + "\n"
