"""The history of the database: one for SQLite and PostgreSQL."""
