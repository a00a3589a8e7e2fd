"""Forms in which the two sides are compared: masked text, groups of names, graphs numbered by first visit."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

MASKS = [
    (re.compile(r"0x[0-9a-fA-F]+"), "0x"),
    (re.compile(r"\b\d{11,}\b"), "<id>"),
    (re.compile(r"^(?:\S+/tests/forks/\w+_host\.py|<frozen runpy>)\(\d+\): .*\n", re.MULTILINE), ""),
]
"""Addresses and ids, which differ from process to process, and the frames of CPython's host in errors of
TorchScript."""

MAX_NODES = 400
"""Nodes of a graph that are compared."""

Node = TypeVar("Node")


def masked(text: str) -> str:
    """The text without addresses and ids, and without blanks at the ends of its lines."""
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def short_name(name: str | None) -> str | None:
    """A node's name without its namespace: `AccumulateGrad` for `torch::autograd::AccumulateGrad`."""
    return name.split("::")[-1] if name else name


def grouped(pairs: Iterable[tuple[str, Any]]) -> list[list[str]]:
    """The names that have one key together, from (name, key) pairs; sorted."""
    groups: dict[Any, list[str]] = {}
    for name, key in pairs:
        groups.setdefault(key, []).append(name)
    return sorted(sorted(names) for names in groups.values())


def numbered_graph(
    root: Node,
    key: Callable[[Node], Any],
    edges: Callable[[Node], Sequence[tuple[Node, int] | None]],
    describe: Callable[[Node], tuple[Any, ...]],
) -> list[tuple[Any, ...]]:
    """A graph with its nodes numbered by first visit: two graphs are equal if and only if their lists are.

    Each row holds the node's edges as [number, input] or None, and what `describe` says of it.
    """
    numbers, queue, rows = {key(root): 0}, [root], []
    for node in queue:
        row: list[list[int] | None] = []
        for edge in edges(node):
            if edge is None:
                row.append(None)
                continue
            target, index = edge
            if key(target) not in numbers:
                numbers[key(target)] = len(numbers)
                queue.append(target)
            row.append([numbers[key(target)], index])
        rows.append((row, *describe(node)))
        if len(rows) >= MAX_NODES:
            break
    return rows
