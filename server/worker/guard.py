"""The fence around the recorder's own work."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

RECURSION_ALLOWANCE = 400
"""Python frames that the recorder may use above the program's deepest."""


class Guard:
    """While entered the recorder is at work: its torch calls are not recorded, its faults do not reach the program.

    busy: whether it is entered. Entering it once more does nothing. report_fault: takes what was raised inside.
    """

    def __init__(self, report_fault: Callable[[BaseException], None]) -> None:
        self._report_fault = report_fault
        self.busy = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        if self.busy:
            yield
            return
        limit = sys.getrecursionlimit()
        self.busy = True
        sys.setrecursionlimit(limit + RECURSION_ALLOWANCE)
        try:
            with torch._C.DisableTorchFunction():
                yield
        except Exception as error:
            self._report_fault(error)
        finally:
            sys.setrecursionlimit(limit)
            self.busy = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing that runs inside is recorded; what it raises goes through."""
        busy, self.busy = self.busy, True
        try:
            yield
        finally:
            self.busy = busy
