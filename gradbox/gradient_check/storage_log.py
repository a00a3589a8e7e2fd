"""Logs which operations made, wrote and read each storage, and which of them became nodes of the graph.

This tells when a value can be varied (after the last write into its memory before the loss was computed from it), and
whether an input lies exactly where the slope of an operation jumps.
"""

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch._C._autograd import _get_sequence_nr

from gradbox.gradient_check.double_precision import tensors_in_arguments
from gradbox.recorder.stack import PROGRAM_FILENAME
from gradbox.wire.gradient_check import MAX_CORNERS, LeafProblem


def _has_zero_input(args: Any, _kwargs: Any, _out: Any) -> bool:
    return bool((args[0] == 0).any())


def _has_equal_operands(args: Any, _kwargs: Any, _out: Any) -> bool:
    return bool((args[0] == args[1]).any())


def _has_input_at_bound(args: Any, kwargs: Any, _out: Any) -> bool:
    bounds = [*args[1:3], kwargs.get("min"), kwargs.get("max")]
    return any(bool((args[0] == bound).any()) for bound in bounds if bound is not None)


def _has_tied_extremes(args: Any, kwargs: Any, out: Any) -> bool:
    """Whether the maximum, or minimum, occurs several times."""
    best = out[0] if isinstance(out, tuple) else out
    dims = args[1] if len(args) > 1 else kwargs.get("dim", [])
    dims = [dims] if isinstance(dims, int) else list(dims)
    keeps = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
    if not dims:
        return bool((args[0] == best).sum() > 1)
    if not keeps:
        for dim in sorted(d % args[0].dim() for d in dims):
            best = best.unsqueeze(dim)
    return bool(((args[0] == best).sum(dims) > 1).any())


CORNER_CHECKS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "relu": _has_zero_input,
    "leaky_relu": _has_zero_input,
    "abs": _has_zero_input,
    "clamp": _has_input_at_bound,
    "clamp_min": _has_input_at_bound,
    "clamp_max": _has_input_at_bound,
    "hardtanh": _has_input_at_bound,
    "threshold": _has_input_at_bound,
    "maximum": _has_equal_operands,
    "minimum": _has_equal_operands,
    "max": _has_tied_extremes,
    "min": _has_tied_extremes,
    "amax": _has_tied_extremes,
    "amin": _has_tied_extremes,
}
"""Checks by the operator's name. Operators that write in place are missing, because their input is not known
afterwards."""


def operation_name_at_corner(func: Any, args: Any, kwargs: Any, out: Any) -> str | None:
    """The name of an operation with an input where its slope jumps; None for any other."""
    name = func.__name__.split(".")[0]
    check = CORNER_CHECKS.get(name)
    if check is None or not args or not isinstance(args[0], torch.Tensor) or not args[0].is_floating_point():
        return None
    try:
        return name if check(args, kwargs, out) else None
    except (RuntimeError, IndexError, TypeError):  # other arguments than those of the usual overloads
        return None


MAX_OPERATIONS = 100_000


class TooManyOperations(Exception):
    """The program calls more operations than are followed."""


@dataclass(frozen=True)
class StorageAccess:
    """An operation's access to a storage.

    node: the sequence number of the graph node that the operation became; None if it became none
    latest_node: the number of the last node before it ended, that is, of the custom Function whose forward it may be
        part of
    operation: its number
    argument: which of its tensors has the storage
    """

    kind: Literal["made", "written", "read"]
    operation: int
    argument: int
    node: int | None
    latest_node: int
    line: int | None


