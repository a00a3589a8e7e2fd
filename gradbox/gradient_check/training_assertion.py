"""`gradbox.assert_trains`: whether a model's parameters get gradients and move, and its samples stay apart, as an
assertion."""

import copy
import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.optim import Optimizer

MAX_NAMED = 20
"""Parameters that a message names."""

NEGLIGIBLE_GRADIENT_RATIO = 1e-5
"""A gradient smaller than the largest one by this factor may be a rounding error."""


def assert_trains(
    model: nn.Module,
    loss: Callable[[nn.Module, Any], torch.Tensor],
    batch: Any,
    optimizer: Optimizer | None = None,
    *,
    idle: Sequence[str] = (),
    in_eval: Sequence[str] = (),
    mixes_samples: bool = False,
    rounds: int = 3,
    batch_dim: int = 0,
) -> None:
    """Assert that the model trains with this loss: `assert_trains(net, lambda net, batch: …, batch, optimizer)`.

    Each parameter that requires a gradient gets a finite one that is not zero in every round, is held by the optimizer,
    and moves; a row of a sparse embedding that is not in the batch need not. Dropout and batch norm run in training
    mode. In eval mode no sample of the batch changes the model's output for another.

    The model, the optimizer, gradients, modes and the random numbers of Python, numpy and torch are afterwards what
    they were before. Raises AssertionError with everything that does not hold; ValueError for rounds below 1, for a
    batch of one sample unless `mixes_samples`, and for a name of `idle` or `in_eval` that the model does not have.

    loss: takes the model and the batch, and returns a scalar with a graph
    batch: a tensor, or tensors in tuples, lists and mappings; samples are along batch_dim
    optimizer: without one, gradients alone are asked for
    idle: parameters by name or pattern, like `head.*`, that need not train
    in_eval: modules in eval mode
    mixes_samples: samples may change each other's output
    rounds: of forward, backward and step; what begins with zeros, like LoRA, has no gradient in the first
    """
    if rounds < 1:
        raise ValueError(f"rounds: from 1, not {rounds}")
    names = parameter_names(model, optimizer)
    check_patterns("idle", idle, [name for group in names.values() for name in group])
    check_patterns("in_eval", in_eval, [name for name, _ in model.named_modules()])
    size = sample_count(batch, batch_dim)
    if not mixes_samples and (size is None or size < 2):
        raise ValueError(
            "batch: two samples at least are needed to see whether they stay apart; or say mixes_samples=True"
        )
    with model_optimizer_and_random_state_restored(model, optimizer, list(names)), torch.enable_grad():
        problems = training_problems(model, lambda: loss(model, batch), optimizer, names, idle, in_eval, rounds)
    if not mixes_samples and not problems:
        with model_optimizer_and_random_state_restored(model, optimizer, list(names)), torch.no_grad():
            problems += sample_problems(model, loss, batch, batch_dim)
    if problems:
        raise AssertionError("\n  ".join([f"{type(model).__name__} does not train as it should:", *problems]))


def training_problems(
    model: nn.Module,
    compute_loss: Callable[[], torch.Tensor],
    optimizer: Optimizer | None,
    names: Mapping[torch.Tensor, Sequence[str]],
    idle: Sequence[str],
    in_eval: Sequence[str],
    rounds: int,
) -> list[str]:
    """The problems that some rounds of training show."""
    trainable = [p for p in names if p.requires_grad and not any(matches_any_pattern(name, idle) for name in names[p])]
    before = {p: p.detach().clone() for p in trainable}
    reached, not_finite = set[torch.Tensor](), set[torch.Tensor]()
    largest: dict[torch.Tensor, float] = dict.fromkeys(trainable, 0.0)
    modes: dict[str, bool] = {}
    for _ in range(rounds):
        for p in names:
            p.grad = None
        with layer_modes_recorded(model, modes):
            value = compute_loss()
        problem = loss_problem(value)
        if problem:
            return [*mode_problems(modes, in_eval), problem]
        value.backward()  # type: ignore[no-untyped-call]
        for p in trainable:
            if p.grad is None:
                continue
            reached.add(p)
            numbers = p.grad.coalesce().values() if p.grad.is_sparse else p.grad
            if not numbers.isfinite().all():
                not_finite.add(p)
            elif numbers.numel():
                largest[p] = max(largest[p], numbers.abs().max().item())
        if not_finite:
            break
        if optimizer is not None:
            take_optimizer_step(optimizer, compute_loss)
    negligible = NEGLIGIBLE_GRADIENT_RATIO * max(largest.values(), default=0.0)
    held = None if optimizer is None else {p for group in optimizer.param_groups for p in group["params"]}
    found: dict[str, list[str]] = {}
    for p in trainable:
        message = parameter_problem(
            p,
            is_reached=p in reached,
            is_finite=p not in not_finite,
            largest=largest[p],
            negligible=negligible,
            held=held,
            before=before[p],
        )
        if message:
            found.setdefault(message, []).append(" = ".join(names[p]))
    return mode_problems(modes, in_eval) + [f"{shortened_list(group)}: {message}" for message, group in found.items()]


