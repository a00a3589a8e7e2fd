"""Clients: cookies that cannot be forged and addresses that cannot be borrowed."""

import itertools
from http.cookies import SimpleCookie
from typing import Any

import pytest

from server.settings import SettingError
from server.visitors.clients import (
    COOKIE_NAME,
    Client,
    client_address,
    client_id_from_cookie,
    cookie_signing_key,
    identify_client,
    is_certainly_from,
    new_visitor_cookie_header,
    parse_networks,
    sign_cookie_id,
)

KEY = cookie_signing_key("a key")
PROXIES = parse_networks("10.0.0.1, 192.168.0.0/16, 2001:db8:ffff::/48")


def scope(peer: str | None = "203.0.113.9", scheme: str = "http", **headers: str | list[str]) -> dict[str, Any]:
    pairs = [
        (name.replace("_", "-").encode(), value.encode("latin-1"))
        for name, values in headers.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    return {"type": "http", "scheme": scheme, "client": (peer, 50000) if peer is not None else None, "headers": pairs}


def given(asked: dict[str, Any], key: bytes = KEY) -> Any:
    """The cookie that a visitor gets."""
    text = new_visitor_cookie_header(asked, key, PROXIES)
    assert text is not None
    return SimpleCookie(text)[COOKIE_NAME]


def test_a_cookie_makes_a_visitor_and_lasts() -> None:
    cookie = given(scope())
    assert (cookie["path"], cookie["max-age"], cookie["httponly"], cookie["samesite"], cookie["secure"]) == (
        "/",
        "31536000",
        True,
        "Lax",
        "",
    )
    again = scope(cookie=f"other=1; {COOKIE_NAME}={cookie.value}; {COOKIE_NAME}x=2")
    assert client_id_from_cookie(again, KEY) == cookie.value.split(".")[0]
    assert new_visitor_cookie_header(again, KEY, PROXIES) is None
    assert given(scope()).value != cookie.value


def test_a_visitor_is_the_cookie_wherever_it_comes_from_and_without_one_its_address() -> None:
    value = given(scope()).value
    id_ = value.split(".")[0]
    assert identify_client(scope("203.0.113.7", cookie=f"{COOKIE_NAME}={value}"), KEY, ()) == Client(id_, "203.0.113.7")
    assert identify_client(scope("2001:db8::7", cookie=f"{COOKIE_NAME}={value}"), KEY, ()) == Client(
        id_, "2001:db8::/64"
    )
    assert identify_client(scope("203.0.113.7"), KEY, ()) == Client("203.0.113.7", "203.0.113.7")


def test_a_cookie_with_another_key_or_character_is_rejected() -> None:
    value = given(scope()).value
    id_, signature = value.split(".")
    forged = [value[:k] + ("A" if value[k] != "A" else "B") + value[k + 1 :] for k in range(len(value))]
    forged += [value[:k] for k in range(len(value))] + [
        value + "A",
        value + "=",
        f"{id_}.{signature}.",
        f"{id_}{signature}",
    ]
    forged += [
        id_,
        f"{id_}.",
        f".{signature}",
        f'"{value}"',
        value.swapcase(),
        value.replace(".", ". "),
        "é" * 22 + "." + signature,
    ]
    forged += [
        sign_cookie_id(id_, cookie_signing_key("another key")),
        sign_cookie_id(id_, cookie_signing_key("")),
        f"{id_}.{signature[:-1]}{chr(ord(signature[-1]) + 1)}",
    ]
    forged += [sign_cookie_id("A" * 21, KEY), sign_cookie_id("A" * 23, KEY), sign_cookie_id("1" * 21 + "é", KEY)]
    for text in forged:
        assert client_id_from_cookie(scope(cookie=f"{COOKIE_NAME}={text}"), KEY) is None, text
    for header in (
        value,
        f"={value}",
        f"x{COOKIE_NAME}={value}",
        f"{COOKIE_NAME}x={value}",
        f"{COOKIE_NAME.upper()}={value}",
        ";;;",
        "",
        "=" * 999,
    ):
        assert client_id_from_cookie(scope(cookie=header), KEY) is None, header


def test_a_valid_cookie_is_found_among_forged_ones() -> None:
    value = given(scope()).value
    forged = value[:-1] + ("A" if value[-1] != "A" else "E")
    asked = scope(cookie=[f"{COOKIE_NAME}={forged}; {COOKIE_NAME}", f" {COOKIE_NAME}={value} ;x=y"])
    assert client_id_from_cookie(asked, KEY) == value.split(".")[0]


def test_without_a_key_each_process_has_its_own() -> None:
    assert (
        cookie_signing_key("x") == b"x"
        and len(cookie_signing_key("")) == 32
        and cookie_signing_key("") != cookie_signing_key("")
    )


@pytest.mark.parametrize(
    ("asked", "secure"),
    [
        (scope(), False),
        (scope(scheme="https"), True),
        (scope("10.0.0.1", x_forwarded_proto="https"), True),
        (scope("10.0.0.1", x_forwarded_proto="http, HTTPS"), True),
        (scope("10.0.0.1", x_forwarded_proto=["https", "http"]), False),
        (scope("10.0.0.1", scheme="https"), True),
        (scope("10.0.0.2", x_forwarded_proto="https"), False),
        (scope(None, x_forwarded_proto="https"), False),
    ],
)
def test_a_cookie_is_secure_where_the_request_was_encrypted(asked: dict[str, Any], secure: bool) -> None:
    assert bool(given(asked)["secure"]) is secure


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("203.0.113.9", None, "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),  # anybody can write that
        ("10.0.0.2", "198.51.100.1", "10.0.0.2"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "garbage, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1,198.51.100.1 , 192.168.7.7,10.0.0.1", "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1", "192.168.7.7"], "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", "192.168.1.1, 10.0.0.1", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1, garbage", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1, ", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1, unknown, 192.168.0.1", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1:4711", "198.51.100.1"),
        ("10.0.0.1", "[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::/64"),
        ("10.0.0.1", "[2001:db8:1:2:3:4:5:6]", "2001:db8:1:2::/64"),
        ("10.0.0.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("10.0.0.1", "[2001:db8::1", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1:", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1:x", "10.0.0.1"),
        ("10.0.0.1", "198.051.100.1", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1/24", "10.0.0.1"),
        ("10.0.0.1", "3325256705", "10.0.0.1"),
        ("10.0.0.1", "1" * 9000, "10.0.0.1"),
        ("10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
        ("::ffff:10.0.0.1", "198.51.100.1, ::ffff:192.168.3.4", "198.51.100.1"),
        ("2001:db8:ffff::5", "2001:db8:a:b::1, 2001:db8:ffff:9::1", "2001:db8:a:b::/64"),
        ("2001:db8:ffff::5", "garbage", "2001:db8:ffff::/64"),
        ("2001:db8:fffe::5", "198.51.100.1", "2001:db8:fffe::/64"),
        ("fe80::1:2%eth0", None, "fe80::/64"),
        ("::1", None, "::/64"),
        ("testclient", "198.51.100.1", "testclient"),
        (None, "198.51.100.1", ""),
    ],
)
def test_the_address_is_the_last_one_not_written_by_a_trusted_proxy(
    peer: str | None, forwarded: str | list[str] | None, expected: str
) -> None:
    asked = scope(peer) if forwarded is None else scope(peer, x_forwarded_for=forwarded)
    assert client_address(asked, PROXIES) == expected


def test_only_the_last_hops_of_a_very_long_chain_are_read() -> None:
    trusted = parse_networks("10.0.0.0/8")

    def scope(hops: int) -> dict[str, Any]:
        chain = ", ".join(["198.51.100.7", *["10.0.0.2"] * hops])
        return {"type": "http", "client": ("10.0.0.1", 1), "headers": [(b"x-forwarded-for", chain.encode())]}

    assert client_address(scope(15), trusted) == "198.51.100.7"
    assert client_address(scope(2000), trusted) == "10.0.0.1"
    assert not is_certainly_from(scope(2000), trusted, trusted)


def test_forwarded_headers_are_ignored_without_trusted_proxies() -> None:
    assert client_address(scope("10.0.0.1", x_forwarded_for="198.51.100.1"), ()) == "10.0.0.1"


def test_forged_entries_before_the_proxies_change_nothing() -> None:
    """Of every chain of proxies, whatever the client put before it."""
    lies = ["", "1.1.1.1", "garbage", "10.0.0.1", "192.168.0.1", "::1", ",", "\xff"]
    for count, lie, chain in itertools.product(range(3), lies, itertools.permutations(["192.168.1.1", "10.0.0.1"])):
        header = ", ".join([lie] * bool(lie) + ["198.51.100.7", *chain[:count]])
        assert client_address(scope("192.168.9.9", x_forwarded_for=header), PROXIES) == "198.51.100.7", header


def test_an_ipv6_network_of_64_bits_is_one_address() -> None:
    home = {client_address(scope(f"2001:db8:1:2:{k:x}::{k:x}"), ()) for k in range(99)}
    assert home == {"2001:db8:1:2::/64"}
    assert client_address(scope("2001:db8:1:3::1"), ()) == "2001:db8:1:3::/64"


@pytest.mark.parametrize("text", ["", " ", ",", " , ,"])
def test_an_empty_list_of_proxies_is_empty(text: str) -> None:
    assert parse_networks(text) == ()


def test_networks_may_be_written_by_any_address_in_them() -> None:
    assert [str(network) for network in parse_networks("10.1.2.3/8,::1 , 127.0.0.1,2001:db8::1/32")] == [
        "10.0.0.0/8",
        "::1/128",
        "127.0.0.1/32",
        "2001:db8::/32",
    ]


@pytest.mark.parametrize(
    "wrong", ["proxy.local", "10.0.0.0/33", "10.0.0", "10.0.0.1:80", "*", "10.0.0.1 10.0.0.2", "::1::"]
)
def test_an_invalid_network_is_named(wrong: str) -> None:
    with pytest.raises(SettingError) as error:
        parse_networks(f"10.0.0.1, {wrong} ,::1")
    assert f"GRADBOX_TRUSTED_PROXIES has {wrong!r}; it takes" in str(error.value)


LOCAL = parse_networks("127.0.0.0/8,::1", "OPERATORS")


@pytest.mark.parametrize(
    ("asked", "sure"),
    [
        (scope("127.0.0.1", host="127.0.0.1:8000"), True),
        (scope("127.0.0.1", host="LOCALHOST"), True),
        (scope("::1", host="[::1]:8000"), True),
        (scope("::ffff:127.0.0.1", host="localhost"), True),
        (scope("203.0.113.9", host="localhost"), False),
        (scope(None, host="localhost"), False),
        (scope("127.0.0.1"), False),
        (
            scope("127.0.0.1", host="gradbox.example.org"),
            False,
        ),  # a proxy here that says nothing but passes the name on
        (scope("127.0.0.1", host="localhost.example.org"), False),
        (scope("127.0.0.1", host="localhost", x_forwarded_for="127.0.0.1"), False),
        (scope("127.0.0.1", host="localhost", x_forwarded_for=""), False),
        (scope("127.0.0.1", host="localhost", x_real_ip="127.0.0.1"), False),
        (scope("127.0.0.1", host="localhost", forwarded="for=127.0.0.1"), False),
        (scope("127.0.0.1", host="localhost", via="1.1 proxy"), False),
        (scope("127.0.0.1", host="localhost", x_forwarded_proto="https"), False),
        ({**scope("127.0.0.1", host="localhost"), "http_version": "1.0"}, False),  # as proxies speak, and nobody else
        ({**scope("127.0.0.1", host="localhost"), "http_version": "1.1"}, True),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="127.0.0.1"), True),
        (scope("10.0.0.1", host="a.example", x_forwarded_for="127.0.0.1"), True),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="127.0.0.1, 203.0.113.9"), False),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="127.0.0.1, unknown"), False),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="127.0.0.1, "), False),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="unix:"), False),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="127.0.0.1, 192.168.1.1"), True),
        (scope("10.0.0.1", host="localhost", x_forwarded_for="127.0.0.1, 192.168.1.1, 203.0.113.9, 10.0.0.1"), False),
        (scope("10.0.0.1", host="localhost"), False),
    ],
)
def test_a_client_is_within_a_network_only_if_that_is_certain(asked: dict[str, Any], sure: bool) -> None:
    assert is_certainly_from(asked, PROXIES, LOCAL) is sure


def test_every_address_of_a_trusted_chain_must_be_within_the_network() -> None:
    trusted = parse_networks("127.0.0.1, 192.168.0.0/16")
    home = parse_networks("192.168.0.0/16", "ADDRESSES")
    for chain, local, near in (
        ("127.0.0.1", True, False),
        ("192.168.1.5", False, True),
        ("127.0.0.1, 192.168.1.5", False, False),
    ):
        asked = scope("127.0.0.1", host="localhost", x_forwarded_for=chain)
        assert (is_certainly_from(asked, trusted, LOCAL), is_certainly_from(asked, trusted, home)) == (
            local,
            near,
        ), chain


def test_a_wrong_network_is_named_with_its_setting() -> None:
    with pytest.raises(SettingError, match="GRADBOX_ADDRESSES has 'home'"):
        parse_networks("home", "ADDRESSES")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:7:1::/64", "2001:db8:7::/48"),
        ("2001:db8:7:ffff::/64", "2001:db8:7::/48"),
        ("2001:db8:8:1::/64", "2001:db8:8::/48"),
        ("no: address", "no: address"),
        ("", ""),
    ],
)
def test_an_address_belongs_to_its_network(address: str, network: str) -> None:
    assert Client("x", address).network == network
