"""The settings table: defaults, the environment, and errors that name the setting."""

import re
from pathlib import Path

import pytest

from gradbox.wire.limits import LIMITS
from server.commands import settings_docs
from server.settings import SETTINGS_TABLE, SettingError, Settings

ROOT = Path(__file__).parents[3]


def test_the_environment_overrides_the_defaults() -> None:
    settings = Settings({"GRADBOX_STEPS": "7", "GRADBOX_WALL": "0.5", "GRADBOX_HOSTS": "a,b"})
    assert (settings.steps, settings.wall, settings.hosts, settings.queue) == (7, 0.5, "a,b", 64)
    limits = {
        "steps": 7,
        "wall": 0.5,
        "cpu": 5,
        "memory": 1 << 30,
        "output": 1_000_000,
        "tensors": 10_000,
        "trace": 8_000_000,
    }
    assert limits.items() <= settings.run_limits().items() and settings.run_limits().keys() == LIMITS.keys()


def test_switches_and_choices() -> None:
    assert Settings({"GRADBOX_CLASSROOM": "1"}).classroom is True and Settings({"GRADBOX_GPU": "off"}).gpu is False
    with pytest.raises(SettingError, match="GRADBOX_CLASSROOM"):
        Settings({"GRADBOX_CLASSROOM": "perhaps"})
    with pytest.raises(SettingError, match=r"GRADBOX_SANDBOX.*require, best, off"):
        Settings({"GRADBOX_SANDBOX": "none"})


@pytest.mark.parametrize("text", ["many", "", "-1", "0", "1.5"])
def test_a_setting_that_is_not_a_number_is_named(text: str) -> None:
    with pytest.raises(SettingError, match="GRADBOX_STEPS"):
        Settings({"GRADBOX_STEPS": text})


def test_every_row_is_an_attribute_with_a_sentence() -> None:
    settings = Settings({})
    for row in SETTINGS_TABLE:
        assert getattr(settings, row.name.lower()) == row.default
        assert row.meaning.endswith(".")


def test_the_page_of_settings_is_current_and_has_every_one() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    assert page == settings_docs.settings_markdown_page(), "make settings"
    for row in SETTINGS_TABLE:
        assert f"| `{row.environment_variable}` | {settings_docs.format_default_value(row)} | {row.meaning} |" in page


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SOURCE", "`65536` (64 KiB)"),
        ("MEMORY", "`1073741824` (1 GiB)"),
        ("CACHE", "`64000000` (64 MB)"),
        ("QUOTA", "`1000000000` (1 GB)"),
        ("WALL", "`10.0` (10 s)"),
        ("STEPS", "`2000`"),
        ("GPU", "`1` (on)"),
        ("RATE_LIMIT", "`60/minute`"),
        ("SECRET", "none"),
    ],
)
def test_a_default_is_documented_as_written_and_in_words(name: str, expected: str) -> None:
    row = next(row for row in SETTINGS_TABLE if row.name == name)
    assert settings_docs.format_default_value(row) == expected
    if expected.startswith("`"):
        assert getattr(Settings({row.environment_variable: expected.split("`")[1]}), name.lower()) == row.default


@pytest.mark.parametrize(
    ("number", "expected"), [(999, "999 bytes"), (1500, "1500 bytes"), (3 << 20, "3 MiB"), (7, "7 bytes")]
)
def test_sizes(number: int, expected: str) -> None:
    assert settings_docs.format_exact_bytes(number) == expected


def test_changed_settings_are_listed_without_secrets() -> None:
    changed = Settings(
        {"GRADBOX_PASSWORD": "open sesame", "DATABASE_URL": "postgresql://u:p@h/d", "GRADBOX_STEPS": "7"}
    ).changed_settings()
    assert changed == {"GRADBOX_PASSWORD": "set", "DATABASE_URL": "set", "GRADBOX_STEPS": 7}
    assert Settings({}).changed_settings() == {}


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "SECURITY.md",
        "LIMITATIONS.md",
        "docs/api.md",
        "docs/docker.md",
        "docs/hosting.md",
        "docs/matrix.md",
        "docs/own-code.md",
        "docs/privacy.md",
        "docs/sharing.md",
        "docs/using.md",
    ],
)
def test_pages_name_only_existing_settings_files_and_chapters(page: str) -> None:
    text = (ROOT / page).read_text()
    assert set(re.findall(r"\bGRADBOX_[A-Z_]+\b", text)) <= {row.environment_variable for row in SETTINGS_TABLE}
    for link in re.findall(r"\]\((?!https?:)([^)]*)\)", text):
        path, _, chapter = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if chapter:
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            assert chapter in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}, link
