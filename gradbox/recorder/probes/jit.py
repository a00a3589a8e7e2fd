"""Stops the observation while `torch.jit` traces a function, while a script runs, and while a CUDA graph is replayed.

A tracer follows Python numbers in its own way and names values after the variables of the calling frame; a script's
interpreter words an error by its origin. Both would meet our kernels instead of torch's own. The replay of a CUDA graph
calls no operator at all.
"""

import functools
import re
from collections.abc import Callable
from typing import Any, Self

import torch

from gradbox.recorder.probes.probe import ProbeContext, unobserved_ops
from gradbox.recorder.stack import RECORDER_FOLDERS

ENTRY_POINTS = (
    (torch._C, "_create_function_from_trace"),
    (torch._C, "_create_function_from_trace_with_dict"),
    (torch._C, "_create_graph_by_tracing"),
    (torch._C.ScriptModule, "_create_method_from_trace"),
    (torch._C.ScriptModule, "_create_method_from_trace_with_dict"),
    (torch._C.ScriptFunction, "__call__"),
    (torch._C.ScriptMethod, "__call__"),
    (torch.cuda.CUDAGraph, "replay"),
)
"""The functions through which Python enters the interpreter of scripts, the tracer and a graph. Not every version has
all of them."""

RECORDER_FRAME_LINES_PATTERN = re.compile(
    rf"^(?:(?:{'|'.join(map(re.escape, RECORDER_FOLDERS))}).*|<frozen runpy>)\(\d+\): .*\n", re.MULTILINE
)
"""Lines of an error that name the recorder's frames. The tracer remembers the calls that led to each operation, and a
script's error lists them."""


class UnobservedJit:
    """Wraps the entry points while entered.

    forget_uninitialized_memory: called after operations passed unobserved
    """

    def __init__(self, context: ProbeContext, forget_uninitialized_memory: Callable[[], None]) -> None:
        self._context, self._forget_uninitialized_memory = context, forget_uninitialized_memory
        self._originals: list[tuple[Any, str, Callable[..., Any]]] = []

    def __enter__(self) -> Self:
        for owner, name in ENTRY_POINTS:
            original = getattr(owner, name, None)
            if original is not None:
                self._originals.append((owner, name, original))
                setattr(owner, name, self._wrap_unobserved(original))
        return self

    def __exit__(self, *_: object) -> None:
        for owner, name, original in self._originals:
            setattr(owner, name, original)
        self._originals.clear()

    def _wrap_unobserved(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call_unobserved(*args: Any, **kwargs: Any) -> Any:
            try:
                with unobserved_ops(self._context.observation):
                    return original(*args, **kwargs)
            except RuntimeError as error:
                error.args = tuple(
                    RECORDER_FRAME_LINES_PATTERN.sub("", arg) if isinstance(arg, str) else arg for arg in error.args
                )
                raise
            finally:
                self._context.observation.mark_ops_unobserved()  # steps inside have reported what was before them
                self._forget_uninitialized_memory()

        return call_unobserved
