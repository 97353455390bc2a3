"""The tables of quotas: per-owner overrides of the defaults, and questions per month."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import metadata, owner_column

# No row: the default applies. A null `most`: no limit.
owner_quotas = sa.Table(
    "owner_quotas",
    metadata,
    owner_column(primary_key=True),
    sa.Column("quota", sa.Text, primary_key=True),
    sa.Column("most", sa.Double),
)

# Only for owners with a question quota; months in UTC, such as 2026-01.
question_counts = sa.Table(
    "question_counts",
    metadata,
    owner_column(primary_key=True),
    sa.Column("month", sa.String(7), primary_key=True),
    sa.Column("asked", sa.BigInteger, nullable=False),
)
