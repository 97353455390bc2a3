"""Sample files as HTTP sees them."""

from __future__ import annotations

from pydantic import BaseModel


class SamplesOut(BaseModel):
    """Ids of the sample files' resources."""

    resource_ids: list[str]
