"""Killed, stopped and frozen processes: a child, the zygote, the server."""

import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from benchmarks.load import program
from benchmarks.measured_server import MeasuredServer
from tests.chaos.clients import assert_correct, crowd, post_program, posting, run_honest_programs
from tests.chaos.programs import SLEEP, SPIN
from tests.chaos.server_state import busy_workers, wait_until, wait_until_gone, wait_until_running


def kill_child(server: MeasuredServer, times: int = 2) -> str:
    """Its run ends as a crash, at once; spare ones are replaced."""
    waits = []
    for _ in range(times):
        with posting(server, SPIN, 1) as (answer,):
            wait_until("the program runs", lambda: busy_workers(server), 30)
            os.kill(busy_workers(server)[0], signal.SIGKILL)
            began = time.monotonic()
            crashed = answer.result(30)
            waits.append(time.monotonic() - began)
        assert crashed.ending == "crashed" and crashed.body["outcome"].get("signal") == signal.SIGKILL, crashed.body[
            "outcome"
        ]
        server.wait_until_idle()
        spare = set(server.children())
        for pid in spare:
            os.kill(pid, signal.SIGKILL)
        wait_until_gone(server, spare, 30)
        server.wait_until_idle()
        run_honest_programs(server, range(3))
    return (
        f"{times} killed under their programs, told after {max(waits) * 1000:.0f} ms; {2 * times} spare ones replaced"
    )


def kill_zygote(server: MeasuredServer, times: int = 1) -> str:
    """Its runs are lost, those that wait are served by the next one."""
    waits = []
    for _ in range(times):
        with posting(server, SLEEP, 2) as lost, ThreadPoolExecutor(4) as threads:
            wait_until_running(server, 2)
            waiting = [threads.submit(post_program, server, program(n), 10 + n) for n in range(4)]
            wait_until_running(server, 2, 4)
            old = server.workers()
            os.kill(server.zygote(), signal.SIGKILL)
            began = time.monotonic()
            assert [answer.result(30).ending for answer in lost] == ["lost"] * 2
            wait_until_gone(server, set(old), 10)
            for n, answer in enumerate(waiting):
                assert_correct(n, answer.result(90))
            waits.append(time.monotonic() - began)
        server.wait_until_idle()
        run_honest_programs(server, range(3))
    return f"{times} killed: 2 runs lost each, 4 that waited were right after {max(waits):.1f} s"


def stop_zygote(server: MeasuredServer, seconds: float = 2.0) -> str:
    """While it stands still the server answers; then every run that was asked for meanwhile is right.

    Where that takes long it may be given up and its runs lost, but nothing is said that did not happen.
    """
    zygote = server.zygote()
    with ThreadPoolExecutor(6) as threads:
        os.kill(zygote, signal.SIGSTOP)
        try:
            waiting = [threads.submit(post_program, server, program(n), n) for n in range(6)]
            time.sleep(seconds)
            began = time.monotonic()
            server.metrics()
            took = time.monotonic() - began
        finally:
            with suppress(ProcessLookupError):  # it was given up
                os.kill(zygote, signal.SIGCONT)
        answers = [answer.result(60) for answer in waiting]
    lost = [n for n, answer in enumerate(answers) if answer.ending == "lost"]
    assert not lost or seconds > 5, f"lost: {lost}"
    for n, answer in enumerate(answers):
        if n not in lost:
            assert_correct(n, answer)
    server.wait_until_idle()
    return (
        f"{seconds:.0f} s: /metrics took {took * 1000:.0f} ms, of 6 runs {6 - len(lost)} right afterwards and "
        f"{len(lost)} "
        f"lost, next {run_honest_programs(server, range(6, 9))}"
    )


def freeze_zygote(server: MeasuredServer, max_wait: float = 60.0) -> str:
    """One that stands still for good is replaced."""
    frozen = server.zygote()
    os.kill(frozen, signal.SIGSTOP)
    try:
        with posting(server, SLEEP, 2) as answers:
            took = wait_until("another one", lambda: server.workers().get(frozen) is None, max_wait)
            endings = Counter(answer.result(90).ending for answer in answers)
    finally:
        with suppress(ProcessLookupError):
            os.kill(frozen, signal.SIGCONT)
    server.wait_until_idle()
    return f"replaced after {took:.1f} s, its runs {dict(endings)}, next {run_honest_programs(server, range(3))}"


def kill_server(server: MeasuredServer, times: int = 1, within: float = 10.0) -> str:
    """SIGKILL leaves nothing of it, and another one starts on its port at once."""
    waits = []
    for _ in range(times):
        with crowd(server):
            assert server.process is not None and len(server.workers()) >= 3
            server.process.kill()
            server.process.wait()
            waits.append(wait_until("nothing of it is left", lambda: not server.workers(), within))
            server.start()
            server.wait_until_idle()
        run_honest_programs(server, range(3))
    return f"{times} killed: nothing left after {max(waits):.2f} s; the next one served on the same port"


def kill_at_boot(server: MeasuredServer, within: float = 2.0) -> str:
    """SIGKILL while the first worker still boots leaves nothing, either."""
    waits = []
    for k in range(4):
        server.stop()
        server.start()
        wait_until("a worker boots", server.workers, 30)
        time.sleep(0.4 * k)
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        waits.append(
            wait_until(
                f"nothing is left of what was killed {0.4 * k:.1f} s into its boot",
                lambda: not server.workers(),
                within,
            )
        )
    return f"4 killed: nothing left after {max(waits):.2f} s"
