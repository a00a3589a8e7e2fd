"""Runs a program in plain CPython, without a recorder: what a trace has to agree with."""

import contextlib
import io
import json
import os
import random
import traceback
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy
import torch

from tests.tracing import write_all


@cache
def run_plain(
    source: str, inside: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext
) -> dict[str, Any]:
    """`printed`, and `error`: None or its type, text and line. It runs in a fork of this process, seeded as a run is.

    inside: makes the context that it runs in. This process never runs a backward: its forks could not hand one to a thread.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        warnings.simplefilter("ignore")
        random.seed(0)
        numpy.random.seed(0)
        torch.manual_seed(0)
        torch.set_num_threads(1)
        error = None
        out = io.StringIO()
        with contextlib.redirect_stdout(out), inside():
            try:
                exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
            except BaseException as raised:
                lines = [
                    entry.lineno
                    for entry in traceback.extract_tb(raised.__traceback__)
                    if entry.filename == "<program>"
                ]
                error = [type(raised).__name__, str(raised), lines[-1] if lines else None]
        write_all(writing, json.dumps({"printed": out.getvalue(), "error": error}).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result: dict[str, Any] = json.loads(pipe.read())
    os.waitpid(child, 0)
    return result
