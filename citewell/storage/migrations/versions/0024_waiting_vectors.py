"""Files searchable by keyword before their vectors exist: how each can be searched, and which passages wait."""

import sqlalchemy as sa
from alembic import op

revision = "0024_waiting_vectors"
down_revision = "0023_facet_counts"
_FOUND = """
    UPDATE resources SET searchable = 'full'
    WHERE status IN ('indexed', 'analyzed', 'described') OR (status = 'partial' AND error_stage = 'description')
"""


def upgrade() -> None:
    """Adds the columns and the table; indexed files are searchable by keyword and by meaning."""
    op.add_column("owners", sa.Column("embed_turn", sa.Double(), nullable=False, server_default="0"))
    op.add_column("resources", sa.Column("searchable", sa.Text()))
    op.add_column("resources", sa.Column("vectors_done", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("resources", sa.Column("vectors_total", sa.Integer(), nullable=False, server_default="0"))
    op.execute(sa.text(_FOUND))
    op.create_table(
        "waiting_vectors",
        sa.Column(
            "chunk_id",
            sa.String(36),
            sa.ForeignKey("chunks.id", ondelete="CASCADE", name="fk_waiting_vectors_chunk_id_chunks"),
            primary_key=True,
        ),
        sa.Column("resource_id", sa.String(36), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
    )
    op.create_index("ix_waiting_vectors_turn", "waiting_vectors", ["resource_id", "rank", "ordinal"])
