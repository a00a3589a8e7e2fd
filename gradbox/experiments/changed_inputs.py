"""Inputs of a model with some of their values changed, and where two results differ."""

import math
from typing import Any

import torch

from gradbox.experiments.module_calls import tensors_in
from gradbox.gradient_check.training_assertion import map_tensors

RELATIVE_TOLERANCE = 1e-4


def with_values_changed(value: Any, places: torch.Tensor, dims: tuple[int, ...]) -> tuple[Any, int]:
    """A structure of tensors with other values at some places, and how many tensors were changed: those whose first two
    sizes are the first one's, for a mask of positions by positions is no input with positions. Raises ValueError for
    integers that are all equal.

    places: bool, whether to change the values at an index of `dims`; as long along each of them as a tensor that is
        changed
    dims: the dimensions of the tensors that the places are along, in rising order
    """
    changed = 0
    first = next((tensor for tensor in tensors_in(value) if tensor.dim() > dims[-1]), None)
    sizes = first.shape[:2] if first is not None else ()

    def change(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal changed
        if tensor.dim() <= dims[-1] or tuple(tensor.shape[:2]) != tuple(sizes[: tensor.dim()]):
            return tensor
        if tuple(tensor.shape[dim] for dim in dims) != tuple(places.shape):
            return tensor
        changed += 1
        shape = [tensor.shape[dim] if dim in dims else 1 for dim in range(tensor.dim())]
        return torch.where(places.to(tensor.device).view(shape), other_values(tensor), tensor)

    return map_tensors(value, change), changed


def other_values(tensor: torch.Tensor) -> torch.Tensor:
    """Values of the same kind that differ from those of the tensor: integers that occur in it, or normal numbers as
    far apart."""
    if tensor.dtype == torch.bool:
        return ~tensor
    if tensor.is_floating_point() or tensor.is_complex():
        generator = torch.Generator().manual_seed(0)
        numbers = torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.device)
        sizes = torch.nan_to_num(tensor.detach().abs().double(), posinf=0.0)
        scale = sizes.std().item() if tensor.numel() > 1 else 0.0
        return tensor.detach() + (numbers * max(scale, 1.0)).to(tensor.dtype)
    values: torch.Tensor = tensor.unique()  # type: ignore[no-untyped-call]
    if len(values) > 1:
        return values[(torch.searchsorted(values, tensor) + 1) % len(values)]
    if values.numel() and values.item() > 0:
        return tensor - 1
    raise ValueError("an integer input has the same value everywhere; use one with at least two values")


def moved_elements(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Which elements differ by more than rounding: bool, of the tensors' shape, on the CPU."""
    before, after = before.cpu(), after.cpu()
    if not before.is_floating_point() and not before.is_complex():
        return before != after
    scale = torch.nan_to_num(before.abs(), 0.0, 0.0, 0.0).max().item() if before.numel() else 0.0
    absolute = math.sqrt(torch.finfo(before.dtype).eps) * 0.03 * max(scale, 1e-6)
    return ~torch.isclose(before, after, rtol=RELATIVE_TOLERANCE, atol=absolute, equal_nan=True)


def is_confined(moved: torch.Tensor, allowed: torch.Tensor) -> bool:
    """Whether some dimensions of a tensor can be those of `allowed`, so that only allowed elements moved.

    A dimension may also be flattened with others before or after it. What no dimension fits is only confined where
    nothing moved.

    moved: bool
    allowed: bool, one or two dimensions
    """
    if not moved.any():
        return True
    if allowed.dim() == 1:
        return any(not (along & ~allowed).any() for along in moved_along(moved, len(allowed)))
    first, second = allowed.shape
    for a in range(moved.dim()):
        for b in range(moved.dim()):
            if a != b and (moved.shape[a], moved.shape[b]) == (first, second):
                both = moved.movedim((a, b), (0, 1)).reshape(first, second, -1).any(2)
                if not (both & ~allowed).any():
                    return True
    flat = allowed.flatten(), allowed.t().flatten()
    return any(not (along & ~one).any() for one in flat for along in moved_along(moved, len(one)))


def moved_along(moved: torch.Tensor, size: int) -> list[torch.Tensor]:
    """At which of `size` indices something moved, for each dimension that may be the one of that size: by itself, or
    flattened with those before and after it."""
    found = []
    for dim, length in enumerate(moved.shape):
        if not size or not length or length % size:
            continue
        along = moved.movedim(dim, 0).reshape(length, -1).any(1)
        others = length // size
        found += [along.view(n, size, -1).any(2).any(0) for n in range(1, others + 1) if others % n == 0]
    return found


def has_dimension(tensor: torch.Tensor, size: int) -> bool:
    """Whether a dimension of the tensor may be one of this size, alone or flattened with others."""
    return any(length and length % size == 0 for length in tensor.shape)
