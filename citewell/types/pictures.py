"""Pictures that a search found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from citewell.types.chunks import OriginalPicture
from citewell.types.locators import Locator


class FoundBy(StrEnum):
    """Why a picture was found: it shares the example's details, shows something similar, or has the words in it or beside it."""

    DETAILS = "details"
    MEANING = "meaning"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class FoundPicture:
    """A picture with its place and score: 0 to 1 by details (0.9 and more: a copy), as in other searches otherwise."""

    original: OriginalPicture
    filename: str
    locator: Locator
    text: str
    score: float
    found_by: FoundBy


@dataclass(frozen=True, slots=True)
class FoundPictures:
    """Pictures, best first; notice: what was not searched, and why."""

    pictures: tuple[FoundPicture, ...]
    notice: str | None = None
