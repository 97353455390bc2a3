"""Raised characters as Unicode's superscripts, so that `120` with the mark 3 is never the number 1203."""

from __future__ import annotations

import re

_DIGITS = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_LETTERS = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
SUPERSCRIPTS = frozenset((*map(chr, _DIGITS.values()), *map(chr, _LETTERS.values())))
"""The characters that `raised` gives."""
_FIGURES = re.compile(r"[\d+\-−=(),;.\s*†‡§¶#]*[0-9][\d+\-−=(),;.\s*†‡§¶#]*")
_LETTER = re.compile(r"\s*[a-z]\s*")
_SUPER = re.compile(r"vertical-align\s*:\s*super", re.IGNORECASE)


def raised(text: str) -> str:
    """Returns raised text as Unicode writes it: figures and single letters; other text, such as the ending of `1st`, as it is.

    >>> raised("3"), raised("2,4"), raised("a"), raised("st"), raised("[1]")
    ('³', '²,⁴', 'ᵃ', 'st', '[1]')
    """
    if _FIGURES.fullmatch(text):
        return text.translate(_DIGITS)
    return text.translate(_LETTERS) if _LETTER.fullmatch(text) else text


def is_raised_style(style: str) -> bool:
    """Whether a CSS declaration raises its text.

    >>> is_raised_style("color: red; vertical-align:super"), is_raised_style("vertical-align: top")
    (True, False)
    """
    return _SUPER.search(style) is not None
