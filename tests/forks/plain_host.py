"""The process whose forks run programs in plain CPython, without a recorder: see tests.forks.fork_host."""

import builtins
import contextlib
import importlib
import io
import linecache
import pickle
import random
import resource
import signal
import sys
import tempfile
import traceback
import types
import warnings
from typing import Any

import numpy
import torch

from tests.forks.fork_host import Request, Write, serve
from tests.referee.torch_facts import facts
from tests.support import lifetime_log  # noqa: F401 named by requests

CPU_SECONDS, SECONDS = 60, 600
"""Of its processor, and of the clock: after either a program is killed."""


class StandardOutput(io.StringIO):
    """What a program prints, refused where a stream of UTF-8 would refuse it."""

    def write(self, text: str) -> int:
        text.encode()
        return super().write(text)


def handle(request: Request, write: Write) -> None:
    """Answer in this process, which is a fork for it: a call, or a program."""
    if "function" in request:
        module, _, name = request["function"].partition(":")
        write(pickle.dumps(getattr(importlib.import_module(module), name)(*request["arguments"])))
    else:
        run(request, write)


def run(request: Request, write: Write) -> None:
    """Write a pickle of the truth about a program, as tests.forks.plain_python describes it.

    inside: `module:name` of what makes the context that it runs in, or None.
    """
    source = request["source"]
    namespace = prepare_main(source)
    inside: Any = contextlib.nullcontext
    if request["inside"] is not None:
        module, _, name = request["inside"].partition(":")
        inside = getattr(importlib.import_module(module), name)
    truth: dict[str, Any] = {"error": None}
    out = StandardOutput()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(out), inside():
        try:
            exec(compile(source, "<program>", "exec"), namespace)
        except BaseException as raised:
            truth["error"] = described(raised, source)
    try:
        truth |= {"printed": out.getvalue(), "facts": facts(namespace) if request["facts"] else None}
    except BaseException as error:
        truth["fault"] = f"{type(error).__name__}: {error}"
    write(pickle.dumps(truth))


def prepare_main(source: str) -> dict[str, Any]:
    """Make this fork ready for a program: limits, its lines for tracebacks, seeds, arguments. The names of its new main
    module."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    signal.alarm(SECONDS)
    linecache.cache["<program>"] = (len(source), None, source.splitlines(keepends=True), "<program>")
    warnings.simplefilter("ignore")
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    sys.argv = ["<program>"]
    module = sys.modules["__main__"] = types.ModuleType("__main__")  # where pickle looks for the program's classes
    namespace = vars(module)
    namespace.update(__builtins__=builtins, __file__="<program>")
    return namespace


def described(raised: BaseException, source: str) -> list[Any]:
    """The error's type, its message, and the line that raised it: its number and its text."""
    stack = traceback.extract_tb(raised.__traceback__)
    lines = [entry.lineno for entry in stack if entry.filename == "<program>" and entry.lineno]
    line = lines[-1] if lines else None
    text = source.splitlines()[line - 1].strip() if line else None
    return [type(raised).__name__, str(raised), line, text]


def main(listener: int, parent: int) -> None:
    """Serve at this descriptor, in a fork of tests.forks.torch_host."""
    serve(listener, parent, handle)
