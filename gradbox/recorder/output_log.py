"""What a program prints and warns of, in the log of the step in the making."""

from gradbox.recorder.probes.probe import ProbeContext
from gradbox.recorder.streams import Stream

MAX_WARNED_LOG = 1000
"""Entries of a step's log after which warnings are no longer added."""


class OutputLog:
    """Holds what is printed to a limit of characters."""

    def __init__(self, context: ProbeContext, max_chars: int) -> None:
        self._context, self._max_chars = context, max_chars
        self._printed_chars = 0

    def log_output(self, stream: Stream, text: str) -> bool:
        """Log what was printed, as far as the limit allows; whether all of it was within."""
        room = self._max_chars - self._printed_chars
        self._printed_chars += len(text)
        observation = self._context.observation
        last = observation.log[-1] if observation.log else None
        shown = text[: max(room, 0)]
        shown = shown if shown.isascii() else shown.encode("utf-8", "backslashreplace").decode()
        if last is not None and last["kind"] == "out" and last["stream"] == stream:
            last["text"] += shown
        else:
            observation.append({"kind": "out", "stream": stream, "text": shown})
        return room >= len(text)

    def log_warning(self, category: str, text: str) -> None:
        """Log a warning by the name of its class."""
        observation = self._context.observation
        if len(observation.log) < MAX_WARNED_LOG:
            observation.append({"kind": "event", "event": "warning", "category": category, "text": text[:2000]})
