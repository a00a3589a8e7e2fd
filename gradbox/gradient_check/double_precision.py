"""Runs a program that uses a lower precision in float64: every tensor is float64, and random numbers are those of its
own precision."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

WIDER_DTYPES = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}

SAMPLING_OPERATORS = (
    "rand", "randn", "rand_like", "randn_like", "randint", "randint_like", "randperm", "uniform", "normal",
    "normal_functional",
    "bernoulli", "random", "exponential", "geometric", "cauchy", "log_normal", "multinomial", "poisson",
)  # fmt: skip
"""Operators that draw random numbers and whose result has no gradient, including their forms with `_` at the end."""


class UnsupportedInDouble(Exception):
    """An operation can't be run in float64 with the random numbers of another precision."""


BeforeOperation = Callable[[int, Any, Any, Any], None]
AfterOperation = Callable[[int, Any, Any, Any, Any], None]


class ObservedOperations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Calls functions before and after each operation of torch.

    before: called with the operation's number, the operator and its arguments
    after: called with the same and the result
    """

    def __init__(self, before: BeforeOperation | None = None, after: AfterOperation | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._before, self._after = before, after
        self.operation_count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        index = self.operation_count
        self.operation_count += 1
        if self._before is not None:
            self._before(index, func, args, kwargs)
        out = self.run_operation(func, args, kwargs)
        if self._after is not None:
            self._after(index, func, args, kwargs, out)
        return out

    def run_operation(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run the operation and return its result."""
        return func(*args, **kwargs)


class DoublePrecisionMode(ObservedOperations):  # type: ignore[no-untyped-call]
    """Computes in float64 what the program computes in less.

    largest_result: of the results since it was set to a number, the largest; None where nobody asks
    """

    largest_result: float | None = None

    def run_operation(self, func: Any, args: Any, kwargs: Any) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags:
            out = sample_in_program_precision(func, args, kwargs)
        else:
            out = func(*args, **(kwargs_with_wider_dtype(kwargs) if kwargs.get("dtype") in WIDER_DTYPES else kwargs))
        if isinstance(out, torch.Tensor):
            if out.dtype in WIDER_DTYPES:
                out = out.to(WIDER_DTYPES[out.dtype])
        elif out is not None:
            out = tree_map_only(torch.Tensor, to_wider_dtype, out)
        if self.largest_result is not None:
            self.largest_result = max(self.largest_result, largest_number(out))
        return out


def largest_number(out: Any) -> float:
    """The largest finite number of a result that is one tensor of such numbers; else 0."""
    if not isinstance(out, torch.Tensor) or out.layout is not torch.strided or not out.is_floating_point():
        return 0.0
    return float(out.detach().nan_to_num(0, 0, 0).abs().amax()) if out.numel() else 0.0


def kwargs_with_wider_dtype(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**kwargs, "dtype": WIDER_DTYPES[kwargs["dtype"]]}


def to_wider_dtype(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(WIDER_DTYPES[tensor.dtype]) if tensor.dtype in WIDER_DTYPES else tensor


def program_default_dtype() -> torch.dtype:
    """The precision in which the program makes its tensors: torch's default dtype."""
    return torch.get_default_dtype()


def sample_in_program_precision(func: Any, args: Any, kwargs: Any) -> Any:
    """Run a random operation in the program's precision, because float64 would take other numbers from the generator.

    Raises UnsupportedInDouble for an operation that also computes with its arguments.
    """
    name = func.__name__.split(".")[0]
    if name.rstrip("_") not in SAMPLING_OPERATORS:
        if all(not value.is_floating_point() for value in tensors_in_arguments(args, kwargs)):
            return func(*args, **kwargs)
        raise UnsupportedInDouble(name)
    narrow = program_default_dtype()
    if name.endswith("_") and isinstance(args[0], torch.Tensor) and args[0].is_floating_point():
        drawn = torch.empty_like(args[0], dtype=narrow)
        func(drawn, *to_narrower_dtype(args[1:], narrow), **to_narrower_dtype(kwargs, narrow))
        with torch.no_grad():
            args[0].detach().copy_(drawn)
        return args[0]
    if name.endswith("_like") and kwargs.get("dtype") is None and args[0].is_floating_point():
        kwargs = {**kwargs, "dtype": narrow}
    return func(*to_narrower_dtype(args, narrow), **to_narrower_dtype(kwargs, narrow))


def to_narrower_dtype(values: Any, dtype: torch.dtype) -> Any:
    def cast(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().to(dtype) if tensor.dtype == torch.float64 else tensor

    return tree_map_only(torch.Tensor, cast, values)


def tensors_in_arguments(args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensors among the arguments of an operation, including those in lists, in order."""
    out = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            out.append(value)
        elif isinstance(value, list | tuple):
            out.extend(item for item in value if isinstance(item, torch.Tensor))
    return out
