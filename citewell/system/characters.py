"""Characters as people see them: a letter with its marks, an emoji of several parts; and text of either direction within another.

A grapheme cluster is taken as Unicode Standard Annex 29 has it, apart from syllables of Hangul in parts and from flags.
"""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_MODIFIERS = range(0x1F3FB, 0x1F400)  # skin colours
_FOLLOWING = frozenset("\u0e33\u0eb3")  # vowels of Thai and Lao that belong to the letter before
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_ISOLATE, _END = "\u2068", "\u2069"


def whole_end(text: str, end: int) -> int:
    """The end of the character that `text[:end]` cuts, or `end` where it cuts none."""
    while 0 < end < len(text) and (_extends(text[end]) or text[end - 1] == _JOINER):
        end += 1
    return end


def cut(text: str, most: int) -> str:
    """At most so many code points from the start, in whole characters."""
    if len(text) <= most:
        return text
    end = most
    while end > 0 and whole_end(text, end) != end:
        end -= 1
    return text[: end or most]


def isolated(text: str) -> str:
    """A text for a line of another direction: between marks of isolation if it has letters written from right to left."""
    if text.isascii() or not any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return text
    return f"{_ISOLATE}{text}{_END}"


def _extends(character: str) -> bool:
    """Whether a character belongs to the one before it."""
    if character.isascii():
        return False
    is_mark = unicodedata.category(character) in ("Mn", "Mc", "Me")
    return is_mark or character in _FOLLOWING or character == _JOINER or ord(character) in _MODIFIERS
