"""What torch itself is told in a training: a context in which a program prints, at its end, the modes of its layers and
its steps."""

import json
from collections.abc import Callable
from typing import Any, Self

import torch
from torch.nn import functional
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook

MARK = "training facts: "

LAYERS: dict[str, tuple[str, Callable[[dict[str, Any]], tuple[bool, float | None]]]] = {
    **{
        name: ("dropout", lambda given: (given["training"], given["p"]))
        for name in ("dropout", "dropout1d", "dropout2d", "alpha_dropout")
    },
    "scaled_dot_product_attention": ("dropout", lambda given: (given["dropout_p"] > 0, given["dropout_p"])),
    "batch_norm": ("batch_norm", lambda given: (given["training"], None)),
}
"""Functions of `torch.nn.functional`, with what the arguments of a call say: whether it is on, and the probability."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "batch_norm": {"training": False},
    "scaled_dot_product_attention": {"dropout_p": 0.0},
}

PARAMETERS = {
    "batch_norm": ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
    "scaled_dot_product_attention": ("query", "key", "value", "attn_mask", "dropout_p", "is_causal"),
}


class TrainingFacts:
    """While entered, calls of layers and steps of optimizers are noted by hooks and wrappers of torch's Python
    functions."""

    def __init__(self) -> None:
        self._noted: list[list[Any]] = []
        self._modules: list[torch.nn.Module] = []
        self._originals: dict[str, Any] = {}
        self._handles: list[Any] = []

    def __enter__(self) -> Self:
        for name in LAYERS:
            self._originals[name] = getattr(functional, name)
            setattr(functional, name, self._noting(name))
        self._handles = [
            register_module_forward_pre_hook(lambda module, _: self._modules.append(module)),
            register_module_forward_hook(self._leave_module),
            register_optimizer_step_post_hook(
                lambda optimizer, *_: self._noted.append(["step", type(optimizer).__name__])
            ),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for name, original in self._originals.items():
            setattr(functional, name, original)
        for handle in self._handles:
            handle.remove()
        print(MARK + json.dumps(self._noted))

    def _leave_module(self, *_: Any) -> None:
        self._modules.pop()

    def _noting(self, name: str) -> Callable[..., Any]:
        original = self._originals[name]
        layer, mode = LAYERS[name]

        def call(*args: Any, **kwargs: Any) -> Any:
            parameters = PARAMETERS.get(name, ("input", "p", "training", "inplace"))
            given = {
                "p": 0.5,
                "training": True,
                **DEFAULTS.get(name, {}),
                **dict(zip(parameters, args, strict=False)),
                **kwargs,
            }
            modules = [[type(module).__name__, module.training] for module in reversed(self._modules)]
            self._noted.append([layer, *mode(given), modules])
            return original(*args, **kwargs)

        return call
