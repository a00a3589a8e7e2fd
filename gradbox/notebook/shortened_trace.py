"""Shortens a trace to as many of its first steps as fit into a notebook's output."""

import json
import zlib
from typing import Any

MAX_PACKED_BYTES = 190_000
"""Bytes of a packed trace in a notebook's output. With its surroundings that is 200 kB beside the viewer."""


def shorten_trace(trace: bytes, max_packed_bytes: int = MAX_PACKED_BYTES) -> tuple[bytes, int]:
    """A trace's JSON with as many of its first steps as fit, and their number; the outcome says that it was cut.

    At least one step is kept. The record of the training's rounds is dropped if it takes half of the room, or the room
    of that one step.

    max_packed_bytes: bytes of the result, compressed and in base64
    """
    value: dict[str, Any] = json.loads(trace)
    steps = value["steps"]
    compressor = zlib.compressobj(9)

    def pack_and_measure(part: Any) -> int:
        text = json.dumps(part, separators=(",", ":")).encode()
        return -(-(len(compressor.compress(text)) + len(compressor.flush(zlib.Z_SYNC_FLUSH))) * 4 // 3)

    without_rounds = False
    if len(zlib.compress(json.dumps(value.get("rounds")).encode())) * 4 // 3 > max_packed_bytes // 2:
        without_rounds = value.pop("rounds", None) is not None
    # with the ending that it gets where it is shortened
    size = pack_and_measure({**value, "steps": []}) + pack_and_measure(
        _outcome_of_shortened_trace(max_packed_bytes, steps[-1]["line"])
    )
    count = 0
    while count < len(steps) and (count == 0 or size <= max_packed_bytes):
        size += pack_and_measure(steps[count])
        count += 1
    if size > max_packed_bytes and count > 1:
        count -= 1
    elif size > max_packed_bytes:
        value.pop("rounds", None)
    if count == len(steps) and not without_rounds:
        return trace, count
    value["steps"] = steps[:count]
    if "rounds" in value:
        value["rounds"]["recorded"] = [told for told in value["rounds"]["recorded"] if told["end"] < count]
    if count < len(steps):
        value["outcome"] = _outcome_of_shortened_trace(max_packed_bytes, steps[count - 1]["line"])
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(), count


def _outcome_of_shortened_trace(max_packed_bytes: int, line: int) -> dict[str, Any]:
    return {"status": "stopped", "stopped": {"limit": "trace", "value": max_packed_bytes, "line": line}}
