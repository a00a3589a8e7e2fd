"""What a child is given to do: a program to run and trace, or programs of the server's own to answer."""

from collections.abc import Callable
from typing import NoReturn

from gradbox.wire.job_records import ChildJob
from server.worker.answers import answer_all
from server.worker.run import run


def run_job_and_exit(job: ChildJob, write: Callable[[bytes], None]) -> NoReturn:
    """Do it, write its lines, and end this process."""
    if "source" in job:
        run(job, write)
    answer_all(job, write)
