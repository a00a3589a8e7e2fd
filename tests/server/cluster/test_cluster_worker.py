"""What stands between Celery and a worker's runs."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from celery.signals import worker_ready

from server.cluster import worker as cluster_worker
from server.pool.remote.broker import TASK_NAME, create_celery_app
from server.settings import Settings
from tests.support.waiting import PATIENCE


def test_celery_looks_for_messages_as_soon_as_a_thread_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """While all had work it asked for none, and by itself it looks once a second. A run whose broker is gone frees one,
    too."""
    looked = threading.Event()
    consumer = type("Consumer", (), {"hub": SimpleNamespace(call_soon=lambda _: looked.set())})
    app = create_celery_app("redis://127.0.0.1:1/0")
    results = iter([None, ConnectionError()])
    told: list[bool] = []

    async def run_waiting_programs() -> None:
        error = next(results)
        if error is not None:
            raise error

    def work(_: list[str]) -> None:
        worker_ready.send(sender=consumer)
        app.tasks[TASK_NAME]()
        told.append(looked.wait(PATIENCE))
        looked.clear()
        with pytest.raises(ConnectionError):
            app.tasks[TASK_NAME]()
        told.append(looked.wait(PATIENCE))

    monkeypatch.setattr(cluster_worker, "create_celery_app", lambda _: app)
    monkeypatch.setattr(app, "worker_main", work)
    monkeypatch.setattr(cluster_worker, "THREAD_EXIT_SECONDS", (0.0,))
    worker: Any = SimpleNamespace(run_waiting_programs=run_waiting_programs, capacity=1, queue="cpu", name="cpu-1")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        cluster_worker.consume_messages(
            Settings({}), worker, loop, lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result(30)
        )
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    assert told == [True, True]
