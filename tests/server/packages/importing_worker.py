"""A worker that only imports einops: what becomes of a package that a program may import, without the seconds that
torch takes."""

import importlib

from gradbox.wire.job_records import ChildJob
from server.wire.link import WorkerOptions
from server.worker.child import ChildWork, WriteLines
from server.worker.threads import require_one_thread


def prepare(options: WorkerOptions) -> ChildWork:  # noqa: ARG001 the same for every zygote
    """Import it with a statement of its own, which is noted, and then ask for one thread."""
    importlib.import_module("tests.server.packages.importing_einops")
    require_one_thread()
    return ChildWork(run_nothing, {})


def run_nothing(job: ChildJob, write: WriteLines) -> None:
    """Do nothing for a job."""
