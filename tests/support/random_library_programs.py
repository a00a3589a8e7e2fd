"""Random programs that reach further into torch: scripts and traces, graphs of fx, transforms, modes, sparse tensors,
files.

`python -m tests.support.random_library_programs FIRST LAST FOLDER` writes them as files; a seed gives the same program
always.
"""

import sys
from pathlib import Path

from tests.support.random_programs import MATHS, VIEWS, Kinds, Writer

BODIES = (
    ("c = a * b", "c.add_(1)", "return c + a"),
    ("c = a.view(-1)", "d = c[0] + b.sum()", "return d * c"),
    ("if bool(a.sum() > b.sum()):", "    a = a * 2", "else:", "    a = a + b", "return a.exp()"),
    ("for i in range(3):", "    a = a + b * i", "return a.sum()"),
    ("c = a.detach()", "c = c * 3", "return c + a"),
    ("a.mul_(2)", "return a + b"),
    ("v = a[0]", "v = v + 1.0", "return v.relu() * b"),
    ("return torch.cat([a.flatten(), b.flatten()])",),
    ("c = torch.zeros_like(a)", "c[0] = 5.0", "return c * b"),
    ("return (a @ b).tanh()",),
)
"""Of functions of `a` and `b` that torch.jit compiles."""

TRACED = (
    "a * 2 + 1",
    "a.view(-1) * a.numel()",
    "a.detach() + a",
    "a.t() * 3",
    "a.clone().mul_(2)",
    "a[0] * a.size(0)",
    "a.sum().exp()",
)
SYMBOLIC = (
    "a * b + 1",
    "torch.relu(a) - b",
    "a.view(-1).sum() * b",
    "torch.stack([a, b]).mean(0)",
    "a.clone().add_(b)",
    "a[0] + b[0]",
)
FUNC = (
    "torch.func.grad(lambda a: (a * {y}).sum())({x})",
    "torch.func.grad(lambda a: (a ** 3).sum())({x})",
    "torch.func.grad(torch.func.grad(lambda a: (a ** 3).sum()))({x}.sum())",
    "torch.func.vmap(lambda a: a * 2 + a.sum())({x})",
    "torch.func.vmap(torch.mul, in_dims=(0, None))({x}, {y})",
    "torch.func.vmap(torch.func.grad(lambda a: a.sin().sum()))({x})",
    "torch.func.jacrev(lambda a: a * a.sum())({x})",
    "torch.func.jacfwd(lambda a: a.exp() * {y})({x})",
    "torch.func.hessian(lambda a: (a ** 3).sum())({x})",
    "torch.func.jvp(torch.sin, ({x},), (torch.ones_like({x}),))[1]",
    "torch.func.vjp(torch.exp, {x})[1](torch.ones_like({x}))[0]",
    "torch.func.functional_call(net, {{'weight': net.weight * 2, 'bias': net.bias}}, (torch.ones(1, 3),))",
    "torch.autograd.functional.jacobian(lambda a: a * a, {x})",
    "torch.autograd.functional.hvp(lambda a: (a ** 3).sum(), {x}, torch.ones_like({x}))[1]",
    "torch.func.functionalize(lambda a: a.clone().add_(1))({x})",
)
SPARSE = (
    "{x}.to_sparse()",
    "{x}.to_sparse().coalesce()",
    "{x}.to_sparse()._values()",
    "{x}._values()",
    "{x}._indices()",
    "{x}.coalesce().values()",
    "{x}.to_dense()",
    "{x}.to_sparse_csr()",
    "{x}.values()",
    "{x}.crow_indices()",
    "torch.sparse_coo_tensor(torch.tensor([[0, 2]]), {x}.flatten()[:2], (3,))",
    "torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 2) * {x}.sum())",
    "torch.sparse.sum({x})",
    "{x}.grad._values()",
    "{x}.grad._indices()",
    "table.weight.grad",
    "table.weight.grad._values()",
)
SPARSE_STATEMENTS = (
    "table(torch.tensor([0, 2, 2])).sum().backward()",
    "(table(torch.tensor([1])) * {x}.sum()).sum().backward()",
    "table.weight.grad.mul_(2)",
    "table.weight.grad = table.weight.grad.coalesce()",
    "{x}.mul_(2)",
    "{x}.to_sparse().sum().backward()",
    "table.zero_grad()",
)
SAVED = (
    ("torch.save({x}, 'a.pt')", "{v} = torch.load('a.pt')"),
    ("torch.save({{'x': {x}, 'y': {y}}}, 'b.pt')", "{v} = torch.load('b.pt', weights_only=True)['y']"),
    ("torch.save([{x}, {x}.view(-1)], 'c.pt')", "kept.append(torch.load('c.pt'))", "{v} = kept[-1][1]"),
    ("torch.save(net.state_dict(), 'net.pt')", "print(net.load_state_dict(torch.load('net.pt')))", "{v} = net.weight"),
    ("buffer = io.BytesIO()", "torch.save({x}, buffer)", "buffer.seek(0)", "{v} = torch.load(buffer)"),
    ("np.save('d.npy', {x}.detach().numpy())", "{v} = torch.from_numpy(np.load('d.npy'))"),
    ("{v} = pickle.loads(pickle.dumps({x}))",),
    (
        "with open('e.pkl', 'wb') as file:",
        "    pickle.dump({x}.detach(), file)",
        "with open('e.pkl', 'rb') as file:",
        "    {v} = pickle.load(file)",
    ),
    ("torch.jit.save(torch.jit.script(net), 'net.ts')", "{v} = torch.jit.load('net.ts')(torch.ones(1, 3))"),
    ("torch.save(net, 'whole.pt')", "{v} = torch.load('whole.pt', weights_only=False).weight"),
    ("{v} = torch.load('missing.pt')",),
)
INSIDE = (
    "Log()",
    "torch.autocast('cpu', dtype=torch.bfloat16)",
    "torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])",
    "torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)",
    "torch.autograd.graph.save_on_cpu()",
    "torch.device('cpu')",
    "torch.autograd.forward_ad.dual_level()",
    "torch.jit.optimized_execution(False)",
)
OTHER = (
    "torch.utils.checkpoint.checkpoint(lambda a: a.sin() * a, {x}, use_reentrant=False)",
    "{x}.as_subclass(Named)",
    "Square.apply({x})",
    "net({x}.flatten()[:3].view(1, -1))",
    "scripted(torch.ones(2, 3) * {x}.sum())",
    "torch.nested.nested_tensor([{x}.flatten(), {y}.flatten()]).to_padded_tensor(0.0)",
    "torch.ops.aten.add.Tensor({x}, {y}, alpha=2)",
)
PRELUDE = """\
import io
import pickle

import copy

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

kept = []
net = torch.nn.Linear(3, 2)
scripted = torch.jit.script(net)
table = torch.nn.Embedding(4, 2, sparse=True)


class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func)
        return func(*args, **(kwargs or {}))


class Named(torch.Tensor):
    pass


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


"""


