"""Ctrl-C and SIGTERM, whatever the clients do just then."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

from benchmarks.load import program
from benchmarks.measured_server import MeasuredServer
from tests.chaos.clients import crowd, open_event_stream, post_program, run_honest_programs, start_post
from tests.chaos.programs import BIG, SLEEP
from tests.chaos.server_state import wait_until


def terminate(server: MeasuredServer, within: float, what: str) -> list[str]:
    """SIGTERM, and after another start SIGINT, end the whole server, whatever its clients do."""
    rows = []
    for number in (signal.SIGTERM, signal.SIGINT):
        with under_load(server, what):
            assert server.process is not None
            server.process.send_signal(number)
            began = time.monotonic()
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(within)
            took = time.monotonic() - began
            assert server.process.poll() is not None, f"{number.name} under {what}: it still runs after {within:.0f} s"
            wait_until("its workers are gone", lambda: not server.workers(), 2)
        rows.append(f"{number.name} {took:.1f} s")
        server.start()
        server.wait_until_idle()
        run_honest_programs(server, range(2))
    return rows


@contextmanager
def under_load(server: MeasuredServer, what: str) -> Iterator[None]:
    """Clients of a kind, at whatever they do."""
    with ExitStack() as stack:
        if what == "quick programs":
            threads = stack.enter_context(ThreadPoolExecutor(8))
            futures = [threads.submit(post_program, server, program(n), n) for n in range(200)]
            stack.callback(lambda: [future.cancel() or future.exception() for future in futures])
            wait_until("some are answered", lambda: sum(future.done() for future in futures) >= 8, 60)
        elif what == "long programs":
            stack.enter_context(crowd(server))
        elif what == "a client that never reads":
            stack.callback(start_post(server, BIG.replace("{n}", "1")).close)
            time.sleep(1)
            server.wait_until_idle()
        elif what == "half a request":
            stack.callback(start_post(server, program(1), size=-10).close)
        else:
            stack.callback(open_event_stream(server, SLEEP.replace("{n}", "0")).close)
        time.sleep(0.3)
        yield


def terminate_server(server: MeasuredServer) -> str:
    """Ctrl-C and SIGTERM while programs run and wait leave nothing."""
    return ", ".join(terminate(server, 30, "quick programs"))


def terminate_under(what: str) -> Callable[[MeasuredServer], str]:
    def check(server: MeasuredServer) -> str:
        return ", ".join(terminate(server, 30, what))

    check.__name__ = f"ended_against_{what.replace(' ', '_')}"
    check.__doc__ = f"Ctrl-C and SIGTERM against {what} leave nothing."
    return check
