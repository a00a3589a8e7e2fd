"""Plain torch's own account of gradients, with hooks on every node: what went over each edge into a tensor's node.

To be called in a process that has nothing of ours: `accounts`.
"""

import contextlib
import io
from typing import Any

import torch


class Account:
    """Of the last call of backward: what each node was given, and sent over each of its edges."""

    def __init__(self) -> None:
        self.given: dict[Any, Any] = {}
        self.sent: dict[Any, Any] = {}

    def listen(self, root: torch.Tensor) -> None:
        self.given.clear()
        self.sent.clear()
        nodes: list[Any] = [root.grad_fn]
        for node in nodes:
            node.register_prehook(lambda grads, node=node: self.given.__setitem__(node, copied(grads)))
            node.register_hook(lambda sent, _given, node=node: self.sent.__setitem__(node, copied(sent)))
            for other, _ in node.next_functions:
                if other is not None and other not in nodes:
                    nodes.append(other)

    def of(self, tensor: torch.Tensor) -> dict[str, Any]:
        edge = torch.autograd.graph.get_gradient_edge(tensor)
        parts = [
            grads[k]
            for node, grads in self.sent.items()
            for k, (other, nr) in enumerate(node.next_functions)
            if other is edge.node and nr == edge.output_nr and grads[k] is not None
        ]
        arrived = self.given.get(edge.node)
        grad = None if tensor.grad is None else tensor.grad.flatten().tolist()
        return {"grad": grad, "parts": parts, "arrived": arrived[edge.output_nr] if arrived else None}


def copied(grads: Any) -> list[list[float] | None]:
    return [None if grad is None else grad.detach().flatten().tolist() for grad in grads]


def account(source: str, names: list[str]) -> list[dict[str, Any]]:
    """What torch says of the tensors of these names after the program has run."""
    listening = Account()
    backward = torch.Tensor.backward

    def listened(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        listening.listen(self)
        backward(self, *args, **kwargs)

    scope: dict[str, Any] = {"__name__": "__main__"}
    torch.manual_seed(0)
    torch.Tensor.backward = listened
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "<program>", "exec"), scope)
    finally:
        torch.Tensor.backward = backward
    return [listening.of(eval(name, scope)) for name in names]


def accounts(requests: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Of each `{"source", "names"}`, for each name `{"grad", "parts", "arrived"}`."""
    return [account(**request) for request in requests]
