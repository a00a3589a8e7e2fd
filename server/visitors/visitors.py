"""What one server knows and asks of its visitors: how they are known again, what each may ask for, who may come in."""

from collections.abc import Callable
from dataclasses import dataclass

from server.settings import Settings
from server.visitors.authenticator import Authenticator
from server.visitors.clients import Network, cookie_signing_key, parse_networks
from server.visitors.rate_limits import (
    LimitCounts,
    RateLimiter,
    RequestLimiter,
    SavedBytesLimiter,
    SharedRateLimiter,
    SharedSavedBytesLimiter,
)

CLASSROOM_LIMIT, CLASSROOM_REQUESTS = "3000/minute", "20000/minute"
"""Runs, and saves, of a class behind one address; and its requests of any kind."""

DAY = 24 * 3600.0


@dataclass(frozen=True)
class VisitorLimits:
    """What one visitor, and one address, may ask of the server in a stretch of time.

    save_space: bytes that they save in a day
    """

    runs: SharedRateLimiter
    live_runs: SharedRateLimiter
    saves: SharedRateLimiter
    save_space: SharedSavedBytesLimiter
    pictures: SharedRateLimiter
    requests: RequestLimiter


@dataclass
class Visitors:
    """Tells visitors apart, and limits them.

    cookie_key: signs cookies
    proxies: networks whose X-Forwarded-For is believed
    """

    cookie_key: bytes
    proxies: tuple[Network, ...]
    limits: VisitorLimits
    authenticator: Authenticator


def create_visitors(settings: Settings, on_failure: Callable[[], None], counts: LimitCounts | None) -> Visitors:
    """Raises SettingError.

    on_failure: is called after each wrong password
    counts: those that web processes share
    """
    key = cookie_signing_key(settings.secret)
    return Visitors(
        cookie_key=key,
        proxies=parse_networks(settings.trusted_proxies),
        limits=create_limits(settings, counts),
        authenticator=Authenticator(settings, key, on_failure, counts),
    )


def create_limits(settings: Settings, counts: LimitCounts | None) -> VisitorLimits:
    """The limits that the settings name; in a classroom one address is many visitors.

    counts: those that web processes share
    """
    run, live, save = settings.address_limit, settings.live_address_limit, settings.save_address_limit
    request, save_space = settings.request_limit, settings.save_space
    if settings.classroom:
        run = live = save = CLASSROOM_LIMIT
        request, save_space = CLASSROOM_REQUESTS, settings.quota
    live_names, save_names = ("LIVE_LIMIT", "LIVE_ADDRESS_LIMIT"), ("SAVE_LIMIT", "SAVE_ADDRESS_LIMIT")
    picture = settings.picture_limit
    live_runs = RateLimiter(settings.live_limit, live, action="live run", names=live_names)
    saves = RateLimiter(settings.save_limit, save, action="save", names=save_names)
    pictures = RateLimiter(picture, picture, action="picture", names=("PICTURE_LIMIT",) * 2)
    return VisitorLimits(
        runs=SharedRateLimiter(RateLimiter(settings.rate_limit, run), counts),
        live_runs=SharedRateLimiter(live_runs, counts),
        saves=SharedRateLimiter(saves, counts),
        save_space=SharedSavedBytesLimiter(SavedBytesLimiter(save_space, DAY), counts),
        pictures=SharedRateLimiter(pictures, counts),
        requests=RequestLimiter(request),
    )
