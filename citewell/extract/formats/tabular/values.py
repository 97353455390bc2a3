"""A cell as a Python value, as text for people, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Self, TypeAlias, cast

from citewell.types import JsonValue

Cell: TypeAlias = str | int | float | bool | date | time | timedelta | None
_MAX_EXACT = 2**53
"""Largest integer that a double holds exactly."""
_PLAIN_JSON = frozenset({str, int, float, bool})
_LINE_BREAKS = re.compile(r"\s*[\r\n]+\s*")
_NUMBER = re.compile(r"[-+(]?[^\w\s]?\s?(\d[\d.,' ]*|\.\d+)([eE][-+]?\d+)?\)?\s?[%€$£¥]?")
_DATE = re.compile(r"(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?")
_EMPTY = (
    r"NA|N/A|n/a|#N/A|NULL|null|None|NaN|nan|nil|[\-–—]{1,3}|[.…*]{1,3}|[?]"
    r"|#DIV/0!|#VALUE!|#REF!|#NAME[?]|#NUM!|#NULL!"
)
MARKER = rf"{_EMPTY}|[A-Za-z]([./] ?[A-Za-z]){{1,3}}[.]?"
"""Texts that mean “no value” in a column of numbers or dates, as a pattern of Python and DuckDB. Initials are short for
words such as “not available” in any language: `k.A.`, `s/d`, `b. d.`
"""
_MARKER = re.compile(_EMPTY)
_MAX_MARKER_LENGTH = 12
"""Characters of the longest text that means “no value”."""
_BOOLEANS = frozenset({"true", "false"})


class Shown(str):
    """A number's text as the program shows it, and the text that the copy's value is read from."""

    __slots__ = ("value",)

    def __new__(cls, text: str, value: str) -> Self:
        """text: as shown; value: what the copy holds, as text."""
        self = super().__new__(cls, text)
        self.value = value
        return self


def tidy(value: object) -> Cell:
    """Normalizes a reader's value to a cell: None for blank text, an integer for a float that holds one exactly."""
    kind = value.__class__  # faster than isinstance: this runs for every cell
    if kind is str:
        text = cast("str", value)
        text = text if text.isascii() and "\0" not in text else _storable(text)
        return text if text and not text.isspace() else None
    if kind is float:
        number = cast("float", value)
        return int(number) if number.is_integer() and -_MAX_EXACT < number < _MAX_EXACT else number
    if value is None or isinstance(value, str | int | float | date | time | timedelta):
        return value
    return str(value)


def text_of(cell: Cell) -> str:
    """Returns the cell as text: ISO dates, the shortest number that round-trips, elapsed time as `hours:mm:ss`."""
    kind = cell.__class__
    if kind is str:
        return cast("str", cell)
    if kind is int or kind is float:
        return repr(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return _elapsed(cell) if isinstance(cell, timedelta) else str(cell)


def line_of(cell: Cell) -> str:
    """Returns `text_of` on one line."""
    return _on_one_line(text_of(cell).strip())


def json_of(cell: Cell) -> JsonValue:
    """Returns the cell as JSON: numbers, booleans and text unchanged, the rest as `text_of`."""
    return cell if cell is None or isinstance(cell, str | int | float) else text_of(cell)


def row_text(names: Sequence[str], texts: Sequence[str]) -> str:
    """Returns `Header: value | Header: value` of the non-empty texts, on one line."""
    pairs = [f"{name}: {text.strip()}" for name, text in zip(names, texts, strict=False) if text]
    return _on_one_line(" | ".join(pairs))


def row_values(names: Sequence[str], cells: Sequence[Cell], texts: Sequence[str]) -> dict[str, JsonValue]:
    """Returns header → value as JSON, for non-empty cells; `texts` are the cells' texts."""
    return {
        name: cast("JsonValue", cell) if cell.__class__ in _PLAIN_JSON else text
        for name, cell, text in zip(names, cells, texts, strict=False)
        if text
    }


def _on_one_line(text: str) -> str:
    return _LINE_BREAKS.sub(" ", text) if "\n" in text or "\r" in text else text


def is_marker(cell: Cell) -> bool:
    """Whether a cell marks a missing value, such as `N/A` or a dash."""
    return isinstance(cell, str) and len(cell) <= _MAX_MARKER_LENGTH and _MARKER.fullmatch(cell.strip()) is not None


def is_data(cell: Cell) -> bool:
    """Whether a cell looks like a measurement rather than a name: a number, date, time or Boolean, typed or written."""
    if cell is None:
        return False
    if not isinstance(cell, str):
        return True
    text = cell.strip()
    if len(text) > 40:
        return False
    return bool(_NUMBER.fullmatch(text) or _DATE.fullmatch(text)) or text.lower() in _BOOLEANS


def is_figure(cell: Cell) -> bool:
    """Whether a cell is an amount: a number, typed or written, that is no whole one, as years and numbers of orders are."""
    if isinstance(cell, str):
        text = cell.strip()
        return is_data(text) and not text.isdigit() and not _DATE.fullmatch(text)
    return isinstance(cell, float | timedelta)


def column_letter(index: int) -> str:
    """Returns the spreadsheet letter of a column: 0 → A, 26 → AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _storable(text: str) -> str:
    """Returns text that databases accept: no NUL, no lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _elapsed(span: timedelta) -> str:
    total = span.total_seconds()
    sign, seconds = ("-", -total) if total < 0 else ("", total)
    whole = int(seconds)
    fraction = f"{seconds - whole:.6f}".rstrip("0")[1:].rstrip(".") if seconds != whole else ""
    return f"{sign}{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{fraction}"
