"""Reads a tensor's attributes without running a hook, a warning or a subclass's code."""

import gc
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from gradbox.wire import entities

_is_functorch_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
_is_legacy_batched = torch._C._functorch.is_legacy_batchedtensor
_get_attribute = object.__getattribute__
_set_versions = torch._C._autograd._unsafe_set_version_counter
_Tensor, _Parameter = torch.Tensor, torch.nn.Parameter
UNINITIALIZED_TYPES = (UninitializedParameter, UninitializedBuffer)


def is_plain_tensor(tensor: torch.Tensor) -> bool:
    """Whether no subclass code can run when the tensor is asked for something."""
    kind = type(tensor)
    return kind is _Tensor or kind is _Parameter


def instance_attributes(tensor: torch.Tensor) -> dict[str, Any]:
    """The attributes that the program set on the tensor: its `__dict__`.

    Python creates that dictionary when it is first read, and each method lookup on the tensor is slower from then on.
    If there is none yet, it is not read.
    """
    kind = type(tensor)
    for referent in gc.get_referents(tensor):
        if referent is not kind and type(referent) is not OrderedDict:  # those are its hooks
            own: dict[str, Any] = _get_attribute(tensor, "__dict__")
            return own
    return {}


class PlainTensorView:
    """A tensor of a subclass that answers like a plain one: nothing that its class defines is called."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def __getattr__(self, name: str) -> Any:
        return getattr(torch._C.TensorBase, name).__get__(self._tensor)


def as_plain_tensor(tensor: torch.Tensor) -> Any:
    """The tensor in a form whose attributes and methods can be used safely."""
    kind = type(tensor)
    # `is_plain_tensor`, in the tracer's inner loop
    return tensor if kind is _Tensor or kind is _Parameter else PlainTensorView(tensor)


@contextmanager
def temporarily_at_version(tensor: torch.Tensor, version: int) -> Iterator[None]:
    """Set a tensor, and all that share its counter, to another version inside the block."""
    before = as_plain_tensor(tensor)._version
    _set_versions((tensor,), (version,))
    try:
        yield
    finally:
        _set_versions((tensor,), (before,))


def empty_tensor_with_counter_of(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor without memory that shares the version counter of a plain one and keeps nothing of it alive."""
    alias = tensor.detach()
    alias.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return alias


_names: dict[Any, str] = {}


def cached_name(value: Any) -> str:
    """ "float32" for `torch.float32`, "cpu" for a device. It is cached because torch creates these strings anew each
    time."""
    name = _names.get(value)
    if name is None:
        name = _names[value] = str(value).removeprefix("torch.")
    return name


def dtype_name(tensor: torch.Tensor) -> str:
    """ "float32" for `torch.float32`."""
    return cached_name(as_plain_tensor(tensor).dtype)


class PlainTensorAttributes(NamedTuple):
    """The attributes of a plain tensor with memory, each read once."""

    type_name: str
    dtype: torch.dtype
    device: torch.device
    bits: tuple[bool, bool, bool]
    shape: torch.Size
    requires_grad: bool
    leaf: bool | None
    offset: int
    stride: tuple[int, ...]
    hooks: int


def read_plain_tensor(tensor: torch.Tensor) -> PlainTensorAttributes | None:
    """Read a plain tensor. None for a tensor of a subclass, one that is not strided, and one without memory of
    its own."""
    kind = type(tensor)
    if (kind is not _Tensor and kind is not _Parameter) or tensor.layout is not _STRIDED_LAYOUT or tensor.is_nested:
        return None
    if tensor.is_meta or _is_functorch_wrapped(tensor) or _is_legacy_batched(tensor) or tensor._is_zerotensor():
        return None
    shape, dtype = tensor.shape, tensor.dtype
    for size in shape:
        if type(size) is not int:
            return None
    try:
        leaf = tensor.is_leaf
    except RuntimeError:
        leaf = None
    hooks = tensor._backward_hooks
    return PlainTensorAttributes(
        kind.__name__,
        dtype,
        tensor.device,
        (tensor.is_inference(), dtype.is_complex and tensor.is_conj(), tensor.is_neg()),
        shape,
        tensor.requires_grad,
        leaf,
        int(tensor.storage_offset()),
        tensor.stride(),
        len(hooks) if hooks else 0,
    )


_STRIDED_LAYOUT = torch.strided
_TENSOR_BITS: tuple[Literal["inference", "conj", "neg"], ...] = ("inference", "conj", "neg")


def plain_tensor_record(read: PlainTensorAttributes) -> entities.Tensor:
    """The same attributes in the form of the wire."""
    return {
        "kind": "tensor",
        "type": read.type_name,
        "dtype": cached_name(read.dtype),
        "device": cached_name(read.device),
        "layout": "strided",
        "bits": [bit for bit, is_set in zip(_TENSOR_BITS, read.bits, strict=True) if is_set]
        if any(read.bits)
        else None,
        "shape": list(read.shape),
        "requires_grad": read.requires_grad,
        "leaf": read.leaf,
        "offset": read.offset,
        "stride": list(read.stride),
        "hooks": read.hooks or None,
    }


