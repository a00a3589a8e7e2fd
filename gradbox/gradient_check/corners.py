"""Operations whose slope jumps somewhere, and whether an input lies exactly there."""

from collections.abc import Callable
from typing import Any

import torch


def _is_at_zero(args: Any, _kwargs: Any, _out: Any) -> bool:
    return bool((args[0] == 0).any())


def _has_equal_operands(args: Any, _kwargs: Any, _out: Any) -> bool:
    return bool((args[0] == args[1]).any())


def _is_at_bound(args: Any, kwargs: Any, _out: Any) -> bool:
    bounds = [*args[1:3], kwargs.get("min"), kwargs.get("max")]
    return any(bool((args[0] == bound).any()) for bound in bounds if bound is not None)


def _has_ties(args: Any, kwargs: Any, out: Any) -> bool:
    """Whether the largest, or smallest, stands in several places."""
    best = out[0] if isinstance(out, tuple) else out
    dims = args[1] if len(args) > 1 else kwargs.get("dim", [])
    dims = [dims] if isinstance(dims, int) else list(dims)
    keeps = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
    if not dims:
        return bool((args[0] == best).sum() > 1)
    if not keeps:
        for dim in sorted(d % args[0].dim() for d in dims):
            best = best.unsqueeze(dim)
    return bool(((args[0] == best).sum(dims) > 1).any())


CORNER_CHECKS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "relu": _is_at_zero,
    "leaky_relu": _is_at_zero,
    "abs": _is_at_zero,
    "clamp": _is_at_bound,
    "clamp_min": _is_at_bound,
    "clamp_max": _is_at_bound,
    "hardtanh": _is_at_bound,
    "threshold": _is_at_bound,
    "maximum": _has_equal_operands,
    "minimum": _has_equal_operands,
    "max": _has_ties,
    "min": _has_ties,
    "amax": _has_ties,
    "amin": _has_ties,
}
"""By the operator's name. Those that write in place are missing: afterwards nobody knows what their input was."""


def corner_operation(func: Any, args: Any, kwargs: Any, out: Any) -> str | None:
    """The name of an operation that has an input where its slope jumps; None of any other."""
    name = func.__name__.split(".")[0]
    check = CORNER_CHECKS.get(name)
    if check is None or not args or not isinstance(args[0], torch.Tensor) or not args[0].is_floating_point():
        return None
    try:
        return name if check(args, kwargs, out) else None
    except (RuntimeError, IndexError, TypeError):  # other arguments than those of the usual overloads
        return None
