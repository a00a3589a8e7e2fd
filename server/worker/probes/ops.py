"""Torch operations as the program calls them: what each took and made, and where a path of gradients was cut.

Every operator of the dispatcher gets a kernel of ours under a dispatch key that nothing else uses; the key is switched
on for the program's thread alone. A call comes by before autograd and leaves with its finished result. Torch can't
see that they are recorded: under a dispatch mode it takes other paths (`reshape` becomes a view, CTC loss another node),
under a function mode modules leave their fast paths. `detach` and `alias` are let through unseen: torch itself calls
them where a Python object for the result would be one too many; what they cut shows in the handles.
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

from server.wire import events
from server.worker.observation import Observation, OpCall
from server.worker.probes import handles
from server.worker.probes.probe import ProbeContext
from server.worker.probes.storages import Storages
from server.worker.probes.tensors import Tensors
from server.worker.stack import PROGRAM, frames_outward

TORCH = torch.__path__[0] + "/"
_FUNCTION = TORCH + "autograd/function.py"
_PRINTING = TORCH + "_tensor_str.py"
_KEY = "TESTING_ONLY_GenericMode"
_UNRECORDED = ("detach", "alias")
_UNINITIALIZED = re.compile(r"::(new_)?empty")


_dispatch_key: Any = torch._C._parse_dispatch_key(_KEY)
_dispatch_keys = torch._C.DispatchKeySet(_dispatch_key)
_libraries: list[Any] = []
_active: list["Ops"] = []


class Ops:
    """Records each operation into the step's log while entered, except while the recorder itself is at work.

    is_recording: whether steps are recorded at all; False in iterations that are skipped.
    """

    def __init__(
        self, context: ProbeContext, tensors: Tensors, storages: Storages, is_recording: Callable[[], bool]
    ) -> None:
        self._context, self._tensors, self._storages = context, tensors, storages
        self._is_recording = is_recording
        self._written: dict[Any, list[int | str]] = {}

    def __enter__(self) -> Self:
        register_kernels()
        _active.append(self)
        torch._C._dispatch_tls_set_dispatch_key_included(_dispatch_key, True)
        return self

    def __exit__(self, *_: object) -> None:
        torch._C._dispatch_tls_set_dispatch_key_included(_dispatch_key, False)
        _active.remove(self)

    def busy(self) -> bool:
        """Whether what is computed now is none of the program's recorded steps."""
        return self._context.guard.busy or not self._is_recording()

    def mute(self, muted: bool) -> None:
        """Record no operators for a while."""
        torch._C._dispatch_tls_set_dispatch_key_included(_dispatch_key, not muted)

    def run(self, name: str, op: Any, args: Any, kwargs: dict[str, Any], frame: FrameType | None) -> Any:
        """The operation, recorded."""
        if is_printing(frame):
            return op(*args, **kwargs)
        call = None
        try:
            with torch._C.DisableTorchFunction():
                call = self._before(name, args, kwargs, frame)
        except Exception as error:
            self._context.report_fault(error)
        result = op(*args, **kwargs)
        if call is not None:
            try:
                with torch._C.DisableTorchFunction():
                    self._after(call, op, args, kwargs, result)
            except Exception as error:
                self._context.report_fault(error)
        return result

    def _before(self, name: str, args: Any, kwargs: dict[str, Any], frame: FrameType | None) -> OpCall:
        entry: events.Op = {
            "kind": "op",
            "name": name,
            "inputs": [],
            "outputs": [],
            "requires_grad": [],
            "grad_mode": torch.is_grad_enabled(),
        }
        call = OpCall(entry)
        touched = self._context.observation.touched_storages
        for tensor in handles.flatten([*args, *kwargs.values()]):
            call.inputs.append((self._tensors.register(tensor), handles.bare(tensor).requires_grad))
            if handles.has_storage(tensor):  # what it writes may be an input that its schema does not call written
                touched.add(self._storages.register(tensor))
        entry["inputs"] = [uid for uid, _ in call.inputs]
        if any(requires for _, requires in call.inputs):
            call.inference = torch.is_inference_mode_enabled()
            call.called_directly = is_called_by_program(frame)
            call.deep_copies = is_deepcopy_by_program(frame)
            call.cuts_paths = not self._context.running_backwards and (
                entry["grad_mode"] or not is_in_function_apply(frame)
            )
        return call

    def _after(self, call: OpCall, op: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        observation = self._context.observation
        taken = set(call.entry["inputs"])
        derived = any(handles.bare(tensor).requires_grad for tensor in handles.flatten([result]))
        if derived and call.entry["grad_mode"]:  # torch asked its inputs for their nodes
            for uid in taken:
                self._tensors.stale_views.mark_current(uid)
        for tensor in self._writes(op, args, kwargs):
            storage = self._storages.register(tensor)
            observation.touched_storages.add(storage)
            self._storages.capture(storage, handles.dtype_name(tensor))
            call.writes.append((storage, self._tensors.register(tensor)))
            self._tensors.mark_views_stale(*call.writes[-1])
        for tensor in handles.flatten([result]):
            uid = self._tensors.register(tensor, refresh=True)
            call.entry["outputs"].append(uid)
            call.entry["requires_grad"].append(handles.bare(tensor).requires_grad)
            if _UNINITIALIZED.search(call.entry["name"]) and handles.has_storage(tensor):
                self._storages.discard_contents(self._storages.register(tensor))
            if uid not in taken:
                call.results.append((uid, handles.leaf(tensor) is True, handles.dtype_name(tensor)))
        call.log_index = observation.append(call.entry)
        observation.op_calls.append(call)

    def _writes(self, op: Any, args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """The arguments that the operation writes to, where they have a storage."""
        arguments = [
            kwargs.get(argument) if isinstance(argument, str) else args[argument] if argument < len(args) else None
            for argument in self._written_arguments(op)
        ]
        return [tensor for tensor in handles.flatten(arguments) if handles.has_storage(tensor)]

    def _written_arguments(self, op: Any) -> list[int | str]:
        """The arguments that the operation writes to, by position or name."""
        positions = self._written.get(op)
        if positions is None:
            positions = []
            for k, argument in enumerate(op._schema.arguments):
                if argument.alias_info is not None and argument.alias_info.is_write:
                    positions.append(argument.name if argument.kwarg_only else k)
            self._written[op] = positions
        return positions


def engine_context(observation: Observation) -> Any:
    """The context for a run of the engine: operations are not recorded where a transform of torch.func asks for it.

    There the engine meets wrapped Python numbers, which have no data to make a number of.
    """
    active = torch._C._functorch.peek_interpreter_stack() is not None or any(
        frame.f_code.co_filename.startswith(TORCH + "_functorch/") for frame in torch_frames(sys._getframe(1).f_back)
    )
    if active:
        observation.ops_unobserved = True
    return torch._C._ExcludeDispatchKeyGuard(_dispatch_keys) if active else contextlib.nullcontext()


def register_kernels() -> None:
    """Put the kernels in place, once a process; without a listener in the thread they are never called."""
    if _libraries:
        return
    root: Any = torch.library.Library("_", "IMPL")  # type: ignore[no-untyped-call]
    root.fallback(torch.library.fallthrough_kernel, _KEY)
    library = torch._C._dispatch_library("IMPL", "aten", "")
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and name[6:].split(".")[0] not in _UNRECORDED:
            library.impl(name[6:], _KEY, kernel(name))
    for operator in _higher_order_ops.values():
        operator.non_fallthrough_keys = operator.non_fallthrough_keys.remove(_dispatch_key)
    _libraries.extend((root, library))


def kernel(name: str) -> Callable[..., Any]:
    base, _, overload = name[6:].partition(".")
    operator: list[Any] = []

    def run(*args: Any, **kwargs: Any) -> Any:
        if not operator:
            operator.append(getattr(getattr(torch.ops.aten, base), overload or "default"))
        with torch._C._ExcludeDispatchKeyGuard(_dispatch_keys):
            if not _active or _active[-1].busy():
                return operator[0](*args, **kwargs)
            return _active[-1].run(name, operator[0], args, kwargs, sys._getframe().f_back)

    return run


def torch_frames(frame: FrameType | None) -> Iterable[FrameType]:
    """The frames of torch's own Python code from here outwards, and the first that is none of it."""
    for f in frames_outward(frame):
        yield f
        if not f.f_code.co_filename.startswith(TORCH):
            return


def is_printing(frame: FrameType | None) -> bool:
    """Whether torch is putting a tensor into words: that computes a good deal and changes nothing."""
    return any(f.f_code.co_filename == _PRINTING for f in torch_frames(frame))


def is_called_by_program(frame: FrameType | None) -> bool:
    """Whether the program itself called the operation, or one thin method of torch's on its behalf."""
    for f in torch_frames(frame):
        if f.f_code.co_filename == PROGRAM:
            return True
        if not f.f_code.co_filename.endswith(("torch/_tensor.py", "torch/functional.py", "nn/functional.py")):
            return False
    return False


def is_deepcopy_by_program(frame: FrameType | None) -> bool:
    """Whether the operation makes the tensor that `copy.deepcopy(x)` gives the program."""
    codes = (torch.Tensor.__deepcopy__.__code__, copy.deepcopy.__code__)
    for f, code in zip(frames_outward(frame), codes, strict=False):
        if f.f_code is not code:
            return False
    caller = next(islice(frames_outward(frame), len(codes), None), None)
    return caller is not None and caller.f_code.co_filename == PROGRAM


def is_in_function_apply(frame: FrameType | None) -> bool:
    """Whether a `torch.autograd.Function` runs: its forward is not recorded, and nothing is cut by that."""
    return any(f.f_code.co_filename == _FUNCTION and f.f_code.co_name == "apply" for f in frames_outward(frame))
