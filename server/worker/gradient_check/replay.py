"""Runs a program anew, up to a call of backward, in a fresh namespace, with fresh seeds and without a word."""

import builtins
import contextlib
import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from server.worker.stack import PROGRAM, frames_outward
from server.worker.streams import OutputStream, input_stream


class Reached(BaseException):
    """Ends a run at the call of backward that it was for."""


@dataclass(frozen=True)
class BackwardCall:
    """A call of backward: which one, from 0, what it starts from, and the program's frame that called it.

    proceed: does what the program asked for.
    """

    number: int
    roots: list[torch.Tensor]
    grad_tensors: list[torch.Tensor | None]
    inputs: list[torch.Tensor] | None
    frame: FrameType | None
    proceed: Callable[[], None]


Listener = Callable[[BackwardCall], None]
"""Called at each call of backward; it proceeds, or raises Reached."""


class Program:
    """A compiled program that can be run many times. reseed: seeds all generators; text: what its standard input reads."""

    def __init__(self, code: types.CodeType, reseed: Callable[[], None], text: str = "") -> None:
        self._code, self._reseed, self._text = code, reseed, text
        self.runs = 0

    def run(self, listener: Listener) -> BaseException | None:
        """Run it; what it raised, None where it ended or was Reached."""
        self.runs += 1
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = module
        self._reseed()
        try:
            with initial_modes(), standard_streams(self._text), intercepted(listener):
                exec(self._code, module.__dict__)
        except Reached:
            return None
        except BaseException as error:
            return error
        return None


@contextlib.contextmanager
def initial_modes() -> Iterator[None]:
    """Torch's modes as a program finds them, and afterwards again."""
    dtype, algorithms = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    try:
        with torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.use_deterministic_algorithms(algorithms)


@contextlib.contextmanager
def standard_streams(text: str) -> Iterator[None]:
    """The input reads this text; nothing is printed, and nobody is warned."""
    saved = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = input_stream(text)
    sys.stdout = OutputStream("stdout", lambda *_: None)
    sys.stderr = OutputStream("stderr", lambda *_: None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved


@contextlib.contextmanager
def intercepted(listener: Listener) -> Iterator[None]:
    """The program's calls of backward come to the listener; those within a backward do not."""
    original = torch.autograd.backward
    state = {"calls": 0, "inside": 0}

    @functools.wraps(original)
    def backward(
        tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False,
        grad_variables: Any = None, inputs: Any = None,
    ) -> None:  # fmt: skip
        def proceed() -> None:
            state["inside"] += 1
            try:
                original(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
            finally:
                state["inside"] -= 1

        if state["inside"]:
            proceed()
            return
        number = state["calls"]
        state["calls"] += 1
        roots, wanted = listed(tensors), None if inputs is None else listed(inputs)
        grads = listed(grad_tensors) if grad_tensors is not None else [None] * len(roots)
        listener(BackwardCall(number, roots, grads, wanted, program_frame(), proceed))

    setattr(torch.autograd, "backward", backward)
    try:
        yield
    finally:
        setattr(torch.autograd, "backward", original)


def listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def program_frame() -> FrameType | None:
    """The innermost frame of the program."""
    return next((frame for frame in frames_outward(sys._getframe(1)) if frame.f_code.co_filename == PROGRAM), None)
