"""The gradients that a plain run of a program leaves, in a process of its own."""

import warnings
from typing import Any

import torch

Gradients = dict[str, torch.Tensor | None]


def gradients_of_program(source: str) -> Gradients:
    """Of every variable that a program leaves: the gradients of tensors and of modules' parameters, by name."""
    variables: dict[str, Any] = {}
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    exec(compile(source, "program", "exec"), variables)
    found: Gradients = {}
    for name, value in variables.items():
        if isinstance(value, torch.Tensor) and value.requires_grad and (value.is_leaf or value.retains_grad):
            found[name] = value.grad
        elif isinstance(value, torch.nn.Module):
            found |= {f"{name}.{path}": parameter.grad for path, parameter in value.named_parameters()}
    return found
