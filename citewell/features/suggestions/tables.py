"""Questions that a table can be asked: which label has the most of something, what the total is, and of what kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from citewell.features.suggestions.candidates import Candidate, Origin

_IDENTIFIER = re.compile(r"(?:^|[\s_])(?:id|no|number|nr|code|year|index|zip|phone)(?:$|[\s_.])", re.IGNORECASE)
# A column of units: the figures beside it cannot be compared.
_MIXED = frozenset({"unit", "units", "measure", "currency"})
_KINDS = range(2, 13)
_MAX_WORDS = 4
_MIN_LENGTH = 3
_UNIT = re.compile(r"(?<!\s)\s*+[(\[][^)\]\d]{1,12}[)\]]\s*+$")
_NO_NAME_LIST = """
    col column columns field string text double float int integer bool boolean value values unnamed row rows line index page
    rank position first second third other others total totals sum
"""
_NO_NAMES = frozenset(_NO_NAME_LIST.split())


def table_questions(tables: object) -> list[Candidate]:
    """Which label has the most of something, which kind has the most in all, and what the total is, where columns admit it."""
    best: list[str] = []
    kinds: list[str] = []
    totals: list[str] = []
    for table in cast(Sequence[Any], tables) if isinstance(tables, Sequence) and not isinstance(tables, str) else ():
        columns = [cast(Mapping[str, Any], c) for c in table.get("columns", ()) if isinstance(c, Mapping)]
        amounts = [c for c in columns if _is_amount(c)]
        if not amounts or any(_name(c).casefold() in _MIXED for c in columns):
            continue
        # The largest figures of a table are, as a rule, its money or its volume.
        number = _spoken(max(amounts, key=_magnitude))
        rows = int(table.get("row_count") or 0)
        best += [f"Which {_spoken(c)} has the highest {number}?" for c in columns if _is_label(c, rows)][:1]
        kinds += [f"Which {_spoken(c)} has the highest total {number}?" for c in columns if _is_kind(c, rows)][:1]
        totals.append(f"What is the total {number}?")
    return [Candidate(Origin.TABLE, (question,)) for question in dict.fromkeys(best + kinds + totals)]


def _is_amount(column: Mapping[str, Any]) -> bool:
    return (
        column.get("dtype") in ("integer", "number")
        and "sum" in column
        and column.get("distinct", 0) > 1
        and _has_a_name(column)
    )


def _is_label(column: Mapping[str, Any], rows: int) -> bool:
    """Texts that name the rows of a table: hardly any occurs twice."""
    distinct = column.get("distinct", 0)
    return column.get("dtype") == "text" and distinct >= max(2, rows - 1) and _has_a_name(column)


def _is_kind(column: Mapping[str, Any], rows: int) -> bool:
    """Texts that sort the rows into a few kinds, with several rows in each."""
    distinct = int(column.get("distinct", 0))
    return column.get("dtype") == "text" and distinct in _KINDS and distinct * 3 <= rows and _has_a_name(column)


def _has_a_name(column: Mapping[str, Any]) -> bool:
    """Whether people would call it by its name: words, and not too many; no number of something, no name of a cell or a type."""
    name = _UNIT.sub("", _name(column)).replace("_", " ").strip()
    words = name.casefold().split()
    return (
        0 < len(words) <= _MAX_WORDS
        and re.fullmatch(r"[^\W\d_][\w '’&%/-]*", name) is not None
        and not re.search(r"\d|^col(?:umn)?[ _-]?[A-Za-z]?$", name, re.IGNORECASE)
        and len(name) >= _MIN_LENGTH
        and _NO_NAMES.isdisjoint(words)
        and not _IDENTIFIER.search(name)
        and words[0] not in ("in", "of", "per", "by", "at", "for", "to", "from")
    )


def _magnitude(column: Mapping[str, Any]) -> float:
    return abs(float(column.get("mean") or 0))


def _name(column: Mapping[str, Any]) -> str:
    return str(column.get("name", ""))


def _spoken(column: Mapping[str, Any]) -> str:
    """`Quarter` → `quarter`, `unit_price` → `unit price`, `Revenue (GHS)` → `revenue`; abbreviations (`MRR`) stay."""
    words = re.sub(r"[_\s]+", " ", _UNIT.sub("", _name(column))).strip().split(" ")
    return " ".join(word if any(letter.isupper() for letter in word[1:]) else word.lower() for word in words)
