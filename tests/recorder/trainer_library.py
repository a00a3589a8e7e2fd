"""What libraries of trainers do to an optimizer, in small: wrap it with a class of torch's or of their own, delay its
steps, and call the program's module in a loop of theirs."""

import builtins
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch

NAME = "trainer_library"


class SubclassedOptimizer(torch.optim.Optimizer):
    """Is an optimizer for torch, without groups of its own."""

    def __init__(self, optimizer: torch.optim.Optimizer, every: int = 1) -> None:
        self.optimizer, self.every, self.count = optimizer, every, 0

    @property
    def param_groups(self) -> Any:  # type: ignore[override]
        return self.optimizer.param_groups

    @property
    def state(self) -> Any:  # type: ignore[override]
        return self.optimizer.state

    def zero_grad(self, set_to_none: bool = True) -> None:
        if self.count % self.every == 0:
            self.optimizer.zero_grad(set_to_none)

    def step(self, closure: Any = None) -> Any:
        self.count += 1
        return self.optimizer.step(closure) if self.count % self.every == 0 else None


class HeldOptimizer:
    """Passes on what it is asked for."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._held = optimizer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)


class HeldScheduler:
    """Steps a scheduler of torch's."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler

    def step(self) -> None:
        self._scheduler.step()


class Loop:
    """Trains a module that says what its step and its optimizer are."""

    def fit(self, module: Any, data: Iterable[Any]) -> None:
        self.optimizer = HeldOptimizer(module.configure_optimizers())
        for number, batch in enumerate(data):
            loss = module.training_step(batch, number)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


@contextmanager
def accumulating() -> Iterator[None]:
    """A block in which a library may hold back what is done."""
    yield


def backward(loss: torch.Tensor) -> None:
    """Run backward from a loss."""
    loss.backward()


def install() -> Callable[[], None]:
    """Make the library a builtin of the program; it is not the program's own code."""
    members = SubclassedOptimizer, HeldOptimizer, HeldScheduler, Loop, accumulating, backward
    setattr(builtins, NAME, SimpleNamespace(**{member.__name__: member for member in members}))
    return lambda: delattr(builtins, NAME)
