"""Where gradients end: results of tensors that require grad through which no gradient will come back."""

import re
from typing import Literal

from gradbox.recorder.code_places import CodePlace, code_place_record
from gradbox.recorder.observation import DetachedCopy, Observation, OpCall
from gradbox.recorder.probes.tensors import Tensors
from gradbox.wire import events

_VALUELESS_OPERATIONS_PATTERN = re.compile(r"_like$|_like\.|::new_")
"""Operations that use a tensor's shape but none of its values."""

_ITEM_OPERATIONS = ("aten::item", "aten::_local_scalar_dense")

PathCutReason = Literal["detach", "data", "no_grad", "inference", "item", "dtype", "numpy", "copy"]


def path_cut_events(observation: Observation, tensors: Tensors) -> list[events.PathCut]:
    """The events `path_cut` of the statement."""
    cuts: list[events.PathCut] = []
    previous: OpCall | None = None
    for call in observation.op_calls:
        source = next((uid for uid, requires in call.inputs if requires), None)
        if source is None or not call.cuts_paths:
            continue
        name = call.entry["name"]
        if name in _ITEM_OPERATIONS:
            cuts.append(path_cut_event(source, name, "item", op=call.log_index, place=call.place))
        if is_conversion_to_list(call, previous):
            cuts.append(path_cut_event(source, "Tensor.tolist", "item", op=call.log_index, place=call.place))
        previous = call
        for uid, leaf, dtype in call.results:
            reason = _path_cut_reason(call, leaf, dtype)
            if reason is not None and (call.called_directly or tensors.uids.get_object(uid) is not None):
                cuts.append(path_cut_event(source, name, reason, uid, call.log_index, call.place))
    return cuts + [_detached_cut_event(detached, observation) for detached in observation.detached_copies]


def path_cut_event(
    tensor: str,
    name: str,
    reason: PathCutReason,
    result: str | None = None,
    op: int | None = None,
    place: CodePlace | None = None,
) -> events.PathCut:
    """The event for a result at which gradients end.

    op: the index of the operation in the step's log
    place: the event's `place`
    """
    event: events.PathCut = {"kind": "event", "event": "path_cut", "tensor": tensor, "name": name}  # type: ignore[typeddict-item]
    if op is not None:
        event["op"] = op
    if result is not None:
        event["result"] = result
    event["reason"] = reason
    if place is not None:
        event["place"] = code_place_record(place)
    return event


def is_conversion_to_list(call: OpCall, previous: OpCall | None) -> bool:
    """Whether two operations of the program are the beginning of `Tensor.tolist`. No other call makes these two in a
    row."""
    return (
        call.entry["name"] == "aten::resolve_neg"
        and previous is not None
        and previous.entry["name"] == "aten::resolve_conj"
        and previous.entry["outputs"] == call.entry["inputs"]
        and call.called_directly
    )


def _path_cut_reason(call: OpCall, leaf: bool, dtype: str) -> PathCutReason | None:
    """Why no gradient comes back through a result; None if one does, or none was expected."""
    if call.deep_copies and leaf:
        return "copy"
    if not leaf or _VALUELESS_OPERATIONS_PATTERN.search(call.entry["name"]):
        return None
    if not ("float" in dtype or "complex" in dtype):
        return "dtype"
    if call.inference_mode:
        return "inference"
    return None if call.entry["grad_mode"] else "no_grad"


def _detached_cut_event(detached: DetachedCopy, observation: Observation) -> events.PathCut:
    """The event for a detached handle, unless it was only a step towards a numpy array or a copy of its own memory."""
    source, handle, reason, user = detached
    array = observation.array_bases.get(handle)
    if array is not None:
        return path_cut_event(source, "Tensor.numpy", "numpy", array, place=user)
    copied = _copying_operation(handle, observation.op_calls)
    if copied is not None:
        return path_cut_event(source, copied.entry["name"], "copy", copied.results[0][0], copied.log_index, user)
    return path_cut_event(source, f"Tensor.{reason}", reason, handle, place=user)


def _copying_operation(detached_handle: str, calls: list[OpCall]) -> OpCall | None:
    """The operation that copied a detached handle, as `torch.tensor(x)` does, which makes the copy a leaf by
    `detach_`."""
    leaves = {uid for call in calls if call.entry["name"] == "aten::detach_" for uid, _ in call.inputs}
    for call in calls:
        if call.entry["name"].startswith("aten::to.") and call.entry["inputs"] == [detached_handle] and call.results:
            return call if call.results[0][0] in leaves else None
    return None
