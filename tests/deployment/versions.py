"""Tries Gradbox on other versions of torch and Python: `python -m tests.deployment.versions --torch 2.11.0 2.15.0
[--python python3.11 …]`.

For each pair it makes a virtual environment in var/versions, which stays and is used again, installs that torch and
this checkout there, and runs

* the referees over the programs, scenarios and goldens, confined: what is printed and drawn at the end, and the state after
  each statement;
* the tests of own code, and those of the recorder: steps, storages, graph, values, modules, findings and what they rely on.

It prints a table and puts it into docs/versions.md, where rows of other pairs stay. The status is 1 where something
failed. Needs nothing but Python's own library.
"""  # noqa: E501

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/versions.md"
ENVIRONMENTS = ROOT / "var/versions"
BEGIN, END = "<!-- the table of tests/deployment/versions.py -->", "<!-- its end -->"
HEAD = (
    "| torch | Python | programs that agree | true states | own code | recorder | minutes | system | day |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)

PROGRAMS = ("tests/examples/programs", "scenarios", "tests/golden")
OWN_CODE = ("own_code_*",)
RECORDER = (
    *("recorder", "observer", "storages", "graph", "values", "lifetimes", "failed_operations", "index_writes"),
    *("device_probe", "device_bytes", "uninitialized", "thinning", "tracebacks", "displayhook", "traps", "random"),
    *("modules", "operations", "matrix", "dispatcher", "replacements", "files", "preload", "memory", "limits"),
    *("isolation", "policy", "corpus", "findings", "silent_findings", "healthy_programs", "torch_offers"),
    *("error_gloss", "gradient_answers", "gradient_checks"),
)
"""Tests by the part of their files' names behind `test_`."""

MARKS = "not browser and not attack and not exhaustive"
VERSIONS = "import json, platform, torch; print(json.dumps([torch.__version__, platform.python_version()]))"
COUNT = re.compile(r"(\d+) (failed|passed|error)")
FAILED = re.compile(r"^(?:FAILED|ERROR) tests/(?:\w+/)*test_(\S+)\.py::(\S+)", re.M)
OF = re.compile(r"^(\d+) of (\d+) (?:agree|statement states)", re.M)


class Row(NamedTuple):
    """What was found out about one pair of versions, as the table has it."""

    torch: str
    python: str
    programs: str
    states: str
    own_code: str
    recorder: str
    minutes: str
    system: str
    day: str

    @property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Its place in the table; rows of the same one replace each other."""
        torch, _, build = self.torch.partition("+")
        return numbers(torch), (*numbers(self.python)[:2], int(build == "cpu"))

    @property
    def is_whole(self) -> bool:
        """Whether nothing failed."""
        cells = (self.programs, self.states, self.own_code, self.recorder)
        return all(re.fullmatch(r"(\d+) of \1", cell) is not None for cell in cells)

    def __str__(self) -> str:
        return f"| {' | '.join(self)} |"


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def referee_cell(printed: str) -> str:
    """What a referee's last line says, as "334 of 334"."""
    found = OF.search(printed)
    return f"{found[1]} of {found[2]}" if found else "did not run"


def pytest_cell(printed: str) -> str:
    """How many tests passed, of those that ran, and the names of those that failed."""
    summary = next((line for line in reversed(printed.splitlines()) if COUNT.search(line)), "")
    counts = {kind: int(number) for number, kind in COUNT.findall(summary)}
    if not counts:
        return "did not run"
    cell = f"{counts.get('passed', 0)} of {sum(counts.values())}"
    failed = sorted({f"{file}: {name}".replace("|", "\\|") for file, name in FAILED.findall(printed)})
    return f"{cell}; failed: {', '.join(failed)}" if failed else cell


def rows_of(text: str) -> list[Row]:
    """The rows of the document's table."""
    table = text.partition(BEGIN)[2].partition(END)[0]
    lines = [line for line in table.splitlines() if line.startswith("| ") and line[2].isdigit()]
    return [Row(*re.split(r"(?<!\\) \| ", line.strip("| "))) for line in lines]


def with_rows(text: str, new: Sequence[Row]) -> str:
    """The document with these rows, each in the place of an older one of the same versions."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{DOCUMENT.name} has no place for the table")
    by_key = {row.key: row for row in [*rows_of(text), *new]}
    rows = "\n".join(str(by_key[key]) for key in sorted(by_key))
    return f"{before}{BEGIN}\n\n{HEAD}{rows}\n\n{END}{after}"


def system_name() -> str:
    """The distribution's name and the kernel's version."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux").partition(" (")[0]
    except OSError:
        name = "Linux"
    return f"{name.replace('GNU/Linux ', '')}, kernel {'.'.join(platform.release().split('.')[:2])}"


