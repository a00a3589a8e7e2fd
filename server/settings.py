"""The settings with their defaults and meanings. The environment variable `GRADBOX_<NAME>` sets one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from gradbox.wire.limits import LIMITS, Limit

Value = TypeVar("Value", str, bool, int, float)


@dataclass
class Setting:
    """One row of the table of settings.

    unit: the number's unit, B or s
    choices: the only values allowed
    secret: whether the value is never shown
    name: in upper case
    """

    default: Any
    meaning: str
    choices: tuple[str, ...] = ()
    prefix: str = "GRADBOX_"
    unit: str = ""
    secret: bool = False
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name.upper()

    @property
    def attribute_name(self) -> str:
        """The name of the attribute in `Settings`."""
        return self.name.lower()

    @property
    def environment_variable(self) -> str:
        """The name of the environment variable."""
        return self.prefix + self.name


def declare_setting(default: Value, meaning: str, choices: tuple[str, ...] = (), **options: Any) -> Value:
    """Declare a setting. The type checker sees the value that an instance of `Settings` has."""
    return cast(Value, Setting(default, meaning, choices, **options))


def declare_limit_setting(name: Limit) -> Any:
    """Declare the setting of a run's limit."""
    row = LIMITS[name]
    return Setting(row.default, row.meaning, unit=row.unit)


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


class ServingSettings:
    """How the server listens and answers."""

    hosts = declare_setting(
        "127.0.0.1,localhost,[::1]",
        "Comma-separated host names that the server answers to. Requests with another Host header are refused.",
    )
    public_url = declare_setting(
        "",
        "The URL at which visitors reach the server, like https://gradbox.example.org or "
        "https://example.org/gradbox. Permalinks begin with it; its path is the prefix of all addresses.",
    )
    trusted_proxies = declare_setting(
        "",
        "Comma-separated addresses or networks of proxies whose X-Forwarded-For header is trusted.",
    )
    workers = declare_setting(
        2,
        "Maximum number of programs that run at the same time. The server reduces it at the start if memory is short.",
    )
    connections = declare_setting(
        1000,
        "Maximum number of connections. The server reduces it at the start if the process may open too few "
        "descriptors.",
    )
    queue = declare_setting(
        64, "Maximum number of programs that wait to run. The server answers further ones with 429."
    )
    queue_url = declare_setting(
        "",
        "URL of a Redis (7 or newer), like redis://:password@host:6379/0. Programs then run on the machines "
        "where you start `python -m server worker`, at most GRADBOX_WORKERS at once on each. Several web "
        "processes may share the Redis and the database; they need the same GRADBOX_SECRET. Requires `pip "
        "install -e .[server,cluster]`.",
        secret=True,
    )
    queue_key = declare_setting(
        "",
        "Key with which workers sign what they send through GRADBOX_QUEUE_URL. Set it to the same value on all web "
        "processes "
        "and workers, and give it to nobody else who uses the Redis. If empty, whoever can write to the Redis can "
        "falsify traces.",
        secret=True,
    )
    sandbox = declare_setting(
        "best",
        "Confinement of the workers. require: do not start unless every layer is active; "
        "best: use the layers that this host supports; off: use none.",
        ("require", "best", "off"),
    )
    packages = declare_setting(
        "auto",
        "Packages that programs may import beside torch, numpy and a part of Python, by their names for pip or for "
        "import, with commas between, like einops,tqdm,pandas,scikit-learn. They have to be installed beside Gradbox. "
        "auto: einops and tqdm, where they are installed; none: no package. Workers on other machines need the same "
        "value.",
    )
    gpu = declare_setting(True, "Offer the GPU if torch finds one.")
    boot = declare_setting(
        60.0, "Maximum processor time that the workers' first process may take to import torch.", unit="s"
    )


class AccessSettings:
    """Who may use the server."""

    password = declare_setting("", "Password that visitors have to enter. If empty, none is required.", secret=True)
    password_limit = declare_setting("10/minute", "Maximum rate of wrong passwords from one address.")
    addresses = declare_setting(
        "",
        "Comma-separated addresses or networks that may use the server. If empty, all may. "
        "If a password is set as well, both are required.",
    )
    operators = declare_setting(
        "127.0.0.0/8,::1",
        "Comma-separated addresses or networks that may open the status page, /-/status.",
    )


class VisitorSettings:
    """What a visitor may do."""

    rate_limit = declare_setting("60/minute", "Maximum rate of runs of one visitor. Cached results do not count.")
    address_limit = declare_setting("300/minute", "Maximum rate of runs of all visitors behind one address.")
    live = declare_setting(
        "auto",
        "Whether programs run while a visitor types. on: the page's Live switch starts on; offered: the "
        "switch starts off; off: the page has no switch and does not preview what another operation would do;"
        " auto: offered if GRADBOX_PUBLIC_URL is set, otherwise on. A visitor's own choice is remembered.",
        ("auto", "on", "offered", "off"),
    )
    live_limit = declare_setting(
        "240/minute",
        "Maximum rate of runs that one visitor starts by typing or by a preview. They do not count toward "
        "other limits.",
    )
    live_address_limit = declare_setting("1200/minute", "Maximum rate of such runs of all visitors behind one address.")
    request_limit = declare_setting(
        "1200/minute",
        "Maximum rate of requests, of any kind, of all visitors behind one address. A quarter of them may "
        "come at once. Requests for the page's scripts and styles do not count. All addresses of an IPv6 /48 "
        "count as one.",
    )
    save_limit = declare_setting(
        "20/minute",
        "Maximum rate at which one visitor saves programs. Saving a program that is already saved does not count.",
    )
    save_address_limit = declare_setting(
        "100/minute", "Maximum rate at which all visitors behind one address save programs."
    )
    save_space = declare_setting(
        20_000_000,
        "Maximum total size of the programs that all visitors behind one address save in a day.",
        unit="B",
    )
    picture_limit = declare_setting(
        "120/minute", "Maximum rate of pictures drawn for one address. Cached ones do not count."
    )
    picture_wait = declare_setting(
        2.0,
        "Time that a request waits for a picture. After that it gets a plain one with status 202, and the picture is "
        "drawn for the next request.",
        unit="s",
    )
    address_connections = declare_setting(
        300,
        "Maximum number of connections from one address. Those from GRADBOX_TRUSTED_PROXIES are not limited.",
    )
    frames = declare_setting(
        "*",
        "Sites that may embed /embed/{id} and /embed/series/{id}, as in the frame-ancestors directive: *, "
        "'none', or a list of origins.",
    )
    classroom = declare_setting(
        False,
        "Set this for a class behind one address. The address may then use the whole queue, all connections, "
        "the whole space for saved programs, and per minute 3000 runs, 3000 runs while typing, 3000 saves and"
        " 20,000 requests.",
    )
    secret = declare_setting(
        "",
        "Key that signs the cookies of visitors and sessions. If empty, the server generates a new one at every start.",
        secret=True,
    )


