"""Middleware between a request and its route: authentication, request limits, metrics."""

import posixpath
import time
from collections.abc import MutableMapping
from typing import Any

from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import problem_response
from server.operating.metrics import Metrics
from server.templating import render_visitor_page
from server.visitors.authenticator import Authenticator
from server.visitors.clients import Client, Network, client_address
from server.visitors.rate_limits import RateLimited, RequestLimiter
from server.wire.problems import ProblemError

PUBLIC_PATHS = ("/healthz", "/readyz")
SIGN_IN_ASSETS = ("/static/dist/style.css", "/static/dist/sign_in.js")
"""All files that the sign-in page needs."""

PUBLIC_ASSETS = "/static/dist/chunks/"
"""Chunks that the page's script loads on demand, also to say that its session is over."""

SESSION_PATH = "/session"
BASIC_AUTH_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="gradbox"'}
"""A scheme for which browsers do not open their own password dialog."""


def served_path(scope: Scope) -> str:
    """Return the path that the application serves: without a proxy's prefix, and with dots resolved as for files."""
    path = scope["path"].removeprefix(scope["root_path"])
    return posixpath.normpath(path) + "/" * path.endswith("/") if path else ""


def _is_public_path(path: str) -> bool:
    return path in PUBLIC_PATHS or path in SIGN_IN_ASSETS or path.startswith(PUBLIC_ASSETS)


class AuthenticationMiddleware:
    """Answers in place of the application if the authenticator does not admit a request."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = served_path(scope) if scope["type"] == "http" else ""
        if scope["type"] != "http" or _is_public_path(path):
            await self._app(scope, receive, send)
            return
        problem = await self._find_refusal(scope, path)
        if problem is not None:
            response = sign_in_page(scope, problem) or problem_response(problem)
            response.headers["Cache-Control"] = "no-store"
            await response(scope, receive, send)
            return

        async def send_private(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                cache_control = headers.get("cache-control", "public")
                headers["cache-control"] = "private, no-cache" if "public" in cache_control else cache_control
            await send(message)

        scope["state"]["signed_in"] = self._authenticator.has_session(scope)
        await self._app(scope, receive, send_private)

    async def _find_refusal(self, scope: Scope, path: str) -> ProblemError | None:
        """Return why the request is refused, or None."""
        if not self._authenticator.is_address_allowed(scope):
            return ProblemError(403, "wrong_address", "this server accepts requests from certain addresses only")
        try:
            if path == SESSION_PATH or await self._authenticator.is_authenticated(scope):
                return None
        except RateLimited as error:
            return error
        message = "this server requires a password: sign in, or send it in an Authorization header (Bearer or Basic)"
        return ProblemError(401, "no_password", message, headers=BASIC_AUTH_CHALLENGE)


def sign_in_page(scope: Scope, problem: ProblemError) -> Response | None:
    """Return the page that asks for the password or says that the address is not allowed; None unless a browser
    navigates."""
    headers = Headers(scope=scope)
    if scope["method"] != "GET" or "text/html" not in headers.get("accept", "") or "hx-request" in headers:
        return None
    if isinstance(problem, RateLimited):
        return None
    response = render_visitor_page(Request(scope), "sign_in.html", away=problem.status == 403)
    response.status_code = problem.status
    response.headers.update(problem.headers)
    return response


UNLIMITED_PATHS = ("/healthz", "/readyz")
UNLIMITED_FOLDER = "/static/dist/"
"""The page's own files, which a browser requests along with it."""


class RequestRateMiddleware:
    """Answers 429 in place of the application if an address sends too many requests.

    proxies: networks whose X-Forwarded-For is trusted
    """

    def __init__(self, app: ASGIApp, limits: RequestLimiter, proxies: tuple[Network, ...]) -> None:
        self._app, self._limits, self._proxies = app, limits, proxies

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = served_path(scope) if scope["type"] == "http" else UNLIMITED_PATHS[0]
        if path not in UNLIMITED_PATHS and not path.startswith(UNLIMITED_FOLDER):
            address = client_address(scope, self._proxies)
            try:
                self._limits.count_request(Client(address, address))
            except RateLimited as error:
                response = problem_response(error)
                response.headers["Connection"] = "close"  # so the sender needs a new connection for the next request
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpMetricsMiddleware:
    """Counts requests and their durations. It is the outermost middleware, so that it sees requests which others
    answer. A stream of events is timed until it begins."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else "other"
        began, answered = time.perf_counter(), False

        def observe(status: str) -> None:
            self._metrics.count_answered_request(method, route_template(scope), status, time.perf_counter() - began)

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
    """Return the template of the route that matched a request, like `/s/{id}`, or `none`."""
    if isinstance(scope.get("endpoint"), StaticFiles):
        return "/static/dist"
    return str(getattr(scope.get("route"), "path", "") or "none")
