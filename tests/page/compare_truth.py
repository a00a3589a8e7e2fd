"""What two programs leave different, asked of torch itself: both are executed statement by statement, without a
tracer."""

import ast
import contextlib
import io
from dataclasses import dataclass, field
from typing import Any

import torch

SHARED = ("memory", "counter")
"""Properties that two names have together; a difference is of a pair of names."""


@dataclass
class Snapshot:
    """After a statement.

    facts: by name and property
    pairs: by property, the pairs of names that share it
    """

    facts: dict[tuple[str, str], Any]
    pairs: dict[str, set[frozenset[str]]]


@dataclass
class Differences:
    """What is different between two programs that are the same but for one statement.

    facts: name, property, first line, last line (None to the end)
    pairs: property, two names, first and last line
    """

    facts: set[tuple[str, str, int, int | None]] = field(default_factory=set)
    pairs: set[tuple[str, frozenset[str], int, int | None]] = field(default_factory=set)


def differences(left: str, right: str) -> Differences:
    """The programs have the same number of statements, and no loops, calls of own functions, or blocks."""
    snapshots = [snapshots_of(left), snapshots_of(right)]
    lines = [statement.lineno for statement in ast.parse(left).body]
    both = min(len(snapshots[0]), len(snapshots[1]))
    rows = [(lines[k], snapshots[0][k], snapshots[1][k]) for k in range(both)]
    longest = max(len(snapshots[0]), len(snapshots[1]))
    if longest > both:  # one side stopped: the end of the other is compared with where it did
        rows.append((lines[longest - 1], snapshots[0][-1], snapshots[1][-1]))
    out = Differences()
    out.facts = {(*key, *span) for key, span in spans([(line, unlike(a, b)) for line, a, b in rows])}
    out.pairs = {(*key, *span) for key, span in spans([(line, unlike_pairs(a, b)) for line, a, b in rows])}
    return out


def spans(rows: list[tuple[int, set[Any]]]) -> list[tuple[Any, tuple[int, int | None]]]:
    """Each key with the first and the last line of each stretch of rows that have it."""
    out = []
    current: dict[Any, tuple[int, int]] = {}
    for line, keys in rows:
        for key in [key for key in current if key not in keys]:
            out.append((key, current.pop(key)))
        for key in keys:
            current[key] = (current[key][0] if key in current else line, line)
    return [*out, *((key, (first, None)) for key, (first, _) in current.items())]


def unlike(left: Snapshot, right: Snapshot) -> set[tuple[str, str]]:
    names = [{name for name, _ in snapshot.facts} for snapshot in (left, right)]
    alone = {(name, "exists") for name in names[0] ^ names[1]}
    other_type = {
        name for name in names[0] & names[1] if left.facts.get((name, "type")) != right.facts.get((name, "type"))
    }
    keys = {key for key in left.facts.keys() | right.facts.keys() if key[0] in names[0] & names[1]}
    out = set()
    for name, name_property in keys:
        was, is_ = left.facts.get((name, name_property)), right.facts.get((name, name_property))
        if was == is_ or (name in other_type and name_property != "type" and None in (was, is_)):
            continue
        out.add((name, name_property))
    return alone | out


def unlike_pairs(left: Snapshot, right: Snapshot) -> set[tuple[str, frozenset[str]]]:
    return {(what, pair) for what in SHARED for pair in left.pairs[what] ^ right.pairs[what]}


def snapshots_of(source: str) -> list[Snapshot]:
    """After each statement, to the one that raises."""
    torch.manual_seed(0)
    variables: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    own = set(variables)
    out = []
    for statement in ast.parse(source).body:
        code = compile(ast.Module([statement], []), "program", "exec")
        raised = False
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, variables)  # the test's own programs
        except Exception:
            raised = True
        values = {name: value for name, value in variables.items() if name not in own and name != "__builtins__"}
        out.append(snapshot(values))
        if raised:
            break
    return out


def snapshot(variables: dict[str, Any]) -> Snapshot:
    facts: dict[tuple[str, str], Any] = {}
    tensors = {name: value for name, value in variables.items() if isinstance(value, torch.Tensor)}
    for name, value in variables.items():
        if name in tensors:
            facts |= {(name, key): fact for key, fact in tensor_facts(value, tensors).items()}
        elif isinstance(value, bool | int | float | str | None):
            facts[name, "values"] = repr(value)
    return Snapshot(facts, {"memory": pairs_of_memory(tensors), "counter": pairs_of_counters(tensors)})


def tensor_facts(value: torch.Tensor, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    base = value._base
    names = [name for name, other in tensors.items() if other is base]
    return {
        "type": type(value).__name__,
        "shape": tuple(value.shape),
        "dtype": value.dtype,
        "device": str(value.device),
        "stride": value.stride(),
        "values": str(value.tolist()),
        "version": value._version,
        "requires_grad": value.requires_grad,
        "leaf": value.is_leaf,
        "node": value.grad_fn.name() if value.grad_fn else None,
        "grad": str(value.grad.tolist()) if value.is_leaf and value.grad is not None else None,
        "base": None if base is None else names[0] if names else "…",
    }


def pairs_of_memory(tensors: dict[str, torch.Tensor]) -> set[frozenset[str]]:
    return pairs(tensors, lambda a, b: a.untyped_storage()._cdata == b.untyped_storage()._cdata)


def pairs_of_counters(tensors: dict[str, torch.Tensor]) -> set[frozenset[str]]:
    def same(a: torch.Tensor, b: torch.Tensor) -> bool:
        before = a._version
        torch.autograd.graph.increment_version(a)
        try:
            return a is b or (b._version == before + 1 and shares_after_another(a, b))
        finally:
            torch._C._autograd._unsafe_set_version_counter((a,), (before,))

    return pairs(tensors, same)


def shares_after_another(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether the counter of b goes on with that of a: equal numbers alone may be a chance."""
    before = b._version
    torch.autograd.graph.increment_version(a)
    return b._version == before + 1


def pairs(tensors: dict[str, torch.Tensor], same: Any) -> set[frozenset[str]]:
    names = list(tensors)
    return {frozenset((a, b)) for k, a in enumerate(names) for b in names[k + 1 :] if same(tensors[a], tensors[b])}
