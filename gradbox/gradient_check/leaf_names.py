"""What the program calls its leaves: variables, attributes, parameters of modules, items of lists and dictionaries."""

from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

import torch

from gradbox.recorder.stack import PROGRAM, frames_outward

MAX_ITEMS = 1000


def leaf_names(leaves: Iterable[torch.Tensor], frame: FrameType | None) -> dict[int, str]:
    """By the id of each leaf that has one, its name as the frame, or the nearest one around it, would write it."""
    wanted = {id(leaf) for leaf in leaves}
    names: dict[int, str] = {}
    for around in frames_outward(frame):
        if around.f_code.co_filename != PROGRAM:
            continue
        for tensor, name in named_tensors(around.f_locals):
            if id(tensor) in wanted and id(tensor) not in names:
                names[id(tensor)] = name
    return names


def named_tensors(variables: dict[str, Any]) -> Iterator[tuple[torch.Tensor, str]]:
    """Tensors that variables lead to, with their paths: plain variables first."""
    values = [(name, value) for name, value in list(variables.items()) if not name.startswith("__")]
    for name, value in values:
        if isinstance(value, torch.Tensor):
            yield value, name
    for name, value in values:
        if isinstance(value, torch.nn.Module):
            for path, parameter in torch.nn.Module.named_parameters(value, remove_duplicate=False):
                yield parameter, name + subscripted(path)
    for name, value in values:
        for path, item in items_of(value):
            if isinstance(item, torch.Tensor):
                yield item, name + path
            elif isinstance(item, torch.nn.Module):
                for inner, parameter in torch.nn.Module.named_parameters(item):
                    yield parameter, name + path + subscripted(inner)


def items_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The items of a container, or the attributes of an object, each with how it is written."""
    if type(value) in (list, tuple):
        yield from ((f"[{k}]", item) for k, item in enumerate(value[:MAX_ITEMS]))
    elif type(value) is dict:
        yield from ((f"[{key!r}]", item) for key, item in list(value.items())[:MAX_ITEMS] if type(key) in (str, int))
    elif not isinstance(value, type | torch.Tensor | torch.nn.Module):
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict:
            yield from ((f".{key}", item) for key, item in list(attributes.items())[:MAX_ITEMS] if type(key) is str)


def subscripted(path: str) -> str:
    """`layers.0.weight` as a program writes it after what holds it: `.layers[0].weight`."""
    out = ""
    for part in path.split("."):
        out += f"[{part}]" if part.isdigit() else f".{part}"
    return out
