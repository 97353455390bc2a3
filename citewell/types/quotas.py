"""What an owner may have and do, and how much of it is used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Quota(StrEnum):
    """What is limited for an owner: files, the bytes of all their versions, questions of a month, and US dollars of a month."""

    FILES = "files"
    BYTES = "bytes"
    QUESTIONS = "questions"
    SPEND = "spend"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaStanding:
    """How far one quota of an owner is used. limit: None for no limit; is_own: set for this owner, not the default of all.

    resets_at: when its month ends, in seconds since 1970; None for what is not counted by month
    """

    quota: Quota
    limit: float | None
    used: float
    is_own: bool
    resets_at: float | None = None
