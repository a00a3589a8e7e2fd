"""Keeps the first call of each of the program's own `autograd.Function`s, with copies of its arguments, to check it
after the run."""

import functools
from dataclasses import dataclass
from typing import Any, Self

import torch

from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.stack import is_program_code

MAX_FUNCTIONS = 8
"""Classes of which a call is kept."""

MAX_ELEMENTS = 4096
"""Elements of all tensors of a call that are copied. A larger call is not kept."""

_PLAIN_TYPES = (int, float, str, bool, type(None), torch.dtype, torch.device)


@dataclass(frozen=True)
class FunctionCall:
    """A call of `apply`.

    arguments: tensors are copies without a history, which require grad if the originals did
    """

    function: Any
    arguments: tuple[Any, ...]
    line: int


class CustomFunctionCalls:
    """Wraps `torch.autograd.Function.apply` while entered. Its copies keep nothing of the program alive."""

    def __init__(self, context: ProbeContext) -> None:
        self._context = context
        self._original: Any = None
        self._seen: set[int] = set()
        self.calls: list[FunctionCall] = []

    def __enter__(self) -> Self:
        original = self._original = torch.autograd.Function.__dict__["apply"]
        plain = original.__func__

        @functools.wraps(plain)
        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if id(cls) not in self._seen and not kwargs and not self._context.guard.busy:
                with self._context.guard():
                    self._copy_arguments_of_call(cls, args)
            return plain(cls, *args, **kwargs)

        setattr(torch.autograd.Function, "apply", classmethod(apply))
        return self

    def __exit__(self, *_: object) -> None:
        setattr(torch.autograd.Function, "apply", self._original)

    def _copy_arguments_of_call(self, function: Any, arguments: tuple[Any, ...]) -> None:
        """Copy the arguments of a call, unless it is not the program's or something in it can't be copied."""
        self._seen.add(id(function))
        forward = getattr(function.forward, "__code__", None)
        if forward is None or not is_program_code(forward) or len(self.calls) >= MAX_FUNCTIONS:
            return
        tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        is_plain = all(type(tensor) in (torch.Tensor, torch.nn.Parameter) for tensor in tensors)
        if not is_plain or sum(tensor.numel() for tensor in tensors) > MAX_ELEMENTS or not tensors:
            self._seen.discard(id(function))  # a later call may be smaller
            return
        if torch._C._are_functorch_transforms_active() or not all(map(_is_copyable, arguments)):
            return
        if any(tensor.layout is not torch.strided or tensor.device.type != "cpu" for tensor in tensors):
            return
        copies = tuple(
            _detached_clone(argument) if isinstance(argument, torch.Tensor) else argument for argument in arguments
        )
        self.calls.append(FunctionCall(function, copies, forward.co_firstlineno))


def _detached_clone(tensor: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _is_copyable(argument: Any) -> bool:
    if isinstance(argument, tuple):
        return all(map(_is_copyable, argument))
    return isinstance(argument, torch.Tensor) or type(argument) in _PLAIN_TYPES
