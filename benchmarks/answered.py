"""Which programs of a folder are answered: a finding at one of the lines of the cause, with a name of those that matter.

`python -m benchmarks.answered FOLDER… [--own-process] [--missed]` explains each program that a folder's `expected.json`
names, as `python -m server explain` does, or with `--own-process` as `gradbox explain`, in the folder itself. Where the
folder has no such file, `benchmarks/expected/FOLDER.json` stands in. A program is healthy where it is in `healthy.json`, or
has no line of a cause: an error or a warning there is a false alarm, unless it is of a kind that the file allows. The lines of
another file are counted on behind those of the script.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
EXPECTED = Path(__file__).parent / "expected"
SECONDS_PER_PROGRAM = 600
Finding = dict[str, Any]


class Case(NamedTuple):
    """A program with what a good answer has. lines: those of the cause, any of which will do, none where the program is
    healthy; names: of which the answer mentions at least one; allowed: kinds that a healthy one may have."""

    path: Path
    lines: list[int]
    names: list[str]
    allowed: list[str]


def read_cases(folder: Path) -> list[Case]:
    """The programs of a folder. Raises FileNotFoundError where nothing says what is to be expected."""
    own = folder / "expected.json"
    expected = json.loads((own if own.exists() else EXPECTED / f"{folder.name}.json").read_text())
    healthy = folder / "healthy.json"
    cases = [Case(folder / f"{name}.py", row["cause"], row["must_mention"], []) for name, row in expected.items()]
    if healthy.exists():
        allowed = {name: row["kinds"] for name, row in json.loads(healthy.read_text()).items()}
        cases += [Case(folder / f"{name}.py", [], [], kinds) for name, kinds in allowed.items()]
    return cases


def findings_from_server(cases: list[Case]) -> list[list[Finding]]:
    """The findings of each program, run as pasted."""
    command = [sys.executable, "-m", "server", "explain", "--json", *(str(case.path.resolve()) for case in cases)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line)["findings"] for line in done.stdout.splitlines()]


def findings_in_own_process(case: Case) -> list[Finding]:
    """The findings of a script that runs where it lies."""
    command = [sys.executable, "-m", "gradbox", "explain", "--json", "--quiet", case.path.name]
    done = subprocess.run(
        command, cwd=case.path.parent, capture_output=True, text=True, timeout=SECONDS_PER_PROGRAM,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"},
    )  # fmt: skip
    findings: list[Finding] = json.loads(done.stdout) if done.stdout.strip() else []
    return findings


def judge(case: Case, findings: list[Finding]) -> str:
    """What the findings of a program are worth: answered, wrong name, elsewhere, missed, silent or false alarm."""
    loud = [finding for finding in findings if finding["severity"] != "note"]
    if not case.lines:
        loud = [finding for finding in loud if finding["kind"] not in case.allowed]
        return "FALSE ALARM" if loud else "silent"
    at_cause = [finding for finding in findings if finding["line"] in case.lines]
    if any(not case.names or any(name in finding["text"] for name in case.names) for finding in at_cause):
        return "answered"
    if at_cause:
        return "wrong name"
    return "elsewhere" if loud else "missed"


def main() -> int:
    """Print a table of each folder."""
    parser = argparse.ArgumentParser("python -m benchmarks.answered", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--own-process", action="store_true", help="run each as `gradbox explain`, in its folder")
    parser.add_argument("--missed", action="store_true", help="print only what is not answered")
    args = parser.parse_args()
    for folder in args.folders:
        cases = read_cases(folder)
        found = [findings_in_own_process(case) for case in cases] if args.own_process else findings_from_server(cases)
        verdicts = [judge(case, findings) for case, findings in zip(cases, found, strict=True)]
        for case, findings, verdict in zip(cases, found, verdicts, strict=True):
            if args.missed and verdict in ("answered", "silent"):
                continue
            said = ", ".join(f"{one['kind']}@{one['line']}" for one in findings) or "-"
            print(f"{case.path.stem:42} {verdict:11} {case.lines!s:14} {said}")
        wrong = sum(bool(case.lines) for case in cases)
        print(
            f"{folder}: {verdicts.count('answered')} of {wrong} answered, "
            f"{verdicts.count('FALSE ALARM')} of {len(cases) - wrong} healthy ones alarmed\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