class StorageLog:
    """Follows the operations of one run. `DoublePrecisionMode` calls `before_operation` and `after_operation`."""

    def __init__(self) -> None:
        self.accesses: dict[int, list[StorageAccess]] = {}
        self.leaves: dict[int, weakref.ref[torch.Tensor]] = {}
        self.storages_by_leaf: dict[int, dict[int, list[int]]] = {}
        """By the id of a leaf: the storages that it had when it was read, each with the numbers of the latest nodes."""
        self.corners: dict[tuple[str, int | None], None] = {}
        self._next_sequence_number = _get_sequence_nr()
        self._current_line: int | None = None
        self._current_node: int | None = None

    def before_operation(self, operation: int, func: Any, args: Any, kwargs: Any) -> None:
        """Note that an operation begins. Raises TooManyOperations."""
        if operation >= MAX_OPERATIONS:
            raise TooManyOperations
        sequence = _get_sequence_nr()
        self._current_node = sequence - 1 if sequence != self._next_sequence_number else None
        self._next_sequence_number = sequence
        self._current_line = current_program_line()
        written = {id(tensor) for tensor in written_tensors(func, args, kwargs)}
        for k, tensor in enumerate(tensors_in_arguments(args, kwargs)):
            key = storage_key(tensor)
            if key is None:
                continue
            kind: Literal["written", "read"] = "written" if id(tensor) in written else "read"
            self.accesses.setdefault(key, []).append(
                StorageAccess(
                    kind, operation, k, self._current_node, self._next_sequence_number - 1, self._current_line
                )
            )
            if tensor.requires_grad and tensor.is_leaf:
                known = self.leaves.get(id(tensor))
                if known is None or known() is not tensor:
                    self.leaves[id(tensor)], self.storages_by_leaf[id(tensor)] = weakref.ref(tensor), {}
                self.storages_by_leaf[id(tensor)].setdefault(key, []).append(sequence - 1)

    def after_operation(self, operation: int, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Note an operation's result. If its storage is not one of the arguments', it is new."""
        known = {storage_key(tensor) for tensor in tensors_in_arguments(args, kwargs)}
        for tensor in tensors_in_arguments((out,), {}):
            key = storage_key(tensor)
            if key is not None and key not in known:
                self.accesses[key] = [
                    StorageAccess(
                        "made", operation, -1, self._current_node, self._next_sequence_number - 1, self._current_line
                    )
                ]
        corner = operation_name_at_corner(func, args, kwargs, out)
        if corner is not None and len(self.corners) < MAX_CORNERS:
            self.corners[corner, self._current_line] = None

    def living_leaves(self) -> list[torch.Tensor]:
        """The leaves that were seen and are alive, in the order in which they were first used."""
        return [leaf for reference in self.leaves.values() if (leaf := reference()) is not None and leaf.requires_grad]


def storage_key(tensor: torch.Tensor) -> int | None:
    """A key that identifies a living storage; None for a tensor without one."""
    if tensor.layout != torch.strided:
        return None
    key: int = tensor.untyped_storage()._cdata
    return key


_written_arguments_by_operator: dict[Any, list[tuple[int, str]]] = {}


def written_tensors(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The arguments that an operation writes, according to its schema."""
    places = _written_arguments_by_operator.get(func)
    if places is None:
        places = _written_arguments_by_operator[func] = [
            (k, argument.name)
            for k, argument in enumerate(func._schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
    values = [args[k] if k < len(args) else kwargs.get(name) for k, name in places]
    return tensors_in_arguments(values, {})


def current_program_line() -> int | None:
    """The program's current line."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != PROGRAM_FILENAME:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else None


@dataclass(frozen=True)
class PerturbationPoint:
    """The point at which a value is varied to see how the loss follows.

    operation: the operation before which the value is varied
    argument: which of its tensors has the memory
    first_use, first_use_argument: the same for the first operation through which the loss depends on the value
    problem: why the value can't be varied, and where
    line: of the statement that made the value
    """

    line: int | None = None
    operation: int = -1
    argument: int = -1
    first_use: int = -1
    first_use_argument: int = -1
    problem: LeafProblem | None = None
    problem_line: int | None = None


def find_perturbation_point(log: StorageLog, leaf: torch.Tensor, nodes: set[int] | None) -> PerturbationPoint:
    """The point at which a leaf can be varied.

    nodes: the sequence numbers of the nodes of the loss's graph; None for a leaf that this graph does not contain,
        every use of which counts. If its gradient is asked for, a result may take the place of a leaf.
    """
    key = storage_key(leaf)
    accesses = log.accesses.get(key, []) if key is not None else []
    line = next((access.line for access in accesses if access.kind != "read"), None)
    if not leaf.is_floating_point() or key is None:
        return PerturbationPoint(line, problem="not_real")
    if leaf.grad_fn is not None:
        accesses = accesses_since_result_made(accesses, leaf.grad_fn._sequence_nr())
        if not accesses:
            return PerturbationPoint(line, problem="view")
        line = accesses[0].line
    if nodes is not None and was_leaf_read_before_storage_changed(log, leaf, key, nodes):
        return PerturbationPoint(line, problem="not_followed")
    reads = [access for access in accesses if access.kind == "read"]
    uses = reads if nodes is None else [access for access in reads if access.node in nodes] or reads
    if not uses:
        return PerturbationPoint(line, problem="not_followed")
    writes = [access for access in accesses if access.kind != "read"]
    # within a custom Function: what it reads may reach the loss
    possible = [access for access in reads if nodes is not None and access.node is None and access.latest_node in nodes]
    first, last = uses[0].operation, uses[-1].operation
    earliest = min([first, *(access.operation for access in possible)])
    between = [access for access in writes if earliest < access.operation < last]
    if between and nodes is None:  # what it was before counts for nothing, or nobody knows for what
        uses = [access for access in uses if access.operation > between[-1].operation]
        first = uses[0].operation
    elif between:
        return PerturbationPoint(line, problem="written_between", problem_line=between[0].line)
    return _variation_point_before_first_read(line, writes, reads, uses[0], first)


def accesses_since_result_made(accesses: list[StorageAccess], node: int) -> list[StorageAccess]:
    """The accesses to a result's memory, beginning with the one by which its node filled it; none if its node did not.

    Inside a custom Function operations become no nodes; the Function's node is the latest one.
    """
    makers = [
        k
        for k, access in enumerate(accesses)
        if access.kind != "read" and node == (access.latest_node if access.node is None else access.node)
    ]
    return accesses[makers[-1] :] if makers else []


def was_leaf_read_before_storage_changed(log: StorageLog, leaf: torch.Tensor, key: int, nodes: set[int]) -> bool:
    """Whether operations of the graph read the leaf when it had other memory, before its data was replaced."""
    storages = log.storages_by_leaf.get(id(leaf), {})
    return any(not nodes.isdisjoint(numbers) for other, numbers in storages.items() if other != key)


def _variation_point_before_first_read(
    line: int | None, writes: list[StorageAccess], reads: list[StorageAccess], use: StorageAccess, first: int
) -> PerturbationPoint:
    settled = max((access.operation for access in writes if access.operation < first), default=-1)
    at = next(access for access in reads if access.operation > settled)
    return PerturbationPoint(line, at.operation, at.argument, use.operation, use.argument)
