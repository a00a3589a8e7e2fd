"""The doctor's last line: for whom the server is ready, by what the report has and by the settings."""

from typing import Any

import pytest

from server.commands.doctor_verdict import judge_readiness
from server.settings import Settings

FINE = [("workers", "ready after 2.0 s", ""), ("layer seccomp", "active", ""), ("store, embedded", "none yet", "")]
PUBLIC: dict[str, Any] = {"sandbox": "require", "public_url": "https://g.example", "hosts": "g.example,127.0.0.1"}


def verdict(*rows: tuple[str, str, str], **settings: Any) -> tuple[str, bool]:
    result = judge_readiness([*FINE, *rows], Settings({}, **settings))
    assert result.text.count("\n") == 0
    return result.text, result.public


def test_a_server_is_ready_for_public_use() -> None:
    assert verdict(**PUBLIC) == ("Verdict: ready for public use", True)
    remark = ("font, Chinese", "none", "Chinese letters are missing")
    assert verdict(remark, **PUBLIC) == ("Verdict: ready for public use; 1 remark above", True)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sandbox": "best"}, "GRADBOX_SANDBOX is best"),
        ({"hosts": "127.0.0.1,localhost"}, "GRADBOX_HOSTS has names of this machine only"),
        ({"public_url": ""}, "GRADBOX_PUBLIC_URL is not set"),
    ],
)
def test_a_server_for_its_owner_says_why_it_is_not_ready_for_strangers(changed: dict[str, Any], reason: str) -> None:
    text, public = verdict(**{**PUBLIC, **changed})
    assert not public and text.startswith(f"Verdict: ready for yourself, not for public use, because {reason}")


def test_every_reason_is_named() -> None:
    text, public = verdict(
        ("layer landlock", "the kernel has no Landlock", "the kernel has no Landlock"),
        ("GRADBOX_SECRET", "check", "it is not set"),
    )
    assert not public
    for reason in ("layer landlock", "GRADBOX_SECRET: it is not set", "GRADBOX_HOSTS", "GRADBOX_PUBLIC_URL", "require"):
        assert reason in text


@pytest.mark.parametrize("subject", ["workers", "a small program", "store, PostgreSQL"])
def test_a_server_that_can_not_run_or_save_is_not_ready(subject: str) -> None:
    text, public = verdict((subject, "none", "it is away"), **PUBLIC)
    assert (text, public) == (f"Verdict: not ready, because {subject}: it is away", False)
