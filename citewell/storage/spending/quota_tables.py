"""The tables of quotas: what holds for an owner in the place of the defaults, and the questions of the month."""

from __future__ import annotations

import sqlalchemy as sa

from citewell.storage.tables import metadata, owner_column

# no row: the default holds; a row without a number: no limit
owner_quotas = sa.Table(
    "owner_quotas",
    metadata,
    owner_column(primary_key=True),
    sa.Column("quota", sa.Text, primary_key=True),
    sa.Column("most", sa.Double),
)

# counted only for owners whose questions are limited; the month as 2026-01 (UTC)
question_counts = sa.Table(
    "question_counts",
    metadata,
    owner_column(primary_key=True),
    sa.Column("month", sa.String(7), primary_key=True),
    sa.Column("asked", sa.BigInteger, nullable=False),
)
