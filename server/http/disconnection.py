"""Work for a client that may go away before it is done."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from server.wire.problems import ProblemError

T = TypeVar("T")
Disconnected = Callable[[], Coroutine[Any, Any, None]]
"""Returns when the client has closed the connection."""


class ClientGone(ProblemError):
    """The client has disconnected; nobody reads this."""

    def __init__(self) -> None:
        super().__init__(499, "gone", "the client has disconnected")


async def unless_disconnected(work: Coroutine[Any, Any, T], disconnected: Disconnected) -> T:
    """What the work returns. It is cancelled when the client goes; then this raises ClientGone."""
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return await working
    finally:
        watching.cancel()
        working.cancel()
