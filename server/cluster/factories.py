"""The parts of a server with workers on other machines. Importing it needs `gradbox[cluster]`."""

from server.pool.remote.pool import RemotePool
from server.pool.remote.shared_broker import SharedBroker, SharedLimitCounts
from server.runs.peer_runs import BrokerPeerRuns
from server.runs.shared_result_cache import SharedResultCache
from server.settings import Settings
from server.store.database import Database
from server.store.run_lines import RunLinesStore


def create_pool(settings: Settings, database: Database) -> RemotePool:
    """The pool. Connects to the broker when it is started."""
    return RemotePool(settings, RunLinesStore(database))


class SharedState:
    """What web processes share besides the queue."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._broker = SharedBroker(settings.queue_url)
        secret = settings.secret.encode()
        self.counts = SharedLimitCounts(self._broker, settings.queue_url, secret)
        room = 2 * settings.trace + (1 << 20)
        self.results = SharedResultCache(self._broker, secret, settings.cache, room)
        self.runs = BrokerPeerRuns(self._broker, settings.queue_url, secret, RunLinesStore(database))

    @property
    def reachable(self) -> bool:
        return self._broker.reachable

    async def close(self) -> None:
        await self.runs.close()
        await self._broker.close()


def create_shared_state(settings: Settings, database: Database) -> SharedState:
    """What this process shares with the others. Connects at the first command."""
    return SharedState(settings, database)
