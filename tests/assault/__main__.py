"""`python -m tests.assault [--seconds 15] [NAME…]`: every assault, or those that are named, and a table of what they
did."""

import argparse
import signal
import sys
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measured_server import MIB
from server.settings import Settings
from tests.assault import connections, explanations, processor, shares
from tests.assault.measurement import (
    MEMORY_BAR,
    PAGE_BAR,
    RUN_BAR,
    SOCKETS_BAR,
    STOP_BAR,
    Measured,
    Play,
    longest,
    measure,
)
from tests.server.http.loop_pieces import MAX_SECONDS

PROXY = {"trusted_proxies": "127.0.0.0/8"}
SMALL_QUOTA = {"quota": 100_000_000}
LONG_PROGRAM_BAR = Settings({}).wall + RUN_BAR
"""Seconds that the visitor may wait for a run, where programs that run until they are stopped have all workers."""
SLOW_HOST_BAR = 4 * RUN_BAR
"""The same where four others compute: two processors for six."""


@dataclass(frozen=True)
class Case:
    """settings: of its server, where they are not the defaults
    pictures: whether the visitor asks for pictures, too
    run_bar: where it can't be what it is elsewhere: SECURITY.md says so
    """

    play: Play
    settings: dict[str, Any] = field(default_factory=dict)
    pictures: bool = False
    run_bar: float = RUN_BAR


ALL = (
    Case(processor.colliding_counts),
    Case(processor.colliding_outcomes),
    Case(processor.nan_cells),
    Case(processor.hostile_lines),
    Case(processor.hostile_requests),
    Case(processor.tiny_chunks),
    Case(processor.long_headers),
    Case(processor.many_trailers),
    Case(processor.long_pipelines),
    Case(processor.palettes_and_status),
    Case(processor.palettes_of_one_address),
    Case(processor.slow_assembly),
    Case(processor.forged_rounds),
    Case(processor.slow_host, run_bar=SLOW_HOST_BAR),
    Case(processor.forwarded_chains, PROXY),
    Case(processor.cheap_requests),
    Case(processor.scripts),
    Case(processor.reruns),
    Case(connections.half_requests),
    Case(connections.one_address),
    Case(connections.slow_bodies),
    Case(connections.unread_traces),
    Case(connections.unread_runs),
    Case(connections.unread_files),
    Case(connections.unread_events),
    Case(connections.unread_pipelines),
    Case(connections.closed_unread),
    Case(connections.half_closed),
    Case(connections.vanishing_clients),
    Case(shares.two_networks, PROXY),
    Case(shares.saved_megabytes, SMALL_QUOTA),
    Case(shares.abandoned_drawings, pictures=True),
    Case(shares.hostile_films, pictures=True),
    Case(shares.heavy_pictures, pictures=True),
    Case(shares.linked_pages, {"public_url": "http://127.0.0.1"}),
    Case(shares.cold_pictures),
    Case(shares.growing_traces),
    Case(shares.far_cells, pictures=True),
    Case(shares.full_series, pictures=True),
    Case(shares.long_sources),
    Case(shares.forgotten_runs),
    Case(shares.joined_programs),
    Case(shares.long_programs, PROXY, run_bar=LONG_PROGRAM_BAR),
    Case(shares.joined_drawings, pictures=True),
    Case(shares.locked_database),
    Case(explanations.explained_runs),
    Case(explanations.many_fixes),
    Case(explanations.forged_checks),
    Case(explanations.hostile_pastes),
    Case(explanations.crowded_files),
    Case(explanations.circling_graphs, pictures=True),
    Case(explanations.compared_programs, pictures=True),
    Case(explanations.compared_names, pictures=True),
    Case(explanations.long_inputs),
    Case(explanations.matrix_pages),
    Case(explanations.large_answers),
)
"""Each assault, as `make assault` plays it."""

HEAD = f"{'':20} {'page s':>7} {'alone':>6} {'run s':>7} {'alone':>6} {'MiB':>6} {'kernel':>6} {'loop ms':>7} {'lock ms':>7} {'stop s':>7}  afterwards"  # noqa: E501
"""alone: the visitor's longest wait on the same server just before, without an assault. kernel: MiB of all TCP sockets
of the machine, those of the attackers too. loop: the longest that one piece of work kept the event loop, in processor
time. lock: the longest that the loop waited for Python's lock."""


def row(name: str, measured: Measured) -> str:
    """The line of the table."""
    waits = [f"{longest(measured.waits, kind):7.2f} {longest(measured.alone, kind):6.2f}" for kind in ("pages", "runs")]
    stop = "never" if measured.stop is None else f"{measured.stop:.1f}"
    broken = measured.broken()
    end = f"{measured.afterwards or 'as before'}{'   BROKEN: ' + ', '.join(broken) if broken else ''}"
    return f"{name:20} {' '.join(waits)} {measured.peak / MIB:6.0f} {measured.sockets / MIB:6.0f} {measured.piece * 1000:7.0f} {measured.lock_wait * 1000:7.0f} {stop:>7}  {end}"  # noqa: E501


def details(measured: Measured) -> list[str]:
    """What happened besides: the answers to the attackers, the visitor's pictures and refusals, failures in the log."""
    lines = [", ".join(f"{count} x {what}" for what, count in measured.counts.most_common(6))]
    for name, waits in measured.waits.items():
        if name == "pictures" or waits["refusals"]:
            lines.append(f"{name}: {waits['count']}, longest {waits['longest']:.1f} s, {waits['refusals']} refusals")
    if measured.piece > MAX_SECONDS:
        lines.append(f"longest: {measured.longest_piece}")
    if measured.collecting > MAX_SECONDS:
        lines.append(f"the garbage collector took {measured.collecting * 1000:.0f} ms at once")
    return [*lines, *measured.errors]


def main(arguments: list[str]) -> int:
    """The exit status: 0 where every bar was held."""
    parser = argparse.ArgumentParser("python -m tests.assault", description=__doc__)
    parser.add_argument("--seconds", type=float, default=15, help="that each assault lasts")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(case.play.__name__ for case in ALL))
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {case.play.__name__ for case in ALL}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    print(
        f"bars: {PAGE_BAR} s for a page, {RUN_BAR} s for a run, {MEMORY_BAR / MIB:.0f} MiB of server and helpers, "
        f"{SOCKETS_BAR / MIB:.0f} MiB of sockets, {MAX_SECONDS * 1000:.0f} ms for a piece of work, {STOP_BAR:.0f} s to "
        "stop\n"
        f"{HEAD}",
        flush=True,
    )
    broken = 0
    for case in ALL:
        if not options.names or case.play.__name__ in options.names:
            measured = measure(case.play, options.seconds, case.settings, case.pictures)
            measured.run_bar = case.run_bar
            broken += bool(measured.broken())
            print(row(case.play.__name__, measured), flush=True)
            for line in details(measured):
                print(f"{'':20} {line}", flush=True)
    print("every bar was held" if not broken else f"{broken} did not hold")
    return 1 if broken else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended, too
    sys.exit(main(sys.argv[1:]))
