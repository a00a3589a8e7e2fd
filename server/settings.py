"""The one table of settings: a name, a default and what it means. `GRADBOX_<NAME>` in the environment overrides."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.wire.limits import LIMITS


@dataclass(frozen=True)
class Setting:
    """unit: B or s, of a number. secret: its value is shown to nobody."""

    name: str
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    prefix: str = "GRADBOX_"
    unit: str = ""
    secret: bool = False

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return self.prefix + self.name


SWITCH = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
    "": False,
}

SECTIONS = {
    "Serving": (
        Setting(
            "HOSTS", "127.0.0.1,localhost,[::1]", "Names by which a browser may address the server, comma-separated."
        ),
        Setting(
            "PUBLIC_URL",
            "",
            "Where visitors find the server, like https://gradbox.example.org or https://example.org/gradbox; "
            "permalinks begin so, and its path is the prefix of every address.",
        ),
        Setting("TRUSTED_PROXIES", "", "Addresses or networks whose X-Forwarded-For is believed, comma-separated."),
        Setting("WORKERS", 2, "Programs that run at once; fewer where the memory would not do for so many."),
        Setting("QUEUE", 64, "Programs that may wait for their turn; one more is told to come back."),
        Setting(
            "SANDBOX",
            "best",
            "require: no start without every layer of confinement; best: with those there are; off.",
            ("require", "best", "off"),
        ),
        Setting("GPU", True, "Offer the GPU, where torch finds one."),
        Setting("BOOT", 60.0, "Seconds the workers' first process may take to import torch.", unit="s"),
    ),
    "Who may come": (
        Setting("PASSWORD", "", "What everybody is asked for; where none is set, nobody is asked.", secret=True),
        Setting("PASSWORD_LIMIT", "10/minute", "Wrong passwords from one address."),
        Setting(
            "ADDRESSES",
            "",
            "Addresses or networks from which one may come, comma-separated; where none is set, from all. "
            "With a password as well, both are needed.",
        ),
        Setting("OPERATORS", "127.0.0.0/8,::1", "Addresses or networks that are shown /-/status, comma-separated."),
    ),
    "Visitors": (
        Setting("RATE_LIMIT", "60/minute", "Runs of one visitor; results kept from before do not count."),
        Setting("ADDRESS_LIMIT", "300/minute", "Runs of all visitors behind one address."),
        Setting(
            "SAVE_LIMIT", "20/minute", "Scenarios that one visitor may save; what is saved already does not count."
        ),
        Setting("SAVE_ADDRESS_LIMIT", "100/minute", "Scenarios that all visitors behind one address may save."),
        Setting("PICTURE_LIMIT", "120/minute", "Pictures drawn for one address; those that are kept do not count."),
        Setting("FRAMES", "*", "Pages that may frame /embed/{id}, as in frame-ancestors: *, 'none', or origins."),
        Setting(
            "CLASSROOM",
            False,
            "A class sits behind one address: it may have the whole queue, and 3000 runs and saves a minute.",
        ),
        Setting(
            "SECRET",
            "",
            "Signs the visitors' cookies; where none is set, each start of the server has its own.",
            secret=True,
        ),
    ),
    "Limits of a run": (
        Setting("SOURCE", 65_536, "Bytes of a program.", unit="B"),
        *(Setting(name.upper(), row.default, row.meaning, unit=row.unit) for name, row in LIMITS.items()),
        Setting("GPU_MEMORY", 4 << 30, "Bytes of the GPU that a program may take.", unit="B"),
    ),
    "What is kept": (
        Setting("CACHE", 64_000_000, "Bytes of results that are kept in memory.", unit="B"),
        Setting("DATA", "data", "Folder of the embedded database, made when the first scenario is saved."),
        Setting(
            "DATABASE_URL",
            "",
            "A PostgreSQL instead, like postgresql://user:password@host/name; without GRADBOX_ before its name.",
            prefix="",
            secret=True,
        ),
        Setting("SCENARIO", 4_000_000, "Bytes of a saved scenario: its texts, and its trace compressed.", unit="B"),
        Setting("PICTURES", 32_000_000, "Bytes of drawn pictures and files that are kept in memory.", unit="B"),
        Setting("QUOTA", 1_000_000_000, "Bytes of all saved scenarios; past them nothing more is saved.", unit="B"),
        Setting("LOG_PROGRAMS", False, "Write the programs' text into the log."),
    ),
}
TABLE = tuple(row for rows in SECTIONS.values() for row in rows)


class SettingError(Exception):
    """A setting that can't be read; names it and what it should be."""


class Settings:
    """The settings as attributes in lower case, each of its default's type."""

    hosts: str
    workers: int
    queue: int
    rate_limit: str
    address_limit: str
    classroom: bool
    trusted_proxies: str
    secret: str
    password: str
    password_limit: str
    addresses: str
    operators: str
    sandbox: str
    source: int
    steps: int
    wall: float
    cpu: int
    memory: int
    gpu: bool
    gpu_memory: int
    output: int
    tensors: int
    trace: int
    cache: int
    data: str
    database_url: str
    scenario: int
    quota: int
    save_limit: str
    picture_limit: str
    frames: str
    pictures: int
    save_address_limit: str
    public_url: str
    boot: float
    log_programs: bool

    def __init__(self, environment: Mapping[str, str] | None = None, **overrides: Any) -> None:
        environment = os.environ if environment is None else environment
        for row in TABLE:
            text = environment.get(row.variable)
            value = overrides.pop(row.name.lower(), row.default if text is None else read(row, text))
            setattr(self, row.name.lower(), value)
        if overrides:
            raise SettingError(f"no such setting: {', '.join(sorted(overrides))}")

    def changed(self) -> dict[str, Any]:
        """Those that are not their defaults, by their names in the environment; of a secret only that it is set."""
        rows = [(row, getattr(self, row.name.lower())) for row in TABLE]
        return {row.variable: "set" if row.secret else value for row, value in rows if value != row.default}

    def limits(self) -> dict[str, int | float]:
        """What a run is told of its limits."""
        return {name: getattr(self, name) for name in LIMITS}


def read(row: Setting, text: str) -> Any:
    kind = type(row.default)
    if row.choices and text not in row.choices:
        raise SettingError(f"{row.variable} is {text!r}; it takes one of {', '.join(row.choices)}")
    if kind is str:
        return text
    if kind is bool:
        if text.lower() not in SWITCH:
            raise SettingError(f"{row.variable} is {text!r}; it takes 1 or 0")
        return SWITCH[text.lower()]
    try:
        value = kind(text)
    except ValueError:
        raise SettingError(f"{row.variable} is {text!r}; it takes a number, like {row.default}") from None
    if not value > 0:
        raise SettingError(f"{row.variable} is {text}; it takes a number above 0")
    return value
