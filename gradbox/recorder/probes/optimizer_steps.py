"""Which optimizer took a step: of those that passed among unrecorded iterations, how many each took."""

from collections.abc import Callable
from typing import Any, Self

from torch.optim import Optimizer, optimizer

from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.uids import ObjectUids
from gradbox.wire.events import OptimizerStepped

MAX_COUNTED_OPTIMIZERS = 1000
"""Optimizers of which the unrecorded steps are counted."""

_hooks_after_step: dict[Any, Any] = optimizer._global_optimizer_post_hooks


class OptimizerSteps:
    """Hears of every `Optimizer.step` while entered; of one that raises nothing is said.

    is_recorded: whether what the current thread does is recorded. The hook has a key of its own: a handle of torch's
    would take a number that the program's next hook has without the recorder.
    """

    def __init__(self, context: ProbeContext, objects: ObjectUids, is_recorded: Callable[[], bool]) -> None:
        self._context, self._objects, self._is_recorded = context, objects, is_recorded
        self._paused = False
        self._unrecorded_counts: dict[str | None, int] = {}

    def __enter__(self) -> Self:
        _hooks_after_step[self] = self._note_step
        return self

    def __exit__(self, *_: object) -> None:
        _hooks_after_step.pop(self, None)

    def set_recording_paused(self, paused: bool) -> None:
        """Count steps for a while, and tell their number when it is over."""
        self._paused = paused
        if not paused:
            counts, self._unrecorded_counts = self._unrecorded_counts, {}
            for uid, count in counts.items():
                self._context.observation.append_log_entry({**optimizer_stepped_event(uid), "unrecorded": count})

    def _note_step(self, stepped: Optimizer, *_: Any) -> None:
        if self._context.guard.busy or not self._is_recorded():
            return
        with self._context.guard():
            uid = self._objects.find_uid(stepped)
            if not self._paused:
                self._context.observation.append_log_entry(optimizer_stepped_event(uid))
            elif uid in self._unrecorded_counts or len(self._unrecorded_counts) < MAX_COUNTED_OPTIMIZERS:
                self._unrecorded_counts[uid] = self._unrecorded_counts.get(uid, 0) + 1


def optimizer_stepped_event(uid: str | None) -> OptimizerStepped:
    event: OptimizerStepped = {"kind": "event", "event": "optimizer_stepped"}
    if uid is not None:
        event["optimizer"] = uid
    return event
