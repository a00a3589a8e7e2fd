"""A worker of a queue as a process of the tests: `python -m tests.support.remote_worker PREPARE` with its settings in
the environment."""

import sys

from server.cluster import worker as cluster_worker
from server.settings import Settings
from tests.forks import forked_assemblers, prepared_zygotes

if __name__ == "__main__":
    prepared_zygotes.use()
    forked_assemblers.use()
    sys.exit(cluster_worker.run_worker(Settings(), "cpu", sys.argv[1]))
