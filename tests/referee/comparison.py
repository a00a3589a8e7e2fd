"""Holds a trace against the truth: what was printed, the ending, every tensor, sharing, graphs and plain values."""

import math
from collections.abc import Iterator
from typing import Any

import torch

from gradbox.recorder.trace_lines import MAX_MESSAGE_CHARACTERS
from tests.referee.canonical import grouped, masked, numbered_graph, short_name
from tests.referee.drawn_state import (
    Entity,
    State,
    Trace,
    elements,
    module_frame,
    printed,
    reached,
    reached_modes,
    replayed,
)
from tests.referee.plain_run import Truth

TOLERANCES = {"float64": 1e-14, "complex128": 1e-14, "float32": 1e-6, "complex64": 1e-6}
"""Relative, by dtype: the digits that it has."""
COARSE = 1e-2
"""Of the narrower floating dtypes."""

Paths = dict[str, str]


def disagreements(truth: Truth, trace: Trace, ending: bool = True) -> list[str]:
    """A sentence for each; one that begins with `refused` or `not run` stands alone.

    ending: whether the way it ended is compared; not of a trace that was cut
    """
    outcome = trace.get("outcome", {})
    error = outcome.get("error") or trace.get("error")
    if ending and outcome.get("status") not in ("finished", "raised"):
        return [not_run(outcome, error)]
    state = replayed(trace)
    paths = {path: uid for path, uid in reached(state).items() if path in truth["tensors"]}
    sentences = [*output(truth, trace)]
    if ending:
        sentences += end(truth, trace, error)
    sentences += tensors(truth, state, paths)
    if len(paths) == len(truth["tensors"]):
        sentences += [*sharing(truth, state, paths), *graphs(truth, state, paths)]
    return [*sentences, *plain_values(truth, module_frame(state)), *modes(truth, state)]


def not_run(outcome: dict[str, Any], error: dict[str, Any] | None) -> str:
    reason = ((error or {}).get("refusals") or [error or outcome])[0]
    what = "refused" if outcome.get("status") == "refused" else f"not run: {outcome.get('status')}"
    return f"{what}: {str(reason.get('message', reason) if reason else '')[:120]}"


def output(truth: Truth, trace: Trace) -> Iterator[str]:
    have, want = masked(printed(trace)), masked(truth["printed"])
    if have != want:
        yield f"printed {have[-100:]!r} instead of {want[-100:]!r}"


def end(truth: Truth, trace: Trace, error: dict[str, Any] | None) -> Iterator[str]:
    """The error's type, its message and the text of its line: in a pasted text the line has another number."""
    lines = trace.get("program", {}).get("source", "").splitlines()
    line = error["line"] if error and error.get("line") else None
    text = lines[line - 1].strip() if line is not None and line <= len(lines) else None
    have = [error["type"], masked(error["message"]), text] if error else None
    want = truth["error"] and [truth["error"][0], masked(truth["error"][1][:MAX_MESSAGE_CHARACTERS]), truth["error"][3]]
    if have != want:
        yield f"ended with {have} instead of {want}"


def tensors(truth: Truth, state: State, paths: Paths) -> Iterator[str]:
    for path, want in truth["tensors"].items():
        tensor = state.get(paths.get(path, ""))
        if tensor is None:
            yield f"{path}: no tensor in the picture"
            continue
        have = fields(tensor, state)
        wrong = [
            name
            for name in have
            if name in want and have[name] != want[name] and not (name == "version" and want[name] is None)
        ]
        yield from (f"{path}.{name} is {have[name]!r} instead of {want[name]!r}" for name in wrong)
        if not wrong and beyond_storage(tensor, state):
            continue  # torch itself reads other memory there
        if "values" in want and not same_elements(want["values"], elements(tensor, state), want["dtype"]):
            yield f"{path} holds {elements(tensor, state)!s:.60} instead of {want['values']!s:.60}"
        grad = state.get(tensor.get("grad") or "")
        if want["has_grad"] != (grad is not None):
            yield f"{path}.grad is {'shown' if grad else 'missing'}"
        elif grad and not same_elements(want["grad"], elements(grad, state), grad.get("dtype", "")):
            yield f"{path}.grad holds {elements(grad, state)!s:.60} instead of {want['grad']!s:.60}"


def beyond_storage(tensor: Entity, state: State) -> bool:
    """Whether a strided tensor reaches further than its storage, as after a `resize_` that failed half-way."""
    shape, stride = tensor.get("shape"), tensor.get("stride")
    storage = state.get(tensor.get("storage") or "")
    if storage is None or not shape or not stride or 0 in shape:
        return False
    last = tensor.get("offset", 0) + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    size = getattr(torch, tensor["dtype"]).itemsize
    return bool((last + 1) * size > storage.get("nbytes", math.inf))


