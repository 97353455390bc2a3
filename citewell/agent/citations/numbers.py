"""The figures in a text, as values that can be compared: `5,000`, `GHS 5.000`, `5k`, `5 thousand` and `five thousand` are one."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from citewell.text.quantities import SCALES

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_WORD = "|".join(sorted(_UNITS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−(])?(?P<digits>\d+(?:[.,'’\u00a0\u202f ]\d{{3}}(?!\d))*(?:[.,]\d+)?)(?:\s?(?P<scale>k|m|bn|mn|mio|mrd|tsd"
    rf"|thousand|millions?|millionen|billions?|milliarden|trillion)\b)?(?P<tail>\w*)"
    rf"|\b(?P<words>(?:{_WORD})(?:[\s-]+(?:and\s+)?(?:{_WORD}|hundred|thousand|million|billion))*)\b",
    re.I,
)
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f ])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")

# Longer runs of digits measure nothing; the rest of them is not compared.
_MAX_DIGITS = 100


class Figure(NamedTuple):
    """A number in a text: its possible values without sign (`1.234` may be a thousand or a fraction), where it is, and
    whether in words."""

    values: frozenset[Decimal]
    start: int
    end: int
    spelled: bool


def find_figures(text: str) -> list[Figure]:
    """All numbers of `text`, in order; codes such as `AC-2501` count by their digits, ordinals by their value."""
    found: list[Figure] = []
    for match in _NUMBER.finditer(text):
        if match["words"] is not None:
            value = _spelled(match["words"])
            found.append(Figure(frozenset({value}), match.start(), match.end(), spelled=True))
        else:
            values = _values(match["digits"], (match["scale"] or "").lower())
            found.append(Figure(values, match.start("digits"), match.end(), spelled=False))
    return found


def find_missing_figures(claim: str, source: str) -> list[str]:
    """The figures of `claim`, as written, that occur nowhere in `source`. Small numbers in words ("one of them") do not count."""
    have = _values_in(source)
    return [
        claim[f.start : f.end].strip()
        for f in find_figures(claim)
        if not (f.spelled and max(f.values) <= 2) and f.values.isdisjoint(have)
    ]


@lru_cache(maxsize=64)
def _values_in(source: str) -> frozenset[Decimal]:
    """What the figures of a source may be; remembered, as all claims of an answer are compared with the same few sources."""
    return frozenset(value for figure in find_figures(source) for value in figure.values)


@lru_cache(maxsize=20_000)
def _values(digits: str, scale: str) -> frozenset[Decimal]:
    factor = 10 ** SCALES.get(scale, 0)
    return frozenset(value * factor for value in _unscaled(digits[:_MAX_DIGITS]))


def _unscaled(digits: str) -> set[Decimal]:
    digits = re.sub(r"['’\u00a0\u202f ]", "", digits)
    values: set[Decimal] = set()
    grouped = _GROUPED.fullmatch(digits)
    if grouped and grouped[1] in ".,":
        plain = digits.replace(grouped[1], "")
        values.add(Decimal(plain.replace(",", ".")))
    if not grouped or digits.count(grouped[1]) == 1:
        plain = digits.replace(",", ".")
        if plain.count(".") <= 1:
            values.add(Decimal(plain))
    return {value.normalize() for value in values} or {Decimal(re.sub(r"\D", "", digits))}


def _spelled(words: str) -> Decimal:
    total, current = 0, 0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in _UNITS:
            current += _UNITS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in SCALES:
            total += max(current, 1) * 10 ** SCALES[word]
            current = 0
    return Decimal(total + current).normalize()
