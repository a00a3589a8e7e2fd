"""What a probe is, and what all probes of a run share."""

import traceback

from gradbox.recorder.guard import Guard
from gradbox.recorder.observation import Observation
from gradbox.recorder.probes.dispatch_key import is_unobserved
from gradbox.recorder.trace_delta import TraceDelta
from gradbox.recorder.uids import UidAllocator

MAX_FAULTS = 20
"""Faults of the recorder that one trace reports."""


class ProbeContext:
    """What all probes of a run share.

    observation: of the step in the making; hooks add to it. running_backwards: how many backward passes run.
    running_operations: how many recorded operations have begun and not ended, one within another.
    """

    def __init__(self) -> None:
        self.uids, self.delta = UidAllocator(), TraceDelta()
        self.observation = Observation()
        self.guard = Guard(self.report_fault)
        self.running_backwards = self.running_operations = 0
        self._faults = 0

    def report_fault(self, error: BaseException) -> None:
        """The recorder failed at something: an event says so, and the exception goes no further."""
        self._faults += 1
        if self._faults <= MAX_FAULTS:
            last = traceback.extract_tb(error.__traceback__)[-1:]
            where = f" ({last[0].name}:{last[0].lineno})" if last else ""
            text = f"{type(error).__name__}: {error}"[:300] + where
            self.observation.append({"kind": "event", "event": "tracer_fault", "text": text})

    def is_within_operation(self) -> bool:
        """Whether the program's code is called from within an operation, be it recorded or not: it is half done."""
        return self.running_operations > 0 or is_unobserved()

    def begin_backward(self) -> None:
        self.running_backwards += 1

    def end_backward(self) -> None:
        self.running_backwards -= 1


class Probe:
    """Follows the entities of one kind: names them, notices their death, writes their facts into the delta.

    An observation has phases, and in each the observer calls that method of all probes in its order. A probe overrides
    the phases in which it has something to do.
    """

    def __init__(self, context: ProbeContext) -> None:
        self._context, self._delta = context, context.delta

    def collect_dead(self, observation: Observation) -> None:
        """Forget the entities that died since the last call; their uids go to `observation.dead_uids`."""

    def begin(self, observation: Observation) -> None:
        """An observation begins; `observation` says what the statement touched and whether to observe everything."""

    def update(self, observation: Observation) -> None:
        """Write what changed into the delta."""

    def end(self, observation: Observation) -> None:
        """The observation is over, also where it failed: let go of the program's objects."""
