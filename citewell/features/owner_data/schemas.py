"""Export and erasure as HTTP sees them."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from citewell.features.owner_data.service import ErasureReceipt
from citewell.features.schemas import RequestBody, Schema, utc
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

    owner: str
    at: datetime
    complete: bool = Field(description="nothing was found afterwards")
    removed: list[RemovedOut]
    not_looked_into: list[str] = Field(description="where copies may be that Citewell cannot look through")

    @staticmethod
    def of(receipt: ErasureReceipt) -> ErasureOut:
        """The public form of a receipt."""
        return ErasureOut(
            owner=receipt.owner_id,
            at=utc(receipt.at),
            complete=receipt.complete,
            removed=[RemovedOut(place=one.place, before=one.before, after=one.after) for one in receipt.removed],
            not_looked_into=list(receipt.not_looked_into),
        )
