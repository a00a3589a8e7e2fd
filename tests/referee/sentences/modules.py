"""Watches the modules that plain CPython calls, the optimizers that step, and which statement made which node."""

import bisect
import gc
import hashlib
import sys
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from tests.referee.sentences.earlier import bytes_of
from tests.referee.sentences.frames import FILE, outward
from tests.referee.sentences.language import held_parameters
from tests.referee.sentences.paths import Undecided

MOST_SPANS, MOST_WALKED, MOST_VALUES, MOST_HASHED = 50_000, 4_000, 64, 200_000_000

Span = tuple[int, int, Any]
"""The numbers of the nodes that were made within something: the first, the one after the last, and what that is."""


def next_node() -> int:
    """The number of the node that this thread makes next."""
    return int(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined]


class Calls:
    """What modules and optimizers did so far.

    modules: that were called; roots: by module, how often it was called, other than by a module
    outputs: by module, the shape of what its last call returned
    spans: of calls, in the order of their ends; lines: of statements, each with its first line and its last
    first: the parameters that were seen; updated: those whose bytes a step of an optimizer changed
    norms: by parameter, its norm before the first step that may change it; gradients: that of what the last step read,
        None without one
    before: by parameter, its bytes before the last step of an optimizer that holds it; moved_last: whether that changed
        them; values: itself then, where it is small
    stepping: the optimizers that stepped since the last statement of the function that called them
    times: by module, how often it was called at all
    ever_held: the parameters that optimizers were given, also those that never stepped or are gone
    steps: by optimizer and the line that calls it, how often it stepped after nodes were made
    """

    def __init__(self) -> None:
        self.modules: dict[int, weakref.ref[torch.nn.Module]] = {}
        self.roots: Counter[int] = Counter()
        self.outputs: dict[int, tuple[int, ...] | None] = {}
        self.spans: list[Span] = []
        self.lines: list[Span] = []
        self.first: dict[int, weakref.ref[torch.Tensor]] = {}
        self.updated: set[int] = set()
        self.norms: dict[int, float] = {}
        self.gradients: dict[int, float | None] = {}
        self.times: Counter[int] = Counter()
        self.steps: Counter[tuple[int, int]] = Counter()
        self.stepping: set[int] = set()
        self.optimizers: dict[int, weakref.ref[Optimizer]] = {}
        self.losses: dict[int, list[float]] = {}
        self.ever_held: list[weakref.ref[torch.Tensor]] = []
        self._begun: list[tuple[int, int]] = []
        self.before: dict[int, bytes] = {}
        self.moved_last: dict[int, bool] = {}
        self.values: dict[int, torch.Tensor] = {}
        self._held: set[int] = set()
        self._at: dict[int, int] = {}
        self._stepped_at: dict[int, int] = {}

    # what is noted

    def begin(self, module: torch.nn.Module) -> None:
        known = self.modules.get(id(module))
        if known is None or known() is not module:
            self.times.pop(id(module), None)
            self.roots.pop(id(module), None)
        self.modules[id(module)] = weakref.ref(module)
        self.times[id(module)] += 1
        if not self._begun:
            self.roots[id(module)] += 1
            for parameter in module.parameters():
                self.see(parameter)
        self._begun.append((id(module), next_node()))

    def end(self, output: Any) -> None:
        key, begun = self._begun.pop()
        self.outputs[key] = tuple(output.shape) if isinstance(output, torch.Tensor) else None
        self.spans.append((begun, next_node(), key))

    def see(self, parameter: torch.Tensor) -> None:
        known = self.first.get(id(parameter))
        if known is None or known() is not parameter:
            self.first[id(parameter)] = weakref.ref(parameter)
            self.updated.discard(id(parameter))
            self._held.discard(id(parameter))
            self.norms.pop(id(parameter), None)

    def see_all(self) -> None:
        """Parameters may change from now on."""
        for thing in gc.get_objects():
            if issubclass(type(thing), torch.nn.Parameter):
                self.see(thing)
                if id(thing) not in self.norms:
                    self.norms[id(thing)] = norm(thing)

    def hold(self, parameters: list[torch.Tensor]) -> None:
        known = set(map(id, self.ever_held))
        self.ever_held += [each for each in map(weakref.ref, parameters) if id(each) not in known]

    def begin_step(self, optimizer: Optimizer, *_: Any) -> None:
        self.see_all()
        self.optimizers[id(optimizer)] = weakref.ref(optimizer)
        for parameter in held_parameters(optimizer):
            key = id(parameter)
            self.see(parameter)
            if key not in self._held:
                self._held.add(key)
                self.norms[key] = norm(parameter)
            self.before[key] = digest(parameter)
            if parameter.numel() <= MOST_VALUES:
                self.values[key] = parameter.detach().clone()

    def end_step(self, optimizer: Optimizer, *_: Any) -> None:
        for parameter in held_parameters(optimizer):
            key = id(parameter)
            self.moved_last[key] = digest(parameter) != self.before.get(key)
            self.gradients[key] = None if parameter.grad is None else norm(parameter.grad)
            if self.moved_last[key]:
                self.updated.add(key)
        if self._stepped_at.get(id(optimizer), -1) < next_node():
            self.steps[id(optimizer), line_that_runs()] += 1
        self._stepped_at[id(optimizer)] = next_node()
        self.stepping.add(id(optimizer))

    def pass_statement(self, frame: int, line: int, end_line: int, is_new: bool) -> None:
        """A statement of a frame has run, or the frame begins."""
        begun, now = self._at.get(frame, 0), next_node()
        if not is_new and now > begun and len(self.lines) < MOST_SPANS:
            self.lines.append((begun, now, (line, end_line)))
        self._at[frame] = now

    def note_loss(self, line: int, outputs: Any) -> None:
        """What a line calls backward on."""
        if not self.optimizers:
            self.see_all()
        loss = outputs[0] if outputs else None
        if isinstance(loss, torch.Tensor) and loss.numel() == 1:
            self.losses.setdefault(line, []).append(float(loss.detach()))

    # what is asked

    def running(self, frame: int, place: tuple[int, int]) -> Span:
        """What a statement of a frame has made so far."""
        return self._at.get(frame, 0), next_node(), place

    def called(self, path: str) -> list[torch.nn.Module]:
        """The modules that were called and may be meant by a path: all of it, or its end within another module."""
        living = [module for each in self.modules.values() if (module := each()) is not None]
        found = {
            id(inner): inner
            for root in living
            for name, inner in root.named_modules()
            if name and (path == name or path.endswith(f".{name}") or name.endswith(f".{path}"))
        }
        return [each for key, each in found.items() if key in self.modules]

    def is_in(self, spans: list[Span], node: Any, is_meant: Any) -> bool:
        """Whether a node was made within something that is meant."""
        number = getattr(node, "_sequence_nr", None)
        if number is None or len(self.lines) >= MOST_SPANS:
            raise Undecided("when the node was made is not known")
        at = number()
        first = bisect.bisect_right(spans, at, key=lambda span: span[1])
        return any(begin <= at and is_meant(what) for begin, _, what in spans[first : first + MOST_WALKED])

    def held(self) -> set[int]:
        """The parameters of optimizers that stepped."""
        living = [optimizer for each in self.optimizers.values() if (optimizer := each()) is not None]
        return {id(each) for optimizer in living for each in held_parameters(optimizer)}


