"""The middleware of private mode: it serves nobody whom the authenticator does not let in."""

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from server.errors import problem_response
from server.http.security import App, Message, Receive, Send
from server.templating import render
from server.visitors.authenticator import Authenticator
from server.visitors.rate_limits import RateLimited
from server.wire.problems import ProblemError

PUBLIC_PATHS = ("/healthz", "/readyz")
SIGN_IN_ASSETS = ("/static/dist/style.css", "/static/dist/sign_in.js")
"""All that the page which asks for the password needs."""

PUBLIC_ASSETS = "/static/dist/chunks/"
"""Parts of the page's script that it fetches when they are needed: also when its session is over, to say so."""

SESSION_PATH = "/session"
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="gradbox"'}
"""None that makes a browser ask in a window of its own."""


def _is_public(path: str) -> bool:
    return path in PUBLIC_PATHS or path in SIGN_IN_ASSETS or path.startswith(PUBLIC_ASSETS)


class AuthenticationMiddleware:
    """Answers in the application's place where the authenticator lets a request not in."""

    def __init__(self, app: App, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope["root_path"]) if scope["type"] == "http" else ""
        if scope["type"] != "http" or _is_public(path):
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
        """Why the request is not served; None where it is."""
        if not self._authenticator.address_allowed(scope):
            return ProblemError(403, "wrong_address", "this server accepts requests from certain addresses only")
        try:
            if path == SESSION_PATH or await self._authenticator.is_authenticated(scope):
                return None
        except RateLimited as error:
            return error
        message = "this server requires a password: sign in, or send it in an Authorization header (Bearer or Basic)"
        return ProblemError(401, "no_password", message, headers=CHALLENGE)


def sign_in_page(scope: Scope, problem: ProblemError) -> Response | None:
    """The page that asks for the password, or says that the address is not allowed; None where no browser navigates."""
    headers = Headers(scope=scope)
    if scope["method"] != "GET" or "text/html" not in headers.get("accept", "") or "hx-request" in headers:
        return None
    if isinstance(problem, RateLimited):
        return None
    response = render(Request(scope), "sign_in.html", away=problem.status == 403)
    response.status_code = problem.status
    response.headers.update(problem.headers)
    return response
