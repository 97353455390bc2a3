"""A question that names the file whose tables it is about: `How many rows are there in “Finance Sheet.xlsx”?`"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.types import TableInfo

_QUOTES = "\"“”„'‘’«»"
# What leads to a file's name, and what it is called: `in the Excel file …`.
_LEAD = (
    r"(?:\b(?:in|of|from|on|within|inside|by|for|aus|von)\s+)?(?:\b(?:the|this|that|my|our|der|die|dem|meiner|unserer)\s+)?"
    r"(?:\b(?:(?:excel|csv|data)\s+)?(?:file|document|spreadsheet|workbook|sheet|table|datei|tabelle)\s+)?"
)
_EDGES = " \t\r\n,;:.!?–—-"


@dataclass(frozen=True, slots=True)
class NamedFile:
    """What is asked of the one file that a question names, and that file's tables."""

    question: str
    tables: tuple[TableInfo, ...]


def of_named_file(question: str, tables: Sequence[TableInfo]) -> NamedFile | None:
    """The question without the name; None where it names no file of these with its extension, or several, or asks nothing else."""
    lower = question.lower()
    names = sorted({t.filename for t in tables if "." in t.filename and t.filename.lower() in lower}, key=len)
    named: dict[str, None] = {}
    rest = question
    for name in reversed(names):  # `Sheet.xlsx` is no file that `Finance Sheet.xlsx` names
        pattern = rf"{_LEAD}[{_QUOTES}]?(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)[{_QUOTES}]?"
        rest, times = re.subn(pattern, " ", rest, flags=re.IGNORECASE)
        if times:
            named.setdefault(name.lower())
    if len(named) != 1 or not re.search(r"\w", rest):
        return None
    asked = re.sub(r" (?=[?!.,;:])", "", " ".join(rest.split())).lstrip(_EDGES)
    return NamedFile(asked, tuple(table for table in tables if table.filename.lower() in named))
