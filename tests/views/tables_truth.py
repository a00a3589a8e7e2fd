"""What torch itself says of the modules and parameters of a program, run plainly: `python -m tests.views.tables_truth
FILE…`.

Of modules: hooks, and `Module.parameters`. Of parameters: the program's modules by their names, the optimizers' groups,
and norms after each optimizer's step.
"""

import json
import os
import runpy
import sys
from contextlib import redirect_stdout
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


class Truth:
    """Notes calls of modules, and steps of optimizers with what they found and left."""

    def __init__(self) -> None:
        self.modules: dict[int, dict[str, Any]] = {}
        self.steps: dict[int, list[dict[str, Any]]] = {}
        self.last_step: list[dict[str, Any]] = []
        self.last_by_parameter: dict[int, dict[str, Any]] = {}
        self._kept: list[Any] = []
        self._before: dict[int, torch.Tensor] = {}
        self._optimizers: list[torch.optim.Optimizer] = []
        self.tracked: dict[int, torch.Tensor] = {}

    def note_call(self, module: torch.nn.Module, arguments: Any, result: Any) -> None:
        """Torch calls it after a module's forward."""
        self._kept.append(module)
        row = self.modules.setdefault(id(module), {"type": type(module).__name__, "calls": 0})
        row["calls"] += 1
        parameters = {id(p): p for p in module.parameters()}
        for parameter in parameters.values():
            self.tracked[id(parameter)] = parameter
        if row["calls"] == 1:
            row["parameters"] = sum(p.numel() for p in parameters.values())
            row["own"] = sum({id(p): p.numel() for p in module.parameters(recurse=False)}.values())
            row["trainable"] = sum(p.numel() for p in parameters.values() if p.requires_grad)
            row["inputs"] = [list(x.shape) for x in arguments if isinstance(x, torch.Tensor)]
            row["outputs"] = [list(result.shape)] if isinstance(result, torch.Tensor) else None

    def before_step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """Torch calls it before an optimizer's step."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self.tracked[id(parameter)] = parameter
        self._before = {uid: p.detach().clone() for uid, p in self.tracked.items()}

    def after_step(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        """Torch calls it after an optimizer's step."""
        self._kept.append(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                held = {"type": type(optimizer).__name__, "group": number, "lr": float(group["lr"])}
                self.steps.setdefault(id(parameter), []).append(
                    {
                        "held": held,
                        "updated": not torch.equal(self._before[id(parameter)], parameter.detach()),
                        **norms_of(parameter),
                    }
                )
        self.last_by_parameter = {uid: norms_of(parameter) for uid, parameter in self.tracked.items()}

    def parameter_row(self, parameter: torch.Tensor) -> dict[str, Any]:
        """What there is to compare of a parameter."""
        steps = self.steps.get(id(parameter), [])
        last = steps[-1] if steps else self.last_by_parameter.get(id(parameter)) or norms_of(parameter)
        return {
            "shape": list(parameter.shape),
            "numbers": parameter.numel(),
            "requires_grad": parameter.requires_grad,
            "held": [steps[-1]["held"]] if steps else [],
            "steps": len(steps),
            "updated": sum(step["updated"] for step in steps),
            "gradient_norm": last["gradient_norm"],
            "weight_norm": last["weight_norm"],
        }


def norms_of(parameter: torch.Tensor) -> dict[str, float | None]:
    """Of the gradient, None where there is none, and of the weight."""
    gradient = None if parameter.grad is None else parameter.grad.double().norm().item()
    return {"gradient_norm": gradient, "weight_norm": parameter.detach().double().norm().item()}


def print_truth(path: str) -> None:
    """The modules in the order of first calls' ends, and the parameters of the program's modules by each of their
    names."""
    torch.set_num_threads(1)  # as the recorder: noise of sums is what Adam normalises
    truth = Truth()
    torch.nn.modules.module.register_module_forward_hook(truth.note_call)
    register_optimizer_step_pre_hook(truth.before_step)
    register_optimizer_step_post_hook(truth.after_step)
    with redirect_stdout(sys.stderr):
        names = runpy.run_path(path, run_name="__main__")
    parameters = {
        f"{name}.{inner}": truth.parameter_row(parameter)
        for name, value in names.items()
        if isinstance(value, torch.nn.Module)
        for inner, parameter in value.named_parameters(remove_duplicate=False)
    }
    print(json.dumps({"modules": list(truth.modules.values()), "parameters": parameters}))


def main(paths: list[str]) -> None:
    """Print the truth of each program as a line of JSON."""
    for path in paths:
        sys.stdout.flush()
        if os.fork() == 0:
            print_truth(path)
            sys.stdout.flush()
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
