"""The settings table: defaults, the environment, and errors that name the setting."""

from pathlib import Path

import pytest

from server.settings import TABLE, SettingError, Settings


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
    assert settings.limits() == limits


def test_switches_and_choices() -> None:
    assert Settings({"GRADBOX_CLASSROOM": "1"}).classroom is True and Settings({"GRADBOX_GPU": "off"}).gpu is False
    with pytest.raises(SettingError, match="GRADBOX_CLASSROOM"):
        Settings({"GRADBOX_CLASSROOM": "perhaps"})
    with pytest.raises(SettingError, match=r"GRADBOX_SANDBOX.*require, best, off"):
        Settings({"GRADBOX_SANDBOX": "none"})


@pytest.mark.parametrize("text", ["many", "", "-1", "0", "1.5"])
def test_a_setting_that_is_no_number_is_named(text: str) -> None:
    with pytest.raises(SettingError, match="GRADBOX_STEPS"):
        Settings({"GRADBOX_STEPS": text})


def test_every_row_is_an_attribute_with_a_sentence() -> None:
    settings = Settings({})
    for row in TABLE:
        assert getattr(settings, row.name.lower()) == row.default
        assert row.meaning.endswith(".")


def test_the_readme_lists_every_setting() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    for row in TABLE:
        default = row.default if isinstance(row.default, str) else str(row.default)
        assert f"| `{row.name}` | `{default}` | {row.meaning} |" in readme
