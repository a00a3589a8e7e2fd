"""Asks torch for every cell of the matrix by itself: no line of the server's programs, its own way to ask where there
is one.

`every_verdict` gives them by situation, operation and property.
"""

import contextlib
import copy
import io
import pickle
import warnings
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Operation = Callable[[Tensor], Tensor]
Ask = Callable[["Case"], bool]


def set_data(a: Tensor) -> Tensor:
    a.data = a.data.clone()
    return a


def state_dict(a: Tensor) -> Tensor:
    module = torch.nn.Module()
    module.register_buffer("x", a)
    held: Tensor = module.state_dict()["x"]
    return held


def swap(a: Tensor) -> Tensor:
    other = torch.zeros(2, 3)
    torch.utils.swap_tensors(a, other)
    return other


def saved(a: Tensor) -> Tensor:
    file = io.BytesIO()
    torch.save(a, file)
    return torch.load(io.BytesIO(file.getvalue()))  # type: ignore[no-any-return]


COMPLEX = {"real", "imag", "view_as_real", "conj", "resolved"}
OPERATIONS: dict[str, Operation] = {
    "alias": lambda a: a,
    "requires_grad_": lambda a: a.requires_grad_(),
    "requires_grad_false": lambda a: a.requires_grad_(False),
    "add_": lambda a: a.add_(0),
    "detach_": lambda a: a.detach_(),
    "set_data": set_data,
    "set_": lambda a: a.set_(a.detach().clone()),  # type: ignore[call-overload]
    "to_same": lambda a: a.to(a.dtype),
    "to_device": lambda a: a.to(a.device),
    "cpu": lambda a: a.cpu(),
    "float": lambda a: a.float(),
    "as_tensor": lambda a: torch.as_tensor(a),
    "torch_asarray": lambda a: torch.asarray(a),
    "contiguous": lambda a: a.contiguous(),
    "resolve_conj": lambda a: a.resolve_conj(),
    "detach": lambda a: a.detach(),
    "detach_requires_grad": lambda a: a.detach().requires_grad_(),
    "data": lambda a: a.data,
    "parameter": lambda a: torch.nn.Parameter(a),
    "parameter_data": lambda a: torch.nn.Parameter(a.data),
    "copy_copy": copy.copy,
    "numpy": lambda a: torch.from_numpy(a.numpy()),
    "detach_numpy": lambda a: torch.from_numpy(a.detach().numpy()),
    "asarray": lambda a: torch.from_numpy(np.asarray(a.detach())),
    "memoryview": lambda a: torch.frombuffer(memoryview(a.detach().numpy()), dtype=torch.float32),  # type: ignore[arg-type]
    "dlpack": lambda a: torch.from_dlpack(a.detach()),  # type: ignore[attr-defined]
    "storage": lambda a: torch.empty(0).set_(a.untyped_storage(), 0, a.shape, a.stride()),
    "set_to": lambda a: torch.empty(0).set_(a.detach()),  # type: ignore[call-overload]
    "state_dict": state_dict,
    "swap_tensors": swap,
    "view": lambda a: a.view(3, 2),
    "Tensor": lambda a: torch.Tensor(a),
    "as_subclass": lambda a: a.as_subclass(torch.Tensor),
    "view_as": lambda a: a.view_as(a),
    "reshape": lambda a: a.reshape(3, 2),
    "flatten": lambda a: a.flatten(),
    "ravel": lambda a: a.ravel(),
    "t": lambda a: a.t(),
    "T": lambda a: a.T,
    "mT": lambda a: a.mT,
    "transpose": lambda a: a.transpose(0, 1),
    "swapaxes": lambda a: a.swapaxes(0, 1),
    "movedim": lambda a: a.movedim(0, 1),
    "permute": lambda a: a.permute(1, 0),
    "unsqueeze": lambda a: a.unsqueeze(0),
    "squeeze": lambda a: a.squeeze(),
    "expand": lambda a: a.expand(4, 2, 3),
    "expand_as": lambda a: a.expand_as(a),
    "index": lambda a: a[0],
    "select": lambda a: a.select(1, 0),
    "slice": lambda a: a[:, 1:],
    "step": lambda a: a[:, ::2],
    "narrow": lambda a: a.narrow(1, 0, 2),
    "split": lambda a: a.split(1)[0],
    "chunk": lambda a: a.chunk(2)[0],
    "unbind": lambda a: a.unbind()[0],
    "unfold": lambda a: a.unfold(1, 2, 1),
    "as_strided": lambda a: a.as_strided((2, 2), (2, 1)),
    "diagonal": lambda a: a.diagonal(),
    "bits": lambda a: a.view(torch.int32),
    "real": lambda a: a.real,
    "imag": lambda a: a.imag,
    "view_as_real": torch.view_as_real,
    "conj": lambda a: a.conj(),
    "clone": lambda a: a.clone(),
    "clone_detach": lambda a: a.clone().detach(),
    "detach_clone": lambda a: a.detach().clone(),
    "copy_": lambda a: torch.empty_like(a).copy_(a),
    "tensor_of": lambda a: torch.tensor(a),
    "new_tensor": lambda a: a.new_tensor(a),
    "deepcopy": copy.deepcopy,
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "save": saved,
    "tolist": lambda a: torch.tensor(a.tolist()),
    "item": lambda a: torch.tensor(a[0, 0].item()),
    "to_copy": lambda a: a.to(a.dtype, copy=True),
    "to_dtype": lambda a: a.to(torch.float64),
    "double": lambda a: a.double(),
    "half": lambda a: a.half(),
    "to_sparse": lambda a: a.to_sparse(),
    "to_dense": lambda a: a.to_sparse().to_dense(),
    "take_rows": lambda a: a[[0, 1]],
    "masked": lambda a: a[a > 2],
    "cat": lambda a: torch.cat([a]),
    "repeat": lambda a: a.repeat(1, 1),
    "resolved": lambda a: a.conj().resolve_conj(),
    "empty_like": torch.empty_like,
    "zeros_like": torch.zeros_like,
}
MODES = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