def parameter_problem(
    p: torch.Tensor,
    *,
    is_reached: bool,
    is_finite: bool,
    largest: float,
    negligible: float,
    held: set[torch.Tensor] | None,
    before: torch.Tensor,
) -> str:
    """The problem of a parameter after all rounds, "" if it has none.

    largest: the largest magnitude in its gradients
    negligible: the magnitude of rounding errors, which move nothing: the bias before a batch norm has no other gradient
    """
    if not is_reached:
        return (
            "no gradient came: the loss does not depend on it, or the way is cut (detach, no_grad, item, a new tensor)"
        )
    if not is_finite:
        return "its gradient has nan or inf"
    if largest == 0:
        return "its gradient is zero in every round"
    if held is None:
        return ""
    if p not in held:
        return "it has a gradient, but is in no group of the optimizer"
    if largest > negligible and torch.equal(p.detach(), before):
        return "it has a gradient, and no step moved it: look at the learning rate of its group, and at its dtype"
    return ""


def loss_problem(value: Any) -> str:
    """Why a loss can't be differentiated, "" if it can."""
    if not isinstance(value, torch.Tensor):
        return f"the loss is of type {type(value).__name__}, not a tensor: what was computed of numbers has no graph"
    if value.numel() != 1:
        return f"the loss has {value.numel()} elements: take its mean or sum"
    if not value.isfinite().all():
        return f"the loss is {value.item()}"
    if not value.requires_grad:
        return "the loss has no graph: it was computed under no_grad, detached, or made of numbers"
    return ""


def mode_problems(modes: Mapping[str, bool], in_eval: Sequence[str]) -> list[str]:
    """The modules that did not run in the declared mode.

    modes: by name, whether in training
    """
    not_training = [name for name, training in modes.items() if not training and not matches_any_pattern(name, in_eval)]
    training = [name for name, is_training in modes.items() if is_training and matches_any_pattern(name, in_eval)]
    problems = []
    if not_training:
        problems.append(f"{shortened_list(not_training)}: runs in eval mode; call train(), or say so with in_eval")
    if training:
        problems.append(f"{shortened_list(training)}: runs in training mode, and in_eval says eval mode")
    return problems


def sample_problems(
    model: nn.Module, loss: Callable[[nn.Module, Any], torch.Tensor], batch: Any, batch_dim: int
) -> list[str]:
    """Whether other samples change the model's output for the first one, or for the last one, in eval mode."""
    if any(isinstance(part, _BatchNorm) and part.running_mean is None for part in model.modules()):
        return []  # it has batch statistics in eval mode too, and that is what it is for
    model.eval()
    size = sample_count(batch, batch_dim)
    assert size is not None
    for kept, taken in ((0, size - 1), (size - 1, 0)):
        order = [kept if k == kept else taken for k in range(size)]
        changed = map_tensors(batch, functools.partial(with_samples_reordered, order=order, batch_dim=batch_dim))
        plain = floating_point_outputs_of_model(model, loss, batch)
        for before, after in zip(plain, floating_point_outputs_of_model(model, loss, changed), strict=False):
            if before.dim() <= batch_dim or before.shape[batch_dim] != size or before.shape != after.shape:
                continue
            first, second = (t.select(batch_dim, kept).double() for t in (before, after))
            scale = max(1.0, before.abs().max().item())
            if not torch.allclose(first, second, rtol=1e-3, atol=1e-5 * scale, equal_nan=True):
                most = (first - second).abs().max().item()
                return [
                    f"samples do not stay apart: with other samples beside it, the output for sample {kept} differs by "
                    f"up to {most:.3g}, in "
                    "eval mode. Look for operations along the dimension of the batch (view, softmax, mean, a norm), or "
                    "say "
                    "batch_dim=1, where samples are along another one, or mixes_samples=True"
                ]
    return []


def floating_point_outputs_of_model(
    model: nn.Module, loss: Callable[[nn.Module, Any], torch.Tensor], batch: Any
) -> list[torch.Tensor]:
    """The real floating point tensors that calls of the model return while the loss is computed, with the same random
    numbers."""
    found: list[torch.Tensor] = []

    def note(_: nn.Module, __: Any, output: Any) -> None:
        map_tensors(output, lambda t: found.append(t.detach().clone()) if t.is_floating_point() else None)

    handle = model.register_forward_hook(note)
    try:
        with torch.random.fork_rng():
            loss(model, batch)
    finally:
        handle.remove()
    return found


