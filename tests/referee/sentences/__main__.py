"""Holds every sentence that is said of programs against plain CPython: `python -m tests.referee.sentences
[FILE_OR_FOLDER…]`, or `make sentences ARGS=…`.

Prints what is false, then how many sentences were said, how many have a claim, why others were not checked, and which
keys have no claim. The exit status is 1 where one is false.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.referee.sentences.said import Said, claim_table, judge_programs, record
from tests.support.explaining import ROOT

FOLDERS = [
    *(
        f"tests/examples/{name}"
        for name in ("corpus", "programs", "healthy", "silent", "findings", "verdicts", "quiet")
    ),
    "scenarios",
    "tests/golden",
]
BATCH = 40
"""Programs that are recorded beside each other before they are judged."""


def programs(paths: Iterable[Path]) -> list[Path]:
    """The files, and those in folders."""
    return [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]


class Account:
    """Counts what was said."""

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self.names: Counter[str] = Counter()
        self.keys: Counter[tuple[str, str]] = Counter()
        self.reasons: Counter[str] = Counter()
        self.without: Counter[str] = Counter()
        self.false: list[Said] = []
        self.programs = 0

    def add(self, sentences: Sequence[Said]) -> None:
        self.programs += 1
        for each in sentences:
            if each.key.startswith("name."):
                self.names[each.verdict] += 1
                self.false += [each] * (each.verdict == "false")
                continue
            self.said[each.verdict] += 1
            self.keys[each.key, each.verdict] += 1
            if claim_table().of(each.key) is None or each.detail == "no claim":
                self.without[each.key] += 1
            elif each.verdict == "unchecked":
                self.reasons[re.sub(r"^(undecided: ).*: |step \d+", r"\1", each.detail)] += 1
            elif each.verdict == "false":
                self.false.append(each)

    def share_with_claim(self) -> float:
        """Of the sentences said, those whose key has a claim."""
        return 1 - self.without.total() / max(1, self.said.total())

    def report(self) -> str:
        rows = [
            f"{self.programs} programs, {self.said.total()} sentences: {self.said['true']} true, "
            f"{self.said['false']} false, {self.said['unchecked']} not checked; "
            f"{self.share_with_claim():.1%} have a claim",
            f"names in findings: {self.names['true']} lead to what is meant, {self.names['false']} do not, "
            f"{self.names['unchecked']} not checked",
        ]
        rows += [f"  not checked: {count:6} {reason}" for reason, count in self.reasons.most_common()]
        for key, count in self.without.most_common():
            rows.append(f"  no claim:    {count:6} {key}: {claim_table().reason(key) or 'NO REASON GIVEN'}")
        return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.referee.sentences", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("programs", nargs="*", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--keys", action="store_true", help="print how often each key was true, false or not checked")
    parser.add_argument("--unchecked", action="store_true", help="print each sentence that was not checked")
    given = parser.parse_args()
    files = programs(given.programs or [ROOT / folder for folder in FOLDERS])
    account = Account()
    for begin in range(0, len(files), BATCH):
        batch = files[begin : begin + BATCH]
        record(batch)
        for sentences in judge_programs(batch):
            account.add(sentences)
            for each in sentences:
                if each.verdict == "false" or (given.unchecked and each.verdict == "unchecked"):
                    print(f"{each.verdict} {each.program}: step {each.step}, line {each.line}: {each.text}")
                    print(f"      {each.key}: {each.detail}", flush=True)
    if given.keys:
        for (key, verdict), count in sorted(account.keys.items()):
            print(f"  {key:28} {verdict:10} {count}")
    print(account.report())
    return 1 if account.false else 0


if __name__ == "__main__":
    sys.exit(main())
