"""The table of settings: names, defaults and meanings. The environment variable `GRADBOX_<NAME>` sets one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradbox.wire.limits import LIMITS


@dataclass(frozen=True)
class Setting:
    """unit: of a number, B or s. choices: the only values allowed. secret: the value is never shown."""

    name: str
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    prefix: str = "GRADBOX_"
    unit: str = ""
    secret: bool = False

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return self.prefix + self.name


SWITCH_VALUES = {
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
            "HOSTS",
            "127.0.0.1,localhost,[::1]",
            "Comma-separated host names that the server answers to. Requests with another Host header are refused.",
        ),
        Setting(
            "PUBLIC_URL",
            "",
            "The URL at which visitors reach the server, like https://gradbox.example.org or "
            "https://example.org/gradbox. Permalinks begin with it; its path is the prefix of all addresses.",
        ),
        Setting(
            "TRUSTED_PROXIES",
            "",
            "Comma-separated addresses or networks of proxies whose X-Forwarded-For header is trusted.",
        ),
        Setting(
            "WORKERS",
            2,
            "Maximum number of programs that run at the same time. The server reduces it at the start if memory is short.",
        ),
        Setting(
            "CONNECTIONS",
            1000,
            "Maximum number of connections. The server reduces it at the start if the process may open too few descriptors.",
        ),
        Setting("QUEUE", 64, "Maximum number of programs that wait to run. The server answers further ones with 429."),
        Setting(
            "QUEUE_URL",
            "",
            "URL of a Redis (7 or newer), like redis://:password@host:6379/0. Programs then run on the machines where you "
            "start `python -m server worker`, at most GRADBOX_WORKERS at once on each. Several web processes may share "
            "the Redis and the database; they need the same GRADBOX_SECRET. Requires `pip install -e .[server,cluster]`.",
            secret=True,
        ),
        Setting(
            "SANDBOX",
            "best",
            "Confinement of the workers. require: do not start unless every layer is active; "
            "best: use the layers that this host supports; off: use none.",
            ("require", "best", "off"),
        ),
        Setting("GPU", True, "Offer the GPU if torch finds one."),
        Setting("BOOT", 60.0, "Maximum time that the workers' first process may take to import torch.", unit="s"),
    ),
    "Access": (
        Setting("PASSWORD", "", "Password that visitors have to enter. If empty, none is required.", secret=True),
        Setting("PASSWORD_LIMIT", "10/minute", "Maximum rate of wrong passwords from one address."),
        Setting(
            "ADDRESSES",
            "",
            "Comma-separated addresses or networks that may use the server. If empty, all may. "
            "If a password is set as well, both are required.",
        ),
        Setting(
            "OPERATORS",
            "127.0.0.0/8,::1",
            "Comma-separated addresses or networks that may open the status page, /-/status.",
        ),
    ),
    "Visitors": (
        Setting("RATE_LIMIT", "60/minute", "Maximum rate of runs of one visitor. Cached results do not count."),
        Setting("ADDRESS_LIMIT", "300/minute", "Maximum rate of runs of all visitors behind one address."),
        Setting(
            "LIVE",
            "auto",
            "Whether programs run while a visitor types. on: the page's Live switch starts on; offered: the switch starts "
            "off; off: the page has no switch and does not preview what another operation would do; auto: offered if "
            "GRADBOX_PUBLIC_URL is set, otherwise on. A visitor's own choice is remembered.",
            ("auto", "on", "offered", "off"),
        ),
        Setting(
            "LIVE_LIMIT",
            "240/minute",
            "Maximum rate of runs that one visitor starts by typing or by a preview. They do not count toward other limits.",
        ),
        Setting("LIVE_ADDRESS_LIMIT", "1200/minute", "Maximum rate of such runs of all visitors behind one address."),
        Setting(
            "REQUEST_LIMIT",
            "1200/minute",
            "Maximum rate of requests, of any kind, of all visitors behind one address. A quarter of them may come at once. "
            "Requests for the page's scripts and styles do not count. All addresses of an IPv6 /48 count as one.",
        ),
        Setting(
            "SAVE_LIMIT",
            "20/minute",
            "Maximum rate at which one visitor saves programs. Saving a program that is already saved does not count.",
        ),
        Setting(
            "SAVE_ADDRESS_LIMIT", "100/minute", "Maximum rate at which all visitors behind one address save programs."
        ),
        Setting(
            "SAVE_SPACE",
            20_000_000,
            "Maximum total size of the programs that all visitors behind one address save in a day.",
            unit="B",
        ),
        Setting(
            "PICTURE_LIMIT", "120/minute", "Maximum rate of pictures drawn for one address. Cached ones do not count."
        ),
        Setting(
            "ADDRESS_CONNECTIONS",
            300,
            "Maximum number of connections from one address. Those from GRADBOX_TRUSTED_PROXIES are not limited.",
        ),
        Setting(
            "FRAMES",
            "*",
            "Sites that may embed /embed/{id} and /embed/series/{id}, as in the frame-ancestors directive: *, 'none', or a "
            "list of origins.",
        ),
        Setting(
            "CLASSROOM",
            False,
            "Set this for a class behind one address. The address may then use the whole queue, all connections, the whole "
            "space for saved programs, and per minute 3000 runs, 3000 runs while typing, 3000 saves and 20,000 requests.",
        ),
        Setting(
            "SECRET",
            "",
            "Key that signs the cookies of visitors and sessions. If empty, the server generates a new one at every start.",
            secret=True,
        ),
    ),
    "Limits of a run": (
        Setting("SOURCE", 65_536, "Maximum size of a program.", unit="B"),
        *(Setting(name.upper(), row.default, row.meaning, unit=row.unit) for name, row in LIMITS.items()),
        Setting("GPU_MEMORY", 4 << 30, "Maximum GPU memory of a program.", unit="B"),
    ),
    "Storage": (
        Setting("CACHE", 64_000_000, "Memory for cached results.", unit="B"),
        Setting(
            "DATA", "data", "Directory of the embedded database. The server creates it when the first program is saved."
        ),
        Setting(
            "DATABASE_URL",
            "",
            "URL of a PostgreSQL database to use instead of the embedded one, like postgresql://user:password@host/name. "
            "This name has no GRADBOX_ prefix.",
            prefix="",
            secret=True,
        ),
        Setting(
            "SCENARIO", 4_000_000, "Maximum size of a saved program with its texts and its compressed trace.", unit="B"
        ),
        Setting(
            "SERIES_FILE",
            12_000_000,
            "Maximum size of the compressed traces in the offline file of a series. The server makes no larger file.",
            unit="B",
        ),
        Setting("PICTURES", 32_000_000, "Memory for cached pictures and files.", unit="B"),
        Setting(
            "QUOTA",
            1_000_000_000,
            "Maximum size of all saved programs. When it is reached, no further program can be saved.",
            unit="B",
        ),
        Setting("LOG_PROGRAMS", False, "Write the source of every program to the log."),
    ),
}
SETTINGS_TABLE = tuple(row for rows in SECTIONS.values() for row in rows)


class SettingError(Exception):
    """An invalid value. The message names the setting and the values that it takes."""


class Settings:
    """The settings as attributes in lower case, each of the type of its default.

    environment: os.environ by default. overrides: values by attribute, for tests. Raises SettingError.
    """

    hosts: str
    workers: int
    queue: int
    connections: int
    address_connections: int
    rate_limit: str
    address_limit: str
    live: str
    live_limit: str
    live_address_limit: str
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
    save_space: int
    request_limit: str
    picture_limit: str
    frames: str
    pictures: int
    series_file: int
    save_address_limit: str
    public_url: str
    boot: float
    log_programs: bool
    queue_url: str

    def __init__(self, environment: Mapping[str, str] | None = None, **overrides: Any) -> None:
        environment = os.environ if environment is None else environment
        for row in SETTINGS_TABLE:
            text = environment.get(row.variable)
            value = overrides.pop(row.name.lower(), row.default if text is None else parse_value(row, text))
            setattr(self, row.name.lower(), value)
        if overrides:
            raise SettingError(f"unknown setting: {', '.join(sorted(overrides))}")

    def changed_settings(self) -> dict[str, Any]:
        """The values that differ from their defaults, by environment variable; `set` in place of a secret."""
        rows = [(row, getattr(self, row.name.lower())) for row in SETTINGS_TABLE]
        return {row.variable: "set" if row.secret else value for row, value in rows if value != row.default}

    @property
    def live_mode(self) -> str:
        """on, offered or off."""
        if self.live != "auto":
            return self.live
        return "offered" if self.public_url else "on"

    def limits(self) -> dict[str, int | float]:
        """The limits that a run is started with."""
        return {name: getattr(self, name) for name in LIMITS}


def parse_value(row: Setting, text: str) -> Any:
    """A value from the environment, of the type of the default. Raises SettingError."""
    kind = type(row.default)
    if row.choices and text not in row.choices:
        raise SettingError(f"{row.variable} is {text!r}; it takes one of {', '.join(row.choices)}")
    if kind is str:
        return text
    if kind is bool:
        if text.lower() not in SWITCH_VALUES:
            raise SettingError(f"{row.variable} is {text!r}; it takes 1 or 0")
        return SWITCH_VALUES[text.lower()]
    try:
        value = kind(text)
    except ValueError:
        raise SettingError(f"{row.variable} is {text!r}; it takes a number, like {row.default}") from None
    if not value > 0:
        raise SettingError(f"{row.variable} is {text}; it takes a number above 0")
    return value
