"""The programs that are measured, at any length, and the same work as modules for tools that want one."""

import torch

STEPS = 10_000
"""Iterations of the long loops."""


def rebind(n: int) -> str:
    """One name bound over and over: n statements of one operation each."""
    return "import torch\nx = torch.ones(4)\n" + "x = x + 1\n" * n


def beside_living_tensors(living: int, n: int) -> str:
    """The statements of `rebind` while other tensors live."""
    return f"import torch\nkept = [torch.ones(4) for _ in range({living})]\nx = torch.ones(4)\n" + "x = x + 1\n" * n


def chain(n: int) -> str:
    """Every result stays alive, and so does its node."""
    lines = (f"x{i + 1} = x{i} * 2\n" for i in range(n))
    return "import torch\nx0 = torch.ones(4, requires_grad=True)\n" + "".join(lines)


def adam(n: int) -> str:
    """A small network in training, five statements an iteration."""
    return (
        "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))\n"
        f"opt = torch.optim.Adam(net.parameters())\nx = torch.ones(2, 4)\nfor i in range({n // 5}):\n"
        "    opt.zero_grad()\n    loss = net(x).sum()\n    loss.backward()\n    opt.step()\n"
    )


def loop(n: int) -> str:
    """n iterations of one statement."""
    return f"import torch\nx = torch.ones(4)\nfor i in range({n}):\n    x = x * 0.5 + 1\n"


def adam_loop(n: int) -> str:
    """n iterations of `adam`."""
    return adam(5 * n)


class Rebind(torch.nn.Module):
    """The operations of `rebind`."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.n):
            x = x + 1
        return x


class Chain(torch.nn.Module):
    """The operations of `chain`, every result alive until the end."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        results = [x]
        for _ in range(self.n):
            results.append(results[-1] * 2)
        return results[-1]
