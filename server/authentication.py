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

from server.clients import address, encrypted, networks, signed, within
from server.errors import reply
from server.pool.fair_queue import Client
from server.rate_limits import Limited, Rates
from server.security import App, Message, Receive, Send
from server.settings import Settings
from server.templating import render
from server.wire.api import Problem

NAME = "gradbox_session"
MONTH = 30 * 24 * 3600

OPEN = ("/healthz", "/readyz")
ASSETS = ("/static/dist/style.css", "/static/dist/sign_in.js")
"""All that the page which asks for the password needs."""

SESSION = "/session"

_VALUE = re.compile(r"([1-9]\d{9})\.[A-Za-z0-9_-]{43}")

AWAY = Problem(code="wrong_address", message="this server is open to some addresses only")
ASKED = Problem(code="no_password", message="this server asks for its password: sign in, or send it as Bearer or Basic")


class Door:
    """Knows who may come in. A session is a signed time; another password, or another secret, is the end of all."""

    def __init__(self, settings: Settings, secret: bytes) -> None:
        self._password = os.fsencode(settings.password)
        self._addresses = networks(settings.addresses, "ADDRESSES")
        self._proxies = networks(settings.trusted_proxies)
        self._key = hmac.digest(secret, b"session " + self._password, "sha256")
        limit = settings.password_limit
        self._tries = Rates(limit, limit, what="sign-in", names=("PASSWORD_LIMIT", "PASSWORD_LIMIT"))

    @property
    def closed(self) -> bool:
        """Whether there is anybody that it keeps out."""
        return bool(self._password or self._addresses)

    def near(self, scope: Scope) -> bool:
        """Whether one may come from there."""
        return not self._addresses or within(scope, self._proxies, self._addresses)

    def signed_in(self, scope: Scope) -> bool:
        """Whether a session was begun here that has not ended."""
        for header in Headers(scope=scope).getlist("cookie"):
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                match = _VALUE.fullmatch(value) if name == NAME else None
                if match is not None and hmac.compare_digest(signed(match[1], self._key), value):
                    return time.time() < int(match[1]) + MONTH
        return False

    def known(self, scope: Scope) -> bool:
        """Whether one has said the password, now or in this session. Raises Limited."""
        if not self._password or self.signed_in(scope):
            return True
        said = credential(Headers(scope=scope).get("authorization", ""))
        return said is not None and self.fits(said, scope)

    def fits(self, password: bytes, scope: Scope) -> bool:
        """Whether it is the password. Raises Limited, whatever was said, after too many wrong ones."""
        place = address(scope, self._proxies)
        client = Client(place, place)
        self._tries.check(client)
        ours, theirs = (hmac.digest(self._key, one, "sha256") for one in (self._password, password))
        if hmac.compare_digest(ours, theirs):
            return True
        self._tries.hit(client)
        scope["app"].state.metrics.wrong_password()
        return False

    def cookie(self, scope: Scope, ends: bool = False) -> str:
        """The Set-Cookie that begins a session, or ends it."""
        value, age = ("", 0) if ends else (signed(str(int(time.time())), self._key), MONTH)
        secure = "; Secure" if encrypted(scope, self._proxies) else ""
        return f"{NAME}={value}; Path={scope['root_path'] or '/'}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"


class Gate:
    """The layer that asks the door."""

    def __init__(self, app: App, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope["root_path"]) if scope["type"] == "http" else ""
        if scope["type"] != "http" or path in OPEN or path in ASSETS:
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

        scope["state"]["signed_in"] = self._door.signed_in(scope)
        await self._app(scope, receive, guarded)

    def _refused(self, scope: Scope, path: str) -> Response | None:
        headers = {"Cache-Control": "no-store"}
        if not self._door.near(scope):
            return asking(scope, 403) or reply(403, AWAY, headers)
        try:
            if path == SESSION or self._door.known(scope):
                return None
        except Limited as error:
            problem = Problem(code="limited", message=str(error), retry_after=error.retry_after)
            return reply(429, problem, {**headers, "Retry-After": str(max(1, math.ceil(error.retry_after)))})
        # no challenge that makes a browser ask in a window of its own
        return asking(scope, 401) or reply(401, ASKED, {**headers, "WWW-Authenticate": 'Bearer realm="gradbox"'})


def asking(scope: Scope, status: int) -> Response | None:
    """The page, at the address that was asked for, where somebody reads it."""
    headers = Headers(scope=scope)
    if scope["method"] != "GET" or "text/html" not in headers.get("accept", "") or "hx-request" in headers:
        return None
    answer = render(Request(scope), "door.html", away=status == 403)
    answer.status_code = status
    answer.headers["Cache-Control"] = "no-store"
    if status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="gradbox"'
    return answer


def credential(header: str) -> bytes | None:
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
