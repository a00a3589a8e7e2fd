"""Threads of a process that forks: how many there are, and one that ends before the next line runs."""

import threading
import time
from collections.abc import Callable
from pathlib import Path


def run_in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread of its own, and wait for its end. Raises what it raises.

    What torch counts for each thread, as nodes of the graph, then begins in the main thread with the program.
    """
    errors: list[BaseException] = []

    def call() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, name="prepare")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def require_one_thread() -> None:
    """Wait until threads that have ended are gone for the kernel, too. Raises RuntimeError where others are left.

    A child that is forked beside a second thread may wait for a lock that nobody releases.
    """
    for _ in range(1000):
        if thread_count() == 1:
            return
        time.sleep(0.001)
    raise RuntimeError(f"this process has {thread_count()} threads; what it forks would hang")


def thread_count() -> int:
    """Threads of this process."""
    return len(list(Path("/proc/self/task").iterdir()))
