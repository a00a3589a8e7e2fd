"""Private mode: nobody is served who does not come from the right address, or does not know the password."""

import base64
import binascii
import hmac
import math
import os
import re
import time
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from server.clients import client_address, is_https, is_within, parse_networks, sign
from server.errors import reply
from server.pool.fair_queue import Client
from server.rate_limits import RateLimited, RateLimiter
from server.security import App, Message, Receive, Send
from server.settings import Settings
from server.templating import render
from server.wire.api import Problem

SESSION_COOKIE = "gradbox_session"
SESSION_AGE = 30 * 24 * 3600

PUBLIC_PATHS = ("/healthz", "/readyz")
SIGN_IN_ASSETS = ("/static/dist/style.css", "/static/dist/sign_in.js")
"""All that the page which asks for the password needs."""

SESSION_PATH = "/session"

_COOKIE_VALUE = re.compile(r"([1-9]\d{9})\.[A-Za-z0-9_-]{43}")

WRONG_ADDRESS = Problem(code="wrong_address", message="this server is open to some addresses only")
NO_PASSWORD = Problem(
    code="no_password", message="this server asks for its password: sign in, or send it as Bearer or Basic"
)


class Authenticator:
    """Knows who may come in. A session is a signed time; another password, or another secret, is the end of all."""

    def __init__(self, settings: Settings, secret: bytes) -> None:
        self._password = os.fsencode(settings.password)
        self._addresses = parse_networks(settings.addresses, "ADDRESSES")
        self._proxies = parse_networks(settings.trusted_proxies)
        self._key = hmac.digest(secret, b"session " + self._password, "sha256")
        limit = settings.password_limit
        self._attempts = RateLimiter(limit, limit, what="sign-in", names=("PASSWORD_LIMIT", "PASSWORD_LIMIT"))

    @property
    def enabled(self) -> bool:
        """Whether there is anybody that it keeps out."""
        return bool(self._password or self._addresses)

    def address_allowed(self, scope: Scope) -> bool:
        """Whether one may come from there."""
        return not self._addresses or is_within(scope, self._proxies, self._addresses)

    def has_session(self, scope: Scope) -> bool:
        """Whether a session was begun here that has not ended."""
        for header in Headers(scope=scope).getlist("cookie"):
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                match = _COOKIE_VALUE.fullmatch(value) if name == SESSION_COOKIE else None
                if match is not None and hmac.compare_digest(sign(match[1], self._key), value):
                    return time.time() < int(match[1]) + SESSION_AGE
        return False

    def is_authenticated(self, scope: Scope) -> bool:
        """Whether one has said the password, now or in this session. Raises Limited."""
        if not self._password or self.has_session(scope):
            return True
        said = password_from_header(Headers(scope=scope).get("authorization", ""))
        return said is not None and self.check_password(said, scope)

    def check_password(self, password: bytes, scope: Scope) -> bool:
        """Whether it is the password. Raises Limited, whatever was said, after too many wrong ones."""
        place = client_address(scope, self._proxies)
        client = Client(place, place)
        self._attempts.check(client)
        ours, theirs = (hmac.digest(self._key, one, "sha256") for one in (self._password, password))
        if hmac.compare_digest(ours, theirs):
            return True
        self._attempts.hit(client)
        scope["app"].state.metrics.wrong_password()
        return False

    def session_cookie(self, scope: Scope, ends: bool = False) -> str:
        """The Set-Cookie that begins a session, or ends it."""
        value, age = ("", 0) if ends else (sign(str(int(time.time())), self._key), SESSION_AGE)
        secure = "; Secure" if is_https(scope, self._proxies) else ""
        return (
            f"{SESSION_COOKIE}={value}; Path={scope['root_path'] or '/'}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
        )


class AuthenticationMiddleware:
    """The layer that asks the door."""

    def __init__(self, app: App, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope["root_path"]) if scope["type"] == "http" else ""
        if scope["type"] != "http" or path in PUBLIC_PATHS or path in SIGN_IN_ASSETS:
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope, path)
        if refused is not None:
            await refused(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                told = headers.get("cache-control", "public")
                headers["cache-control"] = "private, no-cache" if "public" in told else told
            await send(message)

        scope["state"]["signed_in"] = self._authenticator.has_session(scope)
        await self._app(scope, receive, guarded)

    def _refused(self, scope: Scope, path: str) -> Response | None:
        headers = {"Cache-Control": "no-store"}
        if not self._authenticator.address_allowed(scope):
            return sign_in_page(scope, 403) or reply(403, WRONG_ADDRESS, headers)
        try:
            if path == SESSION_PATH or self._authenticator.is_authenticated(scope):
                return None
        except RateLimited as error:
            problem = Problem(code="limited", message=str(error), retry_after=error.retry_after)
            return reply(429, problem, {**headers, "Retry-After": str(max(1, math.ceil(error.retry_after)))})
        # no challenge that makes a browser ask in a window of its own
        return sign_in_page(scope, 401) or reply(
            401, NO_PASSWORD, {**headers, "WWW-Authenticate": 'Bearer realm="gradbox"'}
        )


def sign_in_page(scope: Scope, status: int) -> Response | None:
    """The page, at the address that was asked for, where somebody reads it."""
    headers = Headers(scope=scope)
    if scope["method"] != "GET" or "text/html" not in headers.get("accept", "") or "hx-request" in headers:
        return None
    answer = render(Request(scope), "sign_in.html", away=status == 403)
    answer.status_code = status
    answer.headers["Cache-Control"] = "no-store"
    if status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="gradbox"'
    return answer


def password_from_header(header: str) -> bytes | None:
    """The password of an Authorization header; with Basic, whoever it is that says it."""
    scheme, _, said = header.partition(" ")
    if scheme.lower() == "bearer":
        return said.strip().encode("latin-1")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(said.strip(), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return None
