"""The process that prepares itself once and forks each child, ready for one run.

`python -m server.worker.zygote FD OPTIONS`: FD is a Unix socket to the server, OPTIONS are `WorkerOptions` as JSON.
Where it can't go on, the server is told why in one line, and the traceback goes to standard error.
"""

import contextlib
import faulthandler
import importlib
import json
import signal
import socket
import sys
import traceback
from pathlib import Path

from server import PROJECT_FOLDER
from server.wire.link import FailedMessage, WorkerOptions
from server.worker.child import Worker, die_with_parent
from server.worker.held_back import discarding_output, refusing_forks
from server.worker.importable_packages import restrict_imports
from server.worker.supervisor import Supervisor
from server.worker.threads import noting_origins

MAX_REASON = 1000
"""Characters of the reason that is sent."""


def main() -> None:
    """Prepare what the options name, then supervise its children. Never returns."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):  # the server may have closed its standard error
        faulthandler.enable(2, all_threads=False)  # a package that crashes is then named there
    link, options = socket.socket(fileno=int(sys.argv[1])), WorkerOptions(**json.loads(sys.argv[2]))
    try:
        supervisor = Supervisor(link, options, prepare_worker(options))
        supervisor.confine_children()
        supervisor.serve()
    except BaseException as error:  # a package may raise SystemExit or KeyboardInterrupt, too
        reason = " ".join(reason_of(error).split())
        with contextlib.suppress(OSError):  # the server is gone
            link.send(json.dumps(FailedMessage(failed=reason[:MAX_REASON])).encode())
        raise


def reason_of(error: BaseException) -> str:
    """Why there is no zygote, for an operator: what our own code says; of another's error its kind and its place, too."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((frame for frame in reversed(frames) if not frame.filename.startswith("<frozen ")), None)
    if isinstance(error, RuntimeError) and frame and Path(frame.filename).is_relative_to(PROJECT_FOLDER / "server"):
        return str(error)
    place = f" ({frame.filename}, line {frame.lineno})" if frame else ""
    return f"{type(error).__name__}{f': {error}' if str(error) else ''}{place}"


def prepare_worker(options: WorkerOptions, *more: str) -> Worker:
    """The worker that the options name. From now on this process can import only what is listed, and `more` packages."""
    module, _, function = options.prepare.partition(":")
    restrict_imports(module.partition(".")[0], *more)
    with noting_origins(), refusing_forks(), discarding_output():
        worker: Worker = getattr(importlib.import_module(module), function)(options)
    return worker


if __name__ == "__main__":
    main()
