"""Normalizes names of projects and files, because keyboards and file systems compose letters differently."""

from __future__ import annotations

import unicodedata

_MAX_COMPOSED = 1_024
"""Longest name, in characters. Longer texts are not composed, because that takes time quadratic in a run of combining marks."""


def composed_name(name: str) -> str:
    """The name as stored and looked up: without surrounding white space, and in NFC, so that é is one letter.

    A text longer than any name only loses the white space.
    """
    kept = name.strip()
    return kept if len(kept) > _MAX_COMPOSED else unicodedata.normalize("NFC", kept)


def name_spellings(name: str) -> tuple[str, ...]:
    """The forms in which a name may be stored: as `composed_name` returns it and, by earlier versions, unchanged or decomposed."""
    kept = composed_name(name)
    if kept.isascii() or len(kept) > _MAX_COMPOSED:
        return tuple(dict.fromkeys((kept, name)))
    return tuple(dict.fromkeys((kept, name, unicodedata.normalize("NFD", kept))))
