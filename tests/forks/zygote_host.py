"""The process that is prepared once and forks zygotes, for tests.forks.prepared_zygotes: it imports what a zygote does
and no more.

`python -m tests.forks.zygote_host FD OPTIONS`: FD is a listening Unix socket, OPTIONS those of a zygote as JSON. A
connection brings one message, the options of the zygote to fork and its end of the link; the answer is its pid, with a
pidfd.
"""

import ctypes
import importlib
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import Any, NoReturn

from server.pool.zygote import PREPARE_FUNCTION
from server.wire.link import WorkerOptions
from server.worker.child import ChildWork, die_with_parent
from server.worker.supervisor import Supervisor
from server.worker.zygote import prepare_worker
from tests.forks.host_sockets import CHECK_INTERVAL, reap_children
from tests.forks.huge_pages import join_pages

PR_SET_NAME = 15


def main() -> None:
    """Prepare as a zygote does, then fork one for each connection, until the parent has ended."""
    parent = os.getppid()  # the kernel would end this process with the thread that started it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener, options = socket.socket(fileno=int(sys.argv[1])), WorkerOptions(**json.loads(sys.argv[2]))
    worker = prepare_worker(options, "tests")
    join_pages()
    while os.getppid() == parent:
        with suppress(TimeoutError):
            listener.settimeout(CHECK_INTERVAL)
            connection = listener.accept()[0]
            listener.settimeout(None)
            fork_zygote(connection, listener, worker)
            connection.close()
        reap_children()


def fork_zygote(connection: socket.socket, listener: socket.socket, worker: ChildWork) -> None:
    """Fork the zygote that a connection asks for. Does not return in the fork."""
    message, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 1)
    if not descriptors:  # whoever asked is gone
        return
    pid = os.fork()
    if pid == 0:
        connection.close()
        listener.close()
        become_zygote(socket.socket(fileno=descriptors[0]), json.loads(message), worker)
    pidfd = os.pidfd_open(pid)
    with suppress(OSError):
        socket.send_fds(connection, [str(pid).encode()], [pidfd])
    os.close(pidfd)
    os.close(descriptors[0])


def become_zygote(link: socket.socket, options: dict[str, Any], worker: ChildWork) -> NoReturn:
    """What `server.worker.zygote` does once it is prepared. Never returns."""
    try:
        os.setsid()
        die_with_parent()
        ctypes.CDLL(None).prctl(
            PR_SET_NAME, f"w{options['memory']}".encode(), 0, 0, 0
        )  # by which benchmarks.measured_server finds it
        supervisor = Supervisor(link, WorkerOptions(**options), adapted(options["prepare"], worker))
        supervisor.try_confinement()
        supervisor.serve_forever()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def adapted(prepare: str, worker: ChildWork) -> ChildWork:
    """The worker that `prepare`, a `module:function`, would have made: with the recorder's as it is, or what `adapt` of
    a module of tests makes of it."""
    if prepare == PREPARE_FUNCTION:
        return worker
    changed: ChildWork = importlib.import_module(prepare.partition(":")[0]).adapt(worker)
    return changed


if __name__ == "__main__":
    main()
