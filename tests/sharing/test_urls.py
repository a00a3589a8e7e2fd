"""Addresses of saved programs, and which ones are this server's."""

import pytest

from server.settings import Settings
from server.urls import parse_permalink_id, program_permalink, public_url

BASE = "https://example.org/gradbox"
ID = "7kd5h2n9xt"


def test_a_permalink_begins_with_the_public_url_or_the_root() -> None:
    assert program_permalink(Settings({}, public_url=f"{BASE}/"), "/gradbox", ID) == f"{BASE}/s/{ID}"
    assert program_permalink(Settings({}), "/box", ID) == f"/box/s/{ID}" and public_url(Settings({})) == ""


@pytest.mark.parametrize(
    ("url", "id_"),
    [
        (f"{BASE}/s/{ID}", ID),
        (f"{BASE}/embed/{ID}/?theme=dark#i=3", ID),
        (f"HTTPS://EXAMPLE.org/gradbox/s/{ID}", ID),
        (f"https://example.org/GRADBOX/s/{ID}", None),
        (f"https://example.org/s/{ID}", None),
        (f"https://example.org.evil.example/gradbox/s/{ID}", None),
        (f"{BASE}/s/{ID}.svg", None),
        (f"{BASE}/s/short", None),
        ("", None),
    ],
)
def test_the_id_in_a_permalink(url: str, id_: str | None) -> None:
    assert parse_permalink_id(url, BASE) == id_
