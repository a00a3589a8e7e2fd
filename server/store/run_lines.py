"""Lines of runs that are too large for the broker: a worker stores them in the database, and whoever waits for the run
reads them."""

import time

from sqlalchemy import delete, insert, select

from server.store.database import Database
from server.store.tables import run_lines

TTL_MS = 600_000
"""Milliseconds after which they are removed, read or not, because several readers may wait for one run."""


class RunLinesStore:
    """The stored lines of runs. Both methods raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def put(self, name: str, body: bytes) -> None:
        """Store the lines of a run, replacing earlier ones under its name."""
        now = int(time.time() * 1000)
        async with self.database.writing_transaction() as connection:
            await connection.execute(
                delete(run_lines).where((run_lines.c.created < now - TTL_MS) | (run_lines.c.run == name))
            )
            await connection.execute(insert(run_lines).values(run=name, created=now, lines=body))

    async def get(self, name: str) -> bytes | None:
        """The lines of a run; None where there are none."""
        async with self.database.reading_connection() as connection:
            if connection is None:
                return None
            row = (await connection.execute(select(run_lines.c.lines).where(run_lines.c.run == name))).first()
            return bytes(row.lines) if row is not None else None
