"""What a recorder writes: lines of JSON, and the parts of the header and of the last line."""

import json
import resource
from time import perf_counter, process_time

from pydantic_core import to_json

from gradbox.language import policy
from gradbox.wire.job_records import FaultLine
from gradbox.wire.records import CostRecord, LineRecord, StatementRecord


def statement_records(source: str, rows: list[StatementRecord]) -> list[StatementRecord]:
    """The table of statements with columns in characters; the syntax tree counts bytes."""
    lines = source.split("\n")
    return [
        {**row, "col": policy.character_column(lines[row["line"] - 1], row["col"]),
         "end_col": policy.character_column(lines[row["end_line"] - 1], row["end_col"])}
        for row in rows
    ]  # fmt: skip


def cost_record(wall_start: float, cpu_start: float) -> CostRecord:
    """What a run cost since `time.perf_counter` and `time.process_time` said these."""
    return {
        "wall_ms": round((perf_counter() - wall_start) * 1000, 3),
        "cpu_ms": round((process_time() - cpu_start) * 1000, 3),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def encode_line(value: LineRecord | FaultLine) -> bytes:
    """The value as a line of JSON. Raises ValueError and TypeError for what JSON can't hold."""
    try:
        line = to_json(value, inf_nan_mode="constants")
    except ValueError:  # half of a character
        line = b"NaN"
    if b"NaN" in line or b"Infinity" in line:  # in a text, or as a number, which JSON has not
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        line = text.encode("utf-8", "replace")
    return line + b"\n"