class Case:
    """An input, and what an operation makes of it. root: the leaf that a gradient may reach."""

    def __init__(self, name: str, tensor: str, memory: str, device: str = "cpu") -> None:
        dtype = torch.complex64 if name in COMPLEX else torch.float32
        root = torch.empty_strided((2, 3), (3, 1) if memory == "contiguous" else (1, 2), dtype=dtype, device=device)
        if device == "cpu":
            root.copy_(torch.arange(1, 7).view(2, 3))
        root.requires_grad_(tensor != "plain")
        self.root, self.a = root, root * 1 if tensor == "node" else root
        self.name, self.b = name, root
        self.stride, self.requires_grad = self.a.stride(), self.a.requires_grad
        self.memory = self.a.untyped_storage()

    def run(self, mode: str) -> None:
        with MODES[mode]():
            self.b = OPERATIONS[self.name](self.a)


def counter(case: Case) -> bool:
    """By a real write."""
    before = case.a._version
    part = case.b
    while part.layout == torch.strided and 0 in part.stride():
        part = part.select(part.stride().index(0), 0)  # memory that several elements share takes no write
    if case.name == "unfold":
        part = part.select(1, 0)
    with torch.no_grad():
        part.zero_()
    return case.a._version > before


def backward(tensor: Tensor, **inputs: list[Tensor]) -> None:
    """Where torch refuses, nothing flows."""
    total = tensor.sum()
    with contextlib.suppress(RuntimeError):
        total.backward(torch.ones_like(total), **inputs)


def flows(case: Case) -> bool:
    backward(case.b)
    return (case.root if case.a is not case.root else case.a).grad is not None


def storage(case: Case) -> bool:
    return case.b.untyped_storage().data_ptr() != case.memory.data_ptr()


ASKED: dict[str, Ask] = {
    "handle": lambda case: id(case.b) != id(case.a),
    "storage": storage,
    "counter": counter,
    "view": lambda case: case.b._base is not None,
    "grad_fn": lambda case: case.b.requires_grad and not case.b.is_leaf,
    "flows": flows,
    "dtype": lambda case: case.b.dtype == (torch.complex64 if case.name in COMPLEX else torch.float32),
    "layout": lambda case: case.b.layout == torch.strided,
    "strides": lambda case: case.b.stride() == case.stride,
    "contiguous": lambda case: case.b.is_contiguous(),
    "requires_grad": lambda case: case.b.requires_grad == case.requires_grad,
}


def device(name: str, tensor: str, memory: str, mode: str) -> bool:
    case = Case(name, tensor, memory, "meta")
    case.run(mode)
    return case.b.is_meta


def grad(name: str, tensor: str, memory: str, mode: str) -> bool:
    case = Case(name, tensor, memory)
    case.a.grad = torch.full_like(case.a, 2, requires_grad=False)
    case.run(mode)
    return case.b.grad is not None


def hooks(name: str, tensor: str, memory: str, mode: str) -> bool:
    case = Case(name, tensor, memory)
    calls = []
    case.a.register_hook(lambda gradient: calls.append(gradient))
    case.run(mode)
    if case.b.requires_grad:
        backward(case.b, inputs=[case.b])
    return bool(calls)


def attributes(name: str, tensor: str, memory: str, mode: str) -> bool:
    case = Case(name, tensor, memory)
    case.a.remark = 1  # type: ignore[attr-defined]
    case.run(mode)
    return "remark" in case.b.__dict__


PREPARED = {"device": device, "grad": grad, "hooks": hooks, "attributes": attributes}
"""What has to be asked of an input of its own."""


def verdict(ask: Callable[[], bool]) -> str:
    try:
        return "yes" if ask() else "no"
    except (RuntimeError, TypeError, ValueError):  # NotImplementedError is a RuntimeError
        return "not_applicable"


def cells(name: str, tensor: str, memory: str, mode: str) -> dict[str, str]:
    """The verdicts of all properties."""
    try:
        Case(name, tensor, memory).run(mode)
    except RuntimeError:
        hooked = "not_applicable" if tensor == "plain" else "raises"  # such a tensor takes no hook, before all else
        return {**dict.fromkeys([*ASKED, *PREPARED], "raises"), "hooks": hooked}

    def ask(question: Ask) -> bool:
        case = Case(name, tensor, memory)
        case.run(mode)
        return question(case)

    found = {key: verdict(lambda: ask(question)) for key, question in ASKED.items()}  # noqa: B023
    return found | {key: verdict(lambda: own(name, tensor, memory, mode)) for key, own in PREPARED.items()}  # noqa: B023


def every_verdict() -> dict[str, dict[str, dict[str, str]]]:
    """By situation, operation and property. To be called in a process that has nothing of ours."""
    warnings.simplefilter("ignore")
    return {
        f"{tensor}.{memory}.{mode}": {name: cells(name, tensor, memory, mode) for name in OPERATIONS}
        for tensor in ("leaf", "node", "plain")
        for memory in ("contiguous", "strided")
        for mode in MODES
    }
