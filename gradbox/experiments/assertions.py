"""Assertions for tests of models: a model is run again with one thing changed, and what may not follow from it is
asserted. Each names the first module at which it is seen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gradbox.experiments.changed_inputs import has_dimension, is_confined, moved_elements, with_values_changed
from gradbox.experiments.module_calls import (
    ModuleLog,
    copied_tensors,
    first_disallowed_difference,
    first_seen_sentence,
    log_module_calls,
)
from gradbox.gradient_check.training_assertion import (
    model_optimizer_and_random_state_restored,
    sample_count,
    shortened_list,
)

NEGLIGIBLE_GRADIENT_RATIO = 1e-5
"""A difference smaller than the largest gradient by this factor may be a rounding error."""


def assert_samples_stay_apart(model: nn.Module, *inputs: Any, batch_dim: int = 0, **options: Any) -> None:
    """Assert that no sample of a batch changes the model's output for another: `assert_samples_stay_apart(net, x)`.

    The values of the first and then of the last sample are changed. The model runs in the mode in which it is: in
    training mode a batch norm mixes samples. The model and the random numbers are afterwards what they were. Raises
    AssertionError with the samples that moved and the first module at which they do; ValueError for inputs or outputs
    without samples, and for outputs whose shapes depend on the values.

    inputs: what the model is called with; tensors with the first one's samples are changed
    options: further arguments of the model, which stay as they are
    """
    size = size_along(inputs, batch_dim, "samples")
    plain = run_twice_alike(model, inputs, options)
    check_outputs(plain, batch_dim, size, "samples")
    for changed in (0, size - 1):
        leak = leak_along(plain, model, inputs, options, batch_dim, torch.arange(size) == changed)
        if leak is not None:
            leak.fail(f"{type(model).__name__} mixes samples: when sample {changed} changes", "for sample")


def assert_no_future(model: nn.Module, *inputs: Any, time_dim: int = 1, causal_from: int = 1, **options: Any) -> None:
    """Assert that a later position of a sequence changes no earlier output: `assert_no_future(gpt, tokens)`.

    The values from a position on are changed: from the last one, from the middle, and from `causal_from`. Raises
    AssertionError with the outputs that moved and the first module at which they do; ValueError for inputs or outputs
    without positions. The model is afterwards what it was.

    inputs: what the model is called with; tensors with the first one's samples and positions are changed
    causal_from: positions before this one may see each other, like those of a prompt
    options: further arguments of the model, like masks, which stay as they are
    """
    size = size_along(inputs, time_dim, "positions")
    if not 1 <= causal_from < size:
        raise ValueError(f"causal_from: from 1 to {size - 1}, not {causal_from}")
    plain = run_twice_alike(model, inputs, options)
    check_outputs(plain, time_dim, size, "positions")
    for start in sorted({size - 1, max(size // 2, causal_from), causal_from}, reverse=True):
        leak = leak_along(plain, model, inputs, options, time_dim, torch.arange(size) >= start)
        if leak is not None:
            since = f"position {start} changes" if start == size - 1 else f"the input changes from position {start} on"
            leak.fail(f"{type(model).__name__} sees the future: when {since}", "at position")


def assert_padding_is_ignored(
    model: nn.Module,
    *inputs: Any,
    padding: torch.Tensor,
    batch_dim: int = 0,
    time_dim: int = 1,
    **options: Any,
) -> None:
    """Assert that what stands in padded positions changes nothing that counts: `assert_padding_is_ignored(net, tokens,
    padding=tokens == 0, mask=tokens != 0)`.

    The values there are changed. Outputs at the other positions may not move, nor may outputs without positions, like a
    loss or a pooled vector. Raises AssertionError with what moved and the first module at which it does; ValueError for
    inputs of another shape than the padding's, and for padding everywhere or nowhere.

    padding: bool, (samples, positions), True where an input is padded
    inputs: what the model is called with; tensors with these samples and positions are changed
    options: further arguments of the model, like masks and lengths, which stay as they are
    """
    if padding.dtype != torch.bool or padding.dim() != 2:
        raise ValueError("padding: a bool tensor of two dimensions, samples and positions")
    if padding.all() or not padding.any():
        raise ValueError("padding: some positions are padded and some are not; here all are, or none")
    dims = (batch_dim, time_dim) if batch_dim < time_dim else (time_dim, batch_dim)
    places = padding if batch_dim < time_dim else padding.t()
    plain = run_twice_alike(model, inputs, options)
    other = run_changed(model, inputs, options, places, dims)
    if not plain.outputs:
        raise ValueError("the model returns no tensor of numbers")
    for number, (before, after) in enumerate(pair_outputs(plain, other)):
        moved = moved_elements(before, after)
        if not moved.any():
            continue
        if before.dim() > dims[1] and tuple(before.shape[dim] for dim in dims) == tuple(places.shape):
            both = moved.movedim(dims, (0, 1)).reshape(*places.shape, -1).any(2)
            leaks = (both & ~places).nonzero().tolist()
            if not leaks:
                continue
            sample, position = leaks[0] if batch_dim < time_dim else leaks[0][::-1]
            what = f"changes at position {position} of sample {sample}, which is not padded"
        else:
            what = "changes" if before.dim() else f"changes from {before.item():.4g} to {after.item():.4g}"
        name = "its output" if len(plain.outputs) == 1 else f"its output {number}"
        message = f"{type(model).__name__} does not ignore padding: when only padded positions change, {name} {what}."
        fail(message, first_leak(plain, other, places))


def assert_same_gradients(
    model: nn.Module, first: Callable[[], Any], second: Callable[[], Any], *, tolerance: float = 1e-3
) -> None:
    """Assert that two ways to compute a loss give the same gradients: one batch and several small ones, with and
    without checkpoints, plain and compiled.

    Each is called with gradients of None, and either calls `backward` itself or returns a scalar to differentiate. Both
    begin with the same parameters, buffers and random numbers; the model and its gradients are afterwards what they
    were. Raises AssertionError with the parameters that differ; ValueError if no gradient comes from either.

    tolerance: relative, of the norm of each parameter's difference
    """
    one, other = gradients_of(model, first), gradients_of(model, second)
    if not any(gradient is not None for gradient in [*one.values(), *other.values()]):
        raise ValueError("no gradient came: each function calls backward, or returns the loss")
    largest = max(
        gradient.norm().item() for gradients in (one, other) for gradient in gradients.values() if gradient is not None
    )
    missing, ratios, differing = list[str](), dict[str, float](), dict[str, float]()
    for name, gradient in one.items():
        against = other[name]
        if gradient is None and against is None:
            continue
        if gradient is None or against is None:
            present = gradient if gradient is not None else against
            if present is not None and present.norm().item() > NEGLIGIBLE_GRADIENT_RATIO * largest:
                missing.append(f"{name}: {'the first' if gradient is None else 'the second'} gives none")
            continue
        norm = max(gradient.norm().item(), against.norm().item())
        difference = (gradient - against).norm().item()
        if not difference <= tolerance * norm + NEGLIGIBLE_GRADIENT_RATIO * largest:
            differing[name] = difference / norm if norm else float("nan")
            ratios[name] = constant_ratio(gradient, against)
    if not missing and not differing:
        return
    lines = list(missing)
    compared = [name for name, gradient in one.items() if gradient is not None and other[name] is not None]
    values = list(ratios.values())
    if values and not any(value != value for value in values) and max(values) - min(values) <= 1e-3 * abs(max(values)):
        of = "all parameters" if len(differing) == len(compared) else shortened_list(list(differing))
        lines.append(f"{of}: the second gives {values[0]:.4g} times the gradient of the first")
    else:
        worst = sorted(differing, key=lambda name: -differing[name])
        lines += [f"{name}: they differ by {differing[name]:.2%} of the norm" for name in worst[:5]]
        if len(worst) > 5:
            lines.append(f"and {len(worst) - 5} more")
    raise AssertionError("\n  ".join(["the gradients are not the same:", *lines]))


def constant_ratio(gradient: torch.Tensor, against: torch.Tensor) -> float:
    """The number by which the first is multiplied to give the second; nan if there is none."""
    square = gradient.square().sum().item()
    ratio = (gradient * against).sum().item() / square if square else float("nan")
    rest = (against - ratio * gradient).norm().item()
    return ratio if rest <= 1e-3 * against.norm().item() else float("nan")


def gradients_of(model: nn.Module, compute: Callable[[], Any]) -> dict[str, torch.Tensor | None]:
    """The gradients by the parameters' names, in float64."""
    names = dict(model.named_parameters())
    with model_optimizer_and_random_state_restored(model, None, list(names.values())), torch.enable_grad():
        for parameter in names.values():
            parameter.grad = None
        loss = compute()
        if isinstance(loss, torch.Tensor) and loss.requires_grad:
            loss.backward()  # type: ignore[no-untyped-call]
        return {
            name: parameter.grad.detach().to_dense().double() if parameter.grad is not None else None
            for name, parameter in names.items()
        }


