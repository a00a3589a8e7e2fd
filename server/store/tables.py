"""The tables of saved programs, of series, and of lines of runs. The migrations create them in a database."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

metadata = MetaData()

saved_programs = Table(
    "scenarios",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("digest", String(64), nullable=False),  # SHA-256 of the content; stays when that is removed
    Column("created", BigInteger, nullable=False),  # milliseconds since 1970, as `removed`
    Column("size", BigInteger, nullable=False),  # bytes of content and trace
    Column("versions", Text, nullable=False),
    Column("removed", BigInteger),
    Column("reason", Text),
    Column("content", Text),  # canonical JSON, of ASCII alone: a zero byte in a program is no column's business
    Column("trace", LargeBinary),  # gzip
    UniqueConstraint("digest", name="scenarios_digest"),
    Index("scenarios_size", "size"),  # the quota's sum is read from it alone
)

series = Table(
    "series",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("removed", BigInteger),
    Column("reason", Text),
    Column("content", Text),  # it names its programs by id; one that is removed is still named
    UniqueConstraint("digest", name="series_digest"),
    Index("series_size", "size"),
)

CONTENT_TABLES = (saved_programs, series)
"""The tables whose sizes count towards the quota."""

run_lines = Table(
    "run_lines",
    metadata,
    Column("run", String(64), primary_key=True),
    Column("created", BigInteger, nullable=False),  # milliseconds since 1970
    Column("lines", LargeBinary, nullable=False),  # compressed by zlib
    Index("run_lines_created", "created"),
)
