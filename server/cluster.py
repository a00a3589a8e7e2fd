"""The parts of a server with workers on other machines. Importing it needs `gradbox[cluster]`."""

from server.pool.remote.pool import RemotePool
from server.settings import Settings
from server.store.database import Database
from server.store.run_lines import RunLines


def create_pool(settings: Settings, database: Database) -> RemotePool:
    """The pool. Connects to the broker when it is started."""
    return RemotePool(settings, RunLines(database))