@dataclass(frozen=True)
class ModelRun:
    """The outputs of a model that are numbers, and the log of its modules."""

    outputs: list[torch.Tensor]
    log: ModuleLog


@dataclass(frozen=True)
class Leak:
    """What moved along a dimension that may not.

    indices: along the dimension
    largest: the largest change of an output there
    first_seen: where it first shows, in a sentence
    """

    indices: list[int]
    largest: float
    first_seen: str

    def fail(self, cause: str, what: str) -> None:
        where = index_list(what, self.indices)
        fail(f"{cause}, its output changes {where}, by up to {self.largest:.3g}.", self.first_seen)


def leak_along(
    plain: ModelRun, model: nn.Module, inputs: Any, options: dict[str, Any], dim: int, allowed: torch.Tensor
) -> Leak | None:
    """What moves at other indices of a dimension when the inputs change at the allowed ones."""
    size = len(allowed)
    other = run_changed(model, inputs, options, allowed, (dim,))
    for before, after in pair_outputs(plain, other):
        if not has_size_along(before, dim, size):
            continue
        moved = moved_elements(before, after).movedim(dim, 0).reshape(size, -1).any(1)
        indices = (moved & ~allowed).nonzero().flatten().tolist()
        if indices:
            changes = (before - after).cpu().movedim(dim, 0)[indices].abs()
            return Leak(indices, changes.max().item(), first_leak(plain, other, allowed))
    return None


