"""The process that runs programs in plain CPython: it has imported torch, and forks a child for each program.

A program comes as a line of JSON on the standard input; the answer is the length of a pickle, and the pickle.
"""

import contextlib
import gc
import io
import json
import os
import pickle
import random
import signal
import traceback
import warnings
from typing import Any, BinaryIO

import numpy
import torch
import torch._dynamo  # or the first optimizer in each fork pays for it

from tests.referee.plain_run import LENGTH, Truth
from tests.referee.torch_facts import facts

SECONDS = 60
"""After which a program is killed."""


def run(source: str) -> Truth:
    """Run it in this process, which is a fork made for it, and ask torch."""
    signal.alarm(SECONDS)
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<program>", "exec"), namespace)
        except BaseException as raised:
            stack = traceback.extract_tb(raised.__traceback__)
            lines = [entry.lineno for entry in stack if entry.filename == "<program>" and entry.lineno]
            line = lines[-1] if lines else None
            text = source.splitlines()[line - 1].strip() if line else None
            error = [type(raised).__name__, str(raised), line, text]
    return {**facts(namespace), "printed": out.getvalue(), "error": error}


def answer(source: str) -> bytes:
    """The pickled truth from a fork; empty when it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            truth = run(source)
        except BaseException as error:
            truth = {"harness": f"{type(error).__name__}: {error}"}
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(truth, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return data


def private(descriptor: int, mode: str) -> BinaryIO:
    """A standard stream of this process under another number; programs find an empty one in its place."""
    stream = os.fdopen(os.dup(descriptor), mode)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)
    return stream  # type: ignore[return-value]


def main() -> None:
    torch.set_num_threads(1)
    programs, answers = private(0, "rb"), private(1, "wb")
    gc.collect()
    gc.freeze()
    for line in programs:
        data = answer(json.loads(line))
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


if __name__ == "__main__":
    main()
