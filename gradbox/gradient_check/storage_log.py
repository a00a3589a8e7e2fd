"""Which operations made, wrote and read each storage, and which of them became nodes of the graph."""

import sys
import weakref
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch._C._autograd import _get_sequence_nr

from gradbox.gradient_check.corners import corner_operation
from gradbox.gradient_check.double_precision import tensors_of
from gradbox.recorder.stack import PROGRAM
from gradbox.wire.gradient_check import MAX_CORNERS

MAX_OPERATIONS = 100_000


class TooManyOperations(Exception):
    """The program calls more operations than are followed."""


@dataclass(frozen=True)
class Access:
    """An operation's access to a storage. operation: its number. argument: which of its tensors has the storage.

    node: the sequence number of the node of the graph that the operation became; None where it became none.
    latest_node: that of the last node before it ended: of a custom Function, whose forward it may be part of.
    """

    kind: Literal["made", "written", "read"]
    operation: int
    argument: int
    node: int | None
    latest_node: int
    line: int | None


class StorageLog:
    """Follows the operations of one run, by `before` and `after` of `DoublePrecision`."""

    def __init__(self) -> None:
        self.accesses: dict[int, list[Access]] = {}
        self.leaves: dict[int, weakref.ref[torch.Tensor]] = {}
        self.storages_by_leaf: dict[int, dict[int, list[int]]] = {}
        """By the id of a leaf: the storages that it had when it was read, each with the numbers of the latest nodes."""
        self.corners: dict[tuple[str, int | None], None] = {}
        self._next_sequence_number = _get_sequence_nr()
        self._current_line: int | None = None
        self._current_node: int | None = None

    def before(self, operation: int, func: Any, args: Any, kwargs: Any) -> None:
        """An operation begins. Raises TooManyOperations."""
        if operation >= MAX_OPERATIONS:
            raise TooManyOperations
        sequence = _get_sequence_nr()
        self._current_node = sequence - 1 if sequence != self._next_sequence_number else None
        self._next_sequence_number = sequence
        self._current_line = program_line()
        written = {id(tensor) for tensor in written_tensors(func, args, kwargs)}
        for k, tensor in enumerate(tensors_of(args, kwargs)):
            key = storage_key(tensor)
            if key is None:
                continue
            kind: Literal["written", "read"] = "written" if id(tensor) in written else "read"
            self.accesses.setdefault(key, []).append(
                Access(kind, operation, k, self._current_node, self._next_sequence_number - 1, self._current_line)
            )
            if tensor.requires_grad and tensor.is_leaf:
                known = self.leaves.get(id(tensor))
                if known is None or known() is not tensor:
                    self.leaves[id(tensor)], self.storages_by_leaf[id(tensor)] = weakref.ref(tensor), {}
                self.storages_by_leaf[id(tensor)].setdefault(key, []).append(sequence - 1)

    def after(self, operation: int, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """An operation has a result: where its storage is none of the arguments', it is new."""
        known = {storage_key(tensor) for tensor in tensors_of(args, kwargs)}
        for tensor in tensors_of((out,), {}):
            key = storage_key(tensor)
            if key is not None and key not in known:
                self.accesses[key] = [
                    Access(
                        "made", operation, -1, self._current_node, self._next_sequence_number - 1, self._current_line
                    )
                ]
        corner = corner_operation(func, args, kwargs, out)
        if corner is not None and len(self.corners) < MAX_CORNERS:
            self.corners[corner, self._current_line] = None

    def living_leaves(self) -> list[torch.Tensor]:
        """The leaves that were seen and are alive, in the order in which they were first used."""
        return [leaf for reference in self.leaves.values() if (leaf := reference()) is not None and leaf.requires_grad]


def storage_key(tensor: torch.Tensor) -> int | None:
    """What tells a living storage from any other; None for a tensor without one."""
    if tensor.layout != torch.strided:
        return None
    key: int = tensor.untyped_storage()._cdata
    return key


_written_arguments: dict[Any, list[tuple[int, str]]] = {}


def written_tensors(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The arguments that an operation writes, as its schema says."""
    places = _written_arguments.get(func)
    if places is None:
        places = _written_arguments[func] = [
            (k, argument.name)
            for k, argument in enumerate(func._schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
    values = [args[k] if k < len(args) else kwargs.get(name) for k, name in places]
    return tensors_of(values, {})


def program_line() -> int | None:
    """The line of the program that is at work."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else None
