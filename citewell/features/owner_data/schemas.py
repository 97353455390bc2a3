"""Export and erasure as HTTP sees them."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, Timestamp
from citewell.types.accounts import ERASURE_CONFIRMATION


class ErasureIn(RequestBody):
    """The words that say that it is meant."""

    confirm: str = Field(max_length=100, description=f"`{ERASURE_CONFIRMATION}`")


class RemovedOut(Schema):
    """A place, how much of the owner was there, and how much was found afterwards."""

    place: str
    before: int
    after: int


class ErasureOut(Schema):
    """A receipt: what was removed where, and what was found when every place was looked through again."""

    owner: str = Field(validation_alias="owner_id")
    at: Timestamp
    complete: bool = Field(description="nothing was found afterwards")
    removed: list[RemovedOut]
    not_looked_into: list[str] = Field(description="where copies may be that Citewell cannot look through")
