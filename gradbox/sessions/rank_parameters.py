"""Writes digests of one rank's parameters after its first rounds, by which ranks are compared."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from gradbox.sessions.round_hook import RoundHook, copy_locals_of_frame, frames_outward_user_first

MAX_PARAMETERS = 2_000
"""Parameters of a rank that are compared."""

MAX_NOTED_ROUNDS = 20
"""The most rounds after which parameters are written: rounds 0, 1, 2, 4, 8 and so on."""


class RankParameters:
    """Writes a line of JSON after some rounds: the round, the shape, sum and sum of magnitudes of each parameter, by
    name, and the names of wrappers for distributed training whose forward no one has called.

    file: the file to write
    unrecorded: a context for the computation, so that no recorder attributes it to the program
    """

    def __init__(self, file: Path, unrecorded: Callable[[], AbstractContextManager[object]]) -> None:
        self._file, self._unrecorded = file, unrecorded
        self._round = self._noted = self._next = 0
        self._hook = RoundHook(self._end_round)

    def install(self) -> None:
        self._hook.install()

    def remove(self) -> None:
        self._hook.remove()

    def _end_round(self, frame: FrameType) -> None:
        number, self._round = self._round, self._round + 1
        if number != self._next or self._noted >= MAX_NOTED_ROUNDS:
            return
        self._next, self._noted = max(1, 2 * number), self._noted + 1
        with self._unrecorded(), torch.no_grad():
            names = parameter_names(frame)
            values = {name: digest for name, parameter in names.items() if (digest := parameter_digest(parameter))}
        line = json.dumps({"round": number, "parameters": values, "uncalled": uncalled_wrappers(frame)})
        with self._file.open("a") as stream:
            stream.write(line + "\n")


def parameter_names(frame: FrameType | None) -> dict[str, torch.Tensor]:
    """The parameters of modules that running functions can reach, by the names they have there; parameters that only an
    optimizer has, by their place in it. The user's functions come first."""
    known: dict[int, tuple[str, torch.Tensor]] = {}
    variables = [item for f in frames_outward_user_first(frame) for item in copy_locals_of_frame(f).items()]
    modules = [pair for name, value in variables for pair in modules_of_variable(name, value)]
    named = [(f"{name}.{inner}", p) for name, module in modules for inner, p in module.named_parameters()]
    for name, value in variables:
        if isinstance(value, Optimizer):
            parameters = (p for group in value.param_groups for p in group["params"])
            named += [(f"{name}'s parameter {k}", p) for k, p in enumerate(parameters)]
    for name, parameter in named:
        if len(known) < MAX_PARAMETERS:
            known.setdefault(id(parameter), (name, parameter))
    return dict(known.values())


def uncalled_wrappers(frame: FrameType | None) -> list[str]:
    """The names of each DistributedDataParallel that running functions can reach and whose forward never ran."""
    variables = [item for f in frames_outward_user_first(frame) for item in copy_locals_of_frame(f).items()]
    members = [
        (f"self.{attribute}", member)
        for name, value in variables
        if name == "self"
        for attribute, member in list(getattr(value, "__dict__", {}).items())
    ]
    found = {
        id(value): name
        for name, value in [*members, *variables[::-1]]
        if isinstance(value, nn.parallel.DistributedDataParallel) and not vars(value).get("_lazy_init_ran", True)
    }
    return [*found.values()]


def modules_of_variable(name: str, value: Any) -> Iterator[tuple[str, nn.Module]]:
    """The modules to which a variable leads: itself, without wrappers for distributed training, or the attributes of an
    object."""
    if isinstance(value, nn.parallel.DistributedDataParallel):
        yield name, value.module
    elif isinstance(value, nn.Module):
        yield name, value
    elif name == "self":
        for attribute, member in list(getattr(value, "__dict__", {}).items()):
            if isinstance(member, nn.Module):
                yield from modules_of_variable(f"self.{attribute}", member)


def parameter_digest(parameter: torch.Tensor) -> list[Any] | None:
    """A parameter's shape, sum and sum of magnitudes; None if it is sharded or can't be summed."""
    if type(parameter) not in (nn.Parameter, torch.Tensor) or parameter.is_sparse or parameter.is_meta:
        return None
    if not (parameter.is_floating_point() or parameter.is_complex()):
        return None
    values = parameter.detach()
    parts = (values.real, values.imag) if values.is_complex() else (values,)
    sums = [float(f(part.double())) for part in parts for f in (torch.sum, sum_of_magnitudes)]
    return [list(parameter.shape), *map(repr, sums)]


def sum_of_magnitudes(values: torch.Tensor) -> torch.Tensor:
    return values.abs().sum()


def rank_of_process() -> int:
    """The rank that the launcher gave this process, 0 if there is none."""
    return int(os.environ.get("RANK", "0"))
