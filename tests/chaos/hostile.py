"""Programs that do their worst beside honest ones."""

import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from benchmarks.measured_server import MeasuredServer, proc_bytes
from tests.chaos.clients import post_program, run_honest_programs
from tests.chaos.programs import HOSTILE, LARGE
from tests.chaos.server_state import assert_same_usage, large_workers


def hostile_programs(server: MeasuredServer, rounds: int = 1, copies: int = 2, honest: int = 8) -> str:
    """Every program that does its worst gets its ending, and every honest one beside it is right.

    copies: of each hostile program in a round
    honest: clients beside them, of three programs each
    """
    over = threading.Event()

    def reap() -> None:
        """As the kernel would where memory runs out."""
        while not over.wait(0.1):
            for pid in large_workers(server, usual + LARGE // 2):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    server.wait_until_idle()
    before, served, endings = server.usage(), 0, Counter[str]()
    usual = proc_bytes(server.zygote(), "status", "RssAnon:")
    reaper = threading.Thread(target=reap)
    reaper.start()
    try:
        with ThreadPoolExecutor(6) as threads:
            for turn in range(rounds):
                worst = {
                    name: threads.submit(post_program, server, source.replace("{n}", str(turn)), k)
                    for k, (name, (source, _)) in enumerate(HOSTILE.items())
                    for _ in range(copies)
                }
                good = [threads.submit(run_honest_programs, server, range(n, n + 3)) for n in range(honest)]
                for name, future in worst.items():
                    answer = future.result(120)
                    assert answer.ending == HOSTILE[name][1], f"a program that {name}: {answer.body['outcome']}"
                    endings[answer.ending] += 1
                for done in good:
                    done.result(120)
                    served += 3
    finally:
        over.set()
        reaper.join()
    server.wait_until_idle()
    assert_same_usage(before, server.usage())
    return f"{served} honest ones right beside {dict(endings)}"
