"""What a plain run says of its rounds: values at `backward`, norms before and after `Optimizer.step`, told by torch
itself."""

from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

PREAMBLE = "import torch\ntorch.manual_seed(0)\n"


def norm(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor.detach().double()))


def rounds_of(source: str) -> dict[str, Any]:
    """losses: of each backward; steps: of each `Optimizer.step`, a list of (gradient norm, weight norm, distance) by
    parameter."""
    losses: list[float] = []
    steps: list[list[tuple[float | None, float, float]]] = []
    backward = torch.Tensor.backward
    kept: list[torch.Tensor] = []

    def noted_backward(self: torch.Tensor, *arguments: Any, **named: Any) -> None:
        losses.append(float(self))
        backward(self, *arguments, **named)

    def before(optimizer: Optimizer, *_: Any) -> None:
        kept[:] = [p.detach().clone() for group in optimizer.param_groups for p in group["params"]]

    def after(optimizer: Optimizer, *_: Any) -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        steps.append(
            [
                (None if p.grad is None else norm(p.grad), norm(p), norm(p.detach().double() - old.double()))
                for p, old in zip(parameters, kept, strict=True)
            ]
        )

    handles = [register_optimizer_step_pre_hook(before)]
    handles.append(register_optimizer_step_post_hook(after))
    torch.Tensor.backward = noted_backward
    try:
        exec(compile(source, "<program>", "exec"), {"__name__": "__main__", "print": lambda *_: None})
    finally:
        torch.Tensor.backward = backward
        for handle in handles:
            handle.remove()
    return {"losses": losses, "steps": steps}
