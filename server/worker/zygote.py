"""The process that prepares itself once and forks each child, ready for one run.

`python -m server.worker.zygote FD OPTIONS`: FD is a Unix socket to the server, OPTIONS are `WorkerOptions` as JSON.
"""

import importlib
import json
import signal
import socket
import sys

from server.wire.link import WorkerOptions
from server.worker.child import die_with_parent
from server.worker.supervisor import Supervisor


def main() -> None:
    """Prepare what the options name, then supervise its children. Never returns."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    link, options = socket.socket(fileno=int(sys.argv[1])), WorkerOptions(**json.loads(sys.argv[2]))
    module, _, function = options.prepare.partition(":")
    worker = getattr(importlib.import_module(module), function)(options)
    supervisor = Supervisor(link, options, worker)
    supervisor.confine_children()
    supervisor.serve()


if __name__ == "__main__":
    main()
