"""What a probe is, and what all probes of a run share: the guard around the recorder's own work, and the dispatch key.

Inside the guard no mode and no subclass of the program handles a tensor, and no tracer records what is computed.
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self

import torch

from gradbox.recorder.observation import Observation
from gradbox.recorder.trace_delta import TraceDelta
from gradbox.recorder.uids import UidAllocator
from gradbox.wire.entities import MAX_CELLS

RECURSION_ALLOWANCE = 400
"""Python frames that the recorder may use beyond the program's deepest."""

set_tracing_state: Any = torch._C._set_tracing_state  # type: ignore[attr-defined]


_ENTERED_ALREADY: AbstractContextManager[Any] = nullcontext()


class RecorderGuard:
    """While entered, the recorder is at work: its torch calls are not recorded, and its faults do not reach the
    program.

    Entering it again while entered has no effect.

    busy: whether it is entered
    report_fault: called with what was raised inside
    """

    def __init__(self, report_fault: Callable[[BaseException], None]) -> None:
        self._report_fault = report_fault
        self.busy = self._closed = False
        self._recursion_limit = 0
        self._tracing: Any = None
        self._torch_function: Any = None
        self._torch_dispatch: Any = None

    def suppress_permanently(self) -> None:
        """Record nothing any more: from now on the guard is always busy."""
        self.busy = self._closed = True

    def __call__(self) -> AbstractContextManager[Any]:
        return _ENTERED_ALREADY if self.busy else self

    def __enter__(self) -> Self:
        self._recursion_limit, self._tracing = sys.getrecursionlimit(), torch._C._get_tracing_state()
        self.busy = True
        sys.setrecursionlimit(self._recursion_limit + RECURSION_ALLOWANCE)
        if self._tracing is not None:
            set_tracing_state(None)
        self._torch_function, self._torch_dispatch = torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch()
        self._torch_function.__enter__()
        self._torch_dispatch.__enter__()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self._torch_dispatch.__exit__(None, None, None)
        self._torch_function.__exit__(None, None, None)
        if isinstance(error, Exception):
            self._report_fault(error)
        if self._tracing is not None:
            set_tracing_state(self._tracing)
        sys.setrecursionlimit(self._recursion_limit)
        self.busy = self._closed
        return isinstance(error, Exception)

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Record nothing that runs inside the block. Exceptions pass through."""
        busy, self.busy = self.busy, True
        try:
            yield
        finally:
            self.busy = busy or self._closed


DISPATCH_KEY_NAME = "TESTING_ONLY_GenericMode"
"""The name of the dispatch key under which torch's operators are observed."""

DISPATCH_KEY: Any = torch._C._parse_dispatch_key(DISPATCH_KEY_NAME)
DISPATCH_KEYS = torch._C.DispatchKeySet(DISPATCH_KEY)


def unobserved_ops(observation: Observation) -> Any:
    """A context in which no operation is recorded."""
    observation.mark_ops_unobserved()
    return torch._C._ExcludeDispatchKeyGuard(DISPATCH_KEYS)


def are_ops_unobserved() -> bool:
    """Whether an operation of the program would not be recorded now."""
    return bool(torch._C._dispatch_tls_is_dispatch_key_excluded(DISPATCH_KEY))


MAX_FAULTS = 20
"""Faults of the recorder that one trace reports."""


class ProbeContext:
    """What all probes of a run share.

    observation: of the step in the making; hooks add to it
    running_backwards: how many backward passes run
    running_operations: how many recorded operations have begun and not ended, one within another
    module_calls: the numbers of the module calls that run, the innermost last
    max_cells: elements up to which contents are listed in full
    """

    def __init__(self) -> None:
        self.uids, self.delta = UidAllocator(), TraceDelta()
        self.observation = Observation()
        self.guard = RecorderGuard(self.report_recorder_fault)
        self.running_backwards = self.running_operations = 0
        self.module_calls: list[int] = []
        self.max_cells = MAX_CELLS
        self._faults = 0

    def report_recorder_fault(self, error: BaseException) -> None:
        """Report a fault of the recorder as an event; the exception goes no further."""
        self._faults += 1
        if self._faults <= MAX_FAULTS:
            last = traceback.extract_tb(error.__traceback__)[-1:]
            where = f" ({last[0].name}:{last[0].lineno})" if last else ""
            text = f"{type(error).__name__}: {error}"[:300] + where
            self.observation.append_log_entry({"kind": "event", "event": "tracer_fault", "text": text})

    def is_within_operation(self) -> bool:
        """Whether code of the program is called from within an operation that is not finished, recorded or not."""
        return self.running_operations > 0 or are_ops_unobserved()

    def on_backward_begin(self) -> None:
        self.running_backwards += 1

    def on_backward_end(self) -> None:
        self.running_backwards -= 1


class Probe:
    """Follows the entities of one kind: names them, notices their death, and writes their facts into the delta.

    An observation has phases; in each, the observer calls the corresponding method of all probes in order. A probe
    overrides the phases in which it has something to do.
    """

    def __init__(self, context: ProbeContext) -> None:
        self._context, self._delta = context, context.delta

    def collect_dead_entities(self, observation: Observation) -> None:
        """Forget the entities that died since the last call; their uids go to `observation.dead_uids`."""

    def begin_observation(self, observation: Observation) -> None:
        """An observation begins; `observation` says what the statement touched and whether to observe everything."""

    def update_delta(self, observation: Observation) -> None:
        """Write what changed into the delta."""

    def end_observation(self, observation: Observation) -> None:
        """The observation is over, or has failed: release the program's objects."""
