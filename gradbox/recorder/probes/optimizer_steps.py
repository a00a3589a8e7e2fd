"""Which optimizer took a step, and how many steps each took in unrecorded iterations."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol, Self

from torch.optim import Optimizer, optimizer

from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.uids import referenced_uid
from gradbox.recorder.value_encoder import ValueEncoder
from gradbox.wire.events import OptimizerStepped

MAX_COUNTED_OPTIMIZERS = 1000
"""Optimizers whose unrecorded steps are counted."""

_hooks_after_step: dict[Any, Any] = optimizer._global_optimizer_post_hooks
_hooks_before_step: dict[Any, Any] = optimizer._global_optimizer_pre_hooks

StepListener = Callable[..., None]

_listeners: list[StepListener] = []
"""Functions called after each `Optimizer.step`, the last one first. torch has a single hook for all of them, so that a
listener can come or go while torch iterates over its hooks."""


def add_step_listener(listener: StepListener) -> None:
    """Call a listener after each `Optimizer.step` of the process, with the optimizer as the first argument."""
    _listeners.append(listener)
    _hooks_after_step[_listeners_key] = _notify_listeners


def remove_step_listener(listener: StepListener) -> None:
    if listener in _listeners:
        _listeners.remove(listener)
    if not _listeners:
        _hooks_after_step.pop(_listeners_key, None)


def _notify_listeners(*arguments: Any) -> None:
    for listener in _listeners[::-1]:
        listener(*arguments)


_listeners_key = object()
"""Our key in torch's table of hooks. A handle of torch's would take the number that the program's next hook has without
the recorder."""


class OptimizerStepObserver(Protocol):
    """What is told of every step, recorded or not."""

    def before_optimizer_step(self, optimizer: Optimizer, frame: FrameType) -> None:
        """An optimizer is about to step.

        frame: the innermost frame that runs
        """

    def after_optimizer_step(self, optimizer: Optimizer, frame: FrameType) -> None:
        """An optimizer has stepped.

        frame: the innermost frame that runs
        """


class OptimizerSteps:
    """Records every `Optimizer.step` while entered, except steps that raise.

    is_recorded: whether what the current thread does is recorded
    """

    def __init__(
        self,
        context: ProbeContext,
        values: ValueEncoder,
        observer: OptimizerStepObserver,
        is_recorded: Callable[[], bool],
    ) -> None:
        self._context, self._values, self._observer = context, values, observer
        self._is_recorded = is_recorded
        self._paused = False
        self._unrecorded_counts: dict[str | None, int] = {}

    def __enter__(self) -> Self:
        add_step_listener(self._note_step)
        _hooks_before_step[self] = self._note_step_to_come
        return self

    def __exit__(self, *_: object) -> None:
        remove_step_listener(self._note_step)
        _hooks_before_step.pop(self, None)

    def set_recording_paused(self, paused: bool) -> None:
        """Count steps while recording is paused, and report their number afterwards."""
        self._paused = paused
        if not paused:
            counts, self._unrecorded_counts = self._unrecorded_counts, {}
            for uid, count in counts.items():
                self._context.observation.append_log_entry({**optimizer_stepped_event(uid), "unrecorded": count})

    def _note_step_to_come(self, optimizer: Optimizer, *_: Any) -> None:
        if not self._context.guard.busy and self._is_recorded():
            with self._context.guard():
                self._observer.before_optimizer_step(optimizer, sys._getframe(1))

    def _note_step(self, stepped: Optimizer, *_: Any) -> None:
        if self._context.guard.busy or not self._is_recorded():
            return
        with self._context.guard():
            self._observer.after_optimizer_step(stepped, sys._getframe(1))
            uid = self._values.objects.find_uid(stepped) or referenced_uid(self._values.encode(stepped))
            self._context.observation.has_stepped = True
            if not self._paused:
                self._context.observation.append_log_entry(optimizer_stepped_event(uid))
            elif uid in self._unrecorded_counts or len(self._unrecorded_counts) < MAX_COUNTED_OPTIMIZERS:
                self._unrecorded_counts[uid] = self._unrecorded_counts.get(uid, 0) + 1


def optimizer_stepped_event(uid: str | None) -> OptimizerStepped:
    event: OptimizerStepped = {"kind": "event", "event": "optimizer_stepped"}
    if uid is not None:
        event["optimizer"] = uid
    return event
