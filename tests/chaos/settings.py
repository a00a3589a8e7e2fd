"""The settings of the servers that chaos is done to."""

from typing import Any

from server.pool import executions

MANY = "1000000/minute"
FREE: dict[str, Any] = {
    "request_limit": MANY,
    "rate_limit": MANY,
    "address_limit": MANY,
    "address_connections": 1000,
    "cache": 1,
    "wall": 60,
    "cpu": 20,
}
"""Settings under which no client is sent away for asking often, and no result is kept."""

SAVING = {**FREE, "cache": 64_000_000, "save_limit": MANY, "save_address_limit": MANY, "save_space": 10**12}


def shorten_absence() -> None:
    """In a server: listeners may be away for a second, not fifteen."""
    executions.GRACE_SECONDS = 1.0
