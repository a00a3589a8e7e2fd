"""What goes into and comes out of each module while a model runs, to find where two runs part."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

TORCH_FOLDER = str(Path(torch.__file__).parent)
OWN_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class ModuleCall:
    """A call of a module.

    name: its path in the model, "" for the model itself
    number: from 1, of the calls of this module
    parent: the name of the module whose forward called it
    file, line: of the statement that called it, outside of torch
    """

    name: str
    kind: str
    number: int
    parent: str
    file: str
    line: int
    is_batch_norm_in_training: bool = False

    @property
    def file_and_line(self) -> str:
        return f"{Path(self.file).name}:{self.line}"

    def __str__(self) -> str:
        times = f", call {self.number}" if self.number > 1 else ""
        return f"{self.name or 'the model'} ({self.kind}{times})"


@dataclass(frozen=True)
class ModuleEvent:
    """The tensors that went into a call, or came out of it."""

    call: ModuleCall
    is_output: bool
    tensors: list[torch.Tensor]


@dataclass
class ModuleLog:
    """The calls of a run, in the order in which their inputs and outputs were there."""

    events: list[ModuleEvent] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    running: list[ModuleCall] = field(default_factory=list)

    def log_inputs(self, name: str, module: nn.Module, arguments: Any, options: Mapping[str, Any]) -> None:
        self.counts[name] += 1
        file, line = calling_statement(sys._getframe(1))
        parent = self.running[-1].name if self.running else ""
        is_batch_norm = isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training
        call = ModuleCall(name, type(module).__name__, self.counts[name], parent, file, line, is_batch_norm)
        self.running.append(call)
        self.events.append(ModuleEvent(call, False, copied_tensors([arguments, dict(options)])))

    def log_output(self, name: str, output: Any) -> None:
        while (call := self.running.pop()).name != name:
            pass  # a call within it raised, and its caller went on
        self.events.append(ModuleEvent(call, True, copied_tensors(output)))


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The strided tensors in tuples, lists, mappings and data classes."""
    if isinstance(value, torch.Tensor):
        if value.layout == torch.strided:
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from tensors_in(part)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from tensors_in(vars(value))


def copied_tensors(value: Any) -> list[torch.Tensor]:
    return [tensor.detach().clone() for tensor in tensors_in(value)]


def calling_statement(frame: FrameType | None) -> tuple[str, int]:
    """The file and the line of the innermost frame that belongs neither to torch nor to this package."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((TORCH_FOLDER, OWN_FOLDER)):
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


@contextmanager
def log_module_calls(model: nn.Module) -> Iterator[ModuleLog]:
    """Log what goes into and comes out of each module of the model."""
    log = ModuleLog()
    with ExitStack() as stack:
        for name, module in model.named_modules():

            def before(module: nn.Module, arguments: Any, options: Any, name: str = name) -> None:
                log.log_inputs(name, module, arguments, options)

            def after(_: nn.Module, __: Any, output: Any, name: str = name) -> None:
                log.log_output(name, output)

            stack.callback(module.register_forward_pre_hook(before, with_kwargs=True).remove)
            stack.callback(module.register_forward_hook(after).remove)
        yield log


def first_disallowed_difference(
    before: ModuleLog, after: ModuleLog, may_differ: Callable[[torch.Tensor, torch.Tensor], bool]
) -> ModuleEvent | None:
    """The first event of a run whose tensors differ from those of the other run where they may not; None if there is
    none, or if the runs called other modules."""
    for one, other in zip(before.events, after.events, strict=False):
        if (one.call.name, one.is_output, len(one.tensors)) != (other.call.name, other.is_output, len(other.tensors)):
            return None
        if not all(may_differ(*pair) for pair in zip(one.tensors, other.tensors, strict=True)):
            return one
    return None


def first_seen_sentence(event: ModuleEvent | None) -> str:
    """Where two runs part, as far as it can be told; "" if that is not known."""
    if event is None:
        return ""
    call = event.call
    if not event.is_output:
        caller = call.parent or "the model"
        return f"It first shows in what the forward of {caller} passes to {call}, called at {call.file_and_line}."
    hint = ""
    if call.is_batch_norm_in_training:
        hint = " In training mode a batch norm uses the statistics of the whole batch: call model.eval() first."
    return f"It first shows in the output of {call}, called at {call.file_and_line}.{hint}"
