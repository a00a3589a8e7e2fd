"""Errors that a client gets to see: their base class, and the full queue."""

import math
from collections.abc import Mapping

from gradbox.wire.api import Problem


class ProblemError(Exception):
    """An error with its HTTP response.

    status: the status of the response
    code, message, field, retry_after: as in `wire.api.Problem`; with retry_after (seconds), the response also has a
        Retry-After header
    headers: more headers of the response
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = Problem(code=code, message=message, field=field, retry_after=retry_after)
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(max(1, math.ceil(retry_after)))


class WorkerQueueFull(ProblemError):
    """The queue for workers is full.

    retry_after: seconds after which to try again
    """

    def __init__(self, retry_after: float) -> None:
        message = f"too many programs are waiting; try again in {retry_after:.0f} s"
        super().__init__(429, "busy", message, retry_after=retry_after)
        self.retry_after = retry_after