def run_model(model: nn.Module, inputs: Any, options: dict[str, Any]) -> ModelRun:
    """Run the model, with the random numbers that are next; it and they are afterwards what they were."""
    with model_optimizer_and_random_state_restored(model, None, list(model.parameters())):
        with log_module_calls(model) as log:
            output = model(*inputs, **options)
        return ModelRun([t for t in copied_tensors(output) if t.is_floating_point() or t.is_complex()], log)


def run_twice_alike(model: nn.Module, inputs: Any, options: dict[str, Any]) -> ModelRun:
    """Run the model twice. Raises ValueError if the results differ: nothing could be learned from a change then."""
    one, other = run_model(model, inputs, options), run_model(model, inputs, options)
    if any(moved_elements(before, after).any() for before, after in pair_outputs(one, other)):
        raise ValueError(f"{type(model).__name__} returns a different output each time, with the same random numbers")
    return one


def run_changed(
    model: nn.Module, inputs: Any, options: dict[str, Any], places: torch.Tensor, dims: tuple[int, ...]
) -> ModelRun:
    """Run the model with values changed at these places. Raises ValueError if no input has them."""
    changed, count = with_values_changed(inputs, places, dims)
    if not count:
        raise ValueError(f"inputs: none has the sizes {tuple(places.shape)} along the dimensions {dims}")
    return run_model(model, changed, options)


def pair_outputs(one: ModelRun, other: ModelRun) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The outputs of two runs in pairs. Raises ValueError if they can't be compared."""
    if [output.shape for output in one.outputs] != [output.shape for output in other.outputs]:
        raise ValueError("the outputs have other shapes when the inputs change, so they can't be compared")
    return list(zip(one.outputs, other.outputs, strict=True))


def first_leak(plain: ModelRun, other: ModelRun, allowed: torch.Tensor) -> str:
    """The first place at which something moved that may not, in a sentence; "" if it is not known."""
    size = allowed.shape[-1]

    def may_differ(before: torch.Tensor, after: torch.Tensor) -> bool:
        if before.shape != after.shape:
            return False
        if allowed.dim() == 1 and not has_dimension(before, size):
            return True  # whose numbers these are can't be told
        return is_confined(moved_elements(before, after), allowed)

    return first_seen_sentence(first_disallowed_difference(plain.log, other.log, may_differ))


def fail(what: str, place: str) -> None:
    raise AssertionError("\n  ".join([what, place]) if place else what)


def size_along(inputs: Any, dim: int, what: str) -> int:
    """The size of the first input along a dimension. Raises ValueError if it is below 2."""
    size = sample_count(inputs, dim)
    if size is None or size < 2:
        raise ValueError(f"inputs: at least two {what} are needed along dimension {dim}")
    return size


def check_outputs(run: ModelRun, dim: int, size: int, what: str) -> None:
    if not any(has_size_along(output, dim, size) for output in run.outputs):
        shapes = ", ".join(str(tuple(output.shape)) for output in run.outputs) or "none of numbers"
        raise ValueError(f"no output has {size} {what} along dimension {dim}: {shapes}")


def has_size_along(tensor: torch.Tensor, dim: int, size: int) -> bool:
    return tensor.dim() > dim and tensor.shape[dim] == size


def index_list(what: str, indices: list[int]) -> str:
    """`sample 3`, `samples 1, 2 and 5`, `positions 0 to 6`."""
    if len(indices) == 1:
        return f"{what} {indices[0]}"
    if indices == list(range(indices[0], indices[-1] + 1)) and len(indices) > 2:
        return f"{what}s {indices[0]} to {indices[-1]}"
    shown = [str(index) for index in indices[:8]]
    more = f" and {len(indices) - 8} more" if len(indices) > 8 else ""
    return f"{what}s {', '.join(shown)}{more}" if more else f"{what}s {', '.join(shown[:-1])} and {shown[-1]}"
