"""One cell: as Python holds it, as people read it, as JSON stores it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

from citewell.types import JsonValue

Cell: TypeAlias = str | int | float | bool | date | time | timedelta | None
_LARGEST_EXACT_FLOAT = 2**53
_LARGEST_STORED_INTEGER = 2**63
_LINE_BREAKS = re.compile(r"\s*[\r\n]+\s*")
_NUMBER = re.compile(r"[-+(]?[^\w\s]?\s?(\d[\d.,' ]*|\.\d+)([eE][-+]?\d+)?\)?\s?[%€$£¥]?")
_DATE = re.compile(r"(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?")
NULL_MARKERS = (
    *("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "--", "–", "—", "?"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
)
_MARKERS = frozenset(NULL_MARKERS)
_LONGEST_MARKER = 12
_BOOLEANS = frozenset({"true", "false"})


def tidy(value: object) -> Cell:
    """A reader's value as a cell: nothing for blank text, an integer for a whole float that holds one exactly."""
    if isinstance(value, str):
        text = value if value.isascii() and "\0" not in value else _storable(value)
        return text if text and not text.isspace() else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _LARGEST_EXACT_FLOAT else value
    if value is None or isinstance(value, int | date | time | timedelta):
        return value
    return str(value)


def text_of(cell: Cell) -> str:
    """The cell as text: ISO dates, the shortest number that reads back the same, elapsed time as `hours:mm:ss`."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return _elapsed(cell)
    return repr(cell)


def line_of(cell: Cell) -> str:
    """`text_of` on one line."""
    text = (cell if isinstance(cell, str) else text_of(cell)).strip()
    return _LINE_BREAKS.sub(" ", text) if "\n" in text or "\r" in text else text


def json_of(cell: Cell) -> JsonValue:
    """The cell as JSON: numbers, booleans and text stay, the rest becomes `text_of`."""
    if cell is None or isinstance(cell, str | bool):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) < _LARGEST_STORED_INTEGER else str(cell)
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else str(cell)
    return text_of(cell)


def row_text(names: Sequence[str], cells: Iterable[Cell]) -> str:
    """`Header: value | Header: value` of the cells that hold something, on one line."""
    text = " | ".join(
        [
            f"{name}: {cell.strip() if isinstance(cell, str) else text_of(cell)}"
            for name, cell in zip(names, cells, strict=False)
            if cell is not None
        ]
    )
    return _LINE_BREAKS.sub(" ", text) if "\n" in text or "\r" in text else text


def row_values(names: Sequence[str], cells: Iterable[Cell]) -> dict[str, JsonValue]:
    """Header → value as JSON, of the cells that hold something."""
    return {
        name: cell if isinstance(cell, str) else json_of(cell)
        for name, cell in zip(names, cells, strict=False)
        if cell is not None
    }


def is_marker(cell: Cell) -> bool:
    """Whether a cell says in words that there is no value, as `N/A` and a dash do."""
    return isinstance(cell, str) and len(cell) <= _LONGEST_MARKER and cell.strip() in _MARKERS


def is_data(cell: Cell) -> bool:
    """Whether a cell looks like a measurement rather than a name: a number, date, time or truth value, typed or written."""
    if cell is None:
        return False
    if not isinstance(cell, str):
        return True
    text = cell.strip()
    if len(text) > 40:
        return False
    return bool(_NUMBER.fullmatch(text) or _DATE.fullmatch(text)) or text.lower() in _BOOLEANS


def column_letter(index: int) -> str:
    """The spreadsheet's letter of a column: 0 → A, 26 → AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _storable(text: str) -> str:
    """Text that databases take: no NUL, no lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _elapsed(span: timedelta) -> str:
    total = span.total_seconds()
    sign, seconds = ("-", -total) if total < 0 else ("", total)
    whole = int(seconds)
    fraction = f"{seconds - whole:.6f}".rstrip("0")[1:].rstrip(".") if seconds != whole else ""
    return f"{sign}{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{fraction}"
