"""The table of scenarios."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "scenarios",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("versions", sa.Text, nullable=False),
        sa.Column("removed", sa.BigInteger),
        sa.Column("reason", sa.Text),
        sa.Column("content", sa.Text),
        sa.Column("trace", sa.LargeBinary),
        sa.UniqueConstraint("digest", name="scenarios_digest"),
    )
    op.create_index("scenarios_size", "scenarios", ["size"])


def downgrade() -> None:
    op.drop_index("scenarios_size", "scenarios")
    op.drop_table("scenarios")
