"""HTTP schemas for quotas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, Timestamp
from citewell.types.quotas import Quota, QuotaStanding

_MAX = 2**50
_Whole = Annotated[int, Field(ge=0, le=_MAX)]


class QuotaOut(Schema):
    """One quota of an owner."""

    quota: Quota
    limit: float | None = Field(description="null without a limit; `spend` in US dollars")
    used: float
    own: bool = Field(
        validation_alias="is_own",
        description="whether it was set for this owner; otherwise the server's default applies",
    )
    resets_at: Timestamp | None = Field(description="when the month (UTC) ends; null for files and bytes")


class QuotaList(Schema):
    """All quotas of an owner."""

    quotas: list[QuotaOut]

    @staticmethod
    def of(standings: Sequence[QuotaStanding]) -> QuotaList:
        """The public form of all of them."""
        return QuotaList(quotas=[QuotaOut.model_validate(one) for one in standings])


class QuotasIn(RequestBody):
    """A person's quotas: null means no limit; for omitted ones the server's default applies."""

    files: _Whole | None = Field(default=None, description="files and records, including those inside other files")
    bytes: _Whole | None = Field(default=None, description="of all versions of the files")
    questions: _Whole | None = Field(default=None, description="per calendar month (UTC)")
    spend: Annotated[float, Field(ge=0, le=_MAX)] | None = Field(
        default=None, description="US dollars spent on models per calendar month (UTC)"
    )

    def own(self) -> dict[Quota, float | None]:
        """The given quotas."""
        return {Quota(name): getattr(self, name) for name in self.model_fields_set}
