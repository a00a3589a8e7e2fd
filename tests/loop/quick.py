"""`make quick`: the tests that a change reaches, the nearest first, for as long as there is time; it prints which, and
why.

`python -m tests.loop.quick [--base REF] [--seconds N] [--list]`. A change is what differs from the main branch and what
is not committed. Where there is none, or where a changed file can't be placed, the whole fast tier runs. What is
reached and does not fit into the time is named, and left to `make test`.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tests.loop.durations import last_durations, seconds_by_file
from tests.loop.narrowed import VARIABLE
from tests.loop.reach import PROGRAMS, Graph, Reached, changed_files, checkout_files, is_test, likeness

ROOT = Path(__file__).parents[2]
FAST_TIER = "not slow and not browser and not attack and not exhaustive"
REACHED_TIER = "not attack and not exhaustive"
START_SECONDS = 20
"""Until the first test of several processes runs."""

MANY = 10
"""Files of tests: where more of those that are nearest to a change do not fit, a few of them say nothing of the
others."""

NARROWED_SECONDS, SLOW_SECONDS, OTHER_SECONDS = 5.0, 40.0, 3.0
"""What a file may take that has no durations yet."""


@dataclass
class Choice:
    """Which files of tests run.

    chosen: the nearest first. left: what is reached and does not fit. narrowed: by file, the programs whose tests run.
    unplaced: changed files of which nothing says what they reach. everywhere: those of which not even the nearest fit.
    unread: documents that no test reads.
    """

    chosen: list[Reached] = field(default_factory=list)
    left: list[Reached] = field(default_factory=list)
    narrowed: dict[str, list[str]] = field(default_factory=dict)
    unplaced: list[str] = field(default_factory=list)
    everywhere: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def choose(graph: Graph, changed: Sequence[str], measured: dict[str, float], seconds: float) -> Choice:
    """measured: seconds by file of tests
    seconds: of all processes together
    """
    choice = Choice()
    nearest: dict[str, tuple[int, Reached]] = {}
    programs: dict[str, set[str]] = {}
    otherwise: set[str] = set()
    for path in changed:
        reached = graph.reached_tests(path)
        if is_test(path) and path in graph.files:
            reached.insert(0, Reached(path, 0, ()))
        if not reached:
            (choice.unread if path.endswith(".md") else choice.unplaced).append(path)
        for test in reached:
            score = test.distance - likeness(test.file, path)
            if test.file not in nearest or score < nearest[test.file][0]:
                nearest[test.file] = score, test
            if path.startswith(PROGRAMS):
                programs.setdefault(test.file, set()).add(PurePosixPath(path).stem)
            else:
                otherwise.add(test.file)
    choice.narrowed = {file: sorted(stems) for file, stems in programs.items() if file not in otherwise}
    for _, test in sorted(nearest.values(), key=lambda scored: (scored[0], scored[1].file)):
        cost = (
            NARROWED_SECONDS if test.file in choice.narrowed else measured.get(test.file, 0.0) or estimate(graph, test)
        )
        if not choice.chosen or not test.is_python or test.distance == 0 or cost <= seconds:
            choice.chosen.append(test)
            seconds -= cost if test.is_python else 0.0
        else:
            choice.left.append(test)
    left = {test.file for test in choice.left}
    for path in changed:
        scores = {test.file: test.distance - likeness(test.file, path) for test in graph.reached_tests(path)}
        if len([file for file, score in scores.items() if score == min(scores.values()) and file in left]) > MANY:
            choice.everywhere.append(path)
    return choice


def estimate(graph: Graph, test: Reached) -> float:
    """Seconds of a file that was not measured yet, by its marks and fixtures."""
    is_slow = re.search(r"mark\.slow|\bpage: Any|\bsite\b|chromium", (graph.root / test.file).read_text())
    return SLOW_SECONDS if is_slow else OTHER_SECONDS


def described(choice: Choice, changed: Sequence[str], shown: int = 12) -> str:
    """What runs and why, and what does not."""
    lines = [
        f"changed: {', '.join(changed[:shown])}" + (f" and {len(changed) - shown} more" if len(changed) > shown else "")
    ]
    lines += [f"no test reads {path}" for path in choice.unread]
    for test in choice.chosen:
        way = " <- ".join(reversed(test.through)) or "changed itself"
        only = f" (of {', '.join(choice.narrowed[test.file])})" if test.file in choice.narrowed else ""
        lines.append(f"runs  {test.file}{only}: {way}")
    if choice.left:
        names = ", ".join(test.file for test in choice.left[:shown])
        more = f" and {len(choice.left) - shown} more" if len(choice.left) > shown else ""
        lines.append(f"left to make test, for they are further away and there is no time: {names}{more}")
    return "\n".join(lines)


def run_fast_tier(processes: int) -> int:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        str(processes),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "-m",
        FAST_TIER,
    ]
    return subprocess.run(command, cwd=ROOT, check=False).returncode or run_node_tests([])


def run_node_tests(files: Sequence[str]) -> int:
    node = shutil.which("node") or "node"
    return subprocess.run([node, "static/run_tests.mjs", *files], cwd=ROOT, check=False).returncode


def run_chosen(choice: Choice, processes: int) -> int:
    python = [test.file for test in choice.chosen if test.is_python]
    scripts = [test.file for test in choice.chosen if not test.is_python]
    status = run_node_tests(scripts) if scripts else 0
    if python:
        beside = ["-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"] if len(python) > 2 else []
        command = [sys.executable, "-m", "pytest", "-p", "tests.loop.narrowed", *beside, "-m", REACHED_TIER, *python]
        environment = {**os.environ, VARIABLE: json.dumps(choice.narrowed)}
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode or status
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", help="a commit: what has changed since this branch left it")
    parser.add_argument("--seconds", type=float, default=90.0, help="how long it may take")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--list", action="store_true", help="print what would run, and run nothing")
    given = parser.parse_args()
    changed = changed_files(ROOT, given.base)
    budget = max(given.seconds - START_SECONDS, 0.0) * given.processes
    choice = choose(Graph(ROOT, checkout_files(ROOT)), changed, seconds_by_file(last_durations()), budget)
    whole = ""
    if not changed:
        whole = "nothing has changed"
    elif choice.unplaced:
        whole = f"nothing says what {', '.join(choice.unplaced)} reaches"
    elif choice.everywhere:
        whole = f"too many tests are equally near to {', '.join(choice.everywhere)}"
    elif not choice.chosen:
        whole = f"no test reads {', '.join(choice.unread)}"
    print(f"{whole}: the whole fast tier runs ({FAST_TIER})" if whole else described(choice, changed), flush=True)
    if given.list:
        return 0
    return run_fast_tier(given.processes) if whole else run_chosen(choice, given.processes)


if __name__ == "__main__":
    sys.exit(main())
