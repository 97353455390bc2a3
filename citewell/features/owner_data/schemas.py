"""HTTP schemas for export and erasure."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, Timestamp
from citewell.types.accounts import ERASURE_CONFIRMATION


class ErasureIn(RequestBody):
    """The words that confirm the erasure."""

    confirm: str = Field(max_length=100, description=f"`{ERASURE_CONFIRMATION}`")


class RemovedOut(Schema):
    """A place, and how much of the owner's data was there before and after."""

    place: str
    before: int
    after: int


class ErasureOut(Schema):
    """A receipt: what was removed where, and what a second check of every place found."""

    owner: str = Field(validation_alias="owner_id")
    at: Timestamp
    complete: bool = Field(description="nothing was found afterwards")
    removed: list[RemovedOut]
    not_looked_into: list[str] = Field(description="places with possible copies that Citewell cannot check")
