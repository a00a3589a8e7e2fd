"""Checks settings, alone and together: errors keep the server from starting, warnings are logged."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from server.allowed_packages import PackageError, allowed_modules
from server.settings import SettingError, Settings
from server.store.database import parse_database_url
from server.visitors.clients import parse_networks

MIN_PASSWORD = 8
"""The fewest characters of a password."""

_NAME_PATTERN = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_ORIGIN = r"(?!none\b)(?:'self'|https?:|(?:https?://)?(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::\d{1,5})?/?)"
_FRAMES_PATTERN = re.compile(rf"\*|'none'|{_ORIGIN}(?: +{_ORIGIN})*", re.IGNORECASE | re.ASCII)
_PATH_PATTERN = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")


def check_settings(settings: Settings, worker: bool = False) -> None:
    """Raise SettingError for the first setting that the server, or a queue's worker, can't work with."""
    for name in allowed_host_names(settings):
        if not _NAME_PATTERN.fullmatch(name):
            raise SettingError(
                f"GRADBOX_HOSTS has {name!r}; it takes names without scheme and port, like gradbox.example.org"
            )
    if settings.public_url:
        parse_public_url(settings.public_url)
    if settings.password and len(settings.password) < MIN_PASSWORD:
        raise SettingError(f"GRADBOX_PASSWORD has {len(settings.password)} characters; it takes {MIN_PASSWORD} or more")
    for setting in ("TRUSTED_PROXIES", "ADDRESSES", "OPERATORS"):
        parse_networks(getattr(settings, setting.lower()), setting)
    if not _FRAMES_PATTERN.fullmatch(settings.frames):
        raise SettingError(
            f"GRADBOX_FRAMES is {settings.frames!r}; it takes *, 'none', or origins like https://example.org, "
            "separated by spaces"
        )
    try:
        allowed_modules(settings.packages)
    except PackageError as error:
        raise SettingError(f"GRADBOX_PACKAGES {error}") from error
    parse_database_url(settings.database_url, Path(settings.data))
    if settings.queue_url:
        check_queue_settings(settings)
        if not worker and not settings.secret:
            raise SettingError(
                "GRADBOX_QUEUE_URL needs GRADBOX_SECRET, the same in all web processes: else each takes the cookies of "
                "the others for forged"
            )


def check_queue_settings(settings: Settings) -> None:
    """Raise SettingError if web processes and workers can't share a queue with these settings."""
    try:
        url = urlsplit(settings.queue_url)
        valid = url.scheme in ("redis", "rediss") and bool(url.hostname) and url.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise SettingError("GRADBOX_QUEUE_URL takes a URL like redis://:password@host:6379/0, or rediss:// for TLS")
    missing = [name for name in ("celery", "redis") if importlib.util.find_spec(name) is None]
    if missing:
        raise SettingError(f"GRADBOX_QUEUE_URL needs {' and '.join(missing)}: pip install -e .[server,cluster]")


def setting_warnings(settings: Settings) -> Iterator[tuple[str, str]]:
    """Return (setting, consequence) for each value that is valid but probably unintended."""
    public = parse_public_url(settings.public_url) if settings.public_url else None
    host = host_header_for_url(public) if public else ""
    if public and host not in allowed_host_names(settings):
        yield "GRADBOX_HOSTS", f"requests to GRADBOX_PUBLIC_URL will be refused: {host} is not in it"
    if public and public.scheme == "https" and not settings.trusted_proxies:
        yield (
            "GRADBOX_TRUSTED_PROXIES",
            "GRADBOX_PUBLIC_URL is https, which requires a proxy; without its address here all visitors share one "
            "rate limit",
        )
    if public and public.scheme == "http" and settings.password and not is_loopback_host(host):
        yield "GRADBOX_PASSWORD", f"it is sent to {host} without encryption"
    if not settings.secret and (settings.password or (public and not is_loopback_host(host))):
        yield (
            "GRADBOX_SECRET",
            "it is not set: a restart invalidates the cookies of all visitors and ends their sessions",
        )
    if settings.queue_url and not settings.queue_key:
        yield (
            "GRADBOX_QUEUE_KEY",
            "it is not set: whoever else can write to the Redis of GRADBOX_QUEUE_URL can falsify the traces of all "
            "visitors",
        )
    if settings.queue_url and not settings.database_url:
        yield (
            "DATABASE_URL",
            "it is not set: web processes and workers on other machines than this one do not see its saved programs",
        )


def parse_public_url(url: str) -> SplitResult:
    """Parse GRADBOX_PUBLIC_URL. Raises SettingError."""
    try:
        url_parts = urlsplit(url)
        port = url_parts.port
    except ValueError:
        url_parts, port = SplitResult("", "", "", "", ""), None
    valid = (
        url_parts.scheme in ("http", "https") and _NAME_PATTERN.fullmatch(host_header_for_url(url_parts)) and port != 0
    )
    if not valid or re.search(r"[\s?#]", url) or "@" in url_parts.netloc or not _PATH_PATTERN.fullmatch(url_parts.path):
        raise SettingError(
            f"GRADBOX_PUBLIC_URL is {url!r}; it takes http:// or https://, a host, and optionally a port and a path"
        )
    return url_parts


def host_header_for_url(url: SplitResult) -> str:
    """Return the host as in a Host header, without the port."""
    host = url.hostname or ""
    return f"[{host}]" if ":" in host else host


def allowed_host_names(settings: Settings) -> list[str]:
    """Return the names in GRADBOX_HOSTS, in lower case."""
    return [name.strip().lower() for name in settings.hosts.split(",")]


def is_loopback_host(host: str) -> bool:
    """Return whether the name means this machine."""
    return host in ("localhost", "[::1]") or host.startswith("127.")
