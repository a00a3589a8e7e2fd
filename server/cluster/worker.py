"""`python -m server worker`: Celery takes the messages of one queue, and the children of this machine run the
programs."""

import asyncio
import logging
import sys
import threading
from pathlib import Path
from typing import Any, Literal

from celery.signals import worker_ready, worker_shutting_down

from server.operating import log, settings_checks
from server.pool.remote.broker import TASK_NAME, BrokerError, create_celery_app
from server.pool.remote.worker import RemoteWorker
from server.pool.zygote import PREPARE_FUNCTION, WorkersUnavailable
from server.settings import SettingError, Settings
from server.store.database import Database
from server.store.run_lines import RunLinesStore

CLOSING_SECONDS = 20.0
"""Seconds for the children to end."""

THREAD_EXIT_SECONDS = (0.005, 0.05)
"""Seconds after a run in which its thread becomes free."""


def run_worker(settings: Settings, queue: Literal["cpu", "gpu"], prepare: str = PREPARE_FUNCTION) -> int:
    """Work until SIGTERM, which lets running programs end and takes no new ones. Returns the exit status. Raises
    SettingError."""
    settings_checks.check_settings(settings, worker=True)
    if not settings.queue_url:
        raise SettingError("a worker needs GRADBOX_QUEUE_URL, the Redis that the web processes use too")
    log.configure_logging()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="runs", daemon=True).start()

    def run_in_event_loop(work: Any, timeout: float | None = None) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(timeout)

    worker, database = run_in_event_loop(create_worker(settings, queue, prepare))
    try:
        run_in_event_loop(worker.start())
    except (WorkersUnavailable, *BrokerError) as error:
        print(f"this worker can't start: {error}", file=sys.stderr)
        run_in_event_loop(close_worker(worker, database), CLOSING_SECONDS)
        return 1
    print(f"Gradbox worker {worker.name}: {worker.capacity} programs at once (SIGTERM ends it)", flush=True)
    try:
        consume_messages(settings, worker, loop, run_in_event_loop)
    finally:
        run_in_event_loop(close_worker(worker, database), CLOSING_SECONDS)
    return 0


async def create_worker(
    settings: Settings, queue: Literal["cpu", "gpu"], prepare: str
) -> tuple[RemoteWorker, Database]:
    """The worker and its database, made in the event loop that they are used in."""
    database = Database(settings.database_url, Path(settings.data))
    database.require_database_not_emptied()
    return RemoteWorker(settings, queue, RunLinesStore(database), prepare), database


async def close_worker(worker: RemoteWorker, database: Database) -> None:
    """End both."""
    await worker.close()
    await database.close()


def consume_messages(settings: Settings, worker: RemoteWorker, loop: asyncio.AbstractEventLoop, wait_for: Any) -> None:
    """Have Celery call the worker for each message, in as many threads as it runs programs at once, until it is ended.

    loop: that of the worker
    """
    app = create_celery_app(settings.queue_url)
    consumers: list[Any] = []  # the one of Celery

    def wake_consumer() -> None:
        for consumer in consumers:
            consumer.hub.call_soon(lambda: None)

    @app.task(name=TASK_NAME, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]
    def run_waiting_programs() -> None:
        try:
            wait_for(worker.run_waiting_programs())
        finally:
            # while all threads had work Celery asked for no message; by itself it would look up to a second later
            for seconds in THREAD_EXIT_SECONDS:
                loop.call_soon_threadsafe(loop.call_later, seconds, wake_consumer)

    def remember_consumer(sender: Any, **_: Any) -> None:
        consumers[:] = [sender]

    def drain_consumer(**_: Any) -> None:
        worker.draining = True

    worker_ready.connect(remember_consumer, weak=False)
    worker_shutting_down.connect(drain_consumer, weak=False)
    logging.getLogger("celery").setLevel(logging.WARNING)
    threads = ["--pool=threads", f"--concurrency={worker.capacity}", f"--queues={worker.queue}", "--disable-prefetch"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
    try:
        app.worker_main(["--quiet", "worker", *threads, *quiet, f"--hostname={worker.name}@%h"])
    except SystemExit:
        return
    finally:
        worker_ready.disconnect(remember_consumer)
        worker_shutting_down.disconnect(drain_consumer)
