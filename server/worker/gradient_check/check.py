"""Compares torch's gradients of one call of `backward` or `torch.autograd.grad` with finite differences, leaf by leaf."""

import random
import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from server.wire.gradient_check import MAX_LEAVES, CheckProblem, Corner, GradientCheck, GradientCheckOptions
from server.worker.gradient_check.double_precision import DoublePrecision
from server.worker.gradient_check.graph import Graph
from server.worker.gradient_check.leaf_names import leaf_names, named_tensors
from server.worker.gradient_check.leaf_rows import Leaf, element_check, leaf_check
from server.worker.gradient_check.replay import BackwardCall, BackwardReached, Listener, Program
from server.worker.gradient_check.storage_log import StorageLog, TooManyOperations
from server.worker.gradient_check.variation import Variation, gradients, loss_of, requested_tensors
from server.worker.gradient_check.variation_points import VariationPoint, variation_point
from server.worker.gradient_check.verdicts import json_number, judge, step_for

MAX_SECONDS = 3.0
"""Processor time for all runs of a check; what is not varied by then is not compared."""

MAX_OF_WHOLE_LEAF = 24
"""Elements up to which every one of a leaf is varied, if there is room; of a larger leaf a sample of as many."""


@dataclass
class OriginalRun:
    """The run in the program's precision. call: which call of the engine; grads: what came to each tensor that it asks for.

    leaves: how many its graph has. has_unfit_calls: whether some have not one loss.
    """

    call: int = -1
    line: int | None = None
    loss: float | None = None
    grads: list[torch.Tensor | None] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    named_dtypes: dict[str, str] = field(default_factory=dict)
    leaves: int = 0
    is_real: bool = True
    has_unfit_calls: bool = False


@dataclass
class DoubleRun:
    """The run in float64. grad_tensors: with which backward starts from each root."""

    loss: float | None = None
    grad_tensors: list[torch.Tensor | None] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    corners: list[Corner] = field(default_factory=list)
    operations: int = 0


class NothingToCompare(Exception):
    """Nothing can be compared. problem: why; text: what raised."""

    def __init__(self, problem: CheckProblem, text: str = "") -> None:
        super().__init__(problem)
        self.problem, self.text = problem, text


class Check:
    """One check of one program. began: `time.process_time` from which its time counts."""

    def __init__(self, program: Program, options: GradientCheckOptions, began: float) -> None:
        self._program, self._options, self._until = program, options, began + MAX_SECONDS
        self.error: BaseException | None = None
        """What the program raised in its own precision."""

    def result(self) -> GradientCheck:
        """Run the program as often as it takes, and compare."""
        own = OriginalRun()
        try:
            self._run_original(own)
            run = self._run_double(own)
            self._run_again(own, run)
        except NothingToCompare as failed:
            return GradientCheck(
                problem=failed.problem, message=failed.text[:2000], runs=self._program.runs, line=own.line,
                backward=own.call if own.call >= 0 else None, loss=json_number(own.loss),
            )  # fmt: skip
        complete = self._compare_elements(own, run)
        leaves = [leaf_check(leaf) for leaf in run.leaves]
        leaves = [leaf for leaf in leaves if leaf.verdict != "unused" and (leaf.rows or leaf.problem)]
        return GradientCheck(
            problem=None if leaves else "no_leaves", backward=own.call, line=own.line, loss=json_number(own.loss),
            double=json_number(run.loss), runs=self._program.runs, complete=complete, corners=run.corners, leaves=leaves,
        )  # fmt: skip

    def _run_original(self, own: OriginalRun) -> None:
        wanted = self._options.backward

        def listener(call: BackwardCall) -> Any:
            if not call.has_one_loss and wanted in (None, call.number):
                own.has_unfit_calls = True
            if not call.has_one_loss or wanted not in (None, call.number):
                return call.proceed()
            graph = Graph(call.roots)
            loss, is_real = loss_of(call.roots, call.grad_tensors), all(not root.is_complex() for root in call.roots)
            named = named_tensors(call.frame.f_locals) if call.frame is not None else ()
            dtypes = {name: dtype_name(tensor) for tensor, name in named}
            grads, result = gradients(graph, call)
            own.call, own.line, own.loss, own.grads, own.is_real = call.number, line_of(call), loss, grads, is_real
            own.dtypes, own.named_dtypes = [dtype_name(tensor) for tensor in requested_tensors(graph, call)], dtypes
            own.leaves = len(graph.leaves)
            if wanted is not None:
                raise BackwardReached
            return result

        self.error = self._program.run(listener)
        if own.call < 0:
            if self.error is not None:
                raise NothingToCompare("raised", error_text(self.error))
            raise NothingToCompare("not_one_loss" if own.has_unfit_calls else "no_backward")
        if not own.is_real:
            raise NothingToCompare("not_real")

    def _run_double(self, own: OriginalRun) -> DoubleRun:
        run, log = DoubleRun(), StorageLog()
        mode = DoublePrecision(log.before, log.after)

        def listener(call: BackwardCall) -> Any:
            if call.number != own.call:
                return call.proceed()
            with _disable_current_modes():
                graph = Graph(call.roots)
                if len(graph.leaves) != own.leaves or len(requested_tensors(graph, call)) != len(own.grads):
                    raise NothingToCompare("not_in_double", "another graph")
                run.operations, run.loss = mode.count, loss_of(call.roots, call.grad_tensors)
                run.grad_tensors = [None if grad is None else grad.detach().clone() for grad in call.grad_tensors]
                run.corners = [Corner(op=op, line=line) for op, line in log.corners]
                tensors = tensors_to_check(call, graph, log)
                run.leaves = describe_leaves(tensors, call, graph, log, own)
            others = [(leaf, tensor) for leaf, tensor in zip(run.leaves, tensors, strict=True) if not leaf.in_graph]
            before = [grad_state(tensor) for _, tensor in others]
            arrived, _ = gradients(graph, call)
            for (leaf, tensor), state in zip(others, before, strict=True):
                if grad_state(tensor) != state:
                    leaf.moment = VariationPoint(leaf.moment.line, problem="nested")
            for leaf, grad in zip(run.leaves, arrived, strict=False):
                if grad is not None:
                    leaf.double, leaf.largest = grad.flatten(), float(grad.abs().max()) if grad.numel() else 0.0
            raise BackwardReached

        self._in_double(mode, listener)
        if run.loss is None:
            raise NothingToCompare("not_in_double")
        return run

    def _run_again(self, own: OriginalRun, run: DoubleRun) -> None:
        mode, losses = DoublePrecision(), []

        def listener(call: BackwardCall) -> Any:
            if call.number != own.call:
                return call.proceed()
            losses.append((mode.count, loss_of(call.roots, run.grad_tensors)))
            raise BackwardReached

        self._in_double(mode, listener)
        if not losses or losses[0][0] != run.operations or repr(losses[0][1]) != repr(run.loss):
            raise NothingToCompare("not_repeatable")
        if time.process_time() > self._until:
            raise NothingToCompare("no_time")

    def _in_double(self, mode: DoublePrecision, listener: Listener) -> None:
        with mode:
            error = self._program.run(listener)
        if isinstance(error, TooManyOperations):
            raise NothingToCompare("too_long")
        if isinstance(error, NothingToCompare):
            raise error
        if error is not None:
            raise NothingToCompare("not_in_double", error_text(error))

    def _compare_elements(self, own: OriginalRun, run: DoubleRun) -> bool:
        """Compare the elements, the leaves taking turns; whether the time sufficed."""
        assert run.loss is not None
        for leaf, element in elements_to_vary(run.leaves, self._options.elements):
            if leaf.moment.problem is not None:
                continue
            if time.process_time() > self._until:
                for missing in run.leaves:
                    if not missing.rows and missing.moment.problem is None:
                        missing.moment = VariationPoint(missing.moment.line, problem="no_time")
                return False
            variation = Variation(self._program, own.call, run.grad_tensors, leaf, element)
            assert leaf.values is not None
            step = step_for(float(leaf.values[element]))
            judgement = judge(variation.loss, run.loss, step, leaf.double_at(element))
            if variation.overwritten:
                leaf.moment, leaf.rows = VariationPoint(leaf.moment.line, problem="changed_unseen"), []
            else:
                leaf.rows.append(element_check(leaf, element, judgement))
        return True