def line_that_runs() -> int:
    """The line of the program that runs."""
    return next((each.f_lineno for each in outward(sys._getframe()) if each.f_code.co_filename == FILE), 0)


def norm(tensor: torch.Tensor) -> float:
    with torch.no_grad():
        found = tensor.detach().to_dense()
        return float(
            torch.linalg.vector_norm(found.cpu().to(torch.complex128 if found.is_complex() else torch.float64))
        )


def digest(parameter: torch.Tensor) -> bytes:
    try:
        return hashlib.blake2b(bytes_of(parameter, MOST_HASHED)).digest()
    except Undecided:
        return b""


@contextmanager
def watching() -> Iterator[Calls]:
    """Within it, calls and steps are noted."""
    calls = Calls()
    original, add_group = torch.nn.Module.__call__, Optimizer.add_param_group

    def add(optimizer: Optimizer, group: dict[str, Any]) -> None:
        add_group(optimizer, group)
        calls.hold(optimizer.param_groups[-1]["params"])

    def call(module: torch.nn.Module, *arguments: Any, **options: Any) -> Any:
        calls.begin(module)
        output = None
        try:
            output = original(module, *arguments, **options)
            return output
        finally:
            calls.end(output)

    handles = [
        register_optimizer_step_pre_hook(calls.begin_step),
        register_optimizer_step_post_hook(calls.end_step),
    ]
    setattr(torch.nn.Module, "__call__", call)  # noqa: B010
    setattr(Optimizer, "add_param_group", add)  # noqa: B010
    try:
        yield calls
    finally:
        setattr(torch.nn.Module, "__call__", original)  # noqa: B010
        setattr(Optimizer, "add_param_group", add_group)  # noqa: B010
        for handle in handles:
            handle.remove()
