"""Checks whether the samples of a batch stay apart on their way to a loss: the program runs again with one of them
changed.

The results for the other samples must not change then. The first operation whose results do has mixed them: batch
statistics, a softmax over the batch, a `reshape` that is no transpose, a repetition in another order, every sample
compared with every other.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from gradbox.gradient_check.double_precision import ObservedOperations, tensors_in_arguments
from gradbox.gradient_check.replay import BackwardCall, BackwardReached, ReplayableProgram, innermost_program_frame
from gradbox.wire.gradient_check import GradientCheckOptions, MixingOperation, SampleCheck, SampleProblem

MAX_SECONDS = 3.0
"""Processor seconds for all runs of a check."""

MAX_KEPT_ELEMENTS = 4_000_000
"""Elements of all results by which one run is compared."""


class SamplesNotComparable(Exception):
    """The samples of this batch can't be followed.

    problem: the reason
    """

    def __init__(self, problem: SampleProblem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass
class OperationResult:
    """The result of an operation.

    inputs: numbers of the operations whose results it used
    """

    name: str
    line: int | None
    outputs: list[torch.Tensor]
    inputs: list[int]


@dataclass(frozen=True)
class ParameterUse:
    """The first operation that combines an input with trained parameters, and which argument the input is.

    shape: of the tensor that the argument is, or is a view of
    """

    operation: int
    argument: int
    shape: list[int]
    line: int | None


@dataclass
class ParameterUseSearch:
    """Collects the parameter uses before each call of the autograd engine.

    wanted: the number of the call to keep; None for the last
    uses, call_number: the uses before the kept call, and its number
    """

    wanted: int | None
    uses: list[ParameterUse] = field(default_factory=list)
    call_number: int = -1
    _current: list[ParameterUse] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def observe_operation(self, number: int, _func: Any, args: Any, kwargs: Any, _out: Any) -> None:
        if not torch.is_grad_enabled() or len(self._current) >= MAX_PARAMETER_USES:
            return
        tensors = tensors_in_arguments(args, kwargs)
        if not any(tensor.requires_grad for tensor in tensors):
            return
        for k, tensor in enumerate(tensors):
            is_given = tensor.is_leaf and not isinstance(tensor, torch.nn.Parameter)
            others = (other.requires_grad for other in tensors if other is not tensor)
            if not is_given or not any(others) or tensor.layout is not torch.strided:
                continue
            whole, key = base_with_same_elements(tensor), tensor.untyped_storage()._cdata
            if key not in self._seen and whole.dim() and whole.shape[0] > 1 and has_different_values(whole):
                self._seen.add(key)
                self._current.append(ParameterUse(number, k, list(whole.shape), current_line_of_program()))

    def end_call(self, number: int) -> None:
        if self._current and self.wanted in (None, number):
            self.uses, self.call_number = self._current, number
        self._current, self._seen = [], set()


def base_with_same_elements(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor of which this one is a view, if it has all of its elements; layers flatten their input."""
    base = tensor._base
    return base if base is not None and base.numel() == tensor.numel() else tensor


MAX_PARAMETER_USES = 20
"""Tensors of a batch that are changed."""


