"""Which step of a trace a moment of the plain run is."""

from collections.abc import Callable
from typing import Any

from tests.referee.drawn_state import Trace
from tests.referee.sentences.probed_program import Place

ALIGNED = ("statement", "head", "call", "return")
"""Kinds of steps for which the plain run has a probe."""


class Order:
    """Goes through a trace's steps as the plain run goes through its statements.

    passed: how many statements, heads, calls and returns have passed unrecorded before the last step that was found;
    passed_visits: how many nodes of a backward
    lost: why the two went apart; then no further step is found
    """

    def __init__(self, trace: Trace, places: list[Place]) -> None:
        self.steps = trace["steps"]
        by_place = {
            Place(row["line"], row["col"], row["end_line"], row["end_col"], row["kind"]): index
            for index, row in enumerate(trace["program"].get("statements") or [])
        }
        self.statements = [by_place.get(place) for place in places]
        self.next = 0
        self.unseen = self.passed = self.unseen_visits = self.passed_visits = 0
        self.lost: str | None = None

    def is_over(self) -> bool:
        """Whether no further step has a probe."""
        return self.lost is not None or all(step["kind"] == "end" for step in self.steps[self.next :])

    def expected(self) -> tuple[int, int] | None:
        """The next step that has a probe, and how many statements pass before it unseen."""
        skipped = 0
        for index in range(self.next, len(self.steps)):
            skipped += self.steps[index].get("skipped") or 0
            if self.steps[index]["kind"] in ALIGNED and self.steps[index].get("stmt") is not None:
                return index, skipped
        return None

    def reach(self, at: int) -> None:
        """What has passed has passed before this step."""
        self.next, self.passed, self.passed_visits = at + 1, self.unseen, self.unseen_visits
        self.unseen = self.unseen_visits = 0

    def step_of_exception(self) -> int | None:
        """The step of an exception that was caught, or that ended the program."""
        for index in range(self.next, len(self.steps)):
            if self.steps[index]["kind"] == "raise":
                self.reach(index)
                return index
            if self.steps[index]["kind"] != "visit":
                break
        return None

    def step_of_visit(self, name: str, name_of: Callable[[str], str | None]) -> int | None:
        """The step of a node that ran; None where it was not recorded."""
        if self.next >= len(self.steps) or self.lost is not None:
            return None
        step = self.steps[self.next]
        if step["kind"] != "visit":
            self.unseen_visits += 1
            return None
        if self.unseen_visits < (step.get("skipped_nodes") or 0):
            self.unseen_visits += 1
            return None
        known = name_of(step["visit"]["node"])
        if known is not None and known.rpartition("::")[2] != name.rpartition("::")[2]:
            return None
        self.reach(self.next)
        return self.next - 1

    def step_of(
        self, kind: str, index: int, depth: int, iterations: list[int], is_frame: Callable[[str], bool]
    ) -> int | None:
        """The step of a probe; None where it was not recorded.

        Where statements passed unrecorded, it is found by their number, or as the same iteration in a frame that is
        known to be the step's.
        """
        if self.lost is not None:
            return None
        expected = self.expected()
        if expected is None:
            self.unseen += 1
            return None
        at, skipped = expected
        step: Any = self.steps[at]
        if (step["kind"], step["stmt"], step.get("depth", 0)) == (kind, self.statements[index], depth) and (
            not skipped
            or (
                (step.get("iter") or []) == iterations
                and (
                    skipped in (self.unseen, self.unseen + self.unseen_visits)
                    or (iterations and is_frame(step["frame"]))
                )
            )
        ):
            self.reach(at)
            return at
        self.unseen += 1
        if not skipped and depth <= step.get("depth", 0):
            self.lost = f"step {at} is a {step['kind']} on line {step['line']}, plain Python is elsewhere"
        return None
