"""Checks every request (Host, origin, content type, size) and adds the security headers to every response."""

import secrets
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Send

from gradbox.wire.api import ProblemReply
from server.http.response_delivery import ClientDisconnected
from server.wire.problems import ProblemError

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
BODYLESS_METHODS = ("DELETE",)
"""Methods whose requests have no body."""

CONTENT_POLICY = (
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


def content_security_policy(nonce: str, frame_ancestors: str = "'none'") -> str:
    """The Content-Security-Policy of a page.

    frame_ancestors: whose pages may frame it
    """
    return CONTENT_POLICY.format(nonce=nonce, frames=frame_ancestors)


class SecurityMiddleware:
    """The outermost layer of the application. It stores the nonce for the page's style element in `scope["state"]`.

    hosts: names that the server answers to
    max_body: the most bytes of a request's body
    root: the path prefix of a proxy, whether or not the proxy passes it on
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], max_body: int, root: str = "") -> None:
        self._app, self._hosts = app, frozenset(host.strip().lower() for host in hosts)
        self._max_body, self._root = max_body, root

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        prepend_root_path(scope, self._root)
        nonce = scope.setdefault("state", {})["nonce"] = secrets.token_urlsafe(16)
        head = scope["state"]["is_head"] = scope["method"] == "HEAD"
        if head:  # answered like GET, without the body
            scope["method"] = "GET"
        started = False

        async def send_secured(message: Message) -> None:
            nonlocal started
            if head and message["type"] == "http.response.body":
                if message.get("more_body"):
                    return
                message = {**message, "body": b""}
            if message["type"] == "http.response.start":
                started = True
                names = {name for name, _ in message["headers"]}
                security = [(b"content-security-policy", content_security_policy(nonce).encode()), *SECURITY_HEADERS]
                message["headers"] = [*message["headers"], *(pair for pair in security if pair[0] not in names)]
            await send(message)

        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        problem = self._find_refusal(scope["method"], headers)
        if problem is None and scope["method"] not in SAFE_METHODS:
            try:
                body = await self._read_bounded_body(receive)
            except ClientDisconnected:
                return
            if body is None:
                problem = self._body_too_large_error()
            else:
                receive = replay_body(body, receive)
        if problem is not None:
            await send_problem(send_secured, problem)
            return
        try:
            await self._app(scope, receive, send_secured)
        except Exception:
            if not started:
                message = "the server failed to answer this request; the error is in its log"
                await send_problem(send_secured, ProblemError(500, "internal", message))
            raise  # for the log

    def _find_refusal(self, method: str, headers: Mapping[str, str]) -> ProblemError | None:
        """Why a request with these headers is refused; None if it is served."""
        host = headers.get("host", "").lower()
        if host_without_port(host) not in self._hosts:
            return ProblemError(421, "wrong_host", "this server has another name; GRADBOX_HOSTS lists its names")
        if method in SAFE_METHODS:
            return None
        origin = headers.get("origin")
        same_origin = origin is None or origin.partition("://")[2].lower() == host
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") or not same_origin:
            return ProblemError(403, "cross_site", "requests from pages of other sites are not allowed")
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method not in BODYLESS_METHODS and content_type != "application/json":
            return ProblemError(415, "not_json", "the content type must be application/json")
        length = headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self._max_body:
            return self._body_too_large_error()
        return None

    def _body_too_large_error(self) -> ProblemError:
        return ProblemError(413, "too_large", f"the body of a request may have {self._max_body} bytes")

    async def _read_bounded_body(self, receive: Receive) -> bytes | None:
        """Read the whole body; None if it is too large. Raises ClientDisconnected if the rest does not come."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body:
                return None
            if not message.get("more_body"):
                return b"".join(parts)


def host_without_port(host: str) -> str:
    """The host name of a Host header. An IPv6 address keeps its brackets."""
    name, _, port = host.rpartition(":")
    return name if name and not host.endswith("]") and host.isascii() and port.isdigit() else host


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body first, and then waits for what is still to come: a disconnect."""
    replayed = False

    async def receive_replayed() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_replayed


def prepend_root_path(scope: MutableMapping[str, Any], root: str) -> None:
    """Put the root before the path. The router then removes it."""
    scope["root_path"] = root
    if scope["path"] == root:
        scope["path"] = f"{root}/"
    elif not scope["path"].startswith(f"{root}/"):
        scope["path"] = root + scope["path"]


async def send_problem(send: Send, error: ProblemError) -> None:
    """Send the error as a JSON response."""
    body = ProblemReply(error=error.problem).model_dump_json(exclude_none=True).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
