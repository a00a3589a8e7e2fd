"""Watches the modules that plain CPython calls, the optimizers that step, and which statement made which node."""

import bisect
import hashlib
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from tests.referee.sentences.language import content
from tests.referee.sentences.paths import Undecided

MOST_SPANS, MOST_WALKED = 50_000, 4_000

Span = tuple[int, int, Any]
"""The numbers of the nodes that were made within something: the first, the one after the last, and what that is."""


def next_node() -> int:
    """The number of the node that this thread makes next."""
    return int(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined]


class Calls:
    """What modules and optimizers did so far.

    modules: that were called; roots: those that no other module called, with how often
    outputs: by module, the shape of what its last call returned
    spans: of calls, in the order of their ends; lines: of statements, each with its first line and its last
    first: by parameter, a hash of its bytes when it was first seen
    steps: by optimizer, how often it stepped after nodes were made
    """

    def __init__(self) -> None:
        self.modules: dict[int, weakref.ref[torch.nn.Module]] = {}
        self.roots: Counter[int] = Counter()
        self.outputs: dict[int, tuple[int, ...] | None] = {}
        self.spans: list[Span] = []
        self.lines: list[Span] = []
        self.first: dict[int, tuple[weakref.ref[torch.Tensor], bytes]] = {}
        self.steps: Counter[int] = Counter()
        self.optimizers: dict[int, weakref.ref[Optimizer]] = {}
        self.losses: dict[int, list[float]] = {}
        self._begun: list[tuple[int, int]] = []
        self._at: dict[int, int] = {}
        self._stepped_at: dict[int, int] = {}

    # what is noted

    def begin(self, module: torch.nn.Module, _: Any) -> None:
        self.modules[id(module)] = weakref.ref(module)
        if not self._begun:
            self.roots[id(module)] += 1
            for parameter in module.parameters():
                self.see(parameter)
        self._begun.append((id(module), next_node()))

    def end(self, module: torch.nn.Module, _: Any, output: Any) -> None:
        while self._begun:
            key, begun = self._begun.pop()
            if key == id(module):
                self.outputs[key] = tuple(output.shape) if isinstance(output, torch.Tensor) else None
                self.spans.append((begun, next_node(), key))
                return

    def see(self, parameter: torch.Tensor) -> None:
        known = self.first.get(id(parameter))
        if known is None or known[0]() is not parameter:
            self.first[id(parameter)] = (weakref.ref(parameter), digest(parameter))

    def begin_step(self, optimizer: Optimizer, *_: Any) -> None:
        self.optimizers[id(optimizer)] = weakref.ref(optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self.see(parameter)

    def end_step(self, optimizer: Optimizer, *_: Any) -> None:
        if self._stepped_at.get(id(optimizer), -1) < next_node():
            self.steps[id(optimizer)] += 1
        self._stepped_at[id(optimizer)] = next_node()

    def pass_statement(self, frame: int, line: int, end_line: int, is_new: bool) -> None:
        """A statement of a frame has run, or the frame begins."""
        begun, now = self._at.get(frame, 0), next_node()
        if not is_new and now > begun and len(self.lines) < MOST_SPANS:
            self.lines.append((begun, now, (line, end_line)))
        self._at[frame] = now

    def note_loss(self, line: int, outputs: Any) -> None:
        """What a line calls backward on."""
        loss = outputs[0] if outputs else None
        if isinstance(loss, torch.Tensor) and loss.numel() == 1:
            self.losses.setdefault(line, []).append(float(loss.detach()))

    # what is asked

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

    def moved(self) -> dict[int, bool]:
        """Of each parameter that was seen, whether it has other bytes now."""
        return {
            key: digest(parameter) != before
            for key, (reference, before) in self.first.items()
            if (parameter := reference()) is not None and parameter.requires_grad
        }

    def held(self) -> set[int]:
        """The parameters of optimizers that stepped."""
        living = [optimizer for each in self.optimizers.values() if (optimizer := each()) is not None]
        return {id(each) for optimizer in living for group in optimizer.param_groups for each in group["params"]}


def digest(parameter: torch.Tensor) -> bytes:
    try:
        return hashlib.blake2b(content(parameter)).digest()
    except Undecided:
        return b""


@contextmanager
def watching() -> Iterator[Calls]:
    """Within it, calls and steps are noted."""
    calls = Calls()
    handles = [
        register_module_forward_pre_hook(calls.begin),
        register_module_forward_hook(calls.end),
        register_optimizer_step_pre_hook(calls.begin_step),
        register_optimizer_step_post_hook(calls.end_step),
    ]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()
