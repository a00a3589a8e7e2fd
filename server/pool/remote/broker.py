"""Connections to the broker, a Redis server: for the queue's own commands, for blocking reads, and for Celery, whose
messages make workers look into the queue."""

import json
import uuid
from typing import Any

from celery import Celery
from kombu.entity import Queue
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import RedisError

QUEUE_OF_DEVICE = {"cpu": "cpu", "cuda": "gpu"}
"""The queue of each device that a program may ask for."""

TASK_NAME = "gradbox.run_next"
"""The task that makes a worker run the next program of the queue. Its message names no program: see `scripts.TAKE`."""

TIMEOUT = 3.0
"""Seconds for an answer of the broker."""

Broker = Any
"""A redis-py client. Its type hints say bytes or text; here all answers are bytes."""

BrokerError = (RedisError, OSError)
"""Raised when the broker does not answer or answers with an error."""


def create_broker_connections(url: str, block_seconds: float = 0.0) -> Broker:
    """Create a pool of connections. It connects at the first command.

    block_seconds: seconds for which a command may block
    """
    return Redis.from_url(
        url,
        socket_connect_timeout=TIMEOUT,
        socket_timeout=TIMEOUT + block_seconds,
        socket_keepalive=True,
        retry=Retry(ConstantBackoff(0.05), 1),
    )


async def close_broker_connections(broker: Broker) -> None:
    """Close all connections of a pool, including those in which a command was cancelled."""
    await broker.aclose()
    await broker.connection_pool.disconnect(inuse_connections=True)


def create_celery_app(url: str) -> Any:
    """Create the Celery application with both queues. Messages are JSON, because unpickling one would run code
    from it."""
    app = Celery("gradbox", broker=url, set_as_current=False)
    if url.startswith("redis"):
        app.conf.broker_transport = "server.pool.remote.celery_transport:TolerantTransport"
    app.conf.update(
        task_queues=[Queue(name) for name in QUEUE_OF_DEVICE.values()],  # type: ignore[no-untyped-call]
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=False,  # a program that killed its machine is not given to the next
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=TIMEOUT,
        broker_transport_options={
            "global_keyprefix": "gradbox:celery:",
            "socket_timeout": 10.0,
            "socket_connect_timeout": TIMEOUT,
            "socket_keepalive": True,
            "health_check_interval": 5,
            "visibility_timeout": 3600,
        },
    )
    return app


def celery_list_key(queue: str) -> str:
    """The Redis key of a queue's list of messages."""
    return f"gradbox:celery:{queue}"


_MEMORY_BROKER_URL = "memory://localhost"


class CeleryWakeUpMessages:
    """Celery's messages, which only say that a program waits. One too many finds nothing and does no harm; the census
    makes up for one too few.

    Celery's client writes one message for each queue in memory; copies of it with fresh ids are sent. The script that
    puts a program into the queue also sends the message: Celery's client would take 2 ms more.
    """

    def __init__(self) -> None:
        app = create_celery_app(_MEMORY_BROKER_URL)
        app.conf.broker_transport_options = {}
        self._templates = {queue: _celery_message_template(app, queue) for queue in QUEUE_OF_DEVICE.values()}
        app.close()

    def create_message(self, queue: str) -> bytes:
        """A message to the workers of a queue, in the form that it has in the queue's list in Redis."""
        text, ids = self._templates[queue]
        for known in ids:
            text = text.replace(known, str(uuid.uuid4()))
        return text.encode()


def _celery_message_template(app: Any, queue: str) -> tuple[str, tuple[str, str]]:
    """A message written by Celery, and the two ids in it: of the task and of the delivery."""
    app.send_task(TASK_NAME, queue=queue, ignore_result=True)
    with app.connection_for_write() as connection:
        message = connection.default_channel.queues[queue].get(block=False)
    ids = (message["headers"]["id"], message["properties"]["delivery_tag"])
    return json.dumps(message), ids