class RunLimitSettings:
    """What a run may use."""

    source = declare_setting(65_536, "Maximum size of a program.", unit="B")
    steps: int = declare_limit_setting("steps")
    wall: float = declare_limit_setting("wall")
    cpu: int = declare_limit_setting("cpu")
    memory: int = declare_limit_setting("memory")
    output: int = declare_limit_setting("output")
    tensors: int = declare_limit_setting("tensors")
    trace: int = declare_limit_setting("trace")
    gpu_memory = declare_setting(4 << 30, "Maximum GPU memory of a program.", unit="B")


class StorageSettings:
    """What is stored and where."""

    cache = declare_setting(64_000_000, "Memory for cached results.", unit="B")
    data = declare_setting(
        "data", "Directory of the embedded database. The server creates it when the first program is saved."
    )
    database_url = declare_setting(
        "",
        "URL of a PostgreSQL database to use instead of the embedded one, like postgresql://user:password@host/name. "
        "This name has no GRADBOX_ prefix.",
        prefix="",
        secret=True,
    )
    scenario = declare_setting(
        4_000_000, "Maximum size of a saved program with its texts and its compressed trace.", unit="B"
    )
    series_file = declare_setting(
        12_000_000,
        "Maximum size of the compressed traces in the offline file of a series. The server makes no larger file.",
        unit="B",
    )
    pictures = declare_setting(32_000_000, "Memory for cached pictures and files.", unit="B")
    quota = declare_setting(
        1_000_000_000,
        "Maximum size of all saved programs. When it is reached, no further program can be saved.",
        unit="B",
    )
    log_programs = declare_setting(False, "Write the source of every program to the log.")


def declared_settings(section: type) -> tuple[Setting, ...]:
    return tuple(row for row in vars(section).values() if isinstance(row, Setting))


SECTIONS = {
    "Serving": declared_settings(ServingSettings),
    "Access": declared_settings(AccessSettings),
    "Visitors": declared_settings(VisitorSettings),
    "Limits of a run": declared_settings(RunLimitSettings),
    "Storage": declared_settings(StorageSettings),
}
SETTINGS_TABLE = tuple(row for rows in SECTIONS.values() for row in rows)


class SettingError(Exception):
    """An invalid value. The message names the setting and the values that it takes."""


class Settings(ServingSettings, AccessSettings, VisitorSettings, RunLimitSettings, StorageSettings):
    """The settings as attributes in lower case, each of the type of its default. Raises SettingError.

    environment: defaults to os.environ
    overrides: values by attribute name, for tests
    """

    def __init__(self, environment: Mapping[str, str] | None = None, **overrides: Any) -> None:
        environment = os.environ if environment is None else environment
        for row in SETTINGS_TABLE:
            text = environment.get(row.environment_variable)
            value = overrides.pop(row.attribute_name, row.default if text is None else parse_setting_value(row, text))
            setattr(self, row.attribute_name, value)
        if overrides:
            raise SettingError(f"unknown setting: {', '.join(sorted(overrides))}")

    def changed_settings(self) -> dict[str, Any]:
        """Return the values that differ from their defaults, by environment variable; secrets read `set`."""
        rows = [(row, getattr(self, row.attribute_name)) for row in SETTINGS_TABLE]
        return {row.environment_variable: "set" if row.secret else value for row, value in rows if value != row.default}

    @property
    def live_mode(self) -> str:
        """The mode of Live: on, offered or off."""
        if self.live != "auto":
            return self.live
        return "offered" if self.public_url else "on"

    def run_limits(self) -> dict[str, int | float]:
        """Return the limits of a run."""
        return {name: getattr(self, name) for name in LIMITS}


def parse_setting_value(row: Setting, text: str) -> Any:
    """Parse a value from the environment into the type of the default. Raises SettingError."""
    kind = type(row.default)
    if row.choices and text not in row.choices:
        raise SettingError(f"{row.environment_variable} is {text!r}; it takes one of {', '.join(row.choices)}")
    if kind is str:
        return text
    if kind is bool:
        if text.lower() not in SWITCH_VALUES:
            raise SettingError(f"{row.environment_variable} is {text!r}; it takes 1 or 0")
        return SWITCH_VALUES[text.lower()]
    try:
        value = kind(text)
    except ValueError:
        raise SettingError(f"{row.environment_variable} is {text!r}; it takes a number, like {row.default}") from None
    if not value > 0:
        raise SettingError(f"{row.environment_variable} is {text}; it takes a number above 0")
    return value
