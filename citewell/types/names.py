"""Names that people give to projects and files: written one way, however a keyboard or a file system composed their letters."""

from __future__ import annotations

import unicodedata

_MAX_COMPOSED = 1_024
"""Characters. No name is longer, and composing takes the square of a run of combining marks."""


def composed_name(name: str) -> str:
    """The name as it is kept and looked up: without white space around it, and in NFC, so that é is one letter.

    One that is longer than any name may be only loses the space.
    """
    kept = name.strip()
    return kept if len(kept) > _MAX_COMPOSED else unicodedata.normalize("NFC", kept)


def name_spellings(name: str) -> tuple[str, ...]:
    """The spellings that a name may have been kept in: as `composed_name` has it, and two of earlier versions, as it is given and decomposed."""
    kept = composed_name(name)
    if kept.isascii() or len(kept) > _MAX_COMPOSED:
        return tuple(dict.fromkeys((kept, name)))
    return tuple(dict.fromkeys((kept, name, unicodedata.normalize("NFD", kept))))
