"""Sends the messages that have workers look into the queue."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from server.pool.remote.broker import TASK, BrokerError, celery_app

MAX_UNSENT = 100
"""Messages that wait for the broker; of more than a queue's workers, all but the first find nothing."""

log = logging.getLogger("gradbox.pool")


class Tokens:
    """Celery's messages, which say no more than that a program waits. One too many finds nothing and does no harm; one too
    few is made up for by the census. They are sent in a thread: Celery's client blocks.
    """

    def __init__(self, url: str) -> None:
        self._app = celery_app(url)
        self._thread = ThreadPoolExecutor(1, "tokens")
        self._unsent = 0

    def send(self, queue: str, count: int = 1) -> None:
        """Have so many workers of a queue look. Does not wait for the broker."""
        if self._unsent < MAX_UNSENT:
            self._unsent += 1
            sending = asyncio.get_running_loop().run_in_executor(self._thread, self._send, queue, count)
            sending.add_done_callback(self._sent)

    def _send(self, queue: str, count: int) -> None:
        for _ in range(count):
            self._app.send_task(TASK, queue=queue, ignore_result=True, retry=False, expires=600)

    def _sent(self, sending: "asyncio.Future[None]") -> None:
        self._unsent -= 1
        error = None if sending.cancelled() else sending.exception()
        if error is not None and not isinstance(error, BrokerError):
            log.warning("a worker could not be told that a program waits: %s", type(error).__name__)

    async def close(self) -> None:
        """Send nothing more."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        self._app.close()
