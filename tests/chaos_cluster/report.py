"""What became of all presses, and whether what a cluster promises holds."""

from collections import Counter
from itertools import pairwise

from tests.chaos_cluster.disruptions import Disruption
from tests.chaos_cluster.users import Press, Presses

RECOVERY = 30.0
"""Seconds after a disruption within which a program that is asked for has to be answered by its trace."""

GOOD_KINDS = ("finished", "saved")
BAD_KINDS = {
    "unanswered": "were not answered",
    "wrong": "got the answer of another program",
    "odd": "got an odd answer",
}


def percentile(values: list[float], share: float) -> float:
    """0 where there are none."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else 0.0


def recovery(disruption: Disruption, presses: list[Press]) -> float | None:
    """Seconds from a disruption to the first good answer to a press after it; None where there was none."""
    good = [press.answered for press in presses if press.kind in GOOD_KINDS and press.asked >= disruption.at]
    return min(good) - disruption.at if good else None


def longest_pause(presses: list[Press], start: float, end: float) -> float:
    """Seconds, at most, between two good answers of that time."""
    moments = sorted(press.answered for press in presses if press.kind in GOOD_KINDS and start <= press.answered <= end)
    edges = [start, *moments, end]
    return max(after - before for before, after in pairwise(edges))


def last_failure(presses: list[Press], start: float, end: float) -> float:
    """Seconds from the start to the last answer of that time that was lost or unavailable; 0 without one."""
    moments = [press.answered for press in presses if press.kind in ("lost", "unavailable")]
    return max((moment - start for moment in moments if start <= moment <= end), default=0.0)


def faults(presses: Presses, disruptions: list[Disruption], missing: list[str]) -> list[str]:
    """What does not hold, a line each."""
    found = []
    counts = Counter(press.kind for press in presses.all)
    for kind, what in BAD_KINDS.items():
        if counts[kind]:
            note = next(press.note for press in presses.all if press.kind == kind)
            found.append(f"{counts[kind]} presses {what}: {note}")
    if not counts["finished"] or not presses.saved:
        found.append("nothing was run, or nothing saved")
    if missing:
        found.append(f"{len(missing)} saved programs are missing: {missing[0]}")
    for disruption in disruptions:
        took = recovery(disruption, presses.all)
        if took is None or took > RECOVERY:
            found.append(f"{disruption.name}: no run succeeded within {RECOVERY:.0f} s")
        if disruption.problem:
            found.append(f"{disruption.name}: {disruption.problem}")
        drained = disruption.name.removeprefix("drain ")
        lost = sum(press.kind == "lost" and press.worker == drained for press in presses.all)
        if lost:
            found.append(f"{disruption.name}: {lost} of its runs were lost")
    return found


def lines(presses: Presses, disruptions: list[Disruption], seconds: float) -> list[str]:
    """The report, without the verdict."""
    counts = Counter(press.kind for press in presses.all)
    took = [press.answered - press.asked for press in presses.all if press.kind == "finished"]
    rows = [
        f"{len(presses.all)} presses in {seconds:.0f} s: "
        + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()),
        f"runs: {len(took) / seconds:.1f} a second, p50 {percentile(took, 0.5):.2f} s, p99 {percentile(took, 0.99):.2f} s",  # noqa: E501
        f"{'disruption':36} {'runs again':>10} {'longest pause':>13} {'last lost':>9} {'lost':>4} {'refused':>7} "
        f"{'workers back':>12}",
    ]
    for number, disruption in enumerate(disruptions):
        end = (
            disruptions[number + 1].at
            if number + 1 < len(disruptions)
            else max(press.answered for press in presses.all)
        )
        of_it = Counter(press.kind for press in presses.all if disruption.at <= press.answered <= end)
        first = recovery(disruption, presses.all)
        rows.append(
            f"{disruption.name:36} {'never' if first is None else f'{first:.1f} s':>10}"
            f" {longest_pause(presses.all, disruption.at, disruption.recovered):11.1f} s {last_failure(presses.all, disruption.at, end):7.1f} s"  # noqa: E501
            f" {of_it['lost']:4} {of_it['unavailable'] + of_it['busy']:7} {disruption.recovered - disruption.repaired:10.1f} s"  # noqa: E501
        )
    notes = Counter(press.note for press in presses.all if press.kind in ("busy", "unavailable"))
    return rows + [f"{count} x refused: {note}" for note, count in notes.most_common(4)]
