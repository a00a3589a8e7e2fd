"""Logs at most once a minute what others can cause at will."""

import logging
import time
from collections.abc import Callable

INTERVAL = 60.0
"""Seconds between two lines with the same text."""


class ThrottledLog:
    """Writes at most one line a minute for each text, and says how many were left out.

    clock: returns seconds
    """

    def __init__(self, log: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = log, clock
        self._logged_at: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def error(self, text: str, detail: str = "") -> None:
        """Log an error.

        text: one of a few constant texts
        detail: what is different each time
        """
        now = self._clock()
        if now - self._logged_at.get(text, -INTERVAL) < INTERVAL:
            self._left_out[text] = self._left_out.get(text, 0) + 1
            return
        self._logged_at[text] = now
        left_out = self._left_out.pop(text, 0)
        more = f" ({left_out} more since the last line about it)" if left_out else ""
        self._log.error("%s%s%s", text, f": {detail[:300]}" if detail else "", more)
