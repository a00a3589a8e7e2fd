"""Compares torch's gradients of one call of `backward` or `torch.autograd.grad` with finite differences, leaf
by leaf."""

import random
import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from gradbox.gradient_check.double_precision import DoublePrecisionMode, ObservedOperations
from gradbox.gradient_check.leaves import (
    BackwardGraph,
    CheckedLeaf,
    make_element_check,
    make_leaf_check,
    named_tensors,
    names_of_leaves_in_frame,
)
from gradbox.gradient_check.precision_log import PrecisionLog
from gradbox.gradient_check.replay import BackwardCall, BackwardListener, BackwardReached, ReplayableProgram
from gradbox.gradient_check.storage_log import PerturbationPoint, StorageLog, TooManyOperations, find_perturbation_point
from gradbox.gradient_check.variation import (
    PerturbedRun,
    loss_of_roots,
    requested_tensors,
    run_backward_capturing_grads,
)
from gradbox.gradient_check.verdicts import difference_step_for, json_number, judge_gradient
from gradbox.wire.gradient_check import MAX_LEAVES, CheckProblem, Corner, GradientCheck, GradientCheckOptions, StaleCopy

MAX_SECONDS = 3.0
"""Processor seconds for all runs of a check. What is not varied by then is not compared."""

MAX_ELEMENTS_PER_LEAF = 24
"""The most elements of a leaf that are varied: all of a small leaf if there is room, a sample of a larger one."""


@dataclass
class OriginalRun:
    """The run in the program's precision.

    call_number: the number of the engine call
    grads: the gradient of each tensor for which the call asks
    leaf_count: how many leaves the graph has
    copies: for each of these tensors the older copy in another precision with which the program computed
    eps: of the lowest precision that took part
    has_unfit_calls: whether some calls do not have exactly one loss
    """

    call_number: int = -1
    line: int | None = None
    loss: float | None = None
    grads: list[torch.Tensor | None] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    named_dtypes: dict[str, str] = field(default_factory=dict)
    leaf_count: int = 0
    copies: list[StaleCopy | None] = field(default_factory=list)
    eps: float = 0.0
    is_real: bool = True
    has_unfit_calls: bool = False


@dataclass
class DoublePrecisionRun:
    """The run in float64.

    grad_tensors: the gradients with which backward starts from each root
    """

    loss: float | None = None
    grad_tensors: list[torch.Tensor | None] = field(default_factory=list)
    leaves: list[CheckedLeaf] = field(default_factory=list)
    corners: list[Corner] = field(default_factory=list)
    operation_count: int = 0


class GradientsNotComparable(Exception):
    """Nothing can be compared.

    problem: the reason
    text: the error that was raised
    """

    def __init__(self, problem: CheckProblem, text: str = "") -> None:
        super().__init__(problem)
        self.problem, self.text = problem, text


