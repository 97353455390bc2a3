"""The table of what finds pictures by an example."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import Id, metadata

picture_likenesses = sa.Table(
    "picture_likenesses",
    metadata,
    sa.Column("resource_id", Id, sa.ForeignKey("resources.id", ondelete="CASCADE"), primary_key=True, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
