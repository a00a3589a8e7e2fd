"""A worker whose programs have the machine's files, not those in memory: so that what keeps them in is the
confinement."""

from collections.abc import Mapping

from server.wire.link import WorkerOptions
from server.worker import prepare as recorder
from server.worker import program_run, supervisor
from server.worker.child import ChildWork

FIRST_UID = 62_000
"""Others than those of the pools of tests beside this one: the kernel counts the threads of a user, whoever started
them."""


def prepare(options: WorkerOptions) -> ChildWork:
    """Like the recorder's, but for `open` and `os`, which lead to the machine's files, and for the users."""
    return adapt(recorder.prepare(options))


def adapt(worker: ChildWork) -> ChildWork:
    """What `prepare` makes of the recorder's worker."""
    supervisor.FIRST_UID = FIRST_UID
    program_run.install_files = leave_files  # type: ignore[attr-defined]
    return worker


def leave_files(files_of_packages: Mapping[str, bytes] | None = None) -> None:
    """Stands in for `install_files`, and changes nothing."""
