"""Celery's connection to Redis. Whatever a message contains, it is only taken to say that a program waits.

Celery would end at the first message that is not JSON, and would take no more after others of a wrong shape. Messages
are therefore read here: one that names our task is replaced by our own, and others are set aside. Kombu has no public
hook for this; `tests/server/cluster/test_cluster_worker.py` fails if a version of kombu lacks what is extended here.
"""

import json
import logging
from functools import cache
from typing import Any

from kombu.transport import redis

from server.pool.remote.broker import QUEUE_OF_DEVICE, TASK_NAME, BrokerError, CeleryWakeUpMessages
from server.throttled_log import ThrottledLog

throttled_log = ThrottledLog(logging.getLogger("gradbox.worker"))


def drop_celery_message() -> None:
    """Drop a message. It has been removed from its list already."""
    throttled_log.error("a message in the queue is not valid and is set aside; who else writes to this Redis?")


def is_run_message(message: Any) -> bool:
    """Whether a message, parsed as JSON, makes a worker look into the queue."""
    headers = message.get("headers") if isinstance(message, dict) else None
    return isinstance(headers, dict) and headers.get("task") == TASK_NAME


@cache
def _tokens() -> CeleryWakeUpMessages:
    return CeleryWakeUpMessages()


class StatelessQoS(redis.QoS):  # type: ignore[misc]
    """Keeps no record of the messages that a worker has taken and restores none; the census makes up for lost ones.

    Otherwise a single failed acknowledgement would count as a message in progress for ever, and the worker would run
    one program fewer from then on. Celery's own count of requests limits how many messages a worker takes
    (`worker_disable_prefetch`).
    """

    def can_consume(self) -> bool:
        """Always true; Celery asks this after its own count."""
        return True

    def append(self, message: Any, delivery_tag: str) -> None:
        """Do nothing when a message was taken."""

    def ack(self, delivery_tag: str) -> None:
        """Do nothing when a message is done."""

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Do nothing when a message is rejected."""

    def restore_visible(self, *_: Any, **__: Any) -> None:
        """Do nothing: what others may have written to Redis for this is not read."""


class TolerantChannel(redis.Channel):  # type: ignore[misc]
    """A channel that sets aside messages that are not JSON."""

    QoS = StatelessQoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except (redis.Empty, *BrokerError):
            raise
        except Exception:  # of a text that can't be decoded or parsed, by any of the decoders of kombu
            drop_celery_message()
            raise redis.Empty from None


class TolerantTransport(redis.Transport):  # type: ignore[misc]
    """The transport of a worker."""

    Channel = TolerantChannel

    def on_readable(self, fileno: int) -> Any:
        """Read what has arrived. A message that was set aside counts as not received."""
        try:
            return super().on_readable(fileno)
        except redis.Empty:
            return None

    def _deliver(self, message: Any, queue: str) -> None:
        if not is_run_message(message):
            drop_celery_message()
            return
        known = queue if queue in QUEUE_OF_DEVICE.values() else "cpu"
        super()._deliver(json.loads(_tokens().create_message(known)), queue)
