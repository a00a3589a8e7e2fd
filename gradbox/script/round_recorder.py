"""Records rounds of a script's training in any loop: from the end of one round to the end of the next.

Between recordings only a hook of torch's optimizers is installed. Round 0 begins where the script does.
"""

import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from gradbox.script.part_recorder import PartRecorder
from gradbox.script.script_parts import MAX_RECORDINGS
from gradbox.sessions.round_hook import ExpressionInUserFrame, RoundHook

MAX_KEPT_ROUNDS = 3
"""With `--until`, which records every round, the last rounds that are kept."""


class RoundRecorder(PartRecorder):
    """The recordings of rounds.

    round_count: how many rounds have ended
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.round_count = 0
        self._numbers = set(self._options.iterations)
        self._first = min(self._numbers, default=0)
        text = self._options.until or self._options.after
        self._condition = None if text is None else ExpressionInUserFrame(text)
        self._condition_text, self._condition_failed, self._was_true, self._is_over = text, False, False, False
        self._last_value = False
        self._recorded_folders: list[Path] = []
        self._hook = RoundHook(self._end_round)

    # What the script's code calls: it is a part as a whole. See `part_instrumentation.Watcher`

    def on_part_begin(self) -> None:
        """The script begins."""
        self._hook.install()
        self._begin_round_if_due(sys._getframe(1), follow_stack=False)

    def update_condition(self, value: Any) -> None:
        """Do nothing: the condition is evaluated at the end of a round."""

    def on_condition_error(self) -> None:
        """Do nothing."""

    def __enter__(self) -> None:
        """Do nothing: `on_part_begin` comes next."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._hook.remove()
        if self.frame is not None and self.is_recording_process():
            frame = sys._getframe(1)
            self._end_session(error, lambda session: session.end_recorded_part_in_frame(frame))

    # Rounds

    def _is_due(self) -> bool:
        if self._is_over:
            return False
        if self._options.until is not None:
            return self.round_count >= self._first
        return self.round_count in self._numbers or (self._options.after is not None and self._was_true)

    def _begin_round_if_due(self, frame: FrameType, follow_stack: bool) -> None:
        if not self._is_due():
            return
        self._was_true = False
        number = self.round_count
        if self._options.until is None and self._recording_count == MAX_RECORDINGS:
            self.print_once(f"{MAX_RECORDINGS} recordings are the most of one run; what comes now is not recorded")
            return
        folder = self.begin_recording_region(f"round {number}", {"name": f"round {number}"}, frame, follow_stack)
        if folder is not None:
            self._recorded_folders.append(folder)

    def _end_round(self, frame: FrameType) -> None:
        """End a round.

        frame: torch's frame in the optimizer step that ends it
        """
        if self.frame is not None:
            self._end_session(None, lambda session: session.finish_innermost_statement(frame))
        became_true = self._update_condition(frame)
        if became_true:
            self.print_once(f"{self._condition_text!r} is true at the end of round {self.round_count}")
            self._is_over = self._options.until is not None
        elif self._options.until is not None and len(self._recorded_folders) > MAX_KEPT_ROUNDS:
            shutil.rmtree(self._recorded_folders.pop(0), ignore_errors=True)
        self.round_count += 1
        self._begin_round_if_due(frame, follow_stack=True)

    def _update_condition(self, frame: FrameType) -> bool:
        """Evaluate the condition. Returns whether it has become true."""
        if self._condition is None or self._condition_failed:
            return False
        try:
            value = bool(self._condition.evaluate(frame))
        except Exception as error:  # the script goes on
            self._condition_failed = True
            what = "--until" if self._options.until is not None else "--after"
            self.print_once(f"{what} {self._condition_text!r}, evaluated at the end of round {self.round_count}: "
                            f"{type(error).__name__}: {error}")  # fmt: skip
            return False
        before, self._last_value = self._last_value, value
        became_true = value and not before
        self._was_true = self._was_true or became_true
        return became_true

    def _messages_of_missed_parts(self) -> Any:
        """A sentence for each thing that was asked for and did not happen."""
        came = f"{self._script_name} had {self.round_count} round{'' if self.round_count == 1 else 's'}"
        missed = sorted(number for number in self._numbers if number > self.round_count)
        if missed and self._options.until is None:
            numbers = ", ".join(map(str, missed))
            yield f"round{'s' if len(missed) > 1 else ''} {numbers} never came: {came}, counted from 0"
        if not self.round_count:
            yield f"no optimizer of torch stepped in {self._script_name}"
        elif self._options.until is not None and not self._is_over and not self._condition_failed:
            yield f"--until {self._options.until!r} was never true: {came}, of which the last are kept"
        elif self._options.after is not None and not self._recording_count and not self._condition_failed:
            yield f"--after {self._options.after!r} was never true while another round was to come"
