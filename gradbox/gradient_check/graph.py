"""The graph that the engine is about to walk: its leaves, in a fixed order, and the numbers of its nodes."""

from collections.abc import Iterable
from typing import Any

import torch

MAX_NODES = 100_000


class BackwardGraph:
    """leaves: in the order in which they are found from the roots. sequence_numbers: the sequence numbers of its nodes."""

    def __init__(self, roots: Iterable[torch.Tensor]) -> None:
        self.leaves: list[torch.Tensor] = []
        self.sequence_numbers: set[int] = set()
        self._nodes: set[Any] = set()
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
            waiting.extend(other for other, _ in reversed(node.next_functions) if other is not None)

    def leads_to(self, tensor: torch.Tensor) -> bool:
        """Whether a gradient comes to a tensor that requires one."""
        return torch.autograd.graph.get_gradient_edge(tensor).node in self._nodes
