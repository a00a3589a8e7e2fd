"""The one table of settings: a name, a default and what it means. `GRADBOX_<NAME>` in the environment overrides."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    name: str
    default: Any
    meaning: str


TABLE = (
    Setting("HOSTS", "127.0.0.1,localhost,[::1]", "Names by which a browser may address the server, comma-separated."),
    Setting("WORKERS", 2, "Programs that run at once."),
    Setting("QUEUE", 16, "Programs that may wait for their turn; one more is told to come back."),
    Setting("SOURCE", 65_536, "Bytes of a program."),
    Setting("STEPS", 2000, "Steps of a run; long loops are thinned to fit."),
    Setting("WALL", 10.0, "Seconds a run may take; the `trace` command waits 60 where this is not set."),
    Setting("OUTPUT", 1_000_000, "Characters a program may print."),
    Setting("TRACE", 8_000_000, "Bytes of a trace."),
    Setting("BOOT", 60.0, "Seconds the workers' first process may take to import torch."),
)


class SettingError(Exception):
    """A setting that can't be read; names it and what it should be."""


class Settings:
    """The settings as attributes in lower case, each of its default's type."""

    hosts: str
    workers: int
    queue: int
    source: int
    steps: int
    wall: float
    output: int
    trace: int
    boot: float

    def __init__(self, environment: Mapping[str, str] | None = None, **overrides: Any) -> None:
        environment = os.environ if environment is None else environment
        for row in TABLE:
            text = environment.get(f"GRADBOX_{row.name}")
            value = overrides.pop(row.name.lower(), row.default if text is None else read(row, text))
            setattr(self, row.name.lower(), value)
        if overrides:
            raise SettingError(f"no such setting: {', '.join(sorted(overrides))}")

    def limits(self) -> dict[str, int | float]:
        """What a run is told of its limits."""
        return {"steps": self.steps, "wall": self.wall, "output": self.output, "trace": self.trace}


def read(row: Setting, text: str) -> Any:
    kind = type(row.default)
    if kind is str:
        return text
    try:
        value = kind(text)
    except ValueError:
        raise SettingError(f"GRADBOX_{row.name} is {text!r}; it takes a number, like {row.default}") from None
    if not value > 0:
        raise SettingError(f"GRADBOX_{row.name} is {text}; it takes a number above 0")
    return value
