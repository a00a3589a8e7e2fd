"""Holds the state after every statement against plain CPython: `python -m tests.referee.steps_truth [OPTION…]
FILE_OR_FOLDER…`.

Every prefix of a program's top-level statements is run by plain CPython; the trace, replayed up to the last step of
that statement (a loop, a def, a try, a with counts as one), is held against it as `agreement` does. A statement for
which the trace has no step counts as false.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.referee.agreement import programs
from tests.referee.comparison import disagreements
from tests.referee.drawn_state import Trace
from tests.referee.plain_run import plain_run
from tests.referee.traces import traces

MOST = 12
"""Statements of a program that are tried."""


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a program, and what disagrees after it."""

    line: int
    sentences: list[str]


def statements(source: str, trace: Trace, most: int = MOST) -> Iterator[Statement]:
    """Each of the first statements, until one raises or can't be asked."""
    lines = source.splitlines()
    for statement in ast.parse(source).body[:most]:
        truth = plain_run("\n".join(lines[: statement.end_lineno]))
        if "fault" in truth or truth["error"]:
            break
        part = cut(trace, statement.lineno, statement.end_lineno or statement.lineno)
        sentences = ["no step"] if part is None else disagreements(truth, part, ending=False)
        yield Statement(statement.lineno, sentences)


def cut(trace: Trace, first: int, last: int) -> Trace | None:
    """The trace up to the last step, in any frame, of the outermost statement on lines first..last; None without a
    step."""
    steps, end = trace["steps"], None
    for index, step in enumerate(steps):
        if step.get("depth", 0) == 0 and first <= step.get("line", 0) <= last:
            end = index
    if end is None:
        return None
    while end + 1 < len(steps) and steps[end + 1].get("depth", 0) > 0 and steps[end + 1].get("kind") != "end":
        end += 1
    return {**trace, "steps": steps[: end + 1]}


def main() -> int:
    summary = (__doc__ or "").split("\n")[0]
    parser = argparse.ArgumentParser("python -m tests.referee.steps_truth", description=summary)
    parser.add_argument("programs", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--trace", default="", help="a command that takes program files and prints one trace a line")
    parser.add_argument("--most", type=int, default=MOST, help="statements of a program that are tried")
    given = parser.parse_args()
    cases = [case for path in given.programs for case in programs(path)]
    true = total = 0
    recorded = traces(given.trace, [(case.name, case.program) for case in cases])
    for case, trace in zip(cases, recorded, strict=True):
        for statement in statements(case.program, trace, given.most):
            total += 1
            true += not statement.sentences
            if statement.sentences:
                print(f"{case.name}:{statement.line} {'; '.join(statement.sentences[:2])}")
    print(f"{true} of {total} statement states are true ({len(cases)} programs)")
    return 0 if total and true == total else 1


if __name__ == "__main__":
    sys.exit(main())
