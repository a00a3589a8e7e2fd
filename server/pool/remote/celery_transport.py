"""Celery's connection to Redis, for which a message says no more than that a program waits, whatever else is in it.

Celery would end with the first message that is no JSON, and take no more after others of a wrong shape. So a message is
read here: one that names our task is replaced by one of our own, and others are set aside. Kombu has no public place
for this: what is extended here is not documented, and `tests/server/cluster/test_cluster_worker.py` fails where a
version of kombu has it no more.
"""

import json
import logging
from functools import cache
from typing import Any

from kombu.transport import redis

from server.pool.remote.broker import QUEUE_OF_DEVICE, TASK_NAME, BrokerError, CeleryTokens
from server.rare_log import RareLog

rare_log = RareLog(logging.getLogger("gradbox.worker"))


def set_message_aside() -> None:
    """It is out of its list already."""
    rare_log.error("a message in the queue is not valid and is set aside; who else writes to this Redis?")


def names_our_task(message: Any) -> bool:
    """Whether a message, read as JSON, is one that has a worker look into the queue."""
    headers = message.get("headers") if isinstance(message, dict) else None
    return isinstance(headers, dict) and headers.get("task") == TASK_NAME


@cache
def _tokens() -> CeleryTokens:
    return CeleryTokens()


class ForgetfulQoS(redis.QoS):  # type: ignore[misc]
    """Keeps no account of the messages that a worker has taken, and restores none: the census makes up for those that
    are lost.

    Else an acknowledgement that fails once would count as a message at work for ever, and take one program less from
    then on. How many a worker takes is bounded by Celery's count of the requests that it has
    (`worker_disable_prefetch`).
    """

    def can_consume(self) -> bool:
        """Celery asks this after its own count."""
        return True

    def append(self, message: Any, delivery_tag: str) -> None:
        """A message was taken."""

    def ack(self, delivery_tag: str) -> None:
        """A message is done."""

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """A message is not wanted."""

    def restore_visible(self, *_: Any, **__: Any) -> None:
        """What others may have written there is not read."""


class TolerantChannel(redis.Channel):  # type: ignore[misc]
    """Sets messages aside that are no JSON."""

    QoS = ForgetfulQoS

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except (redis.Empty, *BrokerError):
            raise
        except Exception:  # of a text that can't be decoded or parsed, by any of the decoders of kombu
            set_message_aside()
            raise redis.Empty from None


class TolerantTransport(redis.Transport):  # type: ignore[misc]
    """The transport of a worker."""

    Channel = TolerantChannel

    def on_readable(self, fileno: int) -> Any:
        """Read what has come. What is set aside is as if it had not come."""
        try:
            return super().on_readable(fileno)
        except redis.Empty:
            return None

    def _deliver(self, message: Any, queue: str) -> None:
        if not names_our_task(message):
            set_message_aside()
            return
        known = queue if queue in QUEUE_OF_DEVICE.values() else "cpu"
        super()._deliver(json.loads(_tokens().create_message(known)), queue)
