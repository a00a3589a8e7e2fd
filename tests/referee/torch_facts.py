"""What torch itself says about the tensors that a module's names reach: the truth that a trace has to agree with."""

from collections.abc import Iterator
from typing import Any

import torch

from tests.referee.canonical import grouped, numbered_graph, short_name

Namespace = dict[str, Any]
Tensors = dict[str, torch.Tensor]

MAX_ELEMENTS = 1024
MAX_ITEMS = 50
DEEPEST = 4


def facts(namespace: Namespace) -> dict[str, Any]:
    """Everything that is compared, from a module's namespace after the program.

    `tensors`: facts by path; `same`, `shared`, `counters`: paths in groups that are one tensor, one storage, one
    version counter; `overlap`: pairs whose bytes overlap; `graphs`: numbered graphs by name; `plain`: None, bools,
    ints, strings; `modes`: `training` of modules by path.
    """
    tensors = dict(reached(namespace))
    named = {path: tensor for path, tensor in tensors.items() if path.isidentifier()}
    dense = {
        path: tensor
        for path, tensor in tensors.items()
        if tensor.layout == torch.strided and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    }
    return {
        "tensors": {path: tensor_facts(tensor, path in dense) for path, tensor in tensors.items()},
        "same": grouped((path, id(tensor)) for path, tensor in tensors.items()),
        "shared": grouped((path, tensor.untyped_storage()._cdata) for path, tensor in dense.items()),
        "overlap": overlapping(dense),
        "counters": shared_counters(named),
        "graphs": graphs(named),
        "plain": plain_values(namespace),
        "modes": modes(namespace),
    }


def reached(namespace: Namespace) -> Iterator[tuple[str, torch.Tensor]]:
    """(path, tensor) of what module-level names reach through lists, tuples, dicts and modules."""
    queue = [(name, value, 0) for name, value in namespace.items() if not name.startswith("__")]
    for path, value, depth in queue:
        if isinstance(value, torch.Tensor):
            yield path, value
        elif depth < DEEPEST:
            queue += [(f"{path}{suffix}", part, depth + 1) for suffix, part in parts(value)]


def modes(namespace: Namespace) -> dict[str, bool]:
    """`training` of each module that module-level names reach, by path."""
    out: dict[str, bool] = {}
    queue = [(name, value, 0) for name, value in namespace.items() if not name.startswith("__")]
    for path, value, depth in queue:
        if isinstance(value, torch.nn.Module) and type(value.__dict__.get("training")) is bool:
            out[path] = value.training
        if depth < DEEPEST and not isinstance(value, torch.Tensor):
            queue += [(f"{path}{suffix}", part, depth + 1) for suffix, part in parts(value)]
    return out


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What a container holds, each with what is appended to the container's path."""
    if type(value) in (list, tuple) and len(value) <= MAX_ITEMS:
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif type(value) is dict and len(value) <= MAX_ITEMS:
        yield from ((f"[{key!r}]", item) for key, item in value.items() if type(key) in (str, int))
    elif isinstance(value, torch.nn.Module):
        for members in (value._parameters, value._buffers, value._modules):
            yield from ((f".{key}", member) for key, member in members.items() if member is not None)


def tensor_facts(tensor: torch.Tensor, dense: bool) -> dict[str, Any]:
    """Of one tensor; a dense one has `stride`, `offset` and `values` as well."""
    grad = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    facts: dict[str, Any] = {
        "dtype": str(tensor.dtype).replace("torch.", ""),
        "shape": list(tensor.shape),
        "requires_grad": tensor.requires_grad,
        "leaf": tensor.is_leaf,
        "version": None if tensor.is_inference() else tensor._version,
        "grad_fn": short_name(tensor.grad_fn.name()) if tensor.grad_fn is not None else None,
        "has_grad": grad is not None,
        "grad": elements(grad) if grad is not None else None,
    }
    if dense:
        facts |= {"stride": list(tensor.stride()), "offset": tensor.storage_offset(), "values": elements(tensor)}
    return facts


