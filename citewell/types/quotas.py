"""An owner's limits, and their usage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Quota(StrEnum):
    """The limits per owner: files, bytes of all file versions, questions per month, and US dollars per month."""

    FILES = "files"
    BYTES = "bytes"
    QUESTIONS = "questions"
    SPEND = "spend"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaStanding:
    """The usage of one quota. limit: None for no limit; is_own: set for this owner rather than the default.

    resets_at: when the month ends, in seconds since 1970; None if it is not monthly
    """

    quota: Quota
    limit: float | None
    used: float
    is_own: bool
    resets_at: float | None = None
