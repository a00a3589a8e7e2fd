"""`python -m tests.chaos [NAME…]`: every check, or those that are named, each done to a server of its own."""

import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measured_server import MIB, MeasuredServer
from tests.chaos.crowds import drop_event_stream, flood, many_runs, no_descriptors, slow_readers, vanished_clients
from tests.chaos.hostile import hostile_programs
from tests.chaos.kills import freeze_zygote, kill_at_boot, kill_child, kill_server, kill_zygote, stop_zygote
from tests.chaos.saving import (
    kill_saved_program,
    kill_while_saving,
    save_on_a_full_disk,
    save_while_postgresql_hangs,
    save_while_sqlite_is_locked,
)
from tests.chaos.server_state import log_errors
from tests.chaos.settings import FREE, SAVING
from tests.chaos.termination import terminate_server, terminate_under

Check = Callable[..., str]


ALL: tuple[tuple[Check, dict[str, Any], dict[str, Any]], ...] = (
    (kill_child, {"times": 10}, {}),
    (kill_zygote, {"times": 3}, {}),
    (stop_zygote, {"seconds": 5}, {}),
    (stop_zygote, {"seconds": 14}, {"wall": 10}),
    (freeze_zygote, {}, {"wall": 3, "boot": 10}),
    (kill_server, {"times": 3, "within": 2}, {}),
    (kill_at_boot, {}, {}),
    (kill_while_saving, {}, SAVING),
    (kill_while_saving, {"postgresql": True}, SAVING),
    (kill_saved_program, {}, {**SAVING, "cpu": 5}),
    (save_while_postgresql_hangs, {}, SAVING),
    (save_while_sqlite_is_locked, {}, SAVING),
    (save_on_a_full_disk, {}, SAVING),
    (terminate_server, {}, {}),
    (terminate_under("long programs"), {}, {}),
    (terminate_under("a client that never reads"), {}, {}),
    (terminate_under("half a request"), {}, {}),
    (terminate_under("a listener"), {}, {}),
    (flood, {"posts": 2000, "at_once": 400}, {}),
    (vanished_clients, {"times": 200}, {}),
    (slow_readers, {"never": 20}, {}),
    (no_descriptors, {}, {}),
    (drop_event_stream, {}, {}),
    (hostile_programs, {"rounds": 5}, {}),
    (many_runs, {"count": 10_000, "room": 32 * MIB}, {}),
)
"""Each check, at the size and under the settings that `make chaos` has."""


def run_check(check: Check, size: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Do it to a server of its own and print what came of it; whether it holds."""
    print(f"{check.__name__:44} ", end="", flush=True)
    began, log = time.monotonic(), ""
    try:
        with MeasuredServer(**{**FREE, **settings}) as server:
            try:
                result = check(server, **size)
            finally:
                log = server.log()
        held = True
    except Exception as error:
        result, held = f"{type(error).__name__}: {error}".splitlines()[0], False
    print(f"{'held' if held else 'BROKEN':7} {time.monotonic() - began:5.0f} s  {result}", flush=True)
    for line in log_errors(log):
        print(f"{'':53} {line}", flush=True)
    return held


def main(names: list[str]) -> int:
    unknown = set(names) - {check.__name__ for check, _, _ in ALL}
    if unknown:
        print(f"no such check: {', '.join(sorted(unknown))}; there are {', '.join(row[0].__name__ for row in ALL)}")
        return 2
    held = [run_check(*row) for row in ALL if not names or row[0].__name__ in names]
    print(f"{sum(held)} of {len(held)} held")
    return 0 if all(held) else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended, too
    sys.exit(main(sys.argv[1:]))