def elements(tensor: torch.Tensor) -> list[int | float] | None:
    """In torch's order, a complex one as two numbers; None where they can't be listed."""
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta or tensor.numel() > MAX_ELEMENTS:
        return None
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    flat = tensor.flatten()
    if flat.is_floating_point():
        return [float(value) for value in flat.double().tolist()]
    return [int(value) for value in flat.tolist()]


def overlapping(dense: Tensors) -> list[list[str]]:
    """Pairs of paths whose storages have bytes in common, whatever the storages' identities are."""
    spans = {}
    for path, tensor in dense.items():
        storage = tensor.untyped_storage()
        spans[path] = (storage.data_ptr(), storage.data_ptr() + storage.nbytes(), str(tensor.device))
    return [
        [a, b]
        for a, (a_begin, a_end, a_device) in spans.items()
        for b, (b_begin, b_end, b_device) in spans.items()
        if a < b and a_device == b_device and a_end > a_begin and b_end > b_begin
        if a_begin < b_end and b_begin < a_end
    ]


def shared_counters(named: Tensors) -> list[list[str]]:
    """Names whose tensors have one version counter: torch is asked by moving one, and moving it back."""
    counted = {name: tensor for name, tensor in named.items() if not tensor.is_inference()}
    owner: dict[str, str] = {}
    set_version = torch._C._autograd._unsafe_set_version_counter
    for name, tensor in counted.items():
        if name in owner:
            continue
        before = {other: peer._version for other, peer in counted.items()}
        set_version((tensor,), (before[name] + 1,))
        moved = [other for other, peer in counted.items() if peer._version != before[other]]
        set_version((tensor,), (before[name],))
        owner.update(dict.fromkeys(moved, name))
    return grouped(owner.items())


def graphs(named: Tensors) -> dict[str, list[tuple[Any, ...]]]:
    """The graph behind each named result: edges, node name, names of the leaf, states of the saved slots."""
    names: dict[int, list[str]] = {}
    for name, tensor in named.items():
        names.setdefault(id(tensor), []).append(name)
    alive: list[Any] = []  # an id is one object's only while that lives

    def edges(node: Any) -> list[tuple[Any, int] | None]:
        alive.append(node)
        return [None if target is None else (target, index) for target, index in node.next_functions]

    def describe(node: Any) -> tuple[Any, ...]:
        variable = sorted(names.get(id(getattr(node, "variable", None)), []))
        return short_name(node.name()), variable, saved_slots(node)

    return {
        name: numbered_graph(tensor.grad_fn, id, edges, describe)
        for name, tensor in named.items()
        if tensor.requires_grad and tensor.grad_fn is not None
    }


def saved_slots(node: Any) -> dict[str, str]:
    """The state of each saved slot: ok, stale, detached or freed. Those behind hooks, and empty ones, are left out."""
    states = {}
    for attribute in dir(node):
        if not attribute.startswith("_raw_saved_"):
            continue
        try:
            raw = getattr(node, attribute)
        except RuntimeError:
            continue
        if raw is None or isinstance(raw, tuple) or raw.unpack_hook is not None:
            continue
        state = slot_state(node, "_" + attribute[len("_raw_") :])
        if state and (raw.data is not None or state == "freed"):
            states[attribute[len("_raw_saved_") :]] = state
    return states


def slot_state(node: Any, attribute: str) -> str | None:
    """What torch says when the slot is read; None for an error of another kind."""
    try:
        getattr(node, attribute)
    except RuntimeError as error:
        for words, state in (
            ("modified by an inplace", "stale"),
            ("detached in-place", "detached"),
            ("freed", "freed"),
        ):
            if words in str(error):
                return state
        return None
    return "ok"


def plain_values(namespace: Namespace) -> dict[str, bool | int | str | None]:
    """Module-level names of None, bools, ints below 2**53 and strings shorter than 100."""
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("__")
        if value is None
        or type(value) is bool
        or (type(value) is int and abs(value) < 2**53)
        or (type(value) is str and len(value) < 100)
    }
