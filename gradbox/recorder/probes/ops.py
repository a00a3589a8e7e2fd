"""Records torch operations as the program calls them: what each took and made, and where a path of gradients was cut.

Every operator of the dispatcher gets a kernel of ours under a dispatch key that nothing else uses; the key is switched
on for the program's thread alone. A call reaches it before autograd and leaves with its finished result. Torch can't
tell that operations are recorded: under a dispatch mode it would take other paths (`reshape` becomes a view, CTC loss
another node), and under a function mode modules leave their fast paths. `detach` and `alias` are let through
unobserved, because torch itself calls them where one more Python object for the result would matter; what they cut
shows in the handles. The same holds for the questions that forward-mode differentiation asks of a result that has no
Python object yet.
"""

import contextlib
import copy
import re
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from types import FrameType
from typing import Any, Self

import torch
from torch._ops import _higher_order_ops
from torch.autograd import forward_ad

from gradbox.recorder.code_places import code_place_record, unrecorded_caller
from gradbox.recorder.instrument import ProgramStatements
from gradbox.recorder.observation import Observation, OpCall
from gradbox.recorder.probes import handles, probe
from gradbox.recorder.probes.index_writes import is_index_put, may_operation_return_copy, repeated_index_counts
from gradbox.recorder.probes.layer_modes import MODE_ARGUMENTS, layer_mode_event
from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.probes.storages import Storages
from gradbox.recorder.probes.tensors import Tensors
from gradbox.recorder.probes.uninitialized import ALLOCATING_OPERATIONS_PATTERN, UninitializedMemory
from gradbox.recorder.stack import frames_outward, has_steps, is_in_unstepped_call, is_program_code, unstepped_calls
from gradbox.recorder.uids import ObjectUids
from gradbox.wire.events import Op

TORCH_FOLDER = torch.__path__[0] + "/"
_FUNCTION_FILE = TORCH_FOLDER + "autograd/function.py"
_PRINTING_FILE = TORCH_FOLDER + "_tensor_str.py"
_UNRECORDED_OPERATIONS = (
    "detach",
    "alias",
    "is_same_size",
    "_has_same_storage_numel",
    "_new_zeros_with_same_feature_meta",
)
has_torch_function: Any = torch._C._has_torch_function
NUMBER_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
"""The dtype of the tensor that torch makes from a Python number."""

AXIS_ARGUMENTS = frozenset(("dim", "equation", "normalized_shape", "batch_first", "is_causal"))
"""Arguments that say along which axes an operation works, where the sizes and strides of its result do not."""

NOT_A_TENSOR_MESSAGE = "Expected a value of type 'Tensor'"
"""What torch says about an argument that is not a tensor, before the operation begins."""

_OUR_KERNEL_IN_ERROR_PATTERN = re.compile(rf"{probe.DISPATCH_KEY_NAME}(: registered at [^\n]*\n|, )")
"""Mentions of our kernel where torch lists the kernels of an operator."""


_libraries: list[Any] = []
_entered_ops: list["OpRecorder"] = []


ENGINE_CODE = getattr(getattr(torch.autograd.graph, "_engine_run_backward", None), "__code__", None)
"""The code of torch's function that calls the engine: the operations of nodes have no other Python around them. None in
a torch that calls it elsewhere; every operation then counts as one outside of the engine, which costs time but reports
nothing wrong."""


