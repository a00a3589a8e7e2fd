"""The process that prepares itself once and forks each child, ready for one run.

`python -m server.worker.zygote FD OPTIONS`: FD is a Unix socket to the server, OPTIONS are `WorkerOptions` as JSON.
Where it can't go on, the server is told why in one line, and the traceback goes to standard error.
"""

import contextlib
import importlib
import json
import signal
import socket
import sys

from server.wire.link import FailedMessage, WorkerOptions
from server.worker.child import Worker, die_with_parent
from server.worker.importable_packages import restrict_imports
from server.worker.supervisor import Supervisor
from server.worker.threads import noting_origins

MAX_REASON = 1000
"""Characters of the reason that is sent."""


def main() -> None:
    """Prepare what the options name, then supervise its children. Never returns."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    link, options = socket.socket(fileno=int(sys.argv[1])), WorkerOptions(**json.loads(sys.argv[2]))
    try:
        supervisor = Supervisor(link, options, prepare_worker(options))
        supervisor.confine_children()
        supervisor.serve()
    except Exception as error:
        reason = " ".join(f"{error or type(error).__name__}".split())
        with contextlib.suppress(OSError):  # the server is gone
            link.send(json.dumps(FailedMessage(failed=reason[:MAX_REASON])).encode())
        raise


def prepare_worker(options: WorkerOptions, *more: str) -> Worker:
    """The worker that the options name. From now on this process can import only what is listed, and `more` packages."""
    module, _, function = options.prepare.partition(":")
    restrict_imports(module.partition(".")[0], *more)
    with noting_origins():
        worker: Worker = getattr(importlib.import_module(module), function)(options)
    return worker


if __name__ == "__main__":
    main()
