"""How long each test took, phase by phase: every run writes it to `var/durations`.

`make durations` prints where the time goes, by room and by file; with `--keep` it writes `tests/longest.txt`, the order
in which a clone without durations of its own starts the files.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import TypedDict

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "var/durations"
KEPT_ORDER = ROOT / "tests/longest.txt"
PHASES = ("setup", "call", "teardown")

LARGE_RUN = 1000
"""Tests of a run that is more than a file or a few."""

LARGE_RUNS_KEPT, SMALL_RUNS_KEPT = 12, 100

SECONDS_KEPT = 5.0
"""Files that take longer stand in the kept order."""

Phases = dict[str, float]
"""Seconds of a test's setup, call and teardown."""


class Run(TypedDict):
    """What a file of `var/durations` has.

    seconds: of the whole run
    tests: by node id
    """

    arguments: list[str]
    processes: int
    seconds: float
    tests: dict[str, Phases]


class DurationsWriter:
    """A plugin of the process that collects the reports of all others; it writes when the run ends."""

    def __init__(self, config: pytest.Config, folder: Path = FOLDER) -> None:
        self._config, self._folder, self._started = config, folder, time.time()
        self._tests: dict[str, Phases] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the seconds of a phase; of a test that is run again, those of all its runs."""
        phases = self._tests[report.nodeid]
        phases[report.when] = round(phases.get(report.when, 0.0) + report.duration, 4)

    def pytest_sessionfinish(self) -> None:
        if not self._tests:
            return
        run: Run = {
            "arguments": list(self._config.invocation_params.args),
            "processes": getattr(self._config.option, "numprocesses", None) or 1,
            "seconds": round(time.time() - self._started, 1),
            "tests": self._tests,
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        size = "large" if len(self._tests) >= LARGE_RUN else "small"
        path = self._folder / f"{time.time_ns()}-{size}-{os.getpid()}.json"
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(run))
        partial.rename(path)
        for size, kept in (("large", LARGE_RUNS_KEPT), ("small", SMALL_RUNS_KEPT)):
            for old in sorted(self._folder.glob(f"*-{size}-*.json"))[:-kept]:
                old.unlink(missing_ok=True)


def last_durations(folder: Path = FOLDER, root: Path = ROOT) -> dict[str, Phases]:
    """By node id, how long each test took when it last ran. Tests of files that are gone are left out."""
    tests: dict[str, Phases] = {}
    for path in sorted(folder.glob("*.json")):
        run: Run = json.loads(path.read_text())
        tests |= run["tests"]
    exists = {name: (root / name).is_file() for name in {file_of(test) for test in tests}}
    return {test: phases for test, phases in tests.items() if exists[file_of(test)]}


def file_of(test: str) -> str:
    return test.partition("::")[0]


def room_of(file: str) -> str:
    """The folder of a test's file, without `tests`."""
    return str(Path(file).parent.relative_to("tests"))


def seconds_by_file(tests: dict[str, Phases]) -> dict[str, float]:
    """The files that took longest first."""
    files: dict[str, float] = defaultdict(float)
    for test, phases in tests.items():
        files[file_of(test)] += sum(phases.values())
    return dict(sorted(files.items(), key=lambda item: -item[1]))


def longest_first(folder: Path = FOLDER, kept: Path = KEPT_ORDER) -> list[str]:
    """Files of tests, the longest first: by the last durations where a whole run has written some, else as they are
    kept."""
    if any(folder.glob("*-large-*.json")):
        return [file for file, seconds in seconds_by_file(last_durations(folder)).items() if seconds >= SECONDS_KEPT]
    return kept.read_text().split()


def table(tests: dict[str, Phases], files_shown: int = 40) -> str:
    """Where the time goes: the rooms, then the files, each with its number of tests and the seconds of its phases."""

    def rows(key: str, groups: dict[str, list[Phases]]) -> list[str]:
        sums = {
            name: [sum(test.get(phase, 0.0) for test in group) for phase in PHASES] for name, group in groups.items()
        }
        lines = [f"{'seconds':>9} {'setup':>7} {'call':>7} {'teardown':>9} {'tests':>6}  {key}"]
        for name, (setup, call, teardown) in sorted(sums.items(), key=lambda item: -sum(item[1])):
            total = setup + call + teardown
            lines.append(f"{total:9.1f} {setup:7.1f} {call:7.1f} {teardown:9.1f} {len(groups[name]):6}  {name}")
        return lines

    rooms: dict[str, list[Phases]] = defaultdict(list)
    files: dict[str, list[Phases]] = defaultdict(list)
    for test, phases in tests.items():
        files[file_of(test)].append(phases)
        rooms[room_of(file_of(test))].append(phases)
    total = sum(sum(phases.values()) for phases in tests.values())
    by_file = rows("file", files)
    rest = len(by_file) - 1 - files_shown
    shown = by_file[: files_shown + 1] + ([f"and {rest} more"] if rest > 0 else [])
    return "\n".join([*rows("room", rooms), "", *shown, "", f"{total:.0f} s in {len(tests)} tests"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help=f"write {KEPT_ORDER.relative_to(ROOT)}")
    parser.add_argument("--files", type=int, default=40, help="how many files to print")
    given = parser.parse_args()
    tests = last_durations()
    if not tests:
        raise SystemExit(f"{FOLDER.relative_to(ROOT)} has no durations yet: run some tests")
    if given.keep:
        longest = [file for file, seconds in seconds_by_file(tests).items() if seconds >= SECONDS_KEPT]
        KEPT_ORDER.write_text("\n".join(longest) + "\n")
    print(table(tests, given.files))


if __name__ == "__main__":
    main()
