"""Runs small programs of the server's own one after the other, without a recorder, and tells what each printed."""

import json
import os
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import torch

from gradbox.recorder.stack import PROGRAM
from gradbox.wire.job_records import AnswerJobRecord, AnswerRecord
from server.worker.run import seed_generators

MAX_MESSAGE = 300
"""Characters of an error's message."""


def answer_all(job: AnswerJobRecord, write: Callable[[bytes], None]) -> NoReturn:
    """Write one line for each program, then the line that ends a trace, and end this process."""
    seed_generators(0, "cpu")
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for source in job["programs"]:
        write(json.dumps(answer(source)).encode() + b"\n")
    write(b'{"outcome": "answered"}\n')
    os._exit(0)


def answer(source: str) -> AnswerRecord:
    """What the program prints, in a space of its own, and its error where it raises one."""
    printed: list[str] = []

    def collect(*values: Any) -> None:
        printed.append(" ".join(map(str, values)))

    try:
        exec(compile(source, PROGRAM, "exec", dont_inherit=True), {"__name__": "__main__", "print": collect})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = max((frame.lineno or 0 for frame in frames if frame.filename == PROGRAM), default=0)
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        return {"printed": "\n".join(printed), "line": line, "raised": message[:MAX_MESSAGE]}
    return {"printed": "\n".join(printed)}