def fields(tensor: Entity, state: State) -> dict[str, Any]:
    """What is compared of a tensor one by one, named as in the truth."""
    names = ("dtype", "shape", "requires_grad", "leaf", "stride", "offset")
    return {name: tensor.get(name) for name in names} | {
        "version": state.get(tensor.get("counter") or "", {}).get("value"),
        "grad_fn": short_name(state.get(tensor.get("grad_fn") or "", {}).get("name")),
    }


def same_elements(want: list[Any] | None, have: list[Any] | None, dtype: str) -> bool:
    """Equal one by one, floating ones to the digits of their dtype; true where torch itself can't list them."""
    if want is None:
        return True
    if have is None or len(want) != len(have):
        return False
    tolerance = TOLERANCES.get(dtype, COARSE if "float" in dtype or "complex" in dtype else 0)
    return all(same_number(w, h, tolerance) for w, h in zip(want, have, strict=True))


def same_number(want: Any, have: Any, tolerance: float) -> bool:
    if want == have:
        return True
    if isinstance(want, float) and math.isnan(want) and math.isnan(have):
        return True
    return bool(tolerance) and math.isclose(want, have, rel_tol=tolerance, abs_tol=1e-38)


def sharing(truth: Truth, state: State, paths: Paths) -> Iterator[str]:
    """Which paths are one tensor, one storage, one version counter; storages in both directions."""
    same = grouped(paths.items())
    if same != truth["same"]:
        yield f"one tensor: {same} instead of {truth['same']}"
    stored = grouped((path, state[uid]["storage"]) for path, uid in paths.items() if state[uid].get("storage"))
    true = {frozenset((a, b)) for group in truth["shared"] for a in group for b in group}
    true |= {frozenset(pair) for pair in truth["overlap"]}
    for group in truth["shared"]:
        if not any(set(group) <= set(drawn) for drawn in stored):
            yield f"{group} share a storage; the picture separates them"
    for group in stored:
        for index, a in enumerate(group):
            for b in group[index + 1 :]:
                if frozenset((a, b)) not in true:
                    yield f"{a} and {b} are drawn in one storage; torch keeps two"
    counted = {path: uid for path, uid in paths.items() if state[uid].get("counter") and path.isidentifier()}
    counters = grouped((path, state[uid]["counter"]) for path, uid in counted.items())
    if counters != truth["counters"]:
        yield f"counters shared by {counters} instead of {truth['counters']}"


def graphs(truth: Truth, state: State, paths: Paths) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for path, uid in paths.items():
        if path.isidentifier():
            names.setdefault(uid, []).append(path)

    def edges(uid: Any) -> list[tuple[str, int] | None]:
        return [edge and (edge[0], edge[1]) for edge in state.get(uid, {}).get("next") or []]

    def describe(uid: Any) -> tuple[Any, ...]:
        node = state.get(uid, {})
        variable = sorted(names.get(node.get("variable") or "", []))
        return short_name(node.get("name")), variable, node.get("saved") or {}

    for path, want in truth["graphs"].items():
        have = numbered_graph(state[paths[path]].get("grad_fn"), str, edges, describe)
        if len(want) != len(have):
            yield f"{path}: a graph of {len(have)} nodes instead of {len(want)}"
        for want_row, have_row in zip(want, have, strict=False):
            if tuple(want_row[:3]) != tuple(have_row[:3]):
                yield f"{path}: node {have_row[:3]} instead of {want_row[:3]}"
                break
            yield from (f"{path}: saved {want_row[1]}.{text}" for text in slots(want_row[3], have_row[3]))


def slots(want: dict[str, str], have: dict[str, Any]) -> Iterator[str]:
    """Torch can't know of silent changes, of what hooks packed, nor of what was unknown: those do for `ok`."""
    for slot, true_state in want.items():
        state = have.get(slot, {}).get("state")
        if state != true_state and not (true_state == "ok" and state in ("changed", "packed", "unknown")):
            yield f"{slot} is {state} instead of {true_state}"


def plain_values(truth: Truth, module: Entity) -> Iterator[str]:
    for name, want in truth["plain"].items():
        have = module.get("vars", {}).get(name, "absent")
        if have != want or type(have) is not type(want):
            yield f"{name} = {have!r} instead of {want!r}"


def modes(truth: Truth, state: State) -> Iterator[str]:
    have = reached_modes(state)
    for path, want in truth["modes"].items():
        if path in have and have[path] is not want:
            yield f"{path}.training = {have[path]!r} instead of {want!r}"
