"""HTTP schemas for export and erasure."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from citewell.features.owner_data.service import ErasureReceipt
from citewell.features.schemas import RequestBody, Schema, utc
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

    owner: str
    at: datetime
    complete: bool = Field(description="nothing was found afterwards")
    removed: list[RemovedOut]
    not_looked_into: list[str] = Field(description="places with possible copies that Citewell cannot check")

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
