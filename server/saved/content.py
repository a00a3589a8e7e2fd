"""What one server has saved: the store, how it is, and the services for its programs and series."""

from dataclasses import dataclass

from server.operating.metrics import Metrics
from server.pool.cache import ResultCache
from server.saved.programs import ProgramService
from server.saved.series import SeriesService
from server.settings import Settings
from server.store.database import Database
from server.store.health import StoreHealth
from server.store.repository import ProgramRepository
from server.store.series import SeriesStore
from server.visitors.visitors import VisitorLimits

TRACE_CACHE_BYTES = 32_000_000
"""Bytes of saved programs' traces that are kept in memory."""


@dataclass
class SavedContent:
    """What visitors have saved, and the services that serve it.

    health: whether the store answers, and its totals
    """

    store: ProgramRepository
    health: StoreHealth
    programs: ProgramService
    series: SeriesService

    async def close(self) -> None:
        await self.health.close()
        await self.store.database.close()


def create_program_repository(settings: Settings, database: Database) -> ProgramRepository:
    """The saved programs in this database."""
    return ProgramRepository(database, settings.scenario, settings.quota, ResultCache(TRACE_CACHE_BYTES))


def create_saved_content(
    settings: Settings, store: ProgramRepository, health: StoreHealth, limits: VisitorLimits, metrics: Metrics
) -> SavedContent:
    """The services over a store.

    limits: how much one visitor may save
    metrics: count what is saved
    """
    series = SeriesStore(store.database, settings.quota)
    return SavedContent(
        store=store,
        health=health,
        programs=ProgramService(store, limits.saves, limits.save_space, metrics),
        series=SeriesService(series, store, limits.saves, limits.save_space),
    )
