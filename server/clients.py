"""Who asks: an anonymous visitor by a signed cookie, and the address behind whatever proxies are trusted."""

import base64
import hmac
import re
import secrets
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from server.pool.fair_queue import Client
from server.settings import SettingError

Network = IPv4Network | IPv6Network

COOKIE_NAME = "gradbox"
YEAR = 365 * 24 * 3600

PROXY_HEADERS = (
    "cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-client-ip", "x-forwarded", "x-forwarded-for",
    "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
)  # fmt: skip
"""Headers that only a proxy sends."""

_LOOPBACK_HOST = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_COOKIE_VALUE = re.compile(r"([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}")
_ADDRESS_AND_PORT = re.compile(r"\[([^\[\]]+)\](?::\d{1,5})?|([^:\[\]]+):\d{1,5}|([^\[\]]+)")


def signing_key(text: str) -> bytes:
    """What signs the cookies: the setting's, or one of this process's own."""
    return text.encode() or secrets.token_bytes(32)


def parse_networks(text: str, name: str = "TRUSTED_PROXIES") -> tuple[Network, ...]:
    """Those of a setting: addresses and networks with commas between. Raises SettingError."""
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            found.append(ip_network(part, strict=False))
        except ValueError:
            raise SettingError(
                f"GRADBOX_{name} has {part!r}; it takes addresses or networks, like 127.0.0.1,10.0.0.0/8"
            ) from None
    return tuple(found)


def identify(scope: Scope, key: bytes, trusted: tuple[Network, ...]) -> Client:
    """Who asks this. One without a cookie of ours is its address."""
    place = client_address(scope, trusted)
    return Client(client_id(scope, key) or place, place)


def client_id(scope: Scope, key: bytes) -> str | None:
    """The visitor of a cookie that was signed here; whatever else calls itself that is nobody."""
    for header in Headers(scope=scope).getlist("cookie"):
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            match = _COOKIE_VALUE.fullmatch(value) if name == COOKIE_NAME else None
            if match is not None and hmac.compare_digest(sign(match[1], key), value):
                return match[1]
    return None


def new_cookie(scope: Scope, key: bytes, trusted: tuple[Network, ...]) -> str | None:
    """The Set-Cookie that makes a visitor of one who has none of ours yet."""
    if client_id(scope, key) is not None:
        return None
    value = sign(secrets.token_urlsafe(16), key)
    secure = "; Secure" if is_https(scope, trusted) else ""
    return f"{COOKIE_NAME}={value}; Path=/; Max-Age={YEAR}; HttpOnly; SameSite=Lax{secure}"


def sign(id_: str, key: bytes) -> str:
    digest = hmac.digest(key, b"client " + id_.encode(), "sha256")
    return f"{id_}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def is_https(scope: Scope, trusted: tuple[Network, ...]) -> bool:
    """Whether the visitor's browser spoke https; a trusted proxy's word counts."""
    scheme = str(scope.get("scheme", "http"))
    if _in_networks(_peer_address(scope), trusted):
        told = Headers(scope=scope).getlist("x-forwarded-proto") or [scheme]
        scheme = told[-1].rpartition(",")[2].strip().lower()
    return scheme == "https"


def client_address(scope: Scope, trusted: tuple[Network, ...]) -> str:
    """Where it comes from: an IPv4 address, or the /64 of an IPv6 one, for a home has as many as it likes of those.

    X-Forwarded-For counts where a trusted proxy wrote it: each one adds the address that it was asked from, so it is
    read from the right, up to the first that is no such proxy. What can't be read there leaves the proxy's own.
    """
    peer = _peer_address(scope)
    found = peer
    if _in_networks(peer, trusted):
        forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        for part in reversed(forwarded.split(",")):
            place = parse_address(part)
            if not _in_networks(place, trusted):
                found = place or peer
                break
    if found is None:
        return str(scope["client"][0]) if scope.get("client") else ""
    return str(found if isinstance(found, IPv4Address) else IPv6Network((int(found) >> 64 << 64, 64)))


def is_within(scope: Scope, trusted: tuple[Network, ...], allowed: tuple[Network, ...]) -> bool:
    """Whether it surely comes from one of these. What somebody between us did not tell, or can't be read, is not sure."""
    found = _possible_addresses(scope, trusted)
    return bool(found) and all(_in_networks(place, allowed) for place in found)


def _possible_addresses(scope: Scope, trusted: tuple[Network, ...]) -> list[IPv4Address | IPv6Address | None]:
    """Where it may come from; nothing where anything is possible.

    Of a chain in which all are trusted, any may be the one who asked. A proxy that tells nothing at all looks like a
    program on its machine: most speak HTTP/1.0 then, or pass on a Host that no such program would name.
    """
    headers, peer = Headers(scope=scope), _peer_address(scope)
    told = ",".join(headers.getlist("x-forwarded-for"))
    if told and _in_networks(peer, trusted):
        chain = [parse_address(part) for part in told.split(",")]
        for place in reversed(chain):
            if not _in_networks(place, trusted):
                return [place] if place is not None else []
        return list(chain)
    if peer is None or scope.get("http_version") == "1.0" or any(name in headers for name in PROXY_HEADERS):
        return []
    if peer.is_loopback and not _LOOPBACK_HOST.fullmatch(headers.get("host", "")):
        return []
    return [peer]


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, with or without a port."""
    match = _ADDRESS_AND_PORT.fullmatch(text.strip())
    try:
        found = ip_address(next(filter(None, match.groups()))) if match is not None else None
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def _peer_address(scope: Scope) -> IPv4Address | IPv6Address | None:
    return parse_address(str(scope["client"][0])) if scope.get("client") else None


def _in_networks(place: IPv4Address | IPv6Address | None, trusted: tuple[Network, ...]) -> bool:
    return place is not None and any(place in network for network in trusted)
