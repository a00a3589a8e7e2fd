"""The visitors of one server: how they are recognized, what each may request, who is admitted."""

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
"""The limits of a class behind one address: of runs and saves, and of all requests."""

SECONDS_PER_DAY = 24 * 3600.0


@dataclass(frozen=True)
class VisitorLimits:
    """The limits of what one visitor and one address may request in a period.

    save_space: limits the bytes that they save in a day
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

    cookie_key: the key that signs cookies
    proxies: networks whose X-Forwarded-For is trusted
    """

    cookie_key: bytes
    proxies: tuple[Network, ...]
    limits: VisitorLimits
    authenticator: Authenticator


def create_visitors(settings: Settings, on_failure: Callable[[], None], counts: LimitCounts | None) -> Visitors:
    """Create the visitors. Raises SettingError.

    on_failure: called after each wrong password
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
    """Create the limits from the settings. In a classroom, one address stands for many visitors.

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
        save_space=SharedSavedBytesLimiter(SavedBytesLimiter(save_space, SECONDS_PER_DAY), counts),
        pictures=SharedRateLimiter(pictures, counts),
        requests=RequestLimiter(request),
    )