def tensor_facts(tensor: torch.Tensor, stale: bool = False) -> entities.Tensor:
    """The facts of a tensor, without those that torch refuses to tell.

    stale: see `stale_views`
    """
    read = None if stale else read_plain_tensor(tensor)
    if read is not None:
        return plain_tensor_record(read)
    own, tensor = tensor, as_plain_tensor(tensor)
    out: entities.Tensor = {"kind": "tensor", "type": type(own).__name__, "dtype": str(tensor.dtype)[6:]}
    out["device"], out["layout"] = str(tensor.device), str(tensor.layout)[6:]
    bits: list[Literal["conj", "neg", "inference"]] = []
    if tensor.is_inference():
        bits.append("inference")
    if tensor.dtype.is_complex and tensor.is_conj():
        bits.append("conj")
    if tensor.is_neg():
        bits.append("neg")
    out["bits"] = bits or None
    out["shape"] = concrete_shape(tensor)
    out["requires_grad"], out["leaf"] = tensor.requires_grad, is_leaf(own, stale)
    if _is_functorch_wrapped(own):
        out["wraps"] = functorch_wrapper_record(own)
    elif has_storage(own):
        out["offset"], out["stride"] = int(tensor.storage_offset()), list(tensor.stride())
    hooks = _get_attribute(own, "_backward_hooks") if is_plain_tensor(own) else None
    out["hooks"] = len(hooks) if hooks else None
    return out


def concrete_shape(tensor: torch.Tensor) -> list[int] | None:
    """A tensor's shape. None for a nested tensor, for an uninitialized parameter of a lazy module, and for a shape with
    a tracer's symbols, which a comparison would give information."""
    if tensor.is_nested or issubclass(type(tensor), UNINITIALIZED_TYPES) or has_symbolic_shape(tensor):
        return None
    return list(tensor.shape)


def has_symbolic_shape(tensor: torch.Tensor) -> bool:
    """Whether the shape contains a tracer's symbols instead of numbers."""
    return any(type(size) is not int for size in tensor.shape)


def is_leaf(tensor: torch.Tensor, stale: bool = False) -> bool | None:
    """Whether a tensor is a leaf; None if torch can't tell, because the tensor is a view whose base was changed in
    place where that is forbidden.

    stale: the tensor is a view whose node torch would compute anew if asked
    """
    if stale:
        return False
    try:
        is_leaf: bool = as_plain_tensor(tensor).is_leaf
        return is_leaf
    except RuntimeError:
        return None


def functorch_wrapper_record(tensor: torch.Tensor) -> entities.Wraps:
    """Which transform of torch.func wraps a tensor, and at which level."""
    functorch = torch._C._functorch
    if functorch.is_batchedtensor(tensor):
        return {"by": "vmap", "level": functorch.maybe_get_level(tensor), "dim": functorch.maybe_get_bdim(tensor)}
    by = "grad" if functorch.is_gradtrackingtensor(tensor) else "functionalize"
    return {"by": by, "level": functorch.maybe_get_level(tensor)}


def has_storage(tensor: torch.Tensor) -> bool:
    own = as_plain_tensor(tensor)
    if (
        own.layout != torch.strided
        or own.is_nested
        or _is_functorch_wrapped(tensor)
        or _is_legacy_batched(tensor)
        or own._is_zerotensor()
    ):
        return False
    return (is_plain_tensor(tensor) and not own.is_meta) or has_readable_storage(own)


def has_readable_storage(plain: Any) -> bool:
    """Whether the storage of a subclass tensor, or of one without data, may be read.

    A tensor that wraps another one has a storage that nobody may read; a tracer's may have a symbolic size.
    """
    storage = plain.untyped_storage()
    if has_symbolic_shape(plain) or type(storage.nbytes()) is not int:
        return False
    try:
        return storage.device.type == "meta" or storage.data_ptr() is not None
    except RuntimeError:
        return False


def grad_without_warning(tensor: torch.Tensor, stale: bool = False) -> torch.Tensor | None:
    """`.grad`, read only if reading it does not warn."""
    first = is_leaf(tensor, stale)
    if first or (first is False and as_plain_tensor(tensor).retains_grad):
        grad: torch.Tensor | None = as_plain_tensor(tensor).grad
        return grad
    return None


def collect_tensors(values: Any, depth: int = 0) -> list[torch.Tensor]:
    """The tensors among an operation's arguments or results, including those in lists, one level deep."""
    out: list[torch.Tensor] = []
    for value in values:
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            out.append(value)
        elif depth < 2 and (kind is list or kind is tuple):
            out += collect_tensors(value, depth + 1)
    return out


SPARSE_PART_METHODS: dict[torch.layout, tuple[str, ...]] = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}
"""The methods that return the dense tensors of which a sparse one consists."""


def dense_parts(tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    """The dense tensors of which this one consists, by name; empty for a dense tensor."""
    if tensor.is_nested:
        if tensor.layout == torch.jagged:
            jagged: Any = tensor
            return {"values": jagged._values, "offsets": jagged._offsets}
        return {"values": tensor.values(), "sizes": tensor._nested_tensor_size()}
    return {name.removeprefix("_"): getattr(tensor, name)() for name in SPARSE_PART_METHODS.get(tensor.layout, ())}


def quantization_record(tensor: torch.Tensor) -> entities.Quantization:
    """How the integers of a quantized tensor represent numbers."""
    scheme = tensor.qscheme()
    if scheme in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return {"scheme": str(scheme)[6:], "scale": tensor.q_scale(), "zero_point": tensor.q_zero_point()}
    scales, points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    return {
        "scheme": str(scheme)[6:],
        "scale": scales.tolist(),
        "zero_point": points.tolist(),
        "axis": tensor.q_per_channel_axis(),
    }
