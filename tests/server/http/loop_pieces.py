"""How long one piece of work keeps the event loop: the processor time between two of its callbacks, whatever asked for
it.

`install` measures those of this process and writes each that takes long to the file that LOOP_PIECES names, a line of
JSON; and how long the loop waited for Python's lock while another thread of the process had it. Processor time, for a
machine that others use has the loop wait as well; and beside it how long a fixed piece of work takes there at that
moment, for the processor may be a slow one, or share its caches with others. `python -m tests.server.http.loop_pieces
serve …` is `python -m server serve …`, measured.
"""

import asyncio
import gc
import json
import os
import sys
import time
from asyncio import base_events, selector_events
from collections.abc import Callable
from contextvars import Context, ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from server.__main__ import main
from server.middleware import HttpMetricsMiddleware
from tests.server.http.processor_time import slowness

VARIABLE = "LOOP_PIECES"
LONG_SECONDS = 0.005
"""Seconds from which on a piece is written down: more has no place in the event loop."""

MAX_SECONDS = 0.020
"""Seconds that none may take."""

BEAT_SECONDS = 0.02
"""Seconds between two looks at whether the loop waits for Python's lock."""

LOCK_WAIT = "waiting for Python's lock"
"""In place of the function's name: what it says of a wait."""

current_request: ContextVar[str] = ContextVar("current_request", default="")


@dataclass(frozen=True)
class LoopPiece:
    """seconds: of the processor
    request: that it was done for, "" for none
    work: the function
    collecting: seconds of it in which Python's garbage collector looked for circles
    slowness: as `tests.server.http.processor_time` has it
    """

    seconds: float
    request: str
    work: str
    collecting: float = 0.0
    slowness: float = 1.0

    @property
    def own_seconds(self) -> float:
        """Seconds of the work itself. A pass of the collector falls on whoever makes the next object."""
        return self.seconds - self.collecting

    @property
    def compared_seconds(self) -> float:
        """Seconds that the work itself would take on a machine for which the bounds were chosen."""
        return self.own_seconds / self.slowness

    def __str__(self) -> str:
        collecting = f", {self.collecting * 1000:.0f} of them in the garbage collector" if self.collecting else ""
        slow = f", where all takes {self.slowness:.1f} times as long" if self.slowness > 1 else ""
        return f"{self.seconds * 1000:.0f} ms in {self.work} for {self.request or 'no request'}{collecting}{slow}"


class CollectorTime:
    """Seconds of this thread's processor time that the garbage collector has taken."""

    def __init__(self) -> None:
        self.seconds = self._began = 0.0

    def note(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.thread_time()
        else:
            self.seconds += time.thread_time() - self._began


collector = CollectorTime()


class MeasuredCallback:
    """A callback of the event loop, which notes how long it took."""

    def __init__(self, callback: Callable[..., Any], context: Context | None) -> None:
        self._callback, self._context = callback, context

    def __call__(self, *arguments: Any) -> None:
        began, collected = time.thread_time(), collector.seconds
        try:
            self._callback(*arguments)
        finally:
            seconds = time.thread_time() - began
            if seconds > LONG_SECONDS:
                request = self._context.get(current_request, "") if self._context is not None else ""
                write_piece(
                    LoopPiece(
                        seconds,
                        request or current_request.get(),
                        describe(self._callback),
                        collector.seconds - collected,
                        slowness(),
                    )
                )

    def __repr__(self) -> str:
        return repr(self._callback)


class LockWaits:
    """Notes how long the loop waits for Python's lock: how much later a callback comes than it was to, but no longer
    than other threads of the process have computed meanwhile, for on a busy machine the loop waits for a processor,
    too."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._schedule()

    def _schedule(self) -> None:
        self._due, self._own, self._all = time.monotonic() + BEAT_SECONDS, time.thread_time(), time.process_time()
        self._loop.call_later(BEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        own = time.thread_time() - self._own
        waited = min(time.monotonic() - self._due, time.process_time() - self._all) - own
        if waited > LONG_SECONDS:
            write_piece(LoopPiece(waited, "", LOCK_WAIT, slowness=slowness()))
        self._schedule()


def describe(callback: Callable[..., Any]) -> str:
    """The function that a callback runs; of a task, its coroutine's."""
    while isinstance(callback, partial):
        callback = callback.func
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return str(getattr(owner.get_coro(), "__qualname__", owner))
    return str(getattr(callback, "__qualname__", callback))


def write_piece(piece: LoopPiece) -> None:
    line = json.dumps([piece.seconds, piece.request, piece.work, piece.collecting, piece.slowness]).encode() + b"\n"
    descriptor = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def read_pieces(path: Path, lock_waits: bool = False) -> list[LoopPiece]:
    """Those that were written, the longest work first; or the waits for Python's lock."""
    lines = path.read_text().splitlines() if path.exists() else []
    pieces = (LoopPiece(*json.loads(line)) for line in lines)
    found = [piece for piece in pieces if (piece.work == LOCK_WAIT) == lock_waits]
    return sorted(found, key=lambda piece: -piece.own_seconds)


def install() -> None:
    """Measure every callback of the event loops of this process, where LOOP_PIECES is set."""
    if not os.environ.get(VARIABLE):
        return
    for kind, name in ((base_events.BaseEventLoop, "call_soon"), (base_events.BaseEventLoop, "call_soon_threadsafe")):
        setattr(kind, name, measuring(getattr(kind, name), 0))
    setattr(base_events.BaseEventLoop, "call_at", measuring(base_events.BaseEventLoop.call_at, 1))  # noqa: B010
    for name in ("_add_reader", "_add_writer"):
        setattr(
            selector_events.BaseSelectorEventLoop,
            name,
            measuring(getattr(selector_events.BaseSelectorEventLoop, name), 1),
        )
    gc.callbacks.append(collector.note)
    run_forever = base_events.BaseEventLoop.run_forever

    def run_and_look(self: base_events.BaseEventLoop) -> None:
        self.call_soon(lambda: LockWaits(self))
        run_forever(self)

    base_events.BaseEventLoop.run_forever = run_and_look
    serve = HttpMetricsMiddleware.__call__

    async def serve_noted(self: HttpMetricsMiddleware, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            current_request.set(f"{scope['method']} {scope['path'][:60]}")
        await serve(self, scope, receive, send)

    HttpMetricsMiddleware.__call__ = serve_noted


def measuring(schedule: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The method of a loop that takes a callback at this place, with a measured one in its place."""

    def schedule_measured(self: Any, *arguments: Any, context: Context | None = None) -> Any:
        before, callback, after = arguments[:place], arguments[place], arguments[place + 1 :]
        if not isinstance(callback, MeasuredCallback):  # one method calls another
            callback = MeasuredCallback(callback, context)
        more = {} if context is None else {"context": context}
        return schedule(self, *before, callback, *after, **more)

    return schedule_measured


if __name__ == "__main__":
    install()
    sys.exit(main(sys.argv[1:]))
