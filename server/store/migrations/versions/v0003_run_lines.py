"""The table of lines of runs that are too many for the broker."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "run_lines",
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("lines", sa.LargeBinary, nullable=False),
    )
    op.create_index("run_lines_created", "run_lines", ["created"])


def downgrade() -> None:
    op.drop_index("run_lines_created", "run_lines")
    op.drop_table("run_lines")
