"""Automatic numbering as in Word: `2.`, `3.1.4`, `(b)`, `Article IV`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PLACEHOLDER = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_UNNUMBERED = frozenset(("bullet", "none"))


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list: its number format, its text with `%1` … `%9` for the counts of levels, its first number."""

    format: str
    text: str
    start: int


@dataclass(slots=True)
class ListDefinition:
    """A list's levels (from 0), and the current count of each."""

    levels: dict[int, Level] = field(default_factory=dict[int, Level])
    counts: dict[int, int] = field(default_factory=dict[int, int])

    def next_label(self, level: int, restart: int | None = None) -> str:
        """Returns the next label at this level, counting on (or from `restart`); empty for bullets and unknown ones."""
        here = self.levels.get(level)
        if here is None:
            return ""
        before = self.counts.get(level)
        self.counts[level] = restart if restart is not None else here.start if before is None else before + 1
        for deeper in [key for key in self.counts if key > level]:
            del self.counts[deeper]
        if here.format in _UNNUMBERED:
            return ""
        return _PLACEHOLDER.sub(lambda match: self._counted(int(match.group(1)) - 1), here.text).strip()

    def _counted(self, level: int) -> str:
        known = self.levels.get(level)
        return formatted(self.counts.setdefault(level, known.start), known.format) if known is not None else ""


def formatted(number: int, style: str) -> str:
    """Formats a count in one of Word's number formats; decimal for those of other scripts."""
    if style in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 8)
        return letter.upper() if style == "upperLetter" else letter
    if style in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        return _roman(number).upper() if style == "upperRoman" else _roman(number)
    if style == "decimalZero":
        return f"{number:02d}"
    return str(number)


def _roman(number: int) -> str:
    out = ""
    for size, letters in _ROMAN:
        while number >= size:
            out += letters
            number -= size
    return out
