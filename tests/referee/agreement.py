"""Holds traces against plain CPython and torch: `python -m tests.referee.agreement [OPTION…] [FILE_OR_FOLDER…]`.

Every program is run by plain CPython in a fresh child (seeds and hash seed 0, one thread) and by the recorder. They
have to agree on

* everything printed, the way it ended, the type and text of the exception and the text of the line that raised it;
* for every tensor that a module-level name, list, tuple, dict or module reaches: shape, stride, offset, dtype,
  requires_grad, leaf, version, every element, its grad, and which names are one and the same tensor;
* which tensors share a storage, in both directions, and which share a version counter (torch is asked by moving one);
* the autograd graph of each: nodes, edges, the variable of each AccumulateGrad, and the state of every saved slot (torch
  is asked by reading it);
* plain values: None, bools, ints, short strings.

Addresses and ids in printed text are masked. Programs on which CPython disagrees with itself are left out. The exit
status is 0 when nothing differs and at most as many programs were refused as allowed.
"""  # noqa: E501

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.referee.comparison import disagreements
from tests.referee.drawn_state import Trace
from tests.referee.plain_run import fresh_plain_run, plain_run
from tests.referee.traces import traces


@dataclass(frozen=True)
class Case:
    """A program by name: `pasted` is what the recorder gets, `program` what CPython gets."""

    name: str
    pasted: str
    program: str


@dataclass(frozen=True)
class Verdict:
    """`kind`: agrees, refused, differs or left out; the sentences say why."""

    kind: str
    sentences: list[str] = field(default_factory=list)


def verdict(case: Case, trace: Trace) -> Verdict:
    """What the referee says of a trace."""
    truth = plain_run(case.program)
    if "fault" in truth:
        return Verdict("left out", [truth["fault"]])
    sentences = disagreements(truth, trace)
    if not sentences:
        return Verdict("agrees")
    if sentences[0].startswith("refused"):
        return Verdict("refused", sentences)
    if fresh_plain_run(case.program).get("printed") != truth["printed"]:
        return Verdict("left out", ["CPython disagrees with itself"])
    return Verdict("differs", sentences)


def seeds(folder: Path) -> list[Case]:
    """A folder with `snippets.json`: the snippets as their articles print them, and the cleaned programs."""
    snippets = json.loads((folder / "snippets.json").read_text())
    return [Case(row["id"], (folder / "snippets" / f"{row['id']}.txt").read_text(), row["program"]) for row in snippets]


def pastes(folder: Path) -> list[Case]:
    """A folder of pairs: `name.txt` as it is pasted, `name.py` the program that it stands for."""
    return [
        Case(path.stem, path.read_text(), path.with_suffix(".py").read_text()) for path in sorted(folder.glob("*.txt"))
    ]


def programs(path: Path) -> list[Case]:
    """A file, or every program in a folder."""
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    return [Case(file.stem, file.read_text(), file.read_text()) for file in files]


def referee(cases: Sequence[Case], command: str = "", verbose: bool = False) -> Counter[str]:
    """Print what disagrees and a summary; return how many verdicts of each kind there were."""
    kinds: Counter[str] = Counter()
    recorded = traces(command, [(case.name, case.pasted) for case in cases])
    for case, trace in zip(cases, recorded, strict=True):
        result = verdict(case, trace)
        kinds[result.kind] += 1
        if result.sentences:
            shown = result.sentences if verbose else result.sentences[:3]
            print(f"{result.kind.ljust(8)} {case.name}: {'; '.join(shown)}")
    print(
        f"{kinds['agrees']} of {len(cases)} agree, {kinds['refused']} refused, {kinds['differs']} differ, "
        f"{kinds['left out']} left out"
    )
    return kinds


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.referee.agreement", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("programs", nargs="*", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--trace", default="", help="a command that takes program files and prints one trace a line")
    parser.add_argument("--seeds", type=Path, help="a folder with snippets.json")
    parser.add_argument("--pastes", type=Path, help="a folder of pasted texts, each with its program")
    parser.add_argument("--refusals", type=int, default=0, help="how many programs may be refused")
    parser.add_argument("--verbose", action="store_true", help="print every disagreement of a program")
    given = parser.parse_args()
    cases = [*(seeds(given.seeds) if given.seeds else []), *(pastes(given.pastes) if given.pastes else [])]
    cases += [case for path in given.programs for case in programs(path)]
    kinds = referee(cases, given.trace, given.verbose)
    return 0 if kinds["differs"] == 0 and kinds["refused"] <= given.refusals else 1


if __name__ == "__main__":
    sys.exit(main())
