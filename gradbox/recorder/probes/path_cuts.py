"""Where the way of gradients ends: results of tensors that require grad which no gradient will come back through."""

import re
from typing import Literal

from gradbox.recorder.code_places import CodePlace, code_place_record
from gradbox.recorder.observation import DetachedCopy, Observation, OpCall
from gradbox.recorder.probes.tensors import Tensors
from gradbox.wire import events

_VALUELESS_OPERATIONS = re.compile(r"_like$|_like\.|::new_")
"""Operations that take a tensor's shape and none of its values."""

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
    """The event of a result at which the way of gradients ends.

    op: the place of the operation in the step's log
    place: as the event has it
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
    """Whether two operations of the program are what `Tensor.tolist` begins with: no other call makes them in a row."""
    return (
        call.entry["name"] == "aten::resolve_neg"
        and previous is not None
        and previous.entry["name"] == "aten::resolve_conj"
        and previous.entry["outputs"] == call.entry["inputs"]
        and call.called_directly
    )


def _path_cut_reason(call: OpCall, leaf: bool, dtype: str) -> PathCutReason | None:
    """Why no gradient comes back through a result; None where one does, or none was to be expected."""
    if call.deep_copies and leaf:
        return "copy"
    if not leaf or _VALUELESS_OPERATIONS.search(call.entry["name"]):
        return None
    if not ("float" in dtype or "complex" in dtype):
        return "dtype"
    if call.inference_mode:
        return "inference"
    return None if call.entry["grad_mode"] else "no_grad"


def _detached_cut_event(detached: DetachedCopy, observation: Observation) -> events.PathCut:
    """A detached handle may only have been on the way to a numpy array, or to a copy of its own memory."""
    source, handle, reason, user = detached
    array = observation.array_bases.get(handle)
    if array is not None:
        return path_cut_event(source, "Tensor.numpy", "numpy", array, place=user)
    copied = _copying_operation(handle, observation.op_calls)
    if copied is not None:
        return path_cut_event(source, copied.entry["name"], "copy", copied.results[0][0], copied.log_index, user)
    return path_cut_event(source, f"Tensor.{reason}", reason, handle, place=user)


def _copying_operation(detached_handle: str, calls: list[OpCall]) -> OpCall | None:
    """The operation that copied a detached handle, as `torch.tensor(x)` does: the copy is made a leaf by `detach_`."""
    leaves = {uid for call in calls if call.entry["name"] == "aten::detach_" for uid, _ in call.inputs}
    for call in calls:
        if call.entry["name"].startswith("aten::to.") and call.entry["inputs"] == [detached_handle] and call.results:
            return call if call.results[0][0] in leaves else None
    return None
