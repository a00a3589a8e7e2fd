"""What a run does otherwise than the program asks, and says so: an event each time.

`torch.compile` leaves the plain function, for its statements could not be followed in a compiled one. A `DataLoader`
with workers loads its data itself, for there is one process; its batches are as workers would have sent them.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Iterator
from typing import Any, Self

import torch
from torch.utils.data import DataLoader

from gradbox.recorder.one_process_loader import OneProcessIterator
from gradbox.recorder.probes.ops import TORCH_FOLDER
from gradbox.recorder.probes.probe import ProbeContext

FORWARDING_FILES = (TORCH_FOLDER + "nn/modules/module.py", TORCH_FOLDER + "compiler/__init__.py")
"""Where `nn.Module.compile` and `torch.compiler.compile` pass on what the program asks. Other callers in torch mean it."""

no_compilation: Any = torch.compiler.disable


class Replacements:
    """Wraps the two while entered; `only_compilation` wraps `torch.compile` alone: a loader may have its workers."""

    def __init__(self, context: ProbeContext) -> None:
        self._context = context
        self._compile: Any = None
        self._get_iterator: Any = None
        self._mark_step_begin: Any = None

    def __enter__(self) -> Self:
        self._replace_compilation()
        self._get_iterator = DataLoader._get_iterator
        setattr(DataLoader, "_get_iterator", self._replacement_of_get_iterator())
        return self

    def __exit__(self, *_: object) -> None:
        setattr(DataLoader, "_get_iterator", self._get_iterator)
        self._restore_compilation()

    @contextlib.contextmanager
    def only_compilation(self) -> Iterator[None]:
        self._replace_compilation()
        try:
            yield
        finally:
            self._restore_compilation()

    def _replace_compilation(self) -> None:
        self._compile, self._mark_step_begin = torch.compile, torch.compiler.cudagraph_mark_step_begin
        setattr(torch, "compile", self._replacement_of_compile())
        # nothing compiled has a step; the function would import the compiler
        setattr(torch.compiler, "cudagraph_mark_step_begin", functools.wraps(self._mark_step_begin)(lambda: None))

    def _restore_compilation(self) -> None:
        setattr(torch, "compile", self._compile)
        setattr(torch.compiler, "cudagraph_mark_step_begin", self._mark_step_begin)

    def _replacement_of_compile(self) -> Any:
        original = self._compile

        @functools.wraps(original)
        def compile_nothing(model: Any = None, **options: Any) -> Any:
            caller = sys._getframe(1).f_code.co_filename
            if caller.startswith(TORCH_FOLDER) and caller not in FORWARDING_FILES:
                return original(model, **options)
            if model is None:
                return functools.partial(compile_nothing, **options)
            check_options(**options)
            if options.get("disable"):
                return model
            self._context.observation.append({"kind": "event", "event": "replaced", "what": "compile"})
            return no_compilation(model)

        return compile_nothing

    def _replacement_of_get_iterator(self) -> Any:
        original, context = self._get_iterator, self._context

        @functools.wraps(original)
        def _get_iterator(self: Any) -> Any:
            if self.num_workers == 0:
                return original(self)
            context.observation.append(
                {"kind": "event", "event": "replaced", "what": "workers", "count": self.num_workers}
            )
            return OneProcessIterator(self)

        return _get_iterator


def check_options(
    backend: Any = None, mode: str | None = None, options: dict[str, Any] | None = None, **_: Any
) -> None:
    """Raise what torch.compile raises for a mode or a backend that does not exist, or for both ways to choose one.

    The function itself can't be asked: it makes a folder for its results first.
    """
    if mode is not None and options is not None:
        message = "Either mode or options can be specified, but both can't be specified at the same time."
        raise RuntimeError(message)
    if backend in (None, "inductor") and mode not in (None, "default"):
        importlib.import_module("torch._inductor").list_mode_options(mode)
    elif isinstance(backend, str) and backend != "inductor":
        importlib.import_module("torch._dynamo.backends.registry").lookup_backend(backend)
