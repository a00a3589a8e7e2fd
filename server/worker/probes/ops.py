"""Torch operations as the dispatcher runs them: what each took and made, and where a path of gradients was cut.

A dispatch mode sees the program's own tensors below autograd and changes no result. (A function mode would: while one
is active, modules leave their fast paths.) Whether a result requires grad is not known until autograd has wrapped
it, so that is noted when the result is used next or at the look.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from server.worker.names import WeakNames
from server.worker.probes import tensors
from server.worker.probes.counters import Counters
from server.worker.probes.frames import PROGRAM
from server.worker.probes.storages import Storages

TORCH = torch.__path__[0] + "/"
_FUNCTION = TORCH + "autograd/function.py"


class Call:
    """One operation of the running statement; `entry` is what the log tells of it."""

    __slots__ = ("at", "direct", "entry", "inference", "inputs", "own", "results", "twin", "writes")

    def __init__(self, entry: dict[str, Any]) -> None:
        self.entry = entry
        self.inputs: list[tuple[str, bool]] = []  # (tensor, requires grad)
        self.results: dict[str, tuple[bool, bool] | None] = {}  # new tensor -> (requires grad, leaf), once known
        self.writes: list[tuple[str, str]] = []  # (storage, tensor through which)
        self.twin: bool | None = None  # a detach(): the result wears its input's counter; `.data` does not
        self.direct = self.own = self.inference = False
        self.at = 0  # its place in the step's log


class Ops(TorchDispatchMode):
    """Records each operation into the log. Nothing is recorded while `busy` says that the recorder itself is at work."""

    def __init__(
        self,
        names: WeakNames,
        storages: Storages,
        counters: Counters,
        log: Callable[[dict[str, Any]], int],
        busy: Callable[[], bool],
        fault: Callable[[BaseException], None],
    ) -> None:
        super().__init__()
        self._names, self._storages, self._counters = names, storages, counters
        self._log, self._busy, self._fault = log, busy, fault
        self._written: dict[Any, list[int | str]] = {}
        self._maker: dict[str, Call] = {}
        self.calls: list[Call] = []
        self.early: dict[str, dict[str, Any]] = {}
        self.inside = 0  # the backward passes that run: what they compute cuts no path

    supports_higher_order_operators = True

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # the wrapper that skips it would import the compiler

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._busy():
            return func(*args, **kwargs)
        call = None
        try:
            call = self._before(func, args, kwargs)
        except Exception as error:
            self._fault(error)
        result = func(*args, **kwargs)
        if call is not None:
            try:
                self._after(call, func, args, kwargs, result)
            except Exception as error:
                self._fault(error)
        return result

    def _before(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Call:
        entry = {"kind": "op", "name": str(func.name()), "inputs": [], "outputs": [], "requires_grad": []}
        entry["grad_mode"] = torch.is_grad_enabled()
        call = Call(entry)
        with torch._C.DisableTorchFunction():
            for tensor in tensors.flatten([*args, *kwargs.values()]):
                uid = self._see(tensor)
                maker = self._maker.get(uid)
                if maker is not None:
                    self.settle(maker, uid, tensor)
                call.inputs.append((uid, tensor.requires_grad))
        entry["inputs"] = [uid for uid, _ in call.inputs]
        if any(requires for _, requires in call.inputs):
            call.inference = torch.is_inference_mode_enabled()
            frame = sys._getframe(2)
            call.direct = direct(frame)
            call.own = not self.inside and (entry["grad_mode"] or not in_function(frame))
        return call

    def _after(self, call: Call, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        taken = set(call.entry["inputs"])
        with torch._C.DisableTorchFunction():
            for place in self._places(func):
                argument = kwargs.get(place) if isinstance(place, str) else args[place] if place < len(args) else None
                for tensor in tensors.flatten([argument]):
                    if tensors.has_storage(tensor):
                        storage = self._storages.see(tensor.untyped_storage())
                        self._storages.touched.add(storage)
                        self._storages.early(storage, str(tensor.dtype)[6:])
                        call.writes.append((storage, self._names.name(tensor)))
            for tensor in tensors.flatten([result]):
                uid = self._see(tensor)
                call.entry["outputs"].append(uid)
                if uid in taken:
                    call.entry["requires_grad"].append(tensor.requires_grad)
                else:
                    call.entry["requires_grad"].append(None)
                    call.results[uid] = None
                    self._maker[uid] = call
        call.at = self._log(call.entry)
        self.calls.append(call)

    def _places(self, func: Any) -> list[int | str]:
        """The arguments that the operation writes to, by position or name."""
        found = self._written.get(func)
        if found is None:
            schema = getattr(func, "_schema", None)
            found = []
            if schema is not None and schema.is_mutable:
                for k, argument in enumerate(schema.arguments):
                    if argument.alias_info is not None and argument.alias_info.is_write:
                        found.append(argument.name if argument.kwarg_only else k)
            self._written[func] = found
        return found

    def _see(self, tensor: torch.Tensor) -> str:
        """Its uid; what a new one is gets noted at once, for it may not live until the look."""
        uid = self._names.known(tensor)
        if uid is not None:
            return uid
        uid = self._names.name(tensor)
        try:
            facts = tensors.facts(tensor)
            facts["requires_grad"] = facts["leaf"] = None
            if tensors.has_storage(tensor):
                facts["storage"] = self._storages.see(tensor.untyped_storage())
                self._storages.early(facts["storage"], facts["dtype"])
            self.early[uid] = facts
        except Exception as error:
            self._fault(error)
        return uid

    def settle(self, call: Call, uid: str, tensor: torch.Tensor) -> None:
        """Autograd is done with this result: note what it made of it."""
        if call.results.get(uid, True) is None:
            call.results[uid] = (tensor.requires_grad, tensor.is_leaf)
            call.entry["requires_grad"][call.entry["outputs"].index(uid)] = tensor.requires_grad
            early = self.early.get(uid)
            if early is not None:
                early["requires_grad"], early["leaf"] = tensor.requires_grad, tensor.is_leaf
            source = self._names.get(call.inputs[0][0]) if call.inputs else None
            if call.entry["name"] == "aten::detach" and isinstance(source, torch.Tensor) and not tensor.is_inference():
                call.twin = self._counters.same(source, tensor)

    def look(self) -> None:
        """Settle whatever lives."""
        for uid, call in self._maker.items():
            tensor = self._names.get(uid)
            if tensor is not None:
                self.settle(call, uid, tensor)

    def cuts(self) -> list[dict[str, Any]]:
        """The events `path_cut` of the statement."""
        out = []
        for call in self.calls:
            source = next((uid for uid, requires in call.inputs if requires), None)
            if source is None or not call.own:
                continue
            event = {"kind": "event", "event": "path_cut", "tensor": source, "name": call.entry["name"]}
            if call.entry["name"] == "aten::_local_scalar_dense":
                out.append({**event, "reason": "item"})
            for uid, known in call.results.items():
                if not (call.direct or self._names.get(uid) is not None):
                    continue
                reason = self._reason(call, uid, known)
                if reason is not None:
                    out.append({**event, "result": uid, "reason": reason})
        return out

    def _reason(self, call: Call, uid: str, known: tuple[bool, bool] | None) -> str | None:
        dtype = self.early.get(uid, {}).get("dtype")
        if dtype is not None and not ("float" in dtype or "complex" in dtype):
            return "dtype"
        if known is None or not known[1]:
            return None
        if call.inference:
            return "inference"
        if call.entry["name"] == "aten::detach":
            return None if call.twin is None else "detach" if call.twin else "data"
        return None if call.entry["grad_mode"] else "no_grad"

    def written(self) -> dict[str, tuple[int, str]]:
        """storage -> (place in the log of the last operation that wrote it, the tensor through which)."""
        return {storage: (call.at, tensor) for call in self.calls for storage, tensor in call.writes}

    def clear(self) -> None:
        self.calls = []
        self._maker = {}
        self.early = {}


def direct(frame: FrameType | None) -> bool:
    """Whether the program itself called the operation, or one thin method of torch's on its behalf."""
    for _ in range(3):
        if frame is None or frame.f_code.co_filename == PROGRAM:
            return frame is not None
        if not frame.f_code.co_filename.startswith((TORCH + "_tensor.py", TORCH + "functional.py", TORCH + "utils/_contextlib.py")):
            return False
        frame = frame.f_back
    return False


def in_function(frame: FrameType | None) -> bool:
    """Whether a `torch.autograd.Function` runs: its forward is not recorded, and nothing is cut by that."""
    while frame is not None:
        if frame.f_code.co_filename == _FUNCTION and frame.f_code.co_name == "apply":
            return True
        frame = frame.f_back
    return False
