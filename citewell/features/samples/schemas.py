"""HTTP schemas for sample files."""

from __future__ import annotations

from citewell.features.schemas import Schema


class SamplesOut(Schema):
    """Ids of the sample files' resources."""

    resource_ids: list[str]
