"""Addresses of saved programs and series. They begin with the public URL, never with a request's Host."""

import re

from server.settings import Settings

_PERMALINK_PATTERN = re.compile(r"/(?:s|embed)/([0-9a-z]{10,64})/?")
_SERIES_PATTERN = re.compile(r"/(?:embed/)?series/([0-9a-z]{10,64})(?:/([0-9]{1,3}))?/?")


def public_url(settings: Settings) -> str:
    """Return the prefix of this server's addresses for other sites; "" if GRADBOX_PUBLIC_URL is not set."""
    return settings.public_url.rstrip("/")


def program_permalink(settings: Settings, root_path: str, id_: str) -> str:
    """Return the address of a program's page.

    root_path: as in the ASGI scope, for a server that does not know its public URL
    """
    return f"{public_url(settings) or root_path}/s/{id_}"


def series_url(settings: Settings, root_path: str, id_: str, place: int | None = None) -> str:
    """Return the address of a series, or of the program at a place in it, counted from 1.

    root_path: as for `program_permalink`
    """
    base = f"{public_url(settings) or root_path}/series/{id_}"
    return base if place is None else f"{base}/{place}"


def trace_url(root_path: str, id_: str) -> str:
    """Return the address of a program's trace, for a page of this server.

    root_path: as in the ASGI scope
    """
    return f"{root_path}/s/{id_}.trace.json"


def parse_permalink_id(url: str, base: str) -> str | None:
    """Return the id in a permalink or its frame's address; None for any other address.

    base: the public URL
    """
    match = _PERMALINK_PATTERN.fullmatch(path_below_base(url, base))
    return match[1] if match else None


def parse_series_place(url: str, base: str) -> tuple[str, int | None] | None:
    """Return the id and the place in the address of a series or its frame; None for any other address.

    base: the public URL
    """
    match = _SERIES_PATTERN.fullmatch(path_below_base(url, base))
    return (match[1], int(match[2]) if match[2] else None) if match else None


def path_below_base(url: str, base: str) -> str:
    """Return the path of an address below the public URL, without query and fragment; "" for any other address."""
    path = url.partition("#")[0].partition("?")[0]
    return path[len(base) :] if starts_with_base(path, base) else ""


def starts_with_base(url: str, base: str) -> bool:
    """Return whether an address is below the public URL, ignoring the case of the host name."""
    end = base.find("/", len("https://"))
    host = len(base) if end < 0 else end
    return url[:host].lower() == base[:host].lower() and url[host:].startswith(f"{base[host:]}/")
