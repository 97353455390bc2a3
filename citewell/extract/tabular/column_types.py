"""The kinds of value that a column of text can hold, as SQL: a test that every cell must pass, and the conversion.

In `test` and `convert`, `{c}` stands for the column's trimmed text.
"""

from __future__ import annotations

from dataclasses import dataclass

NULL_MARKERS = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "--", "–", "—", "?")
UNIT = (
    "([$€£¥₵₦₹₩₽%]|USD|EUR|GBP|GHS|NGN|KES|UGX|TZS|RWF|XOF|XAF|ZAR|EGP|MAD|JPY|CNY|INR|KRW|SGD|HKD|CHF|CAD|AUD|NZD|"
    "SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|BRL|MXN|ARS|CLP|COP|AED|SAR|ILS|THB|IDR|MYR|PHP|VND|PKR|BDT|RUB|UAH)"
)

_PLAIN = r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
_POINT = r"([1-9][0-9]{0,2}(,[0-9]{3})+|0|[1-9][0-9]*)(\.[0-9]*)?"
_COMMA = r"([1-9][0-9]{0,2}(\.[0-9]{3})+|0|[1-9][0-9]*)(,[0-9]*)?"
_ZONED = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_CLOCK = r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_NUMERIC_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_SHORT_DAYS = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y")
_NAMED_DAYS = ("%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y")
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value.

    dtype:   the name people see: integer, number, boolean, date, datetime, time or text
    sql:     the DuckDB type of the Parquet column
    format:  how it was written, where that is not the plain form
    rivals:  formats that read the same text as something else (day/month against month/day)
    """

    dtype: str
    sql: str
    test: str
    convert: str
    format: str | None = None
    rivals: tuple[str, ...] = ()


TEXT = Kind("text", "VARCHAR", "true", "{c}")


def _matching(pattern: str) -> str:
    return f"regexp_full_match({{c}}, '{pattern}')"


def _written_number(digits: str, group: str, decimal: str, name: str) -> Kind:
    """Numbers with group signs, a currency or percent sign, or parentheses for a minus."""
    pattern = rf"[(]?[+-]?{UNIT}?\s?[+-]?{digits}\s?{UNIT}?[)]?"
    bare = f"replace(regexp_replace({{c}}, '[^0-9{decimal}]', '', 'g'), '{decimal}', '.')"
    sign = "CASE WHEN regexp_matches({c}, '[(-]') THEN -1 ELSE 1 END"
    return Kind("number", "DOUBLE", _matching(pattern), f"TRY_CAST({bare} AS DOUBLE) * {sign}", name)


def _day(format: str) -> Kind:
    moment = f"try_strptime({{c}}, '{format}')"
    rivals = (_swapped(format),) if "%b" not in format and "%B" not in format and _swapped(format) != format else ()
    return Kind("date", "DATE", f"{moment} >= TIMESTAMP '1000-01-01'", f"CAST({moment} AS DATE)", format, rivals)


def _moment(day: str) -> Kind:
    formats = ", ".join(f"'{day}{gap}{clock}'" for gap in (" ", "T") for clock in _CLOCKS)
    moment = f"try_strptime({{c}}, [{formats}, '{day}'])"
    swapped = _swapped(day)
    rivals = (f"{swapped} %H:%M:%S",) if swapped != day else ()
    return Kind("datetime", "TIMESTAMP", f"{moment} >= TIMESTAMP '1000-01-01'", moment, f"{day} %H:%M:%S", rivals)


def _swapped(format: str) -> str:
    """Month before day for day before month, and back; the same where the year leads."""
    if format.startswith("%Y"):
        return format
    return format.replace("%d", "%?").replace("%m", "%d").replace("%?", "%m")


_TIME_TEXT = "CASE WHEN length({c}) - length(replace({c}, ':', '')) = 1 THEN {c} || ':00' ELSE {c} END"

KINDS: tuple[Kind, ...] = (
    Kind("boolean", "BOOLEAN", "lower({c}) IN ('true', 'false')", "lower({c}) = 'true'"),
    Kind("integer", "BIGINT", _matching(r"[+-]?(0|[1-9][0-9]{0,17})"), "TRY_CAST({c} AS BIGINT)"),
    Kind("number", "DOUBLE", f"{_matching(_PLAIN)} AND isfinite(TRY_CAST({{c}} AS DOUBLE))", "TRY_CAST({c} AS DOUBLE)"),
    _written_number(_POINT, ",", ".", "1,234.5"),
    _written_number(_COMMA, ".", ",", "1.234,5"),
    *map(_day, (*_NUMERIC_DAYS, *_SHORT_DAYS, *_NAMED_DAYS)),
    Kind(
        "datetime",
        "TIMESTAMP",
        _matching(_ZONED),
        "TRY_CAST({c} AS TIMESTAMPTZ) AT TIME ZONE 'UTC'",
        "ISO 8601, in UTC",
    ),
    *map(_moment, (*_NUMERIC_DAYS, *_SHORT_DAYS)),
    Kind("time", "TIME", _matching(_CLOCK), f"TRY_CAST({_TIME_TEXT} AS TIME)"),
)
