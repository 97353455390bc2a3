"""The value kinds of a text column, as SQL: a test that every cell must pass, and the conversion.

In `test` and `convert`, `{c}` stands for the column's trimmed text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.types.figures import COMMA, FOLD_FROM, FOLD_TO, POINT, UNIT, amount, plain

DECIMAL_POINT, DECIMAL_COMMA = "1,234.5", "1.234,5"
"""Formats of written numbers."""
_PLAIN = r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
_ZONED = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_CLOCK = r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_NUMERIC_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_SHORT_DAYS = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y")
_NAMED_DAYS = ("%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y")
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")


@dataclass(frozen=True, slots=True)
class ValueKind:
    """One kind of value.

    dtype:   the name shown to people: integer, number, boolean, date, datetime, time or text
    pattern: matches every text of this kind, once folded (`types.figures.plain`); not every match is of this kind
    format:  how it was written, if not in plain form
    rivals:  formats that read the same text differently (day/month or month/day)
    bare:    of numbers, the digits with their decimal point
    """

    dtype: str
    pattern: str
    test: str
    convert: str
    format: str | None = None
    rivals: tuple[str, ...] = ()
    bare: str = "{c}"

    def admits(self, text: str) -> bool:
        """Whether `text` may be of this kind; `test` decides."""
        return re.fullmatch(self.pattern, plain(text), re.IGNORECASE) is not None


TEXT = ValueKind("text", "(?s).*", "true", "{c}")


def _matching(pattern: str, text: str = "{c}") -> str:
    return f"regexp_full_match({text}, {literal(pattern)})"


def literal(text: str) -> str:
    """Quotes an SQL string."""
    return "'" + text.replace("'", "''") + "'"


FOLDED = f"translate({{c}}, {literal(FOLD_FROM)}, {literal(FOLD_TO)})"
"""`types.figures.plain` in SQL."""


def _written_number(digits: str, decimal: str, name: str) -> ValueKind:
    """Returns the kind of numbers as people write them: with separators, a currency or percent sign, and any minus."""
    pattern = amount(digits)
    without_unit = f"regexp_replace({FOLDED}, {literal(UNIT)}, '', 'g')"
    bare = f"replace(regexp_replace({without_unit}, '[^0-9{decimal}]', '', 'g'), '{decimal}', '.')"
    # A dash in the place of the cents (`12,-`) is no minus.
    sign = f"CASE WHEN regexp_matches(regexp_replace({FOLDED}, '[.,]-{{1,2}}', ''), '[(-]') THEN -1 ELSE 1 END"
    convert = f"TRY_CAST({bare} AS DOUBLE) * {sign}"
    return ValueKind("number", pattern, _matching(pattern, FOLDED), convert, name, bare=bare)


def _day(format: str) -> ValueKind:
    moment = f"try_strptime({{c}}, '{format}')"
    test = f"{moment} >= TIMESTAMP '1000-01-01'"
    return ValueKind("date", _shape(format), test, f"CAST({moment} AS DATE)", format, _rivals(format))


def _moment(day: str) -> ValueKind:
    formats = ", ".join(f"'{day}{gap}{clock}'" for gap in (" ", "T") for clock in _CLOCKS)
    moment = f"try_strptime({{c}}, [{formats}, '{day}'])"
    pattern = _shape(day) + r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AP]M)?)?"
    rivals = tuple(f"{rival} %H:%M:%S" for rival in _rivals(day))
    return ValueKind("datetime", pattern, f"{moment} >= TIMESTAMP '1000-01-01'", moment, f"{day} %H:%M:%S", rivals)


def _shape(format: str) -> str:
    """Returns a pattern for the texts that a date format reads."""
    parts = {"%Y": r"\d{4}", "%y": r"\d{2}", "%m": r"\d{1,2}", "%d": r"\d{1,2}", "%b": r"[a-z]{3}", "%B": r"[a-z]{3,9}"}
    pattern = re.escape(format).replace("\\%", "%")
    for name, part in parts.items():
        pattern = pattern.replace(name, part)
    return pattern


def _rivals(format: str) -> tuple[str, ...]:
    """Returns the format that reads the same texts with month and day swapped."""
    swapped = _swapped(format)
    return (swapped,) if swapped != format and "%b" not in format.lower() else ()


def _swapped(format: str) -> str:
    """Swaps day before month and month before day; unchanged if the year leads."""
    if format.startswith("%Y"):
        return format
    return format.replace("%d", "%?").replace("%m", "%d").replace("%?", "%m")


_INTEGER = r"[+-]?(0|[1-9][0-9]{0,17})"
_LONG_INTEGER = r"[+-]?(0|[1-9][0-9]{0,29})"
"""More digits than 64 bits hold: kept exactly, with room for sums."""
_TIME_TEXT = "CASE WHEN length({c}) - length(replace({c}, ':', '')) = 1 THEN {c} || ':00' ELSE {c} END"
_IN_UTC = "TRY_CAST({c} AS TIMESTAMPTZ) AT TIME ZONE 'UTC'"

KINDS: tuple[ValueKind, ...] = (
    ValueKind("boolean", "true|false", "lower({c}) IN ('true', 'false')", "lower({c}) = 'true'"),
    ValueKind("integer", _INTEGER, _matching(_INTEGER), "TRY_CAST({c} AS BIGINT)"),
    ValueKind("integer", _LONG_INTEGER, _matching(_LONG_INTEGER), "TRY_CAST({c} AS DECIMAL(38, 0))"),
    ValueKind(
        "number", _PLAIN, f"{_matching(_PLAIN)} AND isfinite(TRY_CAST({{c}} AS DOUBLE))", "TRY_CAST({c} AS DOUBLE)"
    ),
    _written_number(POINT, ".", DECIMAL_POINT),
    _written_number(COMMA, ",", DECIMAL_COMMA),
    *map(_day, (*_NUMERIC_DAYS, *_SHORT_DAYS, *_NAMED_DAYS)),
    ValueKind("datetime", _ZONED, f"{_IN_UTC} IS NOT NULL", _IN_UTC, "ISO 8601, in UTC"),
    *map(_moment, (*_NUMERIC_DAYS, *_SHORT_DAYS)),
    ValueKind("time", _CLOCK, _matching(_CLOCK), f"TRY_CAST({_TIME_TEXT} AS TIME)"),
)
