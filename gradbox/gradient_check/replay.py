"""Runs a program again up to a call of the engine, in a fresh namespace, with fresh seeds and without output."""

import builtins
import contextlib
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from gradbox.recorder.program_streams import OutputStream, input_stream
from gradbox.recorder.stack import PROGRAM_FILENAME, frames_outward


class BackwardReached(BaseException):
    """Ends a run at the engine call for which it was started."""


@dataclass(frozen=True)
class BackwardCall:
    """A call of `backward` or `torch.autograd.grad`: its number from 0, what it starts from, and the program's frame.

    inputs: the tensors whose gradients it asks for; None for all leaves
    accumulates: it adds to their `.grad`; otherwise it returns the gradients
    has_one_loss: False for several gradients at once (`is_grads_batched`), within a transform of `torch.func`, and from
        or to a `GradientEdge`
    proceed: does what the program asked for and returns the result
    """

    number: int
    roots: list[torch.Tensor]
    grad_tensors: list[torch.Tensor | None]
    inputs: list[torch.Tensor] | None
    accumulates: bool
    has_one_loss: bool
    frame: FrameType | None
    proceed: Callable[[], Any]


BackwardListener = Callable[[BackwardCall], Any]
"""Called at each engine call; it proceeds and returns the result for the program, or raises BackwardReached."""


class ReplayableProgram:
    """A compiled program that can be run many times.

    reseed: seeds all generators
    stdin_text: the text of its standard input
    make_module: makes a fresh `__main__`
    """

    def __init__(
        self,
        code: types.CodeType,
        reseed: Callable[[], None],
        stdin_text: str = "",
        make_module: Callable[[], types.ModuleType] = lambda: types.ModuleType("__main__"),
    ) -> None:
        self._code, self._reseed, self._stdin_text, self._make_module = code, reseed, stdin_text, make_module
        self.runs = 0

    def run(self, listener: BackwardListener) -> BaseException | None:
        """Run the program. Returns what it raised; None if it ended or the call was reached."""
        self.runs += 1
        module = self._make_module()
        module.__dict__["__builtins__"] = builtins
        module.__dict__.setdefault("__file__", PROGRAM_FILENAME)
        sys.modules["__main__"] = module
        self._reseed()
        try:
            with initial_torch_modes(), silenced_standard_streams(self._stdin_text), intercepted_backward(listener):
                exec(self._code, module.__dict__)
        except BackwardReached:
            return None
        except BaseException as error:
            return error
        return None


@contextlib.contextmanager
def initial_torch_modes() -> Iterator[None]:
    """Set torch's modes as a program finds them inside the block, and restore them afterwards."""
    dtype, algorithms = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
    try:
        with torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.use_deterministic_algorithms(algorithms)


@contextlib.contextmanager
def silenced_standard_streams(text: str) -> Iterator[None]:
    """Inside the block, the standard input reads this text, nothing is printed, and no warning is shown."""
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
def intercepted_backward(listener: BackwardListener) -> Iterator[None]:
    """Pass the program's engine calls to the listener, except for nested ones."""
    original = torch.autograd._engine_run_backward  # type: ignore[attr-defined]
    state = {"calls": 0, "inside": 0}

    def run_backward(roots: Any, *args: Any, **kwargs: Any) -> Any:
        def proceed() -> Any:
            state["inside"] += 1
            try:
                return original(roots, *args, **kwargs)
            finally:
                state["inside"] -= 1

        if state["inside"]:
            return proceed()
        number = state["calls"]
        state["calls"] += 1
        arguments = dict(zip(("grads", "keep_graph", "create_graph", "inputs"), args, strict=False)) | kwargs
        starts, grads, inputs = list(roots), list(arguments["grads"]), list(arguments.get("inputs") or ())
        accumulates = bool(kwargs.get("accumulate_grad", args[5] if len(args) > 5 else True))
        has_one_loss = all(map(is_unwrapped_tensor, (*starts, *inputs, *(grad for grad in grads if grad is not None))))
        return listener(
            BackwardCall(
                number, starts, grads, inputs or None, accumulates, has_one_loss, innermost_program_frame(), proceed
            )
        )

    setattr(torch.autograd, "_engine_run_backward", run_backward)
    try:
        yield
    finally:
        setattr(torch.autograd, "_engine_run_backward", original)


def is_unwrapped_tensor(value: Any) -> bool:
    """Whether a value is a tensor that neither stands for several nor is wrapped by a transform of `torch.func`."""
    if not isinstance(value, torch.Tensor) or torch._C._functorch.is_functorch_wrapped_tensor(value):
        return False
    return "Batched" not in repr(torch._C._dispatch_keys(value))  # the key of `is_grads_batched` has no name in Python


def innermost_program_frame() -> FrameType | None:
    """The innermost frame of the program."""
    return next(
        (frame for frame in frames_outward(sys._getframe(1)) if frame.f_code.co_filename == PROGRAM_FILENAME), None
    )