class SampleChecker:
    """One check of one program.

    cpu_start: `time.process_time` at the beginning of its time
    seconds: how long it may take
    """

    def __init__(
        self, program: ReplayableProgram, options: GradientCheckOptions, cpu_start: float, seconds: float = MAX_SECONDS
    ) -> None:
        self._program, self._wanted, self._deadline = program, options.backward, cpu_start + seconds
        self.error: BaseException | None = None
        """What the program raised."""

    def run(self) -> SampleCheck:
        try:
            search = self._find_batch()
            return self._compare_along_axes(search, self._operation_results(search, None))
        except SamplesNotComparable as failed:
            return SampleCheck(problem=failed.problem, runs=self._program.runs)

    def _find_batch(self) -> ParameterUseSearch:
        search = ParameterUseSearch(self._wanted)

        def on_backward_call(call: BackwardCall) -> Any:
            search.end_call(call.number)
            if call.number == self._wanted:
                raise BackwardReached
            with _disable_current_modes():
                return call.proceed()

        with ObservedOperations(None, search.observe_operation):
            self.error = self._program.run(on_backward_call)
        if not search.uses:
            raise SamplesNotComparable("raised" if self.error is not None else "no_batch")
        return search

    def _operation_results(self, search: ParameterUseSearch, axis: int | None) -> list[OperationResult]:
        """The results of the operations that depend on the batch.

        axis: the axis along which the first sample is changed; None to change nothing
        """
        if time.process_time() > self._deadline:
            raise SamplesNotComparable("no_time")
        run = BatchDependentResults(search.uses, axis)

        def on_backward_call(call: BackwardCall) -> Any:
            if call.number == search.call_number:
                raise BackwardReached
            with _disable_current_modes():
                return call.proceed()

        with ObservedOperations(run.before_operation, run.after_operation):
            error = self._program.run(on_backward_call)
        if isinstance(error, SamplesNotComparable):
            raise error
        if error is not None or not run.results:
            raise SamplesNotComparable("not_repeatable")
        return run.results

    def _compare_along_axes(self, search: ParameterUseSearch, as_it_is: list[OperationResult]) -> SampleCheck:
        """Compare along the first axis and, if samples mix there, along the second, which may be the batch's. The axis
        along which they stay apart longer counts."""
        first = search.uses[0]
        axes = [0, 1] if len(first.shape) > 2 and first.shape[1] > 1 else [0]
        best: tuple[int, int, MixingOperation | None] | None = None
        for axis in axes:
            changed = self._operation_results(search, axis)
            number, mixing = first_mixing_operation(as_it_is, changed, first.shape[axis])
            if best is None or number > best[0]:
                best = (number, axis, mixing)
            if mixing is None:
                break
        assert best is not None
        _, axis, mixing = best
        return SampleCheck(
            line=first.line, axis=axis, samples=first.shape[axis], mixing=mixing, runs=self._program.runs
        )


@dataclass
class BatchDependentResults:
    """The results of one run that depend on the batch.

    axis: the axis along which the first sample of each tensor is changed before it is used
    """

    uses: list[ParameterUse]
    axis: int | None
    results: list[OperationResult] = field(default_factory=list)
    _kept: int = 0
    _makers: dict[int, int] = field(default_factory=dict)
    """by the id of a result that lives, or whose id another took since, the operation that made it"""

    def before_operation(self, number: int, _func: Any, args: Any, kwargs: Any) -> None:
        if self.axis is None:
            return
        count = self.uses[0].shape[self.axis]
        for use in self.uses:
            if use.operation == number and use.shape[self.axis : self.axis + 1] == [count]:
                with _disable_current_modes(), torch.no_grad():
                    perturb_first_sample(
                        base_with_same_elements(tensors_in_arguments(args, kwargs)[use.argument]), self.axis
                    )

    def after_operation(self, number: int, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        name = func.__name__.split(".")[0]
        if number < self.uses[0].operation or name in _WITHOUT_VALUES:
            return
        with _disable_current_modes(), torch.no_grad():
            given = out if isinstance(out, tuple | list) else (out,)
            tensors = [tensor for tensor in given if isinstance(tensor, torch.Tensor)]
            self._kept += sum(tensor.numel() for tensor in tensors)
            if self._kept > MAX_KEPT_ELEMENTS:
                raise SamplesNotComparable("too_long")
            inputs = [self._makers[id(t)] for t in tensors_in_arguments(args, kwargs) if id(t) in self._makers]
            copies = [tensor.detach().to_dense().clone() for tensor in tensors]
            for tensor in tensors:
                self._makers[id(tensor)] = len(self.results)
            self.results.append(OperationResult(name, current_line_of_program(), copies, inputs))


_WITHOUT_VALUES = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}
)
"""Operations that return memory which nothing has written."""


