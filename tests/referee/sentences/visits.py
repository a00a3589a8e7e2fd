"""Watches the nodes that backward runs in plain CPython: which ones, in which order, and what they send on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch.autograd import graph

from tests.referee.sentences.frames import outward
from tests.referee.sentences.language import Phrase, is_called
from tests.referee.sentences.paths import Undecided

MOST_NODES = 5000
MOST_ELEMENTS = 10_000


class Visit:
    """A node that ran.

    edges: of each input, the node that its gradient goes to and the leaf there; None without one
    frame: the innermost of the program, which runs backward
    came: whether a gradient came in at all; norm: of the one, where it is small; is_finite: without NaN and inf
    held: whether the `.grad` that it is for held one before
    sent: whether a gradient was computed for each input; zeros: whether that is zeros, where it is small
    """

    def __init__(self, node: Any, came: Sequence[Any], sent: Sequence[Any], held: bool) -> None:
        self.node, self.name, self.held = node, node.name(), held
        self.frame: FrameType | None = None
        self.came = any(each is not None for each in came)
        self.norm = norm_of(came[0]) if len(came) == 1 else None
        self.is_finite = all(map(is_finite, came))
        self.sent = [each is not None for each in sent]
        self.zeros = [each is None or is_zeros(each) for each in sent]
        self.edges = [None if target is None else (target, variable_of(target)) for target, _ in node.next_functions]

    def sends(self, count: int, targets: list[Any]) -> bool:
        """Whether so many gradients go to these targets, each at least one, and to no others."""
        reached = [edge for edge, is_sent in zip(self.edges, self.sent, strict=False) if is_sent and edge is not None]
        if len(reached) != count:
            return False
        return all(any(leads_to(edge, target) for target in targets) for edge in reached) and all(
            any(leads_to(edge, target) for edge in reached) for target in targets
        )

    def edges_to(self, leaf: Any) -> list[int]:
        """The inputs whose gradients go on to a leaf."""
        return [
            k for k, edge in enumerate(self.edges) if edge and any(variable_of(n) is leaf for n in nodes_from(edge[0]))
        ]

    def leaf(self) -> Any:
        """The tensor at which a gradient arrives."""
        found = variable_of(self.node)
        if found is None:
            raise Undecided("the node has no leaf")
        return found


def norm_of(gradient: Any) -> float | None:
    if gradient is None or gradient.numel() >= MOST_ELEMENTS:
        return None
    with torch.no_grad():
        return float(torch.linalg.vector_norm(gradient.detach().to_dense().double()))


def is_finite(gradient: Any) -> bool:
    with torch.no_grad():
        return gradient is None or bool(torch.isfinite(gradient.detach().to_dense()).all())


def is_zeros(gradient: torch.Tensor) -> bool:
    with torch.no_grad():
        return gradient.numel() < MOST_ELEMENTS and not bool(torch.count_nonzero(gradient.detach().to_dense()))


def leads_to(edge: tuple[Any, Any], target: Any) -> bool:
    """Whether an edge goes to a leaf, or to a node that is called so."""
    node, leaf = edge
    if isinstance(target, torch.Tensor):
        return leaf is target
    return (
        leaf is not None
        if isinstance(target, Phrase) and target.key == "unnamed_tensor"
        else is_called(node.name(), target)
    )


def variable_of(node: Any) -> Any:
    """The leaf of a node that puts gradients into its `.grad`."""
    return getattr(node, "variable", None) if node.name().endswith("AccumulateGrad") else None


def nodes_behind(outputs: Sequence[Any]) -> list[Any]:
    """The nodes that a backward may run."""
    queue = []
    for each in outputs:
        try:
            queue.append(graph.get_gradient_edge(each).node if isinstance(each, torch.Tensor) else each.node)
        except (RuntimeError, AttributeError):
            continue
    return nodes_from(*queue)


def nodes_from(*begin: Any) -> list[Any]:
    """Nodes, and those that gradients go on to from there."""
    queue = list(begin)
    seen = dict.fromkeys(queue)
    for node in queue:
        for target, _ in node.next_functions:
            if target is not None and target not in seen:
                seen[target] = None
                queue.append(target)
        if len(queue) > MOST_NODES:
            break
    return queue


def is_in_backward(frame: FrameType | None) -> bool:
    """Whether a frame runs in a backward: a hook, a function's own backward."""
    return any(each.f_globals is globals() and each.f_code.co_name == "run" for each in outward(frame))


@contextmanager
def visits(
    on_begin: Callable[[], None], on_visit: Callable[[Visit], None], on_backward: Callable[[Sequence[Any]], None]
) -> Iterator[None]:
    """Within it, `on_begin` is called before each node runs and after the last, `on_visit` after each, `on_backward`
    with what a backward begins at."""
    engine = graph._engine_run_backward

    def run(outputs: Sequence[Any], *arguments: Any, **options: Any) -> Any:
        handles = []
        holding: set[Any] = set()
        on_backward(outputs)
        for node in nodes_behind(outputs):

            def after(sent: Sequence[Any], came: Sequence[Any], node: Any = node) -> None:
                on_visit(Visit(node, came, sent, node in holding))

            def before(_: Sequence[Any], node: Any = node) -> None:
                on_begin()
                if getattr(variable_of(node), "grad", None) is not None:
                    holding.add(node)

            handles += [node.register_hook(after), node.register_prehook(before)]
        node = None
        try:
            return engine(outputs, *arguments, **options)
        finally:
            for handle in handles:
                handle.remove()
            on_begin()

    places = (graph, torch.autograd)
    for place in places:
        place._engine_run_backward = run  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for place in places:
            place._engine_run_backward = engine  # type: ignore[attr-defined]
