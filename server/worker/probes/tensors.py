"""Tensors: the facts of a handle, read without running a hook, a warning or a subclass's code."""

from collections.abc import Callable
from typing import Any

import torch

from server.worker.probes import cells

_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
_get = object.__getattribute__


def facts(tensor: torch.Tensor) -> dict[str, Any]:
    """What a tensor says of itself; what torch refuses to say is left out."""
    out: dict[str, Any] = {"kind": "tensor", "type": type(tensor).__name__, "dtype": str(tensor.dtype)[6:]}
    out["device"], out["layout"] = str(tensor.device), str(tensor.layout)[6:]
    bits = []
    if tensor.is_inference():
        bits.append("inference")
    if tensor.dtype.is_complex and tensor.is_conj():
        bits.append("conj")
    if tensor.is_neg():
        bits.append("neg")
    out["bits"] = bits or None
    try:
        out["shape"] = list(tensor.shape)
    except RuntimeError:  # nested
        out["shape"] = None
    out["requires_grad"], out["leaf"] = tensor.requires_grad, tensor.is_leaf
    if _wrapped(tensor):
        out["wraps"] = wrapper(tensor)
    elif tensor.layout == torch.strided:
        out["offset"], out["stride"] = tensor.storage_offset(), list(tensor.stride())
    hooks = _get(tensor, "_backward_hooks") if type(tensor) in (torch.Tensor, torch.nn.Parameter) else None
    out["hooks"] = len(hooks) if hooks else None
    return out


def wrapper(tensor: torch.Tensor) -> dict[str, Any]:
    """Which transform of torch.func wraps it, and at which level."""
    functorch = torch._C._functorch
    if functorch.is_batchedtensor(tensor):
        return {"by": "vmap", "level": functorch.maybe_get_level(tensor), "dim": functorch.maybe_get_bdim(tensor)}
    by = "grad" if functorch.is_gradtrackingtensor(tensor) else "functionalize"
    return {"by": by, "level": functorch.maybe_get_level(tensor)}


def has_storage(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and not _wrapped(tensor)


def gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    """`.grad`, asked only where asking does not warn."""
    if tensor.is_leaf or tensor.retains_grad:
        grad: torch.Tensor | None = tensor.grad
        return grad
    return None


def flatten(things: Any, depth: int = 0) -> list[torch.Tensor]:
    """The tensors among an operation's arguments or results, one level of lists deep."""
    out: list[torch.Tensor] = []
    for thing in things:
        if isinstance(thing, torch.Tensor):
            out.append(thing)
        elif depth < 2 and type(thing) in (list, tuple):
            out += flatten(thing, depth + 1)
    return out


def passed(tensor: torch.Tensor | None, storage: Callable[[torch.Tensor], str | None]) -> dict[str, Any] | None:
    """A gradient as it passed, its values copied: elements in logical order, or a summary of many.

    storage: the uid of a storage already known, else None.
    """
    if tensor is None:
        return None
    out: dict[str, Any] = {"shape": [], "dtype": str(tensor.dtype)[6:], "layout": str(tensor.layout)[6:]}
    try:
        out["shape"] = list(tensor.shape)
        if not has_storage(tensor) or tensor.device.type == "meta":
            return out
        out["storage"] = storage(tensor)
        with torch.no_grad():
            plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
        where = plain.untyped_storage()
        size = plain.element_size()
        start = plain.storage_offset() * size
        data = cells.take(where, start, plain.numel() * size)
        if plain.numel() <= cells.LIMIT:
            out["cells"] = cells.decode(data, out["dtype"])
        else:
            out["summary"] = cells.summary(data, out["dtype"])
    except Exception:  # legacy vmap's tensors can be neither listed nor detached
        out.pop("cells", None)
    return out