class LibraryWriter(Writer):
    """Writes one program."""

    IMPORTS = tuple(PRELUDE.splitlines())

    def _kinds(self) -> Kinds:
        return [
            *((weight / 2, write) for weight, write in super()._kinds()),
            (2.0, self._script),
            (1.0, self._trace),
            (1.0, self._symbolic),
            (0.15, self._make_fx),
            (2.0, lambda: self._bind(FUNC)),
            (2.0, lambda: self._bind(SPARSE)),
            (1.0, lambda: [self._fill(SPARSE_STATEMENTS)]),
            (2.0, self._saved),
            (1.0, self._inside),
            (1.0, lambda: self._bind(OTHER)),
        ]

    def _two(self) -> tuple[str, str]:
        return self._random.choice(self._tensors), self._random.choice(self._tensors)

    def _script(self) -> list[str]:
        function, name, (x, y) = self._new(), self._new(), self._two()
        body = self._random.choice(BODIES)
        calls = [f"{name} = {function}({x}, {y})"] * self._random.choice((1, 1, 3))
        self._tensors.append(name)
        return ["@torch.jit.script", f"def {function}(a, b):", *(f"    {line}" for line in body), *calls]

    def _trace(self) -> list[str]:
        function, name, (x, y) = self._new(), self._new(), self._two()
        self._tensors.append(name)
        check = self._random.choice(("", ", check_trace=False"))
        return [
            f"{function} = torch.jit.trace(lambda a: {self._random.choice(TRACED)}, {x}{check})",
            f"print({function}.code)",
            f"{name} = {function}({y})",
        ]

    def _symbolic(self) -> list[str]:
        function, name, (x, y) = self._new(), self._new(), self._two()
        self._tensors.append(name)
        return [
            f"{function} = torch.fx.symbolic_trace(lambda a, b: {self._random.choice(SYMBOLIC)})",
            f"print({function}.graph)",
            f"{name} = {function}({x}, {y})",
        ]

    def _make_fx(self) -> list[str]:
        function, name, (x, y) = self._new(), self._new(), self._two()
        self._tensors.append(name)
        mode = self._random.choice(("real", "fake", "symbolic"))
        return [
            "from torch.fx.experimental.proxy_tensor import make_fx",
            f"{function} = make_fx(lambda a, b: {self._random.choice(SYMBOLIC)}, tracing_mode='{mode}')({x}, {y})",
            f"print({function}.code)",
            f"{name} = {function}({x}, {y})",
        ]

    def _saved(self) -> list[str]:
        name, (x, y) = self._new(), self._two()
        lines = [line.format(x=x, y=y, v=name) for line in self._random.choice(SAVED)]
        self._tensors.append(name)
        return lines

    def _inside(self) -> list[str]:
        templates = self._random.choice((VIEWS, MATHS, FUNC, SPARSE))
        lines = self._bind(templates)
        if self._random.random() < 0.4:
            lines.append(self._fill(("({x} * {y}).sum().backward()", "{x}.add_(1)", "print({x})")))
        return [f"with {self._random.choice(INSIDE)}:", *(f"    {line}" for line in lines)]


def program(seed: int) -> str:
    """The program of a seed."""
    return LibraryWriter(seed).program()


def main(first: int, last: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, last):
        (folder / f"l{seed:06d}.py").write_text(program(seed))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