def tensors_to_check(call: BackwardCall, graph: Graph, log: StorageLog) -> list[torch.Tensor]:
    """The inputs of the call; without any the leaves of the graph, in its order, and then those that the program used and
    the graph lacks."""
    if call.inputs is not None:
        return call.inputs[:MAX_LEAVES]
    others = [leaf for leaf in log.living_leaves() if not any(leaf is known for known in graph.leaves)]
    return [*graph.leaves, *others][:MAX_LEAVES]


def grad_state(tensor: torch.Tensor) -> tuple[int, int] | None:
    """What changes when a gradient is stored or added."""
    return None if tensor.grad is None else (id(tensor.grad), tensor.grad._version)


def describe_leaves(
    tensors: list[torch.Tensor], call: BackwardCall, graph: Graph, log: StorageLog, own: OriginalRun
) -> list[Leaf]:
    """The leaves as they are compared: the first of them are those that the call asks for."""
    names = leaf_names(tensors, call.frame)
    out = []
    for k, tensor in enumerate(tensors):
        in_graph, name, is_asked = graph.leads_to(tensor), names.get(id(tensor)), k < len(own.grads)
        moment = variation_point(log, tensor, graph.numbers if in_graph else None)
        own_grad = own.grads[k] if is_asked else None
        out.append(
            Leaf(
                name=name, shape=list(tensor.shape), strides=list(tensor.stride()), offset=int(tensor.storage_offset()),
                dtype=own.dtypes[k] if is_asked else own.named_dtypes.get(name or "", "float32"), moment=moment,
                values=tensor.detach().flatten() if moment.problem is None else None, in_graph=in_graph,
                hooked=bool(tensor._backward_hooks), own=None if own_grad is None else own_grad.flatten(),
            )
        )  # fmt: skip
    return out


def elements_to_vary(leaves: list[Leaf], room: int) -> list[tuple[Leaf, int]]:
    """The elements that are varied: of each leaf a sample, the leaves taking turns, at most `room`."""
    samples = []
    for leaf in leaves:
        count = 0 if leaf.values is None else leaf.values.numel()
        chosen = (
            range(count)
            if count <= MAX_OF_WHOLE_LEAF
            else sorted(random.Random(0).sample(range(count), MAX_OF_WHOLE_LEAF))
        )
        samples.append([(leaf, element) for element in chosen])
    turns = max(map(len, samples), default=0)
    return [sample[turn] for turn in range(turns) for sample in samples if turn < len(sample)][:room]


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def line_of(call: BackwardCall) -> int | None:
    return call.frame.f_lineno if call.frame is not None else None


def error_text(error: BaseException | None) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:
        return "error"
