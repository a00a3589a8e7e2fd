"""How many runs one may ask for: a window that moves, two limits at once, a memory with an end."""

import random
from collections import deque

import pytest

from server.settings import SettingError
from server.visitors import rate_limits as module
from server.visitors.clients import Client
from server.visitors.rate_limits import (
    MovingWindows,
    RateLimited,
    RateLimiter,
    RequestLimiter,
    SavedBytesLimiter,
    TokenBuckets,
)

ANN, BOB = Client("ann", "1.1.1.1"), Client("bob", "1.1.1.1")


class Clock:
    """Seconds, as a test likes them."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def refused(rates: RateLimiter, client: Client) -> RateLimited | None:
    try:
        rates.count_request(client)
    except RateLimited as limited:
        return limited
    return None


def test_a_full_window_admits_the_next_request_when_the_first_has_left() -> None:
    clock = Clock()
    rates = RateLimiter("3/minute", "100/minute", clock)
    for _ in range(3):
        rates.count_request(ANN)
        clock.now += 10
    limited = refused(rates, ANN)
    assert limited is not None
    assert (limited.limit, limited.retry_after) == ("3 runs per minute", 30.0)
    assert str(limited) == "a visitor may ask for 3 runs per minute; try again in 30 s"
    clock.now += 29.75
    again = refused(rates, ANN)
    assert again is not None and again.retry_after == 0.25 and str(again).endswith("in 1 s")
    clock.now += again.retry_after
    rates.count_request(ANN)
    limited = refused(rates, ANN)
    assert limited is not None and limited.retry_after == 10.0


def test_visitors_of_one_address_have_their_own_limit_and_share_its() -> None:
    rates = RateLimiter("2/minute", "3/hour", clock := Clock())
    rates.count_request(ANN)
    rates.count_request(BOB)
    rates.count_request(BOB)
    limited = refused(rates, BOB)
    assert limited is not None and limited.limit == "3 runs per hour", "the one that takes longer"
    assert str(limited).startswith("an address may ask for 3 runs per hour; try again in 3600 s")
    assert refused(rates, Client("cleo", "1.1.1.1")) is not None
    assert refused(rates, Client("bob", "2.2.2.2")) is not None
    assert refused(rates, Client("ann", "2.2.2.2")) is None
    clock.now += 60
    assert refused(rates, Client("bob", "2.2.2.2")) is None


def test_a_refused_request_does_not_count() -> None:
    rates = RateLimiter("1/minute", "2/minute", clock := Clock())
    rates.count_request(ANN)
    for _ in range(5):
        limited = refused(rates, ANN)
        assert limited is not None and limited.limit == "1 run per minute"
    rates.count_request(BOB)
    for _ in range(5):
        assert refused(rates, Client("cleo", "1.1.1.1")) is not None
    rates.count_request(Client("cleo", "2.2.2.2"))
    clock.now += 60
    rates.count_request(ANN)


def test_a_client_without_a_cookie_counts_for_its_address_too() -> None:
    rates = RateLimiter("2/minute", "3/minute", Clock())
    for _ in range(2):
        rates.count_request(Client("1.1.1.1", "1.1.1.1"))
    assert refused(rates, Client("1.1.1.1", "1.1.1.1")) is not None
    rates.count_request(ANN)
    assert refused(rates, BOB) is not None


def test_several_limits_hold_at_once() -> None:
    rates = RateLimiter("2/second; 3 per 2 hours", "9/day", clock := Clock())
    for _ in range(2):
        rates.count_request(ANN)
    limited = refused(rates, ANN)
    assert limited is not None and (limited.limit, limited.retry_after) == ("2 runs per second", 1.0)
    clock.now += 1
    rates.count_request(ANN)
    clock.now += 1
    limited = refused(rates, ANN)
    assert limited is not None and (limited.limit, limited.retry_after) == ("3 runs per 2 hours", 7198.0)


@pytest.mark.parametrize("seed", range(20))
def test_every_window_admits_exactly_the_limit(seed: int) -> None:
    chance = random.Random(seed)
    amount, clock = chance.randrange(1, 6), Clock()
    rates = RateLimiter(f"{amount}/minute", "1000000/second", clock)
    let: dict[str, deque[float]] = {"a": deque(), "b": deque()}
    for _ in range(300):
        clock.now += chance.choice([0, 0.5, 7, 31])
        name = chance.choice("ab")
        recent = [at for at in let[name] if clock.now - at < 60]
        limited = refused(rates, Client(name, "x"))
        assert (limited is None) == (len(recent) < amount)
        if limited is None:
            let[name].append(clock.now)
        else:
            assert limited.retry_after == recent[0] + 60 - clock.now > 0


def test_memory_stays_flat_and_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEYS", 100)
    windows = MovingWindows(Clock())
    rates = RateLimiter("1/year", "1/year", Clock())
    for k in range(5000):
        assert windows.acquire_entry(f"{k}", 5, 60)
        assert len(windows) <= 100
        rates.count_request(Client(f"c{k}", f"a{k}"))
    assert len(windows) == 100 and windows.get_moving_window("4900", 5, 60)[1] == 1
    assert windows.get_moving_window("4899", 5, 60)[1] == 0
    assert refused(rates, Client("c4999", "new")) is not None and refused(rates, Client("new", "a4960")) is not None
    assert not windows.events and not windows.locks, "something is kept by the library after all"


def test_a_busy_client_is_not_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEYS", 10)
    windows = MovingWindows(Clock())
    for k in range(40):
        windows.acquire_entry("often", 100, 60)
        for j in range(5):
            windows.acquire_entry(f"{k} {j}", 1, 60)
    assert windows.get_moving_window("often", 100, 60)[1] == 40
    assert windows.acquire_entry("often", 41, 60) and not windows.acquire_entry("often", 41, 60)


@pytest.mark.parametrize(
    "wrong", ["", "many", "60", "60/fortnight", "/minute", "0/minute", "-1/minute", "5/minute;0/day", "60/minute x"]
)
def test_an_invalid_limit_is_named_with_an_example(wrong: str) -> None:
    for name, texts in (("RATE_LIMIT", (wrong, "1/day")), ("ADDRESS_LIMIT", ("1/day", wrong))):
        with pytest.raises(SettingError) as error:
            RateLimiter(*texts)
        assert str(error.value) == f"GRADBOX_{name} is {wrong!r}; it takes runs in a time, like 60/minute"


def test_a_token_bucket_empties_and_refills() -> None:
    clock = Clock()
    buckets = TokenBuckets(10, 60.0, clock)
    assert [buckets.take_tokens("a") for _ in range(11)] == [0.0] * 10 + [6.0]
    assert buckets.take_tokens("b", 7) == 0.0 and buckets.take_tokens("b", 7) == pytest.approx(24.0)
    clock.now += 6.0
    assert [buckets.take_tokens("a") for _ in range(2)] == [0.0, 6.0]
    clock.now += 1000.0
    assert buckets.take_tokens("a", 99) == 0.0, "more than it holds is all that it holds"
    assert buckets.take_tokens("a") == pytest.approx(6.0)


def test_buckets_and_hits_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEYS", 100)
    buckets = TokenBuckets(1, 60.0, Clock())
    assert not any(buckets.take_tokens(str(k)) for k in range(1000)) and len(buckets) == 100
    assert buckets.take_tokens("999") and not buckets.take_tokens("0")
    monkeypatch.setattr(module, "MAX_HITS", 1000)
    clock = Clock()
    windows = MovingWindows(clock)
    for k in range(90):
        for _ in range(50):
            assert windows.acquire_entry(str(k), 50, 60)
    assert len(windows) == 20 and not windows.acquire_entry("89", 50, 60) and windows.acquire_entry("0", 50, 60)
    clock.now += 61
    assert windows.get_moving_window("89", 50, 60)[1] == 0 and windows.acquire_entry("89", 50, 60)


def test_requests_of_a_network() -> None:
    clock = Clock()
    limits = RequestLimiter("40/minute", clock)
    for k in range(10):  # a quarter at once
        limits.count_request(Client(f"v{k}", f"2001:db8:1:{k}::/64"))
    with pytest.raises(RateLimited) as caught:
        limits.count_request(Client("v", "2001:db8:1:99::/64"))
    assert str(caught.value) == "an address may ask for 40 requests per minute; try again in 2 s"
    limits.count_request(Client("v", "2001:db8:2:99::/64"))
    for _ in range(40):
        clock.now += 1.5
        limits.count_request(Client("v", "2001:db8:1:99::/64"))


def test_bytes_that_a_network_saves() -> None:
    clock = Clock()
    space = SavedBytesLimiter(1_000_000, 86_400.0, clock)
    space.count_saved_bytes(ANN, 600_000)
    with pytest.raises(RateLimited) as caught:
        space.count_saved_bytes(BOB, 600_000)
    assert (caught.value.action, caught.value.problem.code) == ("save", "limited")
    assert str(caught.value) == ("an address may ask for saving 1 MB of programs per day; try again in 17280 s")
    clock.now += 17_281.0
    space.count_saved_bytes(BOB, 600_000)
