"""Admits visitors to a restricted server: by address, by password, by the cookie of a session."""

import base64
import binascii
import hmac
import os
import re
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import Scope

from server.settings import Settings
from server.visitors.clients import (
    Client,
    client_address,
    is_certainly_from,
    is_https,
    parse_networks,
    sign_cookie_id,
)
from server.visitors.rate_limits import LimitCounts, RateLimiter, SharedRateLimiter

SESSION_COOKIE = "gradbox_session"
SESSION_AGE = 30 * 24 * 3600
_COOKIE_VALUE_PATTERN = re.compile(r"([1-9]\d{9})\.[A-Za-z0-9_-]{43}")


class Authenticator:
    """Checks addresses, passwords and sessions.

    A session's cookie is its signed start time. Changing the password or the secret ends all sessions.

    on_failure: called after each wrong password
    counts: the wrong passwords in all web processes
    """

    def __init__(
        self,
        settings: Settings,
        secret: bytes,
        on_failure: Callable[[], None] = lambda: None,
        counts: LimitCounts | None = None,
    ) -> None:
        self._on_failure = on_failure
        self._password = os.fsencode(settings.password)
        self._addresses = parse_networks(settings.addresses, "ADDRESSES")
        self._proxies = parse_networks(settings.trusted_proxies)
        self._key = hmac.digest(secret, b"session " + self._password, "sha256")
        limit = settings.password_limit
        attempts = RateLimiter(limit, limit, action="sign-in", names=("PASSWORD_LIMIT", "PASSWORD_LIMIT"))
        self._attempts = SharedRateLimiter(attempts, counts)

    @property
    def is_enabled(self) -> bool:
        """Return whether access is restricted at all."""
        return bool(self._password or self._addresses)

    def is_address_allowed(self, scope: Scope) -> bool:
        """Return whether the request comes from an allowed address."""
        return not self._addresses or is_certainly_from(scope, self._proxies, self._addresses)

    def has_session(self, scope: Scope) -> bool:
        """Return whether the request carries the cookie of a session that has not expired."""
        for header in Headers(scope=scope).getlist("cookie"):
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                match = _COOKIE_VALUE_PATTERN.fullmatch(value) if name == SESSION_COOKIE else None
                if match is not None and hmac.compare_digest(sign_cookie_id(match[1], self._key), value):
                    return time.time() < int(match[1]) + SESSION_AGE
        return False

    async def is_authenticated(self, scope: Scope) -> bool:
        """Return whether the request carries a session or the password, or needs neither. Raises RateLimited."""
        if not self._password or self.has_session(scope):
            return True
        password = password_from_header(Headers(scope=scope).get("authorization", ""))
        return password is not None and await self.check_password(password, scope)

    async def check_password(self, password: bytes, scope: Scope) -> bool:
        """Return whether it is the password. Raises RateLimited after too many wrong ones, even for the right one."""
        address = client_address(scope, self._proxies)
        client = Client(address, address)
        await self._attempts.require_below_limits(client)
        expected, actual = (hmac.digest(self._key, text, "sha256") for text in (self._password, password))
        if hmac.compare_digest(expected, actual):
            return True
        await self._attempts.count_request(client)
        self._on_failure()
        return False

    def session_cookie_header(self, scope: Scope, ends: bool = False) -> str:
        """Return the Set-Cookie header that begins or ends a session."""
        value, age = ("", 0) if ends else (sign_cookie_id(str(int(time.time())), self._key), SESSION_AGE)
        secure = "; Secure" if is_https(scope, self._proxies) else ""
        return (
            f"{SESSION_COOKIE}={value}; Path={scope['root_path'] or '/'}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
        )


def password_from_header(header: str) -> bytes | None:
    """Return the password in an Authorization header, Bearer or Basic. The user name of Basic is ignored."""
    scheme, _, credentials = header.partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip().encode("latin-1")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(credentials.strip(), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return None