def run(command: Sequence[str | Path], log: Path) -> str:
    """What a command prints, which is also in the file, whatever its status."""
    with log.open("w") as file:
        # what is not the environment's is put aside
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        subprocess.run(command, cwd=ROOT, env=variables, stdout=file, stderr=subprocess.STDOUT, check=False)
    return log.read_text(errors="replace")


def environment(python: str, torch: str, index: str) -> Path:
    """The Python of a virtual environment with this version of torch and the checkout. Raises where pip can't make one.

    index: of packages, from which torch comes; "" for those that pip is configured with
    """
    folder = ENVIRONMENTS / f"{Path(python).name}-torch{torch}"
    interpreter, complete = folder / "bin/python", folder / ".complete"
    if not complete.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
        pip: list[str | Path] = [interpreter, "-m", "pip", "install", "-q", "--no-compile"]
        subprocess.run([*pip, *(["--index-url", index] if index else []), f"torch=={torch}", "numpy"], check=True)
        subprocess.run([*pip, "-e", ".[test]", f"torch=={torch}"], cwd=ROOT, check=True)
        complete.touch()
    return interpreter


def try_versions(interpreter: Path, processes: int) -> Row:
    """Run everything in an environment. What it prints is left beside it, in files."""
    start = time.monotonic()
    folder = interpreter.parent.parent
    versions = subprocess.run([interpreter, "-c", VERSIONS], capture_output=True, text=True, check=True, cwd=folder)
    torch, python = json.loads(versions.stdout.splitlines()[-1])
    cells = {}
    for referee in ("agreement", "steps_truth"):
        printed = run([interpreter, "-m", f"tests.referee.{referee}", *PROGRAMS], folder / f"{referee}.log")
        cells[referee] = referee_cell(printed)
        print(f"torch {torch}, Python {python}, {referee}: {cells[referee]}", flush=True)
    for group, names in (("own_code", OWN_CODE), ("recorder", RECORDER)):
        files = [
            str(path.relative_to(ROOT)) for name in names for path in sorted(ROOT.glob(f"tests/**/test_{name}.py"))
        ]
        options = ["-n", str(processes), "--dist", "loadfile", "--reruns", "1", "-m", MARKS]
        printed = run([interpreter, "-m", "pytest", *options, *files], folder / f"{group}.log")
        cells[group] = pytest_cell(printed)
        print(f"torch {torch}, Python {python}, {group}: {cells[group]}", flush=True)
    return Row(
        torch,
        python,
        programs=cells["agreement"],
        states=cells["steps_truth"],
        own_code=cells["own_code"],
        recorder=cells["recorder"],
        minutes=f"{(time.monotonic() - start) / 60:.0f}",
        system=system_name(),
        day=f"{datetime.now(UTC):%Y-%m-%d}",
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.deployment.versions", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--torch", nargs="+", required=True, metavar="VERSION")
    parser.add_argument("--python", nargs="+", default=[sys.executable], metavar="COMMAND", help="by default this one")
    parser.add_argument(
        "--index", default="", metavar="URL", help="from which torch comes, as one of builds for the CPU"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that run tests beside each other")
    parser.add_argument("--no-write", action="store_true", help="leave docs/versions.md as it is")
    given = parser.parse_args(arguments)
    rows, impossible = [], []
    for python in given.python:
        for torch in given.torch:
            try:
                rows.append(try_versions(environment(python, torch, given.index), given.processes))
            except (OSError, subprocess.CalledProcessError) as error:
                impossible.append(f"torch {torch} with {python} could not be installed: {error}")
                continue
            if not given.no_write:
                DOCUMENT.write_text(with_rows(DOCUMENT.read_text(), rows))
    print(HEAD + "\n".join(map(str, rows)))
    print(*impossible, sep="\n")
    return int(bool(impossible) or not all(row.is_whole for row in rows))


if __name__ == "__main__":
    sys.exit(main())
