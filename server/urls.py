"""Addresses of saved programs. They begin with the public URL, never with the Host that a request names."""

import re

from server.settings import Settings

_PERMALINK = re.compile(r"/(?:s|embed)/([0-9a-z]{10,64})/?")


def public_url(settings: Settings) -> str:
    """What all addresses of this server begin with elsewhere; "" where GRADBOX_PUBLIC_URL is not set."""
    return settings.public_url.rstrip("/")


def permalink(settings: Settings, root_path: str, id_: str) -> str:
    """The address of a program's page. root_path: as in the ASGI scope, for a server that does not know its public URL."""
    return f"{public_url(settings) or root_path}/s/{id_}"


def trace_url(root_path: str, id_: str) -> str:
    """The address of a program's trace, for a page of this server. root_path: as in the ASGI scope."""
    return f"{root_path}/s/{id_}.trace.json"


def permalink_id(url: str, base: str) -> str | None:
    """The id in a permalink, or in the address of its frame; None for any other address. base: the public URL."""
    path = url.partition("#")[0].partition("?")[0]
    match = _PERMALINK.fullmatch(path[len(base) :]) if starts_with_base(path, base) else None
    return match[1] if match else None


def starts_with_base(url: str, base: str) -> bool:
    """Whether an address is below the public URL. The case of the host's name does not matter."""
    end = base.find("/", len("https://"))
    host = len(base) if end < 0 else end
    return url[:host].lower() == base[:host].lower() and url[host:].startswith(f"{base[host:]}/")
