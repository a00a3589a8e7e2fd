"""The lines of JSON that a recorder writes: the parts of the header, and the last line, which says how the program
ended."""

import json
import platform
import re
import resource
from pathlib import Path
from time import perf_counter, process_time

import torch
from pydantic_core import to_json

from gradbox.recorder import introspection
from gradbox.recorder.code_places import code_place_record, is_raised_in_torch, place_where_raised
from gradbox.recorder.stack import is_program_code, to_program_line, traceback_entries_of_begun_calls
from gradbox.wire.events import Raised
from gradbox.wire.job_records import FaultLine
from gradbox.wire.program import Refusal
from gradbox.wire.records import CostRecord, ErrorRecord, LineRecord, OutcomeRecord


def cost_record(wall_start: float, cpu_start: float) -> CostRecord:
    """What a run has cost since `time.perf_counter` and `time.process_time` returned these values."""
    return {
        "wall_ms": round((perf_counter() - wall_start) * 1000, 3),
        "cpu_ms": round((process_time() - cpu_start) * 1000, 3),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def encode_json_line(value: LineRecord | FaultLine) -> bytes:
    """Encode the value as a line of JSON. Raises ValueError and TypeError for what JSON can't represent."""
    try:
        line = to_json(value, inf_nan_mode="constants")
    except ValueError:  # half of a character
        line = b"NaN"
    if b"NaN" in line or b"Infinity" in line:  # in a text, or as a number, which JSON has not
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        line = text.encode("utf-8", "replace")
    return line + b"\n"


_CPU_MODEL_PATTERN = re.compile(r"^(?:model name|cpu model)\s*:\s*(.+)$", re.MULTILINE)


def processor_name() -> str:
    """The processor's name, or its architecture if the system does not tell the name."""
    try:
        match = _CPU_MODEL_PATTERN.search(Path("/proc/cpuinfo").read_text("utf-8", "replace"))
    except OSError:
        match = None
    return " ".join(match[1].split()) if match else platform.machine()


PROCESSOR = processor_name()
"""Read when the first process imports this module; a confined child could not read it."""


def device_name(device: str) -> str | None:
    """The name of the device that a run uses, `cpu` or `cuda`; None for a GPU that this process has not initialized."""
    if device == "cpu":
        return PROCESSOR
    return torch.cuda.get_device_name(0) if torch.cuda.is_initialized() else None  # type: ignore[no-untyped-call]


OUT_OF_MEMORY_MESSAGE_PATTERN = re.compile(
    r"can't allocate memory|bad_alloc|Cannot allocate memory|CUDA out of memory|CUDA error: out of memory"
)
"""What torch's error says where Python would raise a MemoryError."""

MAX_MESSAGE_CHARACTERS = 10_000
"""Characters of an error's message that are recorded."""

MAX_CAUGHT_MESSAGE_CHARACTERS = 1000
"""The same for an error that the program caught."""


def program_lines_in_traceback(error: BaseException) -> list[tuple[int, str]]:
    """The line and the name of each of the program's frames in an error's traceback, outermost first."""
    return [
        (to_program_line(entry.tb_frame.f_code, entry.tb_lineno), entry.tb_frame.f_code.co_name)
        for entry in traceback_entries_of_begun_calls(error)
        if is_program_code(entry.tb_frame.f_code)
    ]


def error_message(error: BaseException) -> str:
    """The message that the program itself would print. `__str__` may be the program's own."""
    try:
        return str(error)[:MAX_MESSAGE_CHARACTERS]
    except BaseException:
        return "<exception str() failed>"


def error_record(error: BaseException) -> ErrorRecord:
    """Type, message, line and stack of the program's error, and its cause if it has one."""
    frames = program_lines_in_traceback(error)
    record: ErrorRecord = {
        "type": introspection.class_name(type(error)),
        "message": error_message(error),
        "line": frames[-1][0] if frames else None,
        "stack": [{"line": line, "frame": name} for line, name in frames],
    }
    place = place_where_raised(error)
    if place is not None:
        record["place"] = code_place_record(place)
    cause = introspection.exception_cause(error)
    if cause is not None:
        lines = program_lines_in_traceback(cause)
        record["cause"] = {
            "type": introspection.class_name(type(cause)),
            "message": error_message(cause),
            "line": lines[-1][0] if lines else None,
        }
    return record


def raised_event(error: BaseException) -> Raised:
    """The event for an exception that reached a handler. The message of a class of the program is not read, because
    that would run its code."""
    is_own = introspection.is_program_class(type(error))
    event: Raised = {
        "kind": "event",
        "event": "raised",
        "exception": introspection.class_name(type(error)),
        "message": "" if is_own else error_message(error)[:MAX_CAUGHT_MESSAGE_CHARACTERS],
        "in_torch": is_raised_in_torch(error),
    }
    place = place_where_raised(error)
    if place is not None:
        event["place"] = code_place_record(place)
    return event


def refused_outcome(refusals: list[Refusal]) -> OutcomeRecord:
    """The outcome that lists all refusals."""
    first = refusals[0]
    kind = "SyntaxError" if first.key == "syntax" else "Refused"
    return {
        "status": "refused",
        "error": {
            "type": kind,
            "message": first.message,
            "line": first.line,
            "refusals": [refusal.model_dump(mode="json", exclude_unset=True) for refusal in refusals],
        },
    }
