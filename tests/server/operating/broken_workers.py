"""Workers that never start, each for another reason: what a server says of them is held by
tests.server.operating.test_broken_workers."""

import os
import threading
import time

from server.wire.link import WorkerOptions
from server.worker.child import ChildWork
from server.worker.threads import require_one_thread


def prepare_and_raise(_: WorkerOptions) -> ChildWork:
    raise RuntimeError("the disk with torch is gone")


def prepare_with_thread(_: WorkerOptions) -> ChildWork:
    """A thread that stays, as some packages start one when they are imported."""
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    require_one_thread()
    raise AssertionError("a second thread was overlooked")


def prepare_and_die(_: WorkerOptions) -> ChildWork:
    os._exit(7)


def prepare_slowly(_: WorkerOptions) -> ChildWork:
    """As on a busy machine: a tenth of a processor, for longer than a start may take on an idle one."""
    for _turn in range(50):
        started = time.process_time()
        while time.process_time() - started < 0.01:
            pass
        time.sleep(0.1)  # others have the processor
    return ChildWork(lambda *_: None, {}, lambda: None)


def prepare_and_hang(_: WorkerOptions) -> ChildWork:
    time.sleep(1000)  # until it is killed
    raise AssertionError("nobody waits for so long")


def prepare_children_that_raise(_: WorkerOptions) -> ChildWork:
    """Each child for the GPU ends before it is ready."""

    def initialize_gpu() -> None:
        raise RuntimeError("the driver is too old")

    return ChildWork(lambda *_: None, {}, initialize_gpu)
