"""A line on stderr that says how far a recording or an explanation is, and how to stop it.

On a terminal it is drawn where the cursor is at the beginning of a line, and taken away before the program prints.
Elsewhere it is a line of its own, which comes after some seconds and then ever more seldom.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

REDRAW_SECONDS = 0.2
"""Between two drawings on a terminal."""

WAITING_SECONDS = 1.0
"""The same of what the command itself waits for."""

FIRST_LINE_SECONDS = 10.0
"""After so long a line comes where stderr is no terminal; the next after twice as long."""

HOW_TO_STOP = "Ctrl-C ends the script and keeps what is recorded"


class ProgressLine:
    """How far a recording is.

    stream: stderr as it was when the process began, None for none
    quiet: say nothing
    """

    def __init__(self, stream: TextIO | None, quiet: bool) -> None:
        self._stream, self._enabled = stream, not quiet and stream is not None
        self._is_terminal = self._enabled and stream is not None and stream.isatty()
        self._at_line_start, self._shown = True, False
        self._label, self._place = "", ""
        self._steps = 0
        self._begun: float | None = None
        self._next_draw = 0.0

    def begin_part(self, label: str) -> None:
        """What is recorded from now on is called so; its steps and seconds are counted anew."""
        self._label, self._place, self._steps, self._begun, self._next_draw = label, "", 0, None, 0.0

    def count_step(self, step: Mapping[str, Any]) -> None:
        """A step was recorded."""
        self._steps += 1
        iteration = step.get("iter")
        if iteration:
            self._place = f", iteration {'.'.join(map(str, iteration))} of line {step['line']}"
        if self._enabled:
            self._draw_if_due()

    def count_iteration(self, number: int) -> None:
        """An iteration of a loop passes that is not recorded.

        number: of it, from 0
        """
        if self._enabled:
            self._place = f", iteration {number} (not recorded)"
            self._draw_if_due()

    def _draw_if_due(self) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun = now
            self._next_draw = now + (REDRAW_SECONDS if self._is_terminal else FIRST_LINE_SECONDS)
        if now < self._next_draw or not self._at_line_start:
            return
        seconds = now - self._begun
        self._next_draw = now + (REDRAW_SECONDS if self._is_terminal else 2 * seconds)
        label = self._label and f" {self._label}"
        text = f"gradbox: recording{label}: {self._steps:,} steps{self._place}, {seconds:.0f} s; {HOW_TO_STOP}"
        self._write(f"\r\x1b[2K{text}\r" if self._is_terminal else f"{text}\n")
        self._shown = self._is_terminal

    def before_output(self, text: Any) -> None:
        """The program is about to print this."""
        self.clear()
        if isinstance(text, str) and text:
            self._at_line_start = str.endswith(text, "\n")

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._shown = False
            self._write("\x1b[2K")

    def _write(self, text: str) -> None:
        assert self._stream is not None
        with contextlib.suppress(OSError, ValueError):  # a stderr that is closed
            os.write(self._stream.fileno(), text.encode())


@contextlib.contextmanager
def waiting_line(what: str, stream: TextIO | None, quiet: bool = False) -> Iterator[None]:
    """While entered, a line says what is waited for and for how long. For a process that runs none of the user's
    code."""
    if quiet or stream is None:
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_show_waiting_until, args=(ended, what, stream), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _show_waiting_until(ended: threading.Event, what: str, stream: TextIO) -> None:
    begun, is_terminal, shown = time.monotonic(), stream.isatty(), False
    wait = WAITING_SECONDS if is_terminal else FIRST_LINE_SECONDS
    while not ended.wait(wait):
        seconds = time.monotonic() - begun
        text = f"gradbox: {what}, {seconds:.0f} s; Ctrl-C stops"
        print(f"\r\x1b[2K{text}" if is_terminal else text, end="\r" if is_terminal else "\n", file=stream, flush=True)
        shown, wait = True, WAITING_SECONDS if is_terminal else 2 * seconds
    if shown and is_terminal:
        print("\x1b[2K", end="", file=stream, flush=True)
