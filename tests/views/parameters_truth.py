"""What torch says of each parameter before and after every `Optimizer.step` of a plain run, in a process of its own."""

from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


def norm(tensor: torch.Tensor | None) -> float | None:
    return None if tensor is None else tensor.detach().double().norm().item()


def parameter_rounds(source: str) -> list[dict[str, Any]]:
    """By step of an optimizer, and by parameter: its gradient and weight, who holds it, how far it moved."""
    rounds: list[dict[str, Any]] = []
    before: dict[str, torch.Tensor] = {}
    names: dict[str, Any] = {}

    def parameters() -> dict[str, torch.Tensor]:
        modules = {name: value for name, value in names.items() if isinstance(value, torch.nn.Module)}
        return {f"{n}.{path}": p for n, m in modules.items() for path, p in m.named_parameters(remove_duplicate=False)}

    def note_before(*_: Any) -> None:
        before.clear()
        before.update({name: parameter.detach().double().clone() for name, parameter in parameters().items()})

    def note_after(optimizer: Optimizer, *_: Any) -> None:
        kind, groups = type(optimizer).__name__, enumerate(optimizer.param_groups)
        held = {id(p): (kind, k, float(group["lr"])) for k, group in groups for p in group["params"]}
        now = parameters()
        moved = {name: norm(p.detach().double() - before[name]) for name, p in now.items()}
        facts = {
            name: {"gradient": norm(p.grad), "weight": norm(p), "held": held.get(id(p))} for name, p in now.items()
        }
        rounds.append({name: {**facts[name], "moved": moved[name]} for name in now})

    register_optimizer_step_pre_hook(note_before)
    register_optimizer_step_post_hook(note_after)
    exec(compile(source, "program", "exec"), names)
    return rounds