def perturb_first_sample(tensor: torch.Tensor, axis: int) -> None:
    """Change the values of the first sample along an axis, in place. Raises SamplesNotComparable if there are none."""
    memory = tensor.detach()
    if 0 in memory.stride():
        memory = memory.select(axis, 0)
        if 0 in memory.stride() or tensor.stride(axis) == 0:
            raise SamplesNotComparable("no_batch")  # samples that are one in memory
        first = memory
    else:
        first = memory.select(axis, 0)
    if first.is_floating_point() or first.is_complex():
        first.mul_(1.25).add_(0.5)
        return
    for k in range(1, tensor.shape[axis]):
        other = memory.select(axis, k) if memory.dim() == tensor.dim() else first
        if not torch.equal(other, first):
            first.copy_(other.clone())
            return
    raise SamplesNotComparable("no_batch")


def first_mixing_operation(
    before: list[OperationResult], after: list[OperationResult], count: int
) -> tuple[int, MixingOperation | None]:
    """The first operation that changed another sample, with its number; the end if none did.

    A result without an axis for the samples is a sum over them, like a loss; it mixes them only if it is combined with
    a sample again. Raises SamplesNotComparable if the runs do different things.
    """
    reductions: dict[int, int] = {}  # by operation with such a result, the one that first made it
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        if old.name != new.name or [t.shape for t in old.outputs] != [t.shape for t in new.outputs]:
            raise SamplesNotComparable("not_repeatable")
        reduced = [reductions[k] for k in new.inputs if k in reductions]
        for one, other in zip(old.outputs, new.outputs, strict=True):
            changed = differing_elements(one, other)
            if not changed.any():
                continue
            largest = max((sum(t.numel() for t in after[k].outputs) for k in new.inputs), default=0)
            if not has_sample_axis(list(changed.shape), count) or (not reduced and is_reduction(new, largest)):
                reductions.setdefault(number, reduced[0] if reduced else number)
            elif not is_change_within_first_sample(changed, count):
                origin = reduced[0] if reduced else number
                return origin, MixingOperation(
                    op=operation_label(after[origin].name),
                    line=after[origin].line,
                    changed=count_changed_samples(changed, count),
                )
    if len(before) != len(after):
        raise SamplesNotComparable("not_repeatable")
    return len(after), None


def operation_label(name: str) -> str:
    """A reader's name for an operation: `softmax` for `_softmax`, `reshape` for the operation by which it copies."""
    return "reshape" if name == "_unsafe_view" else name.removeprefix("_").removeprefix("native_")


def is_reduction(result: OperationResult, largest_input: int) -> bool:
    """Whether an operation's result is smaller than its input, like that of a sum or a mean."""
    return result.name in _REDUCTIONS and sum(tensor.numel() for tensor in result.outputs) < largest_input


_REDUCTIONS = frozenset(
    {"sum", "mean", "amax", "amin", "max", "min", "var", "std", "var_mean", "std_mean", "norm", "linalg_vector_norm",
     "logsumexp", "prod"}
)  # fmt: skip


def differing_elements(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """A mask of the elements that differ; two NaN do not differ."""
    differs = one != other
    if one.is_floating_point():
        differs &= ~(one.isnan() & other.isnan())
    return differs


def has_sample_axis(shape: list[int], count: int) -> bool:
    return any(size and size % count == 0 for size in shape)


def is_change_within_first_sample(changed: torch.Tensor, count: int) -> bool:
    """Whether the changed elements belong to the first sample along an axis of the samples, or along one into which
    they are merged."""
    for axis, size in enumerate(changed.shape):
        if not size or size % count:
            continue
        along = changed.movedim(axis, 0).reshape(size, -1).any(1).nonzero().flatten().tolist()
        per_sample = size // count
        if all(k < per_sample for k in along) or all(k % count == 0 for k in along):
            return True
    return False


def count_changed_samples(changed: torch.Tensor, count: int) -> int | None:
    """How many samples changed; None if no axis has one place for each."""
    axes = [axis for axis, size in enumerate(changed.shape) if size == count]
    if not axes:
        return None
    return int(changed.movedim(axes[0], 0).reshape(count, -1).any(1).sum())


def has_different_values(tensor: torch.Tensor) -> bool:
    """Whether a tensor holds different values; an initial state of zeros is not a batch."""
    with _disable_current_modes(), torch.no_grad():
        values = tensor.detach()
        return values.layout is torch.strided and bool((values != values.flatten()[0]).any())


def current_line_of_program() -> int | None:
    frame = innermost_program_frame()
    return frame.f_lineno if frame is not None else None
