"""Runs programs in a forked child of the recorder, and replays traces as the wire contract says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradbox.wire.trace import Trace
from tests.forks.fork_host import RECORDER

ROOT = Path(__file__).parents[2]
HOST = RECORDER

CPU_SECONDS = 120
"""After which a child that a test forgot to limit is killed."""


Before = Callable[..., Any] | str | None
"""A function of a module, or `module:function`."""


def qualified(function: Before) -> str | None:
    """`module:function`, by which another process finds it."""
    return f"{function.__module__}:{function.__qualname__}" if callable(function) else function


def record(source: str, before: Before = None, **job: Any) -> list[dict[str, Any]]:
    """The lines that a fork of the recorder's host writes for a program.

    before: a function of a module, which is called in the fork first
    """
    data = HOST.ask(job={"source": source, **job}, before=qualified(before), missed=False)
    return [json.loads(line) for line in data.splitlines()]


def trace(source: str, before: Before = None, **job: Any) -> dict[str, Any]:
    """The trace as JSON values; it is valid by the wire's models, or this raises. Arguments: those of `record`."""
    head, *rest = record(source, before, **job)
    assert "header" in head, head
    result = {**head["header"], "steps": [line["step"] for line in rest if "step" in line], **rest[-1]}
    Trace.model_validate({key: value for key, value in result.items() if key != "again"})
    return result


class Replay:
    """The state after a step: entities by uid, also by the names of the module's frame."""

    def __init__(self, trace: dict[str, Any], upto: int | None = None) -> None:
        self.trace = trace
        self.state: dict[str, dict[str, Any]] = {}
        for step in trace["steps"] if upto is None else trace["steps"][: upto + 1]:
            self.apply(step)

    def apply(self, step: dict[str, Any]) -> None:
        """Apply the next step."""
        for uid, fields in step["set"].items():
            self._merge(self.state.setdefault(uid, {}), dict(fields))
        for uid in step["gone"]:
            self.state.pop(uid)

    def _merge(self, have: dict[str, Any], fields: dict[str, Any]) -> None:
        names, unset = fields.pop("vars", {}), fields.pop("unset", [])
        if ("kind" in have and have["kind"] == "frame") or fields.get("kind") == "frame":
            have["vars"] = {k: v for k, v in {**have.get("vars", {}), **names}.items() if k not in unset}
        for dtype, patch in fields.pop("cells_at", {}).items():
            cells = list(have["cells"][dtype])
            for at, value in patch.items():
                cells[int(at)] = value
            have["cells"] = {**have["cells"], dtype: cells}
        for at, remove, insert in fields.pop("splice", []):
            which = "blocks" if have["kind"] == "device" else "items"
            have[which] = have[which][:at] + insert + have[which][at + remove :]
        have.update(fields)

    def uid(self, name: str) -> str:
        """The uid that a module-level name refers to."""
        module = next(e for e in self.state.values() if e["kind"] == "frame" and e.get("caller") is None)
        return str(module["vars"][name]["ref"])

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.state[name if name in self.state else self.uid(name)]

    def cells(self, name: str) -> Any:
        handle = self[name]
        return self.state[handle["storage"]]["cells"][handle["dtype"]]

    def version(self, name: str) -> int:
        return int(self.state[self[name]["counter"]]["value"])

    def node(self, name: str) -> dict[str, Any]:
        return self.state[self[name]["grad_fn"]]


def events(trace: dict[str, Any], kind: str | None = None) -> list[dict[str, Any]]:
    """Every event, or those of one kind, each with the line of its step."""
    return [
        {**entry, "line": step["line"]}
        for step in trace["steps"]
        for entry in step["log"]
        if entry["kind"] == "event" and (kind is None or entry["event"] == kind)
    ]


def printed(trace: dict[str, Any], stream: str | None = None) -> str:
    """The printed text, of both streams or of one."""
    out = [entry for step in trace["steps"] for entry in step["log"] if entry["kind"] == "out"]
    return "".join(entry["text"] for entry in out if stream in (None, entry["stream"]))


def at(trace: dict[str, Any], line: int) -> int:
    """The last step at a line of the module."""
    return max(int(step["i"]) for step in trace["steps"] if step["line"] == line and step["depth"] == 0)