class OpRecorder:
    """Records each operation in the step's log while entered, except while the recorder itself is at work.

    is_recording: whether steps are recorded at all; False in iterations that are skipped
    """

    def __init__(
        self,
        context: ProbeContext,
        tensors: Tensors,
        storages: Storages,
        objects: ObjectUids,
        is_recording: Callable[[], bool],
        statements: ProgramStatements,
    ) -> None:
        self._statements = statements
        self._context, self._tensors, self._storages, self._objects = context, tensors, storages, objects
        self._is_recording = is_recording
        self._written_arguments_by_op: dict[Any, list[int | str]] = {}
        self._axis_arguments_by_op: dict[Any, list[tuple[int, str]]] = {}
        self._uninitialized = UninitializedMemory(tensors, storages)

    def __enter__(self) -> Self:
        register_recording_kernels()
        _entered_ops.append(self)
        torch._C._dispatch_tls_set_dispatch_key_included(probe.DISPATCH_KEY, True)
        return self

    def __exit__(self, *_: object) -> None:
        torch._C._dispatch_tls_set_dispatch_key_included(probe.DISPATCH_KEY, False)
        _entered_ops.remove(self)

    def is_recorder_busy_or_skipping(self) -> bool:
        """Whether a computation now is not part of the program's recorded steps."""
        return self._context.guard.busy or not self._is_recording()

    def set_recording_paused(self, paused: bool) -> None:
        """Stop or resume recording operators."""
        torch._C._dispatch_tls_set_dispatch_key_included(probe.DISPATCH_KEY, not paused)
        self.forget_uninitialized_memory()

    def forget_uninitialized_memory(self) -> None:
        """Note that operations passed unobserved, so it is not known what they wrote."""
        self._uninitialized.forget_all()

    def run_recorded_op(self, name: str, op: Any, args: Any, kwargs: dict[str, Any], frame: FrameType | None) -> Any:
        """Run an operation and record it."""
        if frame is None or frame.f_code is not ENGINE_CODE:
            self._context.observation.ops_outside_engine = True
        if is_printing_tensor(frame):
            self._context.observation.tensors_printed = True
            self._log_uninitialized_reads(name, op, args, kwargs)
            return call_operation(op, args, kwargs)
        call = None
        try:
            with torch._C.DisableTorchFunction():
                call = self._begin_op_call(name, op, args, kwargs, frame)
            self._log_uninitialized_reads(name, op, args, kwargs)
        except Exception as error:
            self._context.report_recorder_fault(error)
        self._context.running_operations += 1
        try:
            result = call_operation(op, args, kwargs)
        except Exception:
            if call is not None:
                call.entry["failed"] = True
                self._context.observation.append_log_entry(call.entry)
            raise
        finally:
            self._context.running_operations -= 1
        if call is not None:
            try:
                with torch._C.DisableTorchFunction():
                    self._end_op_call(call, op, args, kwargs, result, frame)
            except Exception as error:
                self._context.report_recorder_fault(error)
        return result

    def run_op_with_mode(self, name: str, op: Any, args: Any, kwargs: dict[str, Any], frame: FrameType | None) -> Any:
        """Run an operation of `MODE_ARGUMENTS` and record it, with the event that tells its mode."""
        result = self.run_recorded_op(name, op, args, kwargs, frame)
        try:
            log = self._context.observation.log
            place = len(log) - 1 if log and log[-1].get("name") == name else None
            self._context.observation.append_log_entry(
                layer_mode_event(name, args, kwargs, frame, self._objects, place)
            )
        except Exception as error:
            self._context.report_recorder_fault(error)
        return result

    def _begin_op_call(self, name: str, op: Any, args: Any, kwargs: dict[str, Any], frame: FrameType | None) -> OpCall:
        entry: Op = {
            "kind": "op",
            "name": name,
            "inputs": [],
            "outputs": [],
            "requires_grad": [],
            "grad_mode": torch.is_grad_enabled(),
        }
        if not self._context.running_backwards and (expression := self._running_expression(frame)):
            entry["expression"] = expression
            if is_called_by_program(frame):
                entry["direct"] = True
        if self._context.module_calls:
            entry["call"] = self._context.module_calls[-1]
        if axis_arguments := self._axis_arguments(op, args, kwargs):
            entry["args"] = axis_arguments
        call = OpCall(entry)
        touched = self._context.observation.touched_storages
        requires_grad = False
        for tensor in handles.collect_tensors((*args, *kwargs.values()) if kwargs else args):
            uid, requires = self._tensors.register_tensor(tensor), handles.as_plain_tensor(tensor).requires_grad
            entry["inputs"].append(uid)
            call.inputs.append((uid, requires))
            requires_grad = requires_grad or requires
            if handles.has_storage(tensor):  # what it writes may be an input that its schema does not call written
                touched.add(self._storages.register_tensor_storage(tensor))
        if is_index_put(name):
            call.repeated_counts = repeated_index_counts(name, args, kwargs)
        if may_operation_return_copy(name):
            call.called_directly = is_called_by_program(frame)
        if forward_ad._current_level >= 0:  # it may write tangents, which are no arguments
            self._context.observation.mark_ops_unobserved()
        if requires_grad:
            call.inference_mode = torch.is_inference_mode_enabled()
            call.called_directly = is_called_by_program(frame)
            call.deep_copies = is_deepcopy_by_program(frame)
            call.cuts_paths = not self._context.running_backwards and (
                entry["grad_mode"] or not is_in_function_apply(frame)
            )
        return call

    def _running_expression(self, frame: FrameType | None) -> list[int] | None:
        """The innermost expression of the running statement that is being evaluated; None if it is not known.

        A lambda or a comprehension has expressions of its own, but only the statement that it stands in has steps.
        """
        innermost: tuple[int, int] | None = None
        unstepped = unstepped_calls[0][0] if is_in_unstepped_call(frame) else None
        for f in frames_outward(frame):
            code = f.f_code
            if unstepped is not None:  # what runs without steps is part of the statement that called it
                unstepped = None if id(f) == unstepped else unstepped
                continue
            if not is_program_code(code):
                continue
            found = self._statements.expression_at(code, f.f_lasti)
            if innermost is None or (found is not None and found[0] != innermost[0]):
                innermost = found
            if has_steps(code):
                statement = self._statements.statement_at(code, f.f_lasti)
                return list(innermost) if innermost is not None and innermost[0] == statement else None
        return None

    def _log_uninitialized_reads(self, name: str, op: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """Log reads of memory that nothing has written."""
        if not self._uninitialized.has_uninitialized:
            return
        try:
            with torch._C.DisableTorchFunction():
                for event in self._uninitialized.uninitialized_read_events(
                    name, op, args, kwargs, self._written_tensors(op, args, kwargs)
                ):
                    if event not in self._context.observation.log:
                        self._context.observation.append_log_entry(event)
        except Exception as error:
            self._context.report_recorder_fault(error)

    def _end_op_call(
        self, call: OpCall, op: Any, args: Any, kwargs: dict[str, Any], result: Any, frame: FrameType | None
    ) -> None:
        observation = self._context.observation
        entry = call.entry
        inputs = entry["inputs"]
        results = handles.collect_tensors((result,))
        requiring = [handles.as_plain_tensor(tensor).requires_grad for tensor in results]
        if entry["grad_mode"] and any(requiring):  # torch asked its inputs for their nodes
            for uid in inputs:
                self._tensors.stale_views.mark_current(uid)
        for tensor in self._written_tensors(op, args, kwargs):
            storage = self._storages.register_tensor_storage(tensor)
            observation.touched_storages.add(storage)
            self._storages.capture_bytes(storage, handles.dtype_name(tensor))
            call.writes.append((storage, self._tensors.register_tensor(tensor)))
            self._tensors.mark_views_stale(*call.writes[-1])
            self._uninitialized.on_write(entry["name"], tensor)
        entry["requires_grad"] = requiring
        writes_nothing = ALLOCATING_OPERATIONS_PATTERN.match(entry["name"]) or (
            self._uninitialized.has_uninitialized and self._uninitialized.is_copy_of_unwritten(entry["name"], args)
        )
        for tensor in results:
            uid = self._tensors.register_tensor(tensor, refresh=True)
            entry["outputs"].append(uid)
            if writes_nothing and handles.has_storage(tensor):
                self._storages.discard_captured_bytes(self._storages.register_tensor_storage(tensor))
                self._uninitialized.mark_uninitialized(tensor)
            if uid not in inputs:
                call.results.append((uid, handles.is_leaf(tensor) is True, handles.dtype_name(tensor)))
        if call.writes or may_gradients_end_at_op(call):
            call.place = unrecorded_caller(frame)
            if call.place is not None and is_result_cut_by_mode(call):
                observation.add_op_place(entry, code_place_record(call.place))
        call.log_index = observation.append_log_entry(entry)
        observation.op_calls.append(call)

    def _axis_arguments(self, op: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments that say along which axes the operation works, of those that were given."""
        places = self._axis_arguments_by_op.get(op)
        if places is None:
            names = enumerate(argument.name for argument in op._schema.arguments)
            places = self._axis_arguments_by_op[op] = [(k, name) for k, name in names if name in AXIS_ARGUMENTS]
        if not places:
            return {}
        given = {name: args[k] if k < len(args) else kwargs.get(name) for k, name in places}
        return {name: value for name, value in given.items() if is_axis_argument(value)}

    def _written_tensors(self, op: Any, args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """The arguments that the operation writes to, if they have a storage."""
        positions = self._written_argument_positions(op)
        if not positions:
            return []
        arguments = [
            kwargs.get(argument) if isinstance(argument, str) else args[argument] if argument < len(args) else None
            for argument in positions
        ]
        return [tensor for tensor in handles.collect_tensors(arguments) if handles.has_storage(tensor)]

    def _written_argument_positions(self, op: Any) -> list[int | str]:
        """The arguments that the operation writes to, by position or name."""
        positions = self._written_arguments_by_op.get(op)
        if positions is None:
            positions = []
            for k, argument in enumerate(op._schema.arguments):
                if argument.alias_info is not None and argument.alias_info.is_write:
                    positions.append(argument.name if argument.kwarg_only else k)
            self._written_arguments_by_op[op] = positions
        return positions


def is_axis_argument(value: Any) -> bool:
    """Whether an argument is a number, a text or a list of numbers, as the trace can hold them."""
    return type(value) in (bool, int, str) or (type(value) is list and all(type(each) is int for each in value))


def may_gradients_end_at_op(call: OpCall) -> bool:
    """Whether gradients may end at an operation: an input requires grad and an output does not."""
    return call.cuts_paths and not (call.results and all(call.entry["requires_grad"]))


def is_result_cut_by_mode(call: OpCall) -> bool:
    """Whether an operation made something without a history because grad mode was off."""
    return bool(call.results) and (call.inference_mode or not call.entry["grad_mode"])


def backward_engine_context(observation: Observation) -> Any:
    """The context for a run of the engine: operations are not recorded if a transform of torch.func runs it.

    There the engine meets wrapped Python numbers, which have no data from which to make a number.
    """
    active = torch._C._functorch.peek_interpreter_stack() is not None or any(
        frame.f_code.co_filename.startswith(TORCH_FOLDER + "_functorch/")
        for frame in torch_frames_and_their_caller(sys._getframe(1).f_back)
    )
    return probe.unobserved_ops(observation) if active else contextlib.nullcontext()


def register_recording_kernels() -> None:
    """Register the kernels, once per process. Without a listener in the thread they are never called."""
    if _libraries:
        return
    root: Any = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]
    root.fallback(torch.library.fallthrough_kernel, probe.DISPATCH_KEY_NAME)
    library = torch._C._dispatch_library("IMPL", "aten", "")
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and name[6:].split(".")[0] not in _UNRECORDED_OPERATIONS:
            library.impl(name[6:], probe.DISPATCH_KEY_NAME, make_recording_kernel(name))
    for operator in _higher_order_ops.values():
        operator.non_fallthrough_keys = operator.non_fallthrough_keys.remove(probe.DISPATCH_KEY)
    _libraries.extend((root, library))


def make_recording_kernel(name: str) -> Callable[..., Any]:
    base, _, overload = name[6:].partition(".")
    operator: list[Any] = []
    run = OpRecorder.run_op_with_mode if name in MODE_ARGUMENTS else OpRecorder.run_recorded_op

    def recording_kernel(*args: Any, **kwargs: Any) -> Any:
        if not operator:
            operator.append(getattr(getattr(torch.ops.aten, base), overload or "default"))
        with torch._C._ExcludeDispatchKeyGuard(probe.DISPATCH_KEYS):
            if not _entered_ops or _entered_ops[-1].is_recorder_busy_or_skipping():
                return call_operation(operator[0], args, kwargs)
            return run(_entered_ops[-1], name, operator[0], args, kwargs, sys._getframe().f_back)

    return recording_kernel


def call_operation(op: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call the operation. If it raises, the message does not mention our kernels.

    It was called from C++, which asks no `__torch_function__`; a call from Python would.
    """
    if has_torch_function_override(args, kwargs):
        with torch._C.DisableTorchFunction():
            return call_operation(op, args, kwargs)
    try:
        return op(*args, **kwargs)
    except RuntimeError as error:
        if isinstance(error, NotImplementedError) and probe.DISPATCH_KEY_NAME in str(error):
            error.args = (_OUR_KERNEL_IN_ERROR_PATTERN.sub("", str(error)), *error.args[1:])
        tensors = args_with_numbers_as_tensors(op, args) if NOT_A_TENSOR_MESSAGE in str(error) else None
        if tensors is None:
            raise
    return op(*tensors, **kwargs)


def has_torch_function_override(args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a call with these arguments from Python would ask a subclass or a mode."""
    values = (*args, *kwargs.values()) if kwargs else args
    if has_torch_function(values):
        return True
    lists = [value for value in values if type(value) is list]
    return bool(lists) and any(map(has_torch_function, lists))


def args_with_numbers_as_tensors(op: Any, args: Any) -> list[Any] | None:
    """The arguments, with numbers converted to tensors where tensors are expected; None if all are tensors already.

    When torch makes a tensor from a Python number, the number itself arrives here. Few operations take that; C++ calls
    others on it, such as `view` when it prints a graph's constants.
    """
    numbers = {
        k: NUMBER_DTYPES[type(value)]
        for k, (value, argument) in enumerate(zip(args, op._schema.arguments, strict=False))
        if type(value) in NUMBER_DTYPES and isinstance(argument.type, torch.TensorType)
    }
    if not numbers:
        return None
    return [torch.scalar_tensor(v, dtype=numbers[k]) if k in numbers else v for k, v in enumerate(args)]


def torch_frames_and_their_caller(frame: FrameType | None) -> Iterable[FrameType]:
    """The frames of torch's own Python code from here outwards, and the first frame that is not torch's."""
    for f in frames_outward(frame):
        yield f
        if not f.f_code.co_filename.startswith(TORCH_FOLDER):
            return


def is_printing_tensor(frame: FrameType | None) -> bool:
    """Whether torch is formatting a tensor as text, which takes many operations and changes nothing."""
    if frame is None or not frame.f_code.co_filename.startswith(TORCH_FOLDER):  # most operations
        return False
    return any(f.f_code.co_filename == _PRINTING_FILE for f in torch_frames_and_their_caller(frame))


def is_called_by_program(frame: FrameType | None) -> bool:
    """Whether the program itself called the operation, or one thin method of torch's on its behalf."""
    for f in torch_frames_and_their_caller(frame):
        if is_program_code(f.f_code):
            return not is_in_unstepped_call(f)
        if not f.f_code.co_filename.endswith(("torch/_tensor.py", "torch/functional.py", "nn/functional.py")):
            return False
    return False


def is_deepcopy_by_program(frame: FrameType | None) -> bool:
    """Whether the operation makes the tensor that `copy.deepcopy(x)` returns to the program."""
    codes = (torch.Tensor.__deepcopy__.__code__, copy.deepcopy.__code__)
    for f, code in zip(frames_outward(frame), codes, strict=False):
        if f.f_code is not code:
            return False
    caller = next(islice(frames_outward(frame), len(codes), None), None)
    return caller is not None and is_program_code(caller.f_code) and not is_in_unstepped_call(caller)


def is_in_function_apply(frame: FrameType | None) -> bool:
    """Whether a `torch.autograd.Function` runs. Its forward has no graph, and nothing is cut by that."""
    return any(f.f_code.co_filename == _FUNCTION_FILE and f.f_code.co_name == "apply" for f in frames_outward(frame))
