"""Questions about tables: which label has the most, what the total is, and which kind has the highest total."""

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
    """Questions about the label with the most, the kind with the highest total, and the total, if the columns allow them."""
    best: list[str] = []
    kinds: list[str] = []
    totals: list[str] = []
    for table in cast(Sequence[Any], tables) if isinstance(tables, Sequence) and not isinstance(tables, str) else ():
        columns = [cast(Mapping[str, Any], c) for c in table.get("columns", ()) if isinstance(c, Mapping)]
        amounts = [c for c in columns if _is_amount(c)]
        if not amounts or any(_name(c).casefold() in _MIXED for c in columns):
            continue
        # The largest figures of a table are usually its money or its volume.
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
    """Columns whose texts name the rows: hardly any text occurs twice."""
    distinct = column.get("distinct", 0)
    return column.get("dtype") == "text" and distinct >= max(2, rows - 1) and _has_a_name(column)


def _is_kind(column: Mapping[str, Any], rows: int) -> bool:
    """Columns whose texts divide the rows into a few kinds, each with several rows."""
    distinct = int(column.get("distinct", 0))
    return column.get("dtype") == "text" and distinct in _KINDS and distinct * 3 <= rows and _has_a_name(column)


def _has_a_name(column: Mapping[str, Any]) -> bool:
    """Whether people would use the column's name: a few words, and not a number, cell or type."""
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
    """`Quarter` → `quarter`, `unit_price` → `unit price`, `Revenue (GHS)` → `revenue`; abbreviations (`MRR`) stay unchanged."""
    words = re.sub(r"[_\s]+", " ", _UNIT.sub("", _name(column))).strip().split(" ")
    return " ".join(word if any(letter.isupper() for letter in word[1:]) else word.lower() for word in words)
