"""What every request has to bring and every reply carries: Host, origin, content type, size; security headers."""

import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from server.wire.api import Problem, ProblemReply

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
BODYLESS_METHODS = ("DELETE",)
"""Methods that come without a body."""

POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors {frames}"
)
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


def content_security_policy(nonce: str, frames: str = "'none'") -> str:
    """The Content-Security-Policy of a page. frames: whose pages may frame it."""
    return POLICY.format(nonce=nonce, frames=frames)


class SecurityMiddleware:
    """The outermost layer of the application. `scope["state"]["nonce"]` is the page's for its one style element.

    root: what a proxy puts before every path, and may or may not have taken off again.
    """

    def __init__(self, app: App, hosts: Iterable[str], largest: int, root: str = "") -> None:
        self._app, self._hosts, self._largest = app, frozenset(host.strip().lower() for host in hosts), largest
        self._root = root

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        prepend_root_path(scope, self._root)
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce
        began = False

        bare = scope["state"]["bare"] = scope["method"] == "HEAD"
        if bare:  # answered as GET is, without the body
            scope["method"] = "GET"

        async def guarded(message: Message) -> None:
            nonlocal began
            if bare and message["type"] == "http.response.body":
                if message.get("more_body"):
                    return
                message = {**message, "body": b""}
            if message["type"] == "http.response.start":
                began = True
                named = {name for name, _ in message["headers"]}
                extra = [(b"content-security-policy", content_security_policy(nonce).encode()), *SECURITY_HEADERS]
                message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in named)]
            await send(message)

        told = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope["method"], told)
        if refused is None and scope["method"] not in SAFE_METHODS:
            body = await self._body(receive)
            if body is None:
                refused = (413, "too_large", f"a request may have {self._largest} bytes")
            else:
                receive = replay_body(body, receive)
        if refused is not None:
            await send_problem(guarded, *refused)
            return
        try:
            await self._app(scope, receive, guarded)
        except Exception:
            if not began:
                await send_problem(guarded, 500, "internal", "the server failed; this is our fault")
            raise  # for the log

    def _refused(self, method: str, told: dict[str, str]) -> tuple[int, str, str] | None:
        host = told.get("host", "").lower()
        name = (
            host
            if host.endswith("]")
            else host.rsplit(":", 1)[0]
            if host.isascii() and host.rpartition(":")[2].isdigit()
            else host
        )
        if name not in self._hosts:
            return 421, "wrong_host", "this server does not answer to that name; GRADBOX_HOSTS lists those it does"
        if method in SAFE_METHODS:
            return None
        if told.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "cross_site", "another site's page may not ask this of the server"
        origin = told.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host:
            return 403, "cross_site", "another site's page may not ask this of the server"
        if (
            method not in BODYLESS_METHODS
            and told.get("content-type", "").partition(";")[0].strip().lower() != "application/json"
        ):
            return 415, "not_json", "the body has to be application/json"
        length = told.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._largest:
            return 413, "too_large", f"a request may have {self._largest} bytes"
        return None

    async def _body(self, receive: Receive) -> bytes | None:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return b"".join(parts)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._largest:
                return None
            if not message.get("more_body"):
                return b"".join(parts)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """The body once more, and then whatever still comes: a disconnect."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def prepend_root_path(scope: MutableMapping[str, Any], root: str) -> None:
    """Let a path begin with the root, as what comes after us expects of it."""
    scope["root_path"] = root
    if scope["path"] == root:
        scope["path"] = f"{root}/"
    elif not scope["path"].startswith(f"{root}/"):
        scope["path"] = root + scope["path"]


async def send_problem(send: Send, status: int, code: str, message: str) -> None:
    problem = ProblemReply(error=Problem(code=code, message=message)).model_dump(mode="json", exclude_none=True)
    body = json.dumps(problem).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
