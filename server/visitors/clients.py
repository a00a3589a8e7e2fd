"""Who sent a request: an anonymous visitor, known by a signed cookie, and the address behind trusted proxies."""

import base64
import hmac
import re
import secrets
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from server.settings import SettingError

Network = IPv4Network | IPv6Network

MAX_PROXIES = 20
"""The most proxies in a row; entries of X-Forwarded-For beyond them are ignored."""

COOKIE_NAME = "gradbox"
YEAR = 365 * 24 * 3600

PROXY_HEADERS = (
    "cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-client-ip", "x-forwarded", "x-forwarded-for",
    "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
)  # fmt: skip
"""Headers that only proxies send."""

_LOOPBACK_HOST_PATTERN = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_COOKIE_VALUE_PATTERN = re.compile(r"([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}")
_ADDRESS_AND_PORT_PATTERN = re.compile(r"\[([^\[\]]+)\](?::\d{1,5})?|([^:\[\]]+):\d{1,5}|([^\[\]]+)")


@dataclass(frozen=True)
class Client:
    """Who sent a request.

    id: the visitor's id from a signed cookie, or else the address
    address: where the request came from
    """

    id: str
    address: str

    @property
    def network(self) -> str:
        """The addresses that one customer of a provider may have: the IPv4 address itself, or the /48 network of an
        IPv6 one."""
        return network_of_address(self.address) if ":" in self.address else self.address


@lru_cache(10_000)
def network_of_address(address: str) -> str:
    """Return the /48 network of an IPv6 address or network, and any other text unchanged."""
    try:
        number = int(IPv6Network(address, strict=False).network_address)
    except ValueError:
        return address
    return str(IPv6Network((number >> 80 << 80, 48)))


def cookie_signing_key(text: str) -> bytes:
    """Return the key that signs cookies: GRADBOX_SECRET, or a random key if that is empty."""
    return text.encode() or secrets.token_bytes(32)


def parse_networks(text: str, name: str = "TRUSTED_PROXIES") -> tuple[Network, ...]:
    """Parse a comma-separated list of networks and addresses. Raises SettingError.

    name: the setting's name, for the error
    """
    parsed = []
    for part in filter(None, map(str.strip, text.split(","))):
        try:
            parsed.append(ip_network(part, strict=False))
        except ValueError:
            raise SettingError(
                f"GRADBOX_{name} has {part!r}; it takes addresses or networks, like 127.0.0.1,10.0.0.0/8"
            ) from None
    return tuple(parsed)


def identify_client(scope: Scope, key: bytes, trusted: tuple[Network, ...]) -> Client:
    """Identify the client of a request. Without a valid cookie, its id is its address.

    key: the key that signs cookies
    trusted: networks of trusted proxies
    """
    address = client_address(scope, trusted)
    return Client(client_id_from_cookie(scope, key) or address, address)


def client_id_from_cookie(scope: Scope, key: bytes) -> str | None:
    """Return the id in the visitor's cookie; None if there is no cookie with a valid signature."""
    for header in Headers(scope=scope).getlist("cookie"):
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            match = _COOKIE_VALUE_PATTERN.fullmatch(value) if name == COOKIE_NAME else None
            if match is not None and hmac.compare_digest(sign_cookie_id(match[1], key), value):
                return match[1]
    return None


def new_visitor_cookie_header(scope: Scope, key: bytes, trusted: tuple[Network, ...]) -> str | None:
    """Return the Set-Cookie header for a visitor without a valid cookie; None for others."""
    if client_id_from_cookie(scope, key) is not None:
        return None
    value = sign_cookie_id(secrets.token_urlsafe(16), key)
    secure = "; Secure" if is_https(scope, trusted) else ""
    return f"{COOKIE_NAME}={value}; Path=/; Max-Age={YEAR}; HttpOnly; SameSite=Lax{secure}"


