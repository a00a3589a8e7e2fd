"""A worker whose programs have the machine's files, not those in memory: so that what keeps them in is the confinement."""

from server.wire.link import WorkerOptions
from server.worker import prepare as recorder
from server.worker import run
from server.worker.child import Worker


def prepare(options: WorkerOptions) -> Worker:
    """Like the recorder's, but for `open` and `os`, which lead to the machine's files."""
    run.install_files = lambda: None  # type: ignore[attr-defined]
    return recorder.prepare(options)
