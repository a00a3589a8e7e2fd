"""A trace for reading in a terminal: every step's statement, and under it what changed."""

from collections.abc import Iterator
from typing import Any

from server.wire.events import EVENTS
from server.wire.trace import Step, Trace

MAX_CELLS = 8
"""Elements of a storage that are shown."""


def pretty(trace: Trace, name: str) -> str:
    """The whole trace as lines of text."""
    return "\n".join([f"# {name}", *_lines(trace), ""])


def _lines(trace: Trace) -> Iterator[str]:
    source = trace.program.source.split("\n")
    for notice in trace.program.notices:
        yield f"  notice, line {notice.line}: {notice.kind} {' '.join(map(str, notice.args.values()))}".rstrip()
    for step in trace.steps:
        text = source[step.line - 1].strip() if 0 < step.line <= len(source) else ""
        turn = f" [{', '.join(map(str, step.iter))}]" if step.iter else ""
        kind = "" if step.kind == "statement" else f"{step.kind} "
        yield f"{step.i:4}  {step.line:4}  {'  ' * step.depth}{kind}{text}{turn}"
        for line in _change_lines(step):
            yield f"              {line}"
    outcome = trace.outcome
    if outcome.error is not None:
        where = f", line {outcome.error.line}" if outcome.error.line else ""
        yield f"{outcome.status}{where}: {outcome.error.type}: {outcome.error.message}"
        for refusal in outcome.error.refusals[1:]:
            yield f"  line {refusal.line}: {refusal.message}"
    elif outcome.stopped is not None:
        where = f" at line {outcome.stopped.line}" if outcome.stopped.line else ""
        yield f"stopped{where}: the limit of {outcome.stopped.value:g} ({outcome.stopped.limit}) was reached"
    else:
        yield outcome.status


def _change_lines(step: Step) -> Iterator[str]:
    if step.value is not None:
        yield f"= {value_text(step.value if isinstance(step.value, str | int | float) else json_value(step.value))}"
    for uid, fields in step.set.items():
        yield from _entity_lines(uid, fields)
    if step.visit is not None:
        grads = ", ".join(
            "none" if grad is None else cells_text(json_value(grad).get("cells")) for grad in step.visit["grad_inputs"]
        )
        yield f"{step.visit['node']} ran; gradients onwards: {grads or 'into .grad'}"
    for entry in step.log:
        item = json_value(entry)
        if item["kind"] == "out":
            yield from (f"| {line}" for line in item["text"].rstrip("\n").split("\n"))
        elif item["kind"] == "event" and not EVENTS[item["event"]].implied:
            rest = " ".join(f"{key}={value_text(item[key])}" for key in item if key not in ("kind", "event", "op"))
            yield f"! {item['event']} {rest}"
    if step.gone:
        yield f"gone: {' '.join(step.gone)}"


def _entity_lines(uid: str, fields: dict[str, Any]) -> Iterator[str]:
    letter = uid[0]
    if letter == "f":
        for name, bound in (fields.get("vars") or {}).items():
            yield f"{name} -> {value_text(bound)}"
        for name in fields.get("unset") or ():
            yield f"{name} unbound"
    elif letter == "t" and "shape" in fields:
        words = [f"{fields.get('dtype')}{fields.get('shape')}"]
        words += [f"on {fields['storage']}"] if fields.get("storage") else []
        words += [f"stride {fields['stride']} offset {fields['offset']}"] if fields.get("stride") else []
        words += [f"counter {fields['counter']}"] if fields.get("counter") else []
        words += ["requires grad"] if fields.get("requires_grad") else []
        words += [f"from {fields['grad_fn']}"] if fields.get("grad_fn") else []
        yield f"{uid}: {', '.join(words)}"
    elif letter == "s":
        for dtype, cells in (fields.get("cells") or {}).items():
            yield f"{uid}: {dtype} {cells_text(cells)}"
        for dtype, patch in (fields.get("cells_at") or {}).items():
            yield f"{uid}: {dtype} {cells_text([f'[{at}]={value_text(cell)}' for at, cell in patch.items()])}"
    elif letter == "n" and "name" in fields:
        onwards = ", ".join("none" if edge is None else f"{edge[0]}" for edge in fields.get("next") or ())
        yield f"{uid}: {fields['name']}" + (f" -> {onwards}" if onwards else "")
    elif letter == "c" and "value" in fields:
        yield f"{uid}: version {fields['value']}"


def json_value(item: Any) -> Any:
    return item.model_dump(mode="json", by_alias=True, exclude_unset=True) if hasattr(item, "model_dump") else item


def cells_text(cells: Any) -> str:
    if cells is None:
        return "…"
    more = f" … {len(cells)} in all" if len(cells) > MAX_CELLS else ""
    return " ".join(value_text(cell) for cell in cells[:MAX_CELLS]) + more


def value_text(item: Any) -> str:
    """A wire value in a few characters."""
    if isinstance(item, dict):
        return str(item.get("ref") or item.get("text") or item.get("py") or next(iter(item.values()), ""))
    return f"{item:g}" if isinstance(item, float) else str(item)
