"""One run of a program with one element of a tensor changed: from what backward starts, and what it returns."""

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from gradbox.gradient_check.double_precision import DoublePrecisionMode, tensors_in_arguments
from gradbox.gradient_check.leaves import BackwardGraph, CheckedLeaf
from gradbox.gradient_check.replay import BackwardCall, BackwardReached, ReplayableProgram


class PerturbedRun:
    """Runs a program with one element of a leaf changed.

    overwritten: the change was overwritten before the element was used
    """

    def __init__(
        self,
        program: ReplayableProgram,
        call_number: int,
        grad_tensors: list[torch.Tensor | None],
        leaf: CheckedLeaf,
        element: int,
    ) -> None:
        self._program, self._call_number, self._grad_tensors, self._leaf = program, call_number, grad_tensors, leaf
        place, self._position = element, leaf.offset
        for size, stride in zip(reversed(leaf.shape), reversed(leaf.strides), strict=True):
            self._position += place % size * stride
            place //= size
        self.overwritten = False

    def loss_with_perturbation(self, change: float) -> float | None:
        """The loss with this change; None if the program raised, or never reached its backward."""
        point, losses = self._leaf.point, list[float | None]()
        varied: list[float] = []

        def vary_before_operation(operation: int, _func: Any, args: Any, kwargs: Any) -> None:
            if operation == point.operation:
                memory = storage_as_flat_tensor(tensors_in_arguments(args, kwargs)[point.argument])
                memory[self._position] += change
                varied.append(memory[self._position].item())
            if operation == point.first_use:
                memory = storage_as_flat_tensor(tensors_in_arguments(args, kwargs)[point.first_use_argument])
                self.overwritten |= [memory[self._position].item()] != varied

        def on_backward_call(call: BackwardCall) -> Any:
            if call.number != self._call_number:
                return call.proceed()
            losses.append(loss_of_roots(call.roots, self._grad_tensors))
            raise BackwardReached

        with DoublePrecisionMode(vary_before_operation):
            self._program.run(on_backward_call)
        return losses[0] if losses else None


def storage_as_flat_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor's whole storage as a flat tensor that is unknown to autograd and has its own version counter."""
    storage = tensor.untyped_storage()
    size = storage.nbytes() // tensor.element_size()
    return torch.empty(0, dtype=tensor.dtype).set_(storage, 0, (size,), (1,))


def loss_of_roots(roots: list[torch.Tensor], grad_tensors: list[torch.Tensor | None]) -> float | None:
    """The number whose gradient backward computes."""
    with torch.no_grad(), _disable_current_modes():
        total = 0.0
        for root, grad in zip(roots, grad_tensors, strict=True):
            value = root.detach() if grad is None else root.detach() * grad.detach()
            if value.is_complex():
                return None
            total += float(value.double().sum())
        return total


def run_backward_capturing_grads(graph: BackwardGraph, call: BackwardCall) -> tuple[list[torch.Tensor | None], Any]:
    """Do what the program asks. Returns the gradient of each of `requested_tensors`, after its hooks, and the result
    for the program."""
    tensors = requested_tensors(graph, call)
    if not call.accumulates:
        result = call.proceed()
        return [None if grad is None else detached_double_copy(grad) for grad in result], result
    grads: list[torch.Tensor | None] = [None] * len(tensors)

    def make_gradient_hook(k: int) -> Any:
        def hook(arrived: torch.Tensor | tuple[torch.Tensor | None, ...]) -> None:
            grad = arrived if isinstance(arrived, torch.Tensor) else arrived[0]
            if grad is not None:
                grads[k] = detached_double_copy(grad)

        return hook

    handles: list[Any] = []
    for k, tensor in enumerate(tensors):
        if tensor.is_leaf:
            handles.append(torch.autograd.graph.get_gradient_edge(tensor).node.register_prehook(make_gradient_hook(k)))
        else:
            handles.append(tensor.register_hook(make_gradient_hook(k)))  # type: ignore[no-untyped-call]
    try:
        return grads, call.proceed()
    finally:
        for handle in handles:
            handle.remove()


def requested_tensors(graph: BackwardGraph, call: BackwardCall) -> list[torch.Tensor]:
    """The tensors whose gradients a call asks for: its inputs, or else all leaves of the graph."""
    return graph.leaves if call.inputs is None else call.inputs


def detached_double_copy(grad: torch.Tensor) -> torch.Tensor:
    """A detached copy of a gradient in float64."""
    with _disable_current_modes(), torch.no_grad():
        return grad.detach().to_dense().double().clone()
