"""HTTP schemas for upload estimates."""

from __future__ import annotations

import mimetypes
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema
from citewell.ingest.estimating import Bounds, EstimatedPart, PlannedFile, Purpose, UploadEstimate

MAX_FILES = 10_000
_MAX_BYTES = 2**50


class PlannedFileIn(RequestBody):
    """A file about to be uploaded. `media_type` is used if the name has no extension."""

    filename: str = Field(max_length=1_024)
    media_type: str | None = Field(default=None, max_length=255)
    size: Annotated[int, Field(ge=0, le=_MAX_BYTES, description="bytes")]

    def planned(self) -> PlannedFile:
        """The file's kind, from its name or media type, and its size."""
        extension = PurePath(self.filename).suffix
        if not extension and self.media_type:
            extension = mimetypes.guess_extension(self.media_type.partition(";")[0].strip()) or ""
        return PlannedFile(extension.removeprefix(".").lower(), self.size)


class UploadEstimateIn(RequestBody):
    """Files about to be uploaded, and whether to describe their pictures."""

    files: Annotated[list[PlannedFileIn], Field(min_length=1, max_length=MAX_FILES)]
    multimodal: bool = False


class BoundsOut(Schema):
    """A lower and an upper estimate."""

    low: float
    high: float

    @staticmethod
    def of(bounds: Bounds, digits: int = 0) -> BoundsOut:
        """The public form of bounds."""
        return BoundsOut(low=round(bounds.low, digits), high=round(bounds.high, digits))


class EstimatedPartOut(Schema):
    """The estimated usage of one model."""

    purpose: Purpose
    provider: str
    model: str
    tokens: BoundsOut
    calls: BoundsOut
    minutes: BoundsOut
    dollars: BoundsOut | None = Field(description="US dollars; null if CITEWELL_PRICES has no price for the model")

    @staticmethod
    def of(part: EstimatedPart) -> EstimatedPartOut:
        """The public form of a part."""
        return EstimatedPartOut(
            purpose=part.purpose,
            provider=part.provider,
            model=part.model,
            tokens=BoundsOut.of(part.tokens),
            calls=BoundsOut.of(part.calls),
            minutes=BoundsOut.of(part.minutes, 2),
            dollars=None if part.dollars is None else BoundsOut.of(part.dollars, 6),
        )


class UploadEstimateOut(Schema):
    """The estimated usage of paid models for an upload; no `parts` if there is none.

    A file's content is unknown until it is read, so the figures come from the sizes of the files, and from the content of the owner's
    files of the same kinds.
    """

    files: int
    measured: int = Field(description="files of kinds for which the owner's own files are used")
    parts: list[EstimatedPartOut]
    minutes: BoundsOut
    dollars: BoundsOut | None = Field(description="of all parts; null if one has no price")
    max_spend: float | None = Field(description="CITEWELL_MAX_SPEND: US dollars per month; null without a limit")
    dollars_left: float | None = Field(description="how much of it is left this month")
    exceeds: Literal["no", "perhaps", "yes"] = Field(
        description="whether it would exceed what is left: by the upper estimate (perhaps), or even by the lower one (yes)"
    )

    @staticmethod
    def of(estimate: UploadEstimate) -> UploadEstimateOut:
        """The public form of an estimate."""
        dollars, left = estimate.dollars, estimate.left
        return UploadEstimateOut(
            files=estimate.files,
            measured=estimate.measured,
            parts=[EstimatedPartOut.of(part) for part in estimate.parts],
            minutes=BoundsOut.of(estimate.minutes, 2),
            dollars=None if dollars is None else BoundsOut.of(dollars, 6),
            max_spend=estimate.max_spend,
            dollars_left=None if left is None else round(max(0.0, left), 6),
            exceeds=estimate.exceeds,
        )
