"""The reading of a query: the filters it states, and the remaining words to search for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from citewell.errors import InvalidInput, cut
from citewell.filters.language import METADATA_PREFIX
from citewell.text.analysis import analyze
from citewell.types import (
    AllOf,
    AnyOf,
    Condition,
    Expression,
    FilterValue,
    InferredFilter,
    MetadataKey,
    Negation,
    Operator,
)

_SPACE = re.compile(r"\s+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SIGNS = {
    Operator.EQ: ":",
    Operator.IN: ":",
    Operator.NE: " is not",
    Operator.NOT_IN: " is not",
    Operator.GT: " >",
    Operator.GTE: " ≥",
    Operator.LT: " <",
    Operator.LTE: " ≤",
    Operator.CONTAINS: " contains",
    Operator.PREFIX: " begins with",
}
MAX_LABEL_LENGTH = 200
# Words that only ask for files, and words that link them to their subject.
_NOUNS = (
    r"(?:files?|documents?|docs|images?|pictures?|photos?|photographs?|frames?|screenshots?|scans?|e-?mails?|messages?|attachments?|"
    r"uploads|recordings?|everything|anything|dateien|datei|dokumente?|bilder|bild|fotos?|aufnahmen?|nachrichten|alles)"
)
_COMMAND = re.compile(
    r"^\s*(?:please\s+)?(?:(?:show|give|find|get|list|search|look)(?:\s+me)?(?:\s+(?:for|up))?|zeige?|finde|suche|gib)(?:\s+(?:mir|nach))?\b"
    r"(?:\s+(?:all|the|my|our|any|some|alle|die|meine))*",
    re.IGNORECASE,
)
_HEAD = re.compile(rf"^\s*(?:(?:all|the|my|our|any|some|alle|die|meine)\s+)*{_NOUNS}\b", re.IGNORECASE)
_LINK = re.compile(
    r"^\s*(?:(?:that|which|die)\s+)?(?:showing|shows?|containing|contains?|mentioning|mentions?|depicting|about|of|on|with|über|mit|von|zu)\b",
    re.IGNORECASE,
)
_EDGES = " \t\r\n,;:.!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryContext:
    """The context of a query: the caller's date and time zone, and the metadata keys that exist in scope."""

    today: date
    zone: tzinfo = UTC
    keys: Sequence[MetadataKey] = ()


@dataclass(frozen=True, slots=True)
class Stated:
    """A filter that `query[start:end]` states about `field`. The search omits these words, unless `stays`."""

    start: int
    end: int
    field: str
    expression: Expression
    label: str = ""
    stays: bool = False


@dataclass(frozen=True, slots=True)
class QueryReading:
    """The filters of a query, and the rest to search for; if no words would remain, the rest is the whole query."""

    filters: tuple[InferredFilter, ...] = ()
    semantic: str = ""


def reading_of(query: str, stated: Sequence[Stated], ignored: Sequence[str] | bool = False) -> QueryReading:
    """One filter per field, except ignored ones, and the query without the words that state these filters."""
    filters: dict[str, InferredFilter] = {}
    taken = [one for one in stated if ignored is not True and not (ignored and one.field in ignored)]
    for one in sorted(taken, key=lambda part: (part.start, part.end)):
        words = _SPACE.sub(" ", query[one.start : one.end]).strip()
        new = InferredFilter(
            id=one.field,
            label=_cut(one.label or label_of(one.expression)),
            words=_cut(words),
            expression=one.expression,
        )
        known = filters.get(one.field)
        filters[one.field] = new if known is None else _joined(known, new)
    return QueryReading(tuple(filters.values()), semantic_part(query, taken))


def semantic_part(query: str, taken: Sequence[Stated]) -> str:
    """The query without the words of these filters and, if any were removed, without phrases like `show me photos of`."""
    spans = sorted((one.start, one.end) for one in taken if not one.stays and one.end > one.start)
    if not spans:
        return query
    kept: list[str] = []
    place = 0
    for start, end in spans:
        kept.append(query[place : max(place, start)])
        place = max(place, end)
    rest = _SPACE.sub(" ", " ".join((*kept, query[place:]))).strip(_EDGES)
    asked = rest
    for pattern in (_COMMAND, _HEAD, _LINK):
        rest = pattern.sub("", rest, count=1)
    rest = rest.strip(_EDGES)
    return next((text for text in (rest, asked) if analyze(text, "en", query=True)), query)


def zone_of(name: str) -> tzinfo:
    """The time zone of an IANA name; UTC on a system without a time zone database. Raises `InvalidInput` for any other name."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        if name != "UTC" and available_timezones():
            raise InvalidInput(f"{cut(name)!r} is not a time zone. Use an IANA name such as Europe/Berlin.") from error
        return UTC


def moment_of(local: datetime, zone: tzinfo) -> str:
    """A local time as ISO 8601 in UTC."""
    try:
        at = local.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:  # within hours of the earliest or latest datetime
        at = local.replace(tzinfo=UTC)
    return at.isoformat().replace("+00:00", "Z")


def label_of(expression: Expression) -> str:
    """A filter in words, such as `page: 2 to 4`."""
    match expression:
        case Condition(field, Operator.EXISTS, value):
            return f"{_plain(field)}: {'any' if value else 'none'}"
        case Condition(field, operator, value):
            return f"{_plain(field)}{_SIGNS[operator]} {_value(value)}"
        case AllOf(parts):
            return _range(parts) or " and ".join(label_of(part) for part in parts)
        case AnyOf(parts):
            return " or ".join(label_of(part) for part in parts)
        case Negation(part):
            return f"not {label_of(part)}"


def _range(parts: Sequence[Expression]) -> str:
    """`page: 2 to 4` for two bounds on one field; empty for anything else."""
    if len(parts) != 2 or not isinstance(low := parts[0], Condition) or not isinstance(high := parts[1], Condition):
        return ""
    if low.field != high.field or low.operator is not Operator.GTE or high.operator not in (Operator.LT, Operator.LTE):
        return ""
    first, last = _value(low.value), _value(high.value)
    if high.operator is Operator.LT:
        if not _DAY.fullmatch(last):
            return ""
        last = (date.fromisoformat(last) - timedelta(days=1)).isoformat()
    return f"{_plain(low.field)}: {first}" if first == last else f"{_plain(low.field)}: {first} to {last}"


def _joined(known: InferredFilter, new: InferredFilter) -> InferredFilter:
    """Both filters as one."""
    if known.expression == new.expression:
        return known
    return replace(
        known,
        label=_cut(f"{known.label} and {new.label}"),
        words=_cut(f"{known.words}, {new.words}"),
        expression=AllOf((known.expression, new.expression)),
    )


def _plain(field: str) -> str:
    return field.removeprefix(METADATA_PREFIX).replace("_", " ")


def _value(value: FilterValue) -> str:
    if isinstance(value, tuple):
        return ", ".join(_value(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LABEL_LENGTH else text[: MAX_LABEL_LENGTH - 1] + "…"
