"""The table of series."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "series",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("removed", sa.BigInteger),
        sa.Column("reason", sa.Text),
        sa.Column("content", sa.Text),
        sa.UniqueConstraint("digest", name="series_digest"),
    )
    op.create_index("series_size", "series", ["size"])


def downgrade() -> None:
    op.drop_index("series_size", "series")
    op.drop_table("series")
