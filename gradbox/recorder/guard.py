"""The fence around the recorder's own work.

Inside it no mode and no subclass of the program answers for a tensor, and no tracer takes down what is computed.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

RECURSION_ALLOWANCE = 400
"""Python frames that the recorder may use above the program's deepest."""

set_tracing_state: Any = torch._C._set_tracing_state  # type: ignore[attr-defined]


class Guard:
    """While entered the recorder is at work: its torch calls are not recorded, its faults do not reach the program.

    busy: whether it is entered. Entering it once more does nothing. report_fault: takes what was raised inside.
    """

    def __init__(self, report_fault: Callable[[BaseException], None]) -> None:
        self._report_fault = report_fault
        self.busy = self._closed = False

    def close(self) -> None:
        """Be busy for good."""
        self.busy = self._closed = True

    @contextmanager
    def __call__(self) -> Iterator[None]:
        if self.busy:
            yield
            return
        limit, tracing = sys.getrecursionlimit(), torch._C._get_tracing_state()
        self.busy = True
        sys.setrecursionlimit(limit + RECURSION_ALLOWANCE)
        if tracing is not None:
            set_tracing_state(None)
        try:
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
                yield
        except Exception as error:
            self._report_fault(error)
        finally:
            if tracing is not None:
                set_tracing_state(tracing)
            sys.setrecursionlimit(limit)
            self.busy = self._closed

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Nothing that runs inside is recorded; what it raises goes through."""
        busy, self.busy = self.busy, True
        try:
            yield
        finally:
            self.busy = busy or self._closed
