"""Reads what workers write about runs: one connection for the streams of all runs that this process waits for."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from server.pool.remote.broker import Broker, BrokerError
from server.pool.remote.messages import stream_key

READ_TIMEOUT = 1.0
"""Seconds for which a command waits for an entry."""

RECONNECT_INTERVAL = 0.2
"""Seconds between two attempts to reach the broker."""

MAX_ENTRIES = 16
"""Entries of a stream that come with one answer."""

Entry = dict[bytes, bytes]

log = logging.getLogger("gradbox.pool")


class Inbox:
    """broker: its commands may block for `BLOCK` seconds. wake_stream: the stream to which an entry is added to have it
    read more.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.wake_stream = f"gradbox:wake:{secrets.token_hex(8)}"
        self._last_ids: dict[str, str | bytes] = {self.wake_stream: "0"}  # the id of the last entry read, by stream
        self._handlers: dict[str, Callable[[Entry], None]] = {}
        self.closed = False  # a client that is cancelled at the wrong moment swallows that
        self.connected_since: float | None = None  # as `time.monotonic`; None while the broker does not answer

    def add(self, run: str, handle: Callable[[Entry], None]) -> None:
        """Call this with each entry of a run's stream, from its first. Takes effect when an entry comes to
        `wake_stream`.
        """
        self._last_ids[stream_key(run)] = "0"
        self._handlers[stream_key(run)] = handle

    def remove(self, run: str) -> None:
        """Read it no more."""
        self._last_ids.pop(stream_key(run), None)
        self._handlers.pop(stream_key(run), None)

    async def read_rest(self, run: str) -> None:
        """Handle what its stream has now. Raises BrokerError."""
        key = stream_key(run)
        if key in self._last_ids:
            self._handle_entries(await self._broker.xread({key: self._last_ids[key]}))

    async def read_forever(self) -> None:
        """Until it is closed; where the broker goes away, until it is back."""
        while not self.closed:
            try:
                entries_by_stream: Any = await self._broker.xread(
                    self._last_ids, count=MAX_ENTRIES, block=int(READ_TIMEOUT * 1000)
                )
                if self.connected_since is None:
                    self.connected_since = time.monotonic()
                self._handle_entries(entries_by_stream)
            except BrokerError as error:
                if self.connected_since is not None:
                    log.error("the broker does not answer: %s", type(error).__name__)
                self.connected_since = None
                await asyncio.sleep(RECONNECT_INTERVAL)
            except Exception:  # of a value that is none of ours
                log.exception("the streams of runs could not be read")
                await asyncio.sleep(RECONNECT_INTERVAL)

    def _handle_entries(self, entries_by_stream: Any) -> None:
        for key, entries in entries_by_stream.items() if isinstance(entries_by_stream, dict) else entries_by_stream:
            name = key.decode()
            for id_, fields in entries[0] if isinstance(entries_by_stream, dict) else entries:
                handler = self._handlers.get(name)
                if name in self._last_ids:
                    self._last_ids[name] = id_
                if handler is not None:
                    try:
                        handler(fields)
                    except Exception:  # of one run; the others are read on
                        log.exception("an entry of a run's stream could not be handled")