def take_optimizer_step(optimizer: Optimizer, compute_loss: Callable[[], torch.Tensor]) -> None:
    """Take an optimizer step, with a closure if the optimizer computes the loss again. A warm-up that begins at 0 is
    replaced by the full learning rate."""
    for group in optimizer.param_groups:
        if not isinstance(group["lr"], torch.Tensor) and group["lr"] == 0:
            group["lr"] = group.get("initial_lr", 0)
    if not isinstance(optimizer, torch.optim.LBFGS):
        optimizer.step()
        return

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = compute_loss()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(closure)  # type: ignore[no-untyped-call]


@contextmanager
def model_optimizer_and_random_state_restored(
    model: nn.Module, optimizer: Optimizer | None, parameters: Sequence[torch.Tensor]
) -> Iterator[None]:
    """Restore the model, the optimizer and the random numbers after the block."""
    tensors = list(dict.fromkeys([*parameters, *model.parameters(), *model.buffers()]))
    numbers, gradients = [t.detach().clone() for t in tensors], [t.grad for t in tensors if t.is_leaf]
    leaves = [t for t in tensors if t.is_leaf]
    members = [(part, dict(part.__dict__), dict(part._parameters), dict(part._buffers)) for part in model.modules()]
    if optimizer is not None:
        state, groups = optimizer.state, optimizer.param_groups
        settings = [dict(group) for group in groups]
    python, numpy_ = random.getstate(), np.random.get_state()
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng())
        stack.enter_context(torch.autograd._unsafe_preserve_version_counter(tuple(tensors)))  # type: ignore[attr-defined]
        try:
            if optimizer is not None:
                optimizer.state = type(state)(dict, {p: copy.deepcopy(value) for p, value in state.items()})
            yield
        finally:
            for tensor, number in zip(tensors, numbers, strict=True):
                tensor.data.copy_(number)
            for leaf, gradient in zip(leaves, gradients, strict=True):
                leaf.grad = gradient
            for part, attributes, own_parameters, buffers in members:
                part.__dict__.clear()
                part.__dict__.update(attributes)
                part._parameters.update(own_parameters)
                part._buffers.update(buffers)
            if optimizer is not None:
                optimizer.state, optimizer.param_groups = state, groups
                for group, setting in zip(groups, settings, strict=True):
                    group.clear()
                    group.update(setting)
            random.setstate(python)
            np.random.set_state(numpy_)


@contextmanager
def layer_modes_recorded(model: nn.Module, modes: dict[str, bool]) -> Iterator[None]:
    """Note the mode of each dropout and batch norm when it runs."""
    with ExitStack() as stack:
        for name, part in model.named_modules():
            if isinstance(part, _BatchNorm | _DropoutNd):
                hook = part.register_forward_pre_hook(lambda ran, _, name=name: modes.__setitem__(name, ran.training))
                stack.callback(hook.remove)
        yield


def parameter_names(model: nn.Module, optimizer: Optimizer | None) -> dict[torch.Tensor, list[str]]:
    """The names of each parameter of the model and of the optimizer; a tied parameter has several."""
    names: dict[torch.Tensor, list[str]] = {}
    for name, p in model.named_parameters(remove_duplicate=False):
        names.setdefault(p, []).append(name)
    for number, group in enumerate(optimizer.param_groups if optimizer is not None else ()):
        for place, p in enumerate(group["params"]):
            names.setdefault(p, [f"optimizer.param_groups[{number}]['params'][{place}]"])
    return names


def check_patterns(argument: str, patterns: Sequence[str], names: Sequence[str]) -> None:
    for pattern in patterns:
        if not any(matches_any_pattern(name, [pattern]) for name in names):
            raise ValueError(f"{argument}: the model has nothing of the name {pattern!r}")


def matches_any_pattern(name: str, patterns: Sequence[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def shortened_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def map_tensors(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """A structure of tuples, lists and mappings with a function applied to each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, Mapping):
        changed = copy.copy(value)
        for key, part in value.items():
            changed[key] = map_tensors(part, change)  # type: ignore[index]
        return changed
    if isinstance(value, tuple | list):
        parts = [map_tensors(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def sample_count(batch: Any, batch_dim: int) -> int | None:
    """The number of samples in a batch: the size of its first tensor along that dimension."""
    sizes: list[int] = []
    map_tensors(batch, lambda t: sizes.append(t.shape[batch_dim]) if t.dim() > batch_dim else None)
    return sizes[0] if sizes else None


def with_samples_reordered(tensor: torch.Tensor, order: list[int], batch_dim: int) -> torch.Tensor:
    """A tensor with its samples in this order; unchanged if it has another number of samples."""
    if tensor.dim() <= batch_dim or tensor.shape[batch_dim] != len(order):
        return tensor
    return tensor.index_select(batch_dim, torch.tensor(order, device=tensor.device))
