"""Functions of the language of claims that only findings need: shapes and dtypes as they write them, gradients, graphs,
layers."""

import math
import re
import types
from collections.abc import Iterable
from typing import Any

import numpy
import torch

from tests.referee.sentences.earlier import Was, bytes_of, reading
from tests.referee.sentences.language import (
    Phrase,
    comes_back,
    facts_of,
    kept_tensors,
    live,
    number_reads_as,
    said,
    shares_memory,
)
from tests.referee.sentences.paths import Undecided


@said
def identity(thing: Any) -> int | None:
    """What tells an object from others; None where there is none."""
    if isinstance(thing, Phrase | Was) or thing is None:
        return None
    return id(thing)


@said
def is_other(thing: Any, before: int | None) -> bool:
    """Whether it is another object than before."""
    now = identity(thing)
    if now is None:
        raise Undecided("what is meant was not found")
    return now != before


@said
def contents_of(thing: Any) -> Any:
    """What can change of a tensor, an array, a module or a container of tensors."""
    thing = live(thing)
    if isinstance(thing, torch.Tensor):
        return facts_of(thing)
    if isinstance(thing, numpy.ndarray):
        return bytes_of(thing)
    return tuple(contents_of(each) for each in tensors_in(thing))


@said
def tensors_in(thing: Any, deep: int = 4) -> list[torch.Tensor]:
    """The tensors of a module, an optimizer, a container or an instance."""
    thing = live(thing)
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, torch.nn.Module):
        return [*thing.parameters(), *thing.buffers()]
    if isinstance(thing, torch.optim.Optimizer):
        return [each for group in thing.param_groups for each in group["params"]]
    if isinstance(thing, dict):
        thing = list(thing.values())
    elif not isinstance(thing, list | tuple | set) and hasattr(thing, "__dict__"):
        thing = list(vars(thing).values())
    if not isinstance(thing, list | tuple | set) or not deep:
        return []
    return [tensor for each in thing for tensor in tensors_in(each, deep - 1)]


@said
def shares_any(thing: Any, other: Any) -> bool:
    """Whether a tensor in one reads the memory of a tensor in the other."""
    return any(shares_memory(a, b) for a in tensors_in(thing) for b in tensors_in(other))


@said
def has_shape(thing: Any, text: str) -> bool:
    """Whether a shape is written so: `(3, 4)`. Nothing is said with an empty text."""
    return not text or str(tuple(shape_of_tensor(thing))) == text


def shape_of_tensor(thing: Any) -> Iterable[int]:
    thing = live(thing)
    if not isinstance(thing, torch.Tensor | numpy.ndarray):
        raise Undecided(f"a {type(thing).__name__} has no shape")
    return thing.shape


@said
def has_dtype(thing: Any, text: Any) -> bool:
    """Whether a dtype is written so: `float32`."""
    return not text or str(live(thing).dtype).removeprefix("torch.") == str(text)


@said
def has_property(thing: Any, what: Any) -> bool:
    """Whether an operand has the property that a phrase says."""
    if not isinstance(what, Phrase):
        raise Undecided("no property is said")
    value = what.get("value")
    match what.key.rpartition(".")[2]:
        case "has_shape":
            return has_shape(thing, str(value))
        case "has_dtype":
            return has_dtype(thing, value)
        case "has_type":
            return type(live(thing)).__name__ == str(what["type"])
        case "has_layout" | "has_device":
            return str(getattr(live(thing), what.key[-6:])).removeprefix("torch.") == str(value)
        case "has_grad":
            return bool(live(thing).requires_grad)
    raise Undecided(f"{what.key} is no property")


@said
def has_no_history(thing: Any) -> bool:
    """Whether nothing of a graph is behind it: also behind a number."""
    thing = live(thing)
    return not isinstance(thing, torch.Tensor) or not thing.requires_grad


@said
def has_history(thing: Any) -> bool:
    """Whether a tensor, or one in a container, is the result of recorded operations."""
    found = tensors_in(thing)
    if not found:
        raise Undecided("there are no tensors in it")
    return any(each.grad_fn is not None for each in found)


@said
def leads_back(result: Any, tensor: Any) -> bool:
    """Whether a gradient would come back from a result to a tensor, or to a parameter of a module."""
    result = live(result)
    goals = tensors_in(tensor)
    if not goals:
        raise Undecided("there are no tensors in it")
    return any(comes_back(result, each) for each in goals)


