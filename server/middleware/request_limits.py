"""The middleware that limits the rate of requests, of whatever kind: each has the processor for some milliseconds."""

from collections.abc import MutableMapping
from typing import Any

from server.errors import problem_response
from server.http.security import App, Receive, Send
from server.pool.fair_queue import Client
from server.visitors.clients import Network, client_address
from server.visitors.rate_limits import RateLimited, RequestLimiter

FREE_PATHS = ("/healthz", "/readyz")
FREE_FOLDER = "/static/dist/"
"""The files of the page, which a browser asks for together with it."""


class RequestRateMiddleware:
    """Answers 429 in the application's place. proxies: whose X-Forwarded-For is believed."""

    def __init__(self, app: App, limits: RequestLimiter, proxies: tuple[Network, ...]) -> None:
        self._app, self._limits, self._proxies = app, limits, proxies

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope["root_path"]) if scope["type"] == "http" else FREE_PATHS[0]
        if path not in FREE_PATHS and not path.startswith(FREE_FOLDER):
            address = client_address(scope, self._proxies)
            try:
                self._limits.hit(Client(address, address))
            except RateLimited as error:
                response = problem_response(error)
                response.headers["Connection"] = "close"  # the next request then costs its sender a connection
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
