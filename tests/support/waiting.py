"""How tests wait: until something holds, for as long as a slow and busy machine may need. No test asserts how long it
took."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")

PATIENCE = 180.0
"""Seconds after which what a test waits for never comes."""

PATIENT: dict[str, Any] = {"wall": 10 * PATIENCE, "cpu": 60, "boot": PATIENCE}
"""Limits of runs in a test that is not about their clocks. The wall clock ends none while a test waits for something
else."""

PAUSE = 0.02
"""Seconds between two looks."""


def wait_until(condition: Callable[[], Value], seen: Callable[[], object] = lambda: "", page: Any = None) -> Value:
    """What it returns once that is true. Raises AssertionError.

    seen: what to show where it never is
    page: a page that goes on meanwhile
    """
    last = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < last, f"it never holds: {seen()}"
        if page is not None:
            page.wait_for_timeout(1000 * PAUSE)
        else:
            time.sleep(PAUSE)
    return value


async def eventually(condition: Callable[[], object], seen: Callable[[], object] = lambda: "") -> None:
    """The same in an event loop, which goes on meanwhile."""
    last = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < last, f"it never holds: {seen()}"
        await asyncio.sleep(PAUSE)


def wait_for_answer(url: str) -> bytes:
    """The body that it answers with, once it does so with status 200."""
    import urllib.error  # which those who only wait do without
    import urllib.request

    def ask() -> list[bytes]:
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as response:
                return [response.read()]
        except urllib.error.HTTPError as not_yet:
            not_yet.close()
        except OSError:
            pass  # it does not listen yet
        return []

    return wait_until(ask, lambda: url)[0]