@said
def counter(thing: Any) -> int:
    """What a tensor's counter of versions says."""
    return int(live(thing)._version)


@said
def keeps_memory_of(node: Any, thing: Any) -> bool:
    """Whether what a node keeps for backward is in the memory of a tensor: it may keep a view."""
    return any(shares_memory(each, live(thing)) for each in kept_tensors(node))


@said
def is_leaf(thing: Any) -> bool:
    return bool(live(thing).is_leaf)


@said
def is_view_of(thing: Any, other: Any) -> bool:
    """Whether autograd knows a tensor as a view of another, or of what that is a view of."""
    base, root = live(thing)._base, live(other)
    return base is not None and (base is root or base is root._base)


@said
def is_inference(thing: Any) -> bool:
    return bool(live(thing).is_inference())


@said
def is_zero(thing: Any) -> bool:
    """Whether all numbers of a tensor are 0."""
    if thing is None:
        raise Undecided("it is cleared")
    return not bool(torch.count_nonzero(live(thing).detach().to_dense()))


@said
def is_finite(thing: Any) -> bool:
    thing = live(thing)
    found = thing.detach() if isinstance(thing, torch.Tensor) else torch.as_tensor(thing)
    return bool(torch.isfinite(found).all())


@said
def stride_is(thing: Any, text: str) -> bool:
    return str(tuple(live(thing).stride())) == text


@said
def wrapped(a: int, sign: str, b: int, lowest: int, highest: int) -> int:
    """What integers of so many values give."""
    exact = a + b if sign == "+" else a - b if sign in "-−" else a * b
    return (exact - lowest) % (highest - lowest + 1) + lowest


@said
def trains(module: Any) -> bool:
    """Whether a module, or what is in it, is in training."""
    return any(each.training for each in live(module).modules())


@said
def parameters_of(thing: Any) -> list[torch.Tensor]:
    """The different parameters of a module, a container of modules, or an optimizer."""
    thing = live(thing)
    if isinstance(thing, torch.nn.Module):
        return list(thing.parameters())
    if isinstance(thing, torch.optim.Optimizer):
        return tensors_in(thing)
    items = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list | tuple) else []
    found = [each for item in items for each in (parameters_of(item) if not isinstance(item, torch.Tensor) else [item])]
    return list({id(each): each for each in found}.values())


@said
def standing_at(thing: Any, names: Iterable[Any]) -> list[Any]:
    """What stands at places of a module, by attributes or numbers, or of a list."""
    thing = live(thing)
    if isinstance(thing, list | tuple):
        return [thing[int(name)] for name in names]
    return [getattr(thing, str(name)) for name in names]


@said
def is_among(tensor: Any, tensors: Iterable[Any]) -> bool:
    """Whether a tensor, or each parameter of a module, is one of these."""
    known = {id(each) for each in tensors}
    found = parameters_of(tensor) if not isinstance(live(tensor), torch.Tensor) else [live(tensor)]
    if not found:
        raise Undecided("it has no parameters")
    return all(id(each) in known for each in found)


@said
def reads_number(thing: Any, text: Any) -> bool:
    """Whether a number is written so; a Python number or a tensor of one element."""
    thing = live(thing)
    number = thing.item() if isinstance(thing, torch.Tensor) else thing
    return number_reads_as(number, plain(text))


@said
def has_number(thing: Any, text: Any) -> bool:
    """Whether one of a tensor's numbers is written so."""
    return any(number_reads_as(each, plain(text)) for each in live(thing).detach().reshape(-1).tolist())


def plain(text: Any) -> str:
    return re.sub(r"(?<![\d.])\.", "0.", str(text).replace("−", "-"))


@said
def row_sums(thing: Any, dim: int) -> list[float]:
    """What the numbers of a tensor add up to along a dimension."""
    sums: list[float] = live(thing).detach().sum(dim).reshape(-1).tolist()
    return sums


@said
def has_hooks(thing: Any) -> bool:
    """Whether a tensor or a module, or a module in it, has a hook."""
    thing = live(thing)
    owners = thing.modules() if isinstance(thing, torch.nn.Module) else [thing]
    return any(getattr(each, name, None) for each in owners for name in HOOKS)


HOOKS = (
    "_backward_hooks",
    "_post_accumulate_grad_hooks",
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_pre_hooks",
)


@said
def elements(thing: Any) -> int:
    return math.prod(reading(live(thing)).shape)


@said
def is_generator(thing: Any) -> bool:
    return isinstance(live(thing), types.GeneratorType | map | filter | zip)
