"""Run by Alembic, on the connection and in the transaction of whoever asked for it."""

from alembic import context

from server.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