def sign_cookie_id(id_: str, key: bytes) -> str:
    """Return a cookie's value: the id, a dot and the id's HMAC."""
    digest = hmac.digest(key, b"client " + id_.encode(), "sha256")
    return f"{id_}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def is_https(scope: Scope, trusted: tuple[Network, ...]) -> bool:
    """Return whether the browser used https, according to X-Forwarded-Proto if a trusted proxy sent it."""
    scheme = str(scope.get("scheme", "http"))
    if is_connection_from(scope, trusted):
        protocols = Headers(scope=scope).getlist("x-forwarded-proto") or [scheme]
        scheme = protocols[-1].rpartition(",")[2].strip().lower()
    return scheme == "https"


def client_address(scope: Scope, trusted: tuple[Network, ...]) -> str:
    """Return where a request comes from: an IPv4 address, or the /64 network of an IPv6 address, which is one
    household's.

    X-Forwarded-For is used if a trusted proxy sent it. Each proxy appends the address that connected to it, so the
    header is read from the right up to the first address that is not a trusted proxy. If that can't be parsed, the
    proxy's own address is used.
    """
    peer = _peer_address(scope)
    address = peer
    if is_in_networks(peer, trusted):
        forwarded = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        for part in reversed(forwarded.rsplit(",", MAX_PROXIES)):
            hop = parse_address(part)
            if not is_in_networks(hop, trusted):
                address = hop or peer
                break
    if address is None:
        return str(scope["client"][0]) if scope.get("client") else ""
    return str(address if isinstance(address, IPv4Address) else IPv6Network((int(address) >> 64 << 64, 64)))


@lru_cache(10_000)
def network_of_peer(address: str) -> str:
    """Return the network of a connection's address, whatever its requests say; see `Client.network`."""
    return network_of_address(client_address({"type": "http", "client": (address, 0), "headers": []}, ()))


def is_connection_from(scope: Scope, networks: tuple[Network, ...]) -> bool:
    """Return whether a request's connection comes from one of these networks."""
    return is_in_networks(_peer_address(scope), networks)


def is_certainly_from(scope: Scope, trusted: tuple[Network, ...], allowed: tuple[Network, ...]) -> bool:
    """Return whether a request certainly comes from one of the allowed networks. An unknown address does not."""
    addresses = _possible_client_addresses(scope, trusted)
    return bool(addresses) and all(is_in_networks(address, allowed) for address in addresses)


def _possible_client_addresses(scope: Scope, trusted: tuple[Network, ...]) -> list[IPv4Address | IPv6Address | None]:
    """Return all addresses from which a request may come; none if it may be any address.

    If all addresses in the chain are trusted, each may be the origin. A proxy that sends no header looks like a program
    on its own machine; but most such proxies use HTTP/1.0, or pass on a Host that such a program would not send.
    """
    headers, peer = Headers(scope=scope), _peer_address(scope)
    forwarded = ",".join(headers.getlist("x-forwarded-for"))
    if forwarded and is_in_networks(peer, trusted):
        chain = [parse_address(part) for part in forwarded.rsplit(",", MAX_PROXIES)]
        for hop in reversed(chain):
            if not is_in_networks(hop, trusted):
                return [hop] if hop is not None else []
        return list(chain)
    if peer is None or scope.get("http_version") == "1.0" or any(name in headers for name in PROXY_HEADERS):
        return []
    if peer.is_loopback and not _LOOPBACK_HOST_PATTERN.fullmatch(headers.get("host", "")):
        return []
    return [peer]


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse the address in a text like `10.0.0.1:80`, where the port is optional. Returns None if there is none."""
    match = _ADDRESS_AND_PORT_PATTERN.fullmatch(text.strip())
    try:
        address = ip_address(next(filter(None, match.groups()))) if match is not None else None
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _peer_address(scope: Scope) -> IPv4Address | IPv6Address | None:
    return parse_address(str(scope["client"][0])) if scope.get("client") else None


def is_in_networks(address: IPv4Address | IPv6Address | None, networks: tuple[Network, ...]) -> bool:
    """Return whether the address is in one of the networks."""
    return address is not None and any(address in network for network in networks)
