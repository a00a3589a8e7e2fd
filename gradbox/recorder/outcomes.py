"""How a program ended, as the last line of its trace says it: an exception, its frames in the program, refusals."""

import re
import traceback
from pathlib import Path

from gradbox.recorder import introspection
from gradbox.recorder.introspection import traceback_of
from gradbox.recorder.recorder import Recorder
from gradbox.recorder.stack import is_program, program_line
from gradbox.wire.program import Refusal
from gradbox.wire.records import ErrorRecord, OutcomeRecord

OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|bad_alloc|Cannot allocate memory|CUDA out of memory|CUDA error: out of memory"
)
"""What torch says where Python would raise a MemoryError."""

LONGEST_MESSAGE = 10_000
"""Characters of an error's message that are recorded."""

_RECORDER_FILE = Recorder.hooks.__code__.co_filename
_HOOK_FILES = (_RECORDER_FILE, str(Path(_RECORDER_FILE).parent / "in_process" / "hooks.py"))
"""Where a call that is one too many is refused."""


def lines_in_program(error: BaseException) -> list[tuple[int, str]]:
    """The program's frames in the traceback of an error, outermost first: the line and the name of each."""
    frames = list(traceback.walk_tb(traceback_of(error)))
    if frames and frames[-1][0].f_code.co_filename in _HOOK_FILES and issubclass(type(error), RecursionError):
        frames = frames[:-2]  # the call that was one too many
    return [
        (program_line(frame.f_code, line), frame.f_code.co_name) for frame, line in frames if is_program(frame.f_code)
    ]


def error_message(error: BaseException) -> str:
    """What the program itself would print; its `__str__` may be the program's own."""
    try:
        return str(error)[:LONGEST_MESSAGE]
    except BaseException:
        return "<exception str() failed>"


def error_record(error: BaseException) -> ErrorRecord:
    """Type, message, line and stack of the program's error, and its cause where there is one."""
    frames = lines_in_program(error)
    record: ErrorRecord = {
        "type": introspection.class_name(type(error)),
        "message": error_message(error),
        "line": frames[-1][0] if frames else None,
        "stack": [{"line": line, "frame": name} for line, name in frames],
    }
    cause = introspection.exception_cause(error)
    if cause is not None:
        lines = lines_in_program(cause)
        record["cause"] = {
            "type": introspection.class_name(type(cause)),
            "message": error_message(cause),
            "line": lines[-1][0] if lines else None,
        }
    return record


def refused_outcome(refusals: list[Refusal]) -> OutcomeRecord:
    """The outcome that names every refusal at once."""
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
