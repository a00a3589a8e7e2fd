"""When a value can be varied: after the last write into its memory before the loss was computed from it."""

from dataclasses import dataclass

import torch

from gradbox.gradient_check.storage_log import Access, StorageLog, storage_key
from gradbox.wire.gradient_check import LeafProblem


@dataclass(frozen=True)
class VariationPoint:
    """operation: before which the value is varied; argument: which of its tensors has the memory; first_use,
    first_use_argument: the same of the first operation through which the loss depends on it. problem: why it can't be
    varied, and where.

    line: of the statement that made the value.
    """

    line: int | None = None
    operation: int = -1
    argument: int = -1
    first_use: int = -1
    first_use_argument: int = -1
    problem: LeafProblem | None = None
    problem_line: int | None = None


def variation_point(log: StorageLog, leaf: torch.Tensor, nodes: set[int] | None) -> VariationPoint:
    """When a leaf can be varied.

    nodes: the sequence numbers of the nodes of the loss's graph; None for a leaf that this graph does not have, of which
    every use counts. A result may stand for a leaf, where its gradient is asked for.
    """
    key = storage_key(leaf)
    accesses = log.accesses.get(key, []) if key is not None else []
    line = next((access.line for access in accesses if access.kind != "read"), None)
    if not leaf.is_floating_point() or key is None:
        return VariationPoint(line, problem="not_real")
    if leaf.grad_fn is not None:
        accesses = accesses_since_made(accesses, leaf.grad_fn._sequence_nr())
        if not accesses:
            return VariationPoint(line, problem="view")
        line = accesses[0].line
    if nodes is not None and has_other_storage(log, leaf, key, nodes):
        return VariationPoint(line, problem="not_followed")
    reads = [access for access in accesses if access.kind == "read"]
    uses = reads if nodes is None else [access for access in reads if access.node in nodes] or reads
    if not uses:
        return VariationPoint(line, problem="not_followed")
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
        return VariationPoint(line, problem="written_between", problem_line=between[0].line)
    return _point_before_first_read(line, writes, reads, uses[0], first)


def accesses_since_made(accesses: list[Access], node: int) -> list[Access]:
    """The accesses to a result's memory, from the one on by which its node filled it; none where its node did not.

    Within a custom Function operations become no nodes; the Function's is the latest.
    """
    makers = [
        k
        for k, access in enumerate(accesses)
        if access.kind != "read" and node == (access.latest_node if access.node is None else access.node)
    ]
    return accesses[makers[-1] :] if makers else []


def has_other_storage(log: StorageLog, leaf: torch.Tensor, key: int, nodes: set[int]) -> bool:
    """Whether the graph's operations read the leaf when it had other memory: its data were exchanged."""
    storages = log.storages_by_leaf.get(id(leaf), {})
    return any(not nodes.isdisjoint(numbers) for other, numbers in storages.items() if other != key)


def _point_before_first_read(
    line: int | None, writes: list[Access], reads: list[Access], use: Access, first: int
) -> VariationPoint:
    settled = max((access.operation for access in writes if access.operation < first), default=-1)
    at = next(access for access in reads if access.operation > settled)
    return VariationPoint(line, at.operation, at.argument, use.operation, use.argument)