class GradientChecker:
    """One check of one program.

    cpu_start: `time.process_time` at the beginning of its time
    seconds: how long it may take
    """

    def __init__(
        self, program: ReplayableProgram, options: GradientCheckOptions, cpu_start: float, seconds: float = MAX_SECONDS
    ) -> None:
        self._program, self._options, self._deadline = program, options, cpu_start + seconds
        self.error: BaseException | None = None
        """The exception that the program raised in its own precision."""

    def run(self) -> GradientCheck:
        """Run the program as often as necessary, and compare."""
        original = OriginalRun()
        try:
            self._run_original(original)
            double_run = self._run_double(original)
            self._raise_unless_repeatable(original, double_run)
        except GradientsNotComparable as failed:
            return GradientCheck(
                problem=failed.problem, message=failed.text[:2000], runs=self._program.runs, line=original.line,
                backward=original.call_number if original.call_number >= 0 else None, loss=json_number(original.loss),
            )  # fmt: skip
        complete = self._compare_elements_until_deadline(original, double_run)
        leaves = [make_leaf_check(leaf) for leaf in double_run.leaves]
        leaves = [leaf for leaf in leaves if leaf.verdict != "unused" and (leaf.rows or leaf.problem)]
        return GradientCheck(
            problem=None if leaves else "no_leaves", backward=original.call_number, line=original.line,
            loss=json_number(original.loss), double=json_number(double_run.loss), runs=self._program.runs,
            complete=complete, corners=double_run.corners, leaves=leaves,
        )  # fmt: skip

    def _run_original(self, original: OriginalRun) -> None:
        wanted = self._options.backward
        log = PrecisionLog()

        def on_backward_call(call: BackwardCall) -> Any:
            if not call.has_one_loss and wanted in (None, call.number):
                original.has_unfit_calls = True
            if not call.has_one_loss or wanted not in (None, call.number):
                return call.proceed()
            graph = BackwardGraph(call.roots)
            loss, is_real = (
                loss_of_roots(call.roots, call.grad_tensors),
                all(not root.is_complex() for root in call.roots),
            )
            named = named_tensors(call.frame.f_locals) if call.frame is not None else ()
            dtypes = {name: dtype_name(tensor) for tensor, name in named}
            grads, result = run_backward_capturing_grads(graph, call)
            original.call_number, original.line, original.loss, original.grads, original.is_real = (
                call.number,
                program_line_of_backward_call(call),
                loss,
                grads,
                is_real,
            )
            original.dtypes, original.named_dtypes = (
                [dtype_name(tensor) for tensor in requested_tensors(graph, call)],
                dtypes,
            )
            original.leaf_count, original.eps = len(graph.leaves), log.eps
            original.copies = [
                log.stale_copy_of(tensor) if tensor.is_leaf and graph.uses_only_copies(tensor) else None
                for tensor in requested_tensors(graph, call)
            ]
            if wanted is not None:
                raise BackwardReached
            return result

        with ObservedOperations(after=log.after_operation):
            self.error = self._program.run(on_backward_call)
        if original.call_number < 0:
            if self.error is not None:
                raise GradientsNotComparable("raised", error_text(self.error))
            raise GradientsNotComparable("not_one_loss" if original.has_unfit_calls else "no_backward")
        if not original.is_real:
            raise GradientsNotComparable("not_real")

    def _run_double(self, original: OriginalRun) -> DoublePrecisionRun:
        double_run, log = DoublePrecisionRun(), StorageLog()
        mode = DoublePrecisionMode(log.before_operation, log.after_operation)

        def on_backward_call(call: BackwardCall) -> Any:
            if call.number != original.call_number:
                return call.proceed()
            with _disable_current_modes():
                graph = BackwardGraph(call.roots)
                if len(graph.leaves) != original.leaf_count or len(requested_tensors(graph, call)) != len(
                    original.grads
                ):
                    raise GradientsNotComparable("not_in_double", "another graph")
                double_run.operation_count, double_run.loss = (
                    mode.operation_count,
                    loss_of_roots(call.roots, call.grad_tensors),
                )
                double_run.grad_tensors = [
                    None if grad is None else grad.detach().clone() for grad in call.grad_tensors
                ]
                double_run.corners = [Corner(op=op, line=line) for op, line in log.corners]
                tensors = tensors_to_check(call, graph, log)
                double_run.leaves = describe_leaves(tensors, call, graph, log, original)
            others = [
                (leaf, tensor) for leaf, tensor in zip(double_run.leaves, tensors, strict=True) if not leaf.in_graph
            ]
            before = [grad_identity_and_version(tensor) for _, tensor in others]
            mode.largest_result = 0.0
            arrived, _ = run_backward_capturing_grads(graph, call)
            for leaf in double_run.leaves:
                leaf.largest_number = mode.largest_result
            for (leaf, tensor), state in zip(others, before, strict=True):
                if grad_identity_and_version(tensor) != state:
                    leaf.point = PerturbationPoint(leaf.point.line, problem="nested")
            for leaf, grad in zip(double_run.leaves, arrived, strict=False):
                if grad is not None:
                    leaf.double_grad, leaf.largest_grad = (
                        grad.flatten(),
                        float(grad.abs().max()) if grad.numel() else 0.0,
                    )
            raise BackwardReached

        self._run_in_double(mode, on_backward_call)
        if double_run.loss is None:
            raise GradientsNotComparable("not_in_double")
        return double_run

    def _raise_unless_repeatable(self, original: OriginalRun, double_run: DoublePrecisionRun) -> None:
        mode, losses = DoublePrecisionMode(), []

        def on_backward_call(call: BackwardCall) -> Any:
            if call.number != original.call_number:
                return call.proceed()
            losses.append((mode.operation_count, loss_of_roots(call.roots, double_run.grad_tensors)))
            raise BackwardReached

        self._run_in_double(mode, on_backward_call)
        if not losses or losses[0][0] != double_run.operation_count or repr(losses[0][1]) != repr(double_run.loss):
            raise GradientsNotComparable("not_repeatable")
        if time.process_time() > self._deadline:
            raise GradientsNotComparable("no_time")

    def _run_in_double(self, mode: DoublePrecisionMode, listener: BackwardListener) -> None:
        with mode:
            error = self._program.run(listener)
        if isinstance(error, TooManyOperations):
            raise GradientsNotComparable("too_long")
        if isinstance(error, GradientsNotComparable):
            raise error
        if error is not None:
            raise GradientsNotComparable("not_in_double", error_text(error))

    def _compare_elements_until_deadline(self, original: OriginalRun, double_run: DoublePrecisionRun) -> bool:
        """Compare the elements, alternating between leaves. Returns whether the time sufficed."""
        assert double_run.loss is not None
        for leaf, element in elements_to_perturb(double_run.leaves, self._options.elements):
            if leaf.point.problem is not None:
                continue
            if time.process_time() > self._deadline:
                for missing in double_run.leaves:
                    if not missing.rows and missing.point.problem is None:
                        missing.point = PerturbationPoint(missing.point.line, problem="no_time")
                return False
            variation = PerturbedRun(self._program, original.call_number, double_run.grad_tensors, leaf, element)
            assert leaf.values is not None
            step = difference_step_for(float(leaf.values[element]))
            judgement = judge_gradient(
                variation.loss_with_perturbation, double_run.loss, step, leaf.double_grad_at(element)
            )
            if variation.overwritten:
                leaf.point, leaf.rows = PerturbationPoint(leaf.point.line, problem="changed_unseen"), []
            else:
                leaf.rows.append(make_element_check(leaf, element, judgement))
        return True


