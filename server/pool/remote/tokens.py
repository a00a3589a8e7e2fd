"""The messages that have workers look into the queue, as Celery writes them."""

import json
import uuid
from typing import Any

from server.pool.remote.broker import QUEUE_OF_DEVICE, TASK_NAME, celery_app

_MEMORY_BROKER_URL = "memory://localhost"


class Tokens:
    """Celery's messages, which say no more than that a program waits. One too many finds nothing and does no harm; one too
    few is made up for by the census.

    Celery's client writes one for each queue, in memory; those that are sent are copies with ids of their own. So a message
    goes to the broker within the script that puts its program into the queue: Celery's client would take 2 ms more.
    """

    def __init__(self) -> None:
        app = celery_app(_MEMORY_BROKER_URL)
        app.conf.broker_transport_options = {}
        self._templates = {queue: _message_template(app, queue) for queue in QUEUE_OF_DEVICE.values()}
        app.close()

    def message(self, queue: str) -> bytes:
        """A message to the workers of a queue, as it is in the queue's list in Redis."""
        text, ids = self._templates[queue]
        for known in ids:
            text = text.replace(known, str(uuid.uuid4()))
        return text.encode()


def _message_template(app: Any, queue: str) -> tuple[str, tuple[str, str]]:
    """A message of Celery, and the ids in it: that of the task and that of its delivery."""
    app.send_task(TASK_NAME, queue=queue, ignore_result=True)
    with app.connection_for_write() as connection:
        message = connection.default_channel.queues[queue].get(block=False)
    ids = (message["headers"]["id"], message["properties"]["delivery_tag"])
    return json.dumps(message), ids
