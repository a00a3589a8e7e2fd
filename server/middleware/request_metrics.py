"""The middleware that measures how long requests wait for their answers to begin, by route and by class of status."""

import time
from collections.abc import MutableMapping
from typing import Any

from fastapi.staticfiles import StaticFiles

from server.http.security import App, Message, Receive, Send
from server.operating.metrics import Metrics

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpMetricsMiddleware:
    """Outermost, so that requests count that another middleware answers. A stream of events counts until it begins."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "other"
        began, answered = time.perf_counter(), False

        def observe(status: str) -> None:
            self._metrics.request_answered(method, route_template(scope), status, time.perf_counter() - began)

        async def send_observed(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start" and not answered:
                answered = True
                observe(f"{message['status'] // 100}xx")
            await send(message)

        try:
            await self._app(scope, receive, send_observed)
        finally:
            if not answered:
                observe("none")


def route_template(scope: MutableMapping[str, Any]) -> str:
    """The template of the route that a request was given to, like `/s/{id}`; `none` where no route took it."""
    if isinstance(scope.get("endpoint"), StaticFiles):
        return "/static/dist"
    return str(getattr(scope.get("route"), "path", "") or "none")