def tensors_to_check(call: BackwardCall, graph: BackwardGraph, log: StorageLog) -> list[torch.Tensor]:
    """The inputs of the call; if it has none, the leaves of the graph in order, followed by those that the program used
    but that are not in the graph."""
    if call.inputs is not None:
        return call.inputs[:MAX_LEAVES]
    others = [leaf for leaf in log.living_leaves() if not any(leaf is known for known in graph.leaves)]
    return [*graph.leaves, *others][:MAX_LEAVES]


def grad_identity_and_version(tensor: torch.Tensor) -> tuple[int, int] | None:
    """A value that changes when a gradient is stored or added."""
    return None if tensor.grad is None else (id(tensor.grad), tensor.grad._version)


def describe_leaves(
    tensors: list[torch.Tensor],
    call: BackwardCall,
    graph: BackwardGraph,
    log: StorageLog,
    original: OriginalRun,
) -> list[CheckedLeaf]:
    """The leaves for comparison; those for which the call asks come first."""
    names = names_of_leaves_in_frame(tensors, call.frame)
    out = []
    for k, tensor in enumerate(tensors):
        in_graph, name, is_asked = graph.reaches_tensor(tensor), names.get(id(tensor)), k < len(original.grads)
        point = find_perturbation_point(log, tensor, graph.sequence_numbers if in_graph else None)
        own_grad = original.grads[k] if is_asked else None
        out.append(
            CheckedLeaf(
                name=name, shape=list(tensor.shape), strides=list(tensor.stride()), offset=int(tensor.storage_offset()),
                dtype=original.dtypes[k] if is_asked else original.named_dtypes.get(name or "", "float32"), point=point,
                values=tensor.detach().flatten() if point.problem is None else None, in_graph=in_graph,
                eps=original.eps, copy_used=original.copies[k] if is_asked else None,
                hooked=bool(tensor._backward_hooks), torch_grad=None if own_grad is None else own_grad.flatten(),
            )
        )  # fmt: skip
    return out


def elements_to_perturb(leaves: list[CheckedLeaf], max_count: int) -> list[tuple[CheckedLeaf, int]]:
    """The elements to vary: a sample of each leaf, alternating between leaves, at most `max_count` in total."""
    samples = []
    for leaf in leaves:
        count = 0 if leaf.values is None else leaf.values.numel()
        chosen = (
            range(count)
            if count <= MAX_ELEMENTS_PER_LEAF
            else sorted(random.Random(0).sample(range(count), MAX_ELEMENTS_PER_LEAF))
        )
        samples.append([(leaf, element) for element in chosen])
    turns = max(map(len, samples), default=0)
    return [sample[turn] for turn in range(turns) for sample in samples if turn < len(sample)][:max_count]


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def program_line_of_backward_call(call: BackwardCall) -> int | None:
    return call.frame.f_lineno if call.frame is not None else None


def error_text(error: BaseException | None) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:
        return "error"
