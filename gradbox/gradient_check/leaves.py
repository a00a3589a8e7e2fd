"""The leaves of the graph that the engine is about to walk: their order, the program's names for them, and the rows
that result from comparing each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch

from gradbox.gradient_check.storage_log import PerturbationPoint
from gradbox.gradient_check.verdicts import (
    VERDICTS_BY_SEVERITY,
    Judgement,
    exceeds_usual_rounding,
    is_explained_by_rounding,
    json_number,
    relative_difference,
)
from gradbox.recorder.stack import PROGRAM_FILENAME, frames_outward
from gradbox.wire.gradient_check import ElementCheck, ElementVerdict, LeafCheck, StaleCopy

MAX_NODES = 100_000


class BackwardGraph:
    """The graph of one backward.

    leaves: in the order in which they are found from the roots
    sequence_numbers: those of its nodes
    """

    def __init__(self, roots: Iterable[torch.Tensor]) -> None:
        self.leaves: list[torch.Tensor] = []
        self.sequence_numbers: set[int] = set()
        self._nodes: set[Any] = set()
        self._users: dict[Any, set[str]] = {}
        waiting = [torch.autograd.graph.get_gradient_edge(root).node for root in roots if root.requires_grad]
        waiting.reverse()
        while waiting and len(self._nodes) < MAX_NODES:
            node = waiting.pop()
            if node in self._nodes:
                continue
            self._nodes.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None and node.name().endswith("AccumulateGrad"):
                self.leaves.append(variable)
            else:
                self.sequence_numbers.add(node._sequence_nr())
            others = [other for other, _ in reversed(node.next_functions) if other is not None]
            for other in others:
                self._users.setdefault(other, set()).add(node.name())
            waiting.extend(others)

    def reaches_tensor(self, tensor: torch.Tensor) -> bool:
        """Whether a gradient reaches a tensor that requires one."""
        return torch.autograd.graph.get_gradient_edge(tensor).node in self._nodes

    def uses_only_copies(self, leaf: torch.Tensor) -> bool:
        """Whether the graph computes with copies of a leaf in another precision, and never with the leaf itself."""
        users = self._users.get(torch.autograd.graph.get_gradient_edge(leaf).node, set())
        return bool(users) and all(name.startswith("ToCopyBackward") for name in users)


MAX_ITEMS = 1000


def names_of_leaves_in_frame(leaves: Iterable[torch.Tensor], frame: FrameType | None) -> dict[int, str]:
    """For the id of each leaf with a name, that name as the frame, or the nearest enclosing one, would write it."""
    wanted = {id(leaf) for leaf in leaves}
    names: dict[int, str] = {}
    for around in frames_outward(frame):
        if around.f_code.co_filename != PROGRAM_FILENAME:
            continue
        for tensor, name in named_tensors(around.f_locals):
            if id(tensor) in wanted and id(tensor) not in names:
                names[id(tensor)] = name
    return names


def named_tensors(variables: dict[str, Any]) -> Iterator[tuple[torch.Tensor, str]]:
    """Tensors to which variables lead, with their paths: plain variables first."""
    values = [(name, value) for name, value in list(variables.items()) if not name.startswith("__")]
    for name, value in values:
        if isinstance(value, torch.Tensor):
            yield value, name
    for name, value in values:
        if isinstance(value, torch.nn.Module):
            for path, parameter in torch.nn.Module.named_parameters(value, remove_duplicate=False):
                yield parameter, name + subscripted_module_path(path)
    for name, value in values:
        for path, item in named_items(value):
            if isinstance(item, torch.Tensor):
                yield item, name + path
            elif isinstance(item, torch.nn.Module):
                for inner, parameter in torch.nn.Module.named_parameters(item):
                    yield parameter, name + path + subscripted_module_path(inner)


def named_items(value: Any) -> Iterator[tuple[str, Any]]:
    """The items of a container, or the attributes of an object, each with the code that accesses it."""
    if type(value) in (list, tuple):
        yield from ((f"[{k}]", item) for k, item in enumerate(value[:MAX_ITEMS]))
    elif type(value) is dict:
        yield from ((f"[{key!r}]", item) for key, item in list(value.items())[:MAX_ITEMS] if type(key) in (str, int))
    elif not isinstance(value, type | torch.Tensor | torch.nn.Module):
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict:
            yield from ((f".{key}", item) for key, item in list(attributes.items())[:MAX_ITEMS] if type(key) is str)


def subscripted_module_path(path: str) -> str:
    """`layers.0.weight` as a program writes it after the object that holds it: `.layers[0].weight`."""
    out = ""
    for part in path.split("."):
        out += f"[{part}]" if part.isdigit() else f".{part}"
    return out


@dataclass
class CheckedLeaf:
    """A leaf in the float64 run.

    values, torch_grad, double_grad: all elements of the leaf, of its gradient in the program's precision and of that in
        float64; None if there is no gradient, and no values if the leaf can't be varied
    largest_number: of all that the backward computed in float64
    eps: of the lowest precision that took part in the program's own run
    copy_used: the older copy with which that run computed
    """

    name: str | None
    shape: list[int]
    dtype: str
    strides: list[int]
    offset: int
    values: torch.Tensor | None
    point: PerturbationPoint
    in_graph: bool
    hooked: bool
    torch_grad: torch.Tensor | None = None
    double_grad: torch.Tensor | None = None
    largest_grad: float = 0.0
    largest_number: float = 0.0
    eps: float = 0.0
    copy_used: StaleCopy | None = None
    rows: list[ElementCheck] = field(default_factory=list)

    def double_grad_at(self, element: int) -> float | None:
        """The gradient of an element in float64."""
        return None if self.double_grad is None else float(self.double_grad[element])


def make_element_check(leaf: CheckedLeaf, element: int, judgement: Judgement) -> ElementCheck:
    """The row of an element."""
    slopes, verdict = judgement.slopes, judgement.verdict
    own = None if leaf.torch_grad is None else float(leaf.torch_grad[element])
    double = leaf.double_grad_at(element)
    if verdict == "agrees" and own is not None and double is not None:
        verdict = judge_rounded_gradient(leaf, own, double)
    numeric = slopes.central_quotient if slopes else None
    shows_sides = (
        slopes is not None
        and verdict in ("kink", "differs")
        and slopes.gap_between_sides > 0.01 * abs(slopes.central_quotient)
    )
    index = []
    for size in reversed(leaf.shape):
        index.append(element % size)
        element //= size
    return ElementCheck(
        index=index[::-1],
        torch=json_number(own),
        double=json_number(double),
        numeric=json_number(numeric),
        verdict=verdict,
        left=json_number(slopes.left) if slopes and shows_sides else None,
        right=json_number(slopes.right) if slopes and shows_sides else None,
        difference=relative_difference(own, numeric, slopes.noise if slopes else 0.0),
    )


def judge_rounded_gradient(leaf: CheckedLeaf, own: float, double: float) -> ElementVerdict:
    """What a gradient in the program's precision is, beside one in float64 that is right."""
    if not exceeds_usual_rounding(own, double, leaf.largest_grad, leaf.dtype):
        return "agrees"
    if is_explained_by_rounding(own, double, leaf.largest_number, leaf.eps):
        return "rounding"
    return "imprecise" if leaf.copy_used is None else "stale"


def make_leaf_check(leaf: CheckedLeaf) -> LeafCheck:
    """The check of a leaf, with its rows and the worst of their verdicts."""
    worst = min(
        range(len(leaf.rows)),
        key=lambda k: (VERDICTS_BY_SEVERITY.index(leaf.rows[k].verdict), -torch_gradient_error(leaf.rows[k])),
        default=None,
    )
    size = 1
    for length in leaf.shape:
        size *= length
    return LeafCheck(
        name=leaf.name, line=leaf.point.line, shape=leaf.shape, dtype=leaf.dtype, elements=size,
        verdict="unknown" if worst is None else leaf.rows[worst].verdict, worst=worst, hooked=leaf.hooked,
        copy_used=leaf.copy_used if any(row.verdict == "stale" for row in leaf.rows) else None,
        problem=leaf.point.problem, problem_line=leaf.point.problem_line, rows=leaf.rows,
    )  # fmt: skip


def torch_gradient_error(row: ElementCheck) -> float:
    """The error of torch's gradient: relative if it has a value, else the whole slope."""
    if row.difference is not None:
        return row.difference
    return abs(row.numeric) if isinstance(row.numeric, float) else 0.0
