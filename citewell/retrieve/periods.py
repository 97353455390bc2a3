"""Finds time spans in a query, in English and German: times, days, weeks, months, quarters, years, and spans before or after them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from datetime import time as clock_time

_MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january januar jan",
            "february februar feb",
            "march märz maerz mar",
            "april apr",
            "may mai",
            "june juni jun",
            "july juli jul",
            "august aug",
            "september sept sep",
            "october oktober oct okt",
            "november nov",
            "december dezember dec dez",
        ),
        1,
    )
    for name in names.split()
}
_NUMBERS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "one a an einen einer ein",
            "two zwei",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwölf",
        ),
        1,
    )
    for name in names.split()
}
_UNITS = {"day": "day", "tag": "day", "week": "week", "woche": "week", "month": "month", "monat": "month"} | {
    "year": "year",
    "jahr": "year",
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_UNIT = r"(?:days?|tage?n?|weeks?|wochen?|months?|monate?[ns]?|years?|jahre?[ns]?)"
_YEAR = r"(?:19|20)\d\d"
_MOMENT = re.compile(
    rf"""\b(?:
        (?P<iso>{_YEAR}-\d\d-\d\d)
      | (?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s)?(?P<day_month>{_MONTH})\.?(?:,?\s(?P<day_year>{_YEAR}))?
      | (?P<us_month>{_MONTH})\.?\s(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s(?P<us_year>{_YEAR}))?(?![\d.,-]\d)
      | (?P<month>{_MONTH})\.?(?:\s(?P<month_year>{_YEAR}))?
      | q(?P<quarter>[1-4])\s(?P<quarter_year>{_YEAR})
      | (?P<now>today|heute|yesterday|gestern)
      | (?P<ago>\d{{1,4}}|{"|".join(_NUMBERS)})\s(?P<ago_units>{_UNIT})\sago
      | (?P<which>this|current|last|previous|diese[rsnm]?|letzte[rsnm]?|vorige[rsnm]?|vergangene[rsnm]?)\s(?P<unit>{_UNIT})
      | (?:the\s|den\s|der\s)?(?:last|past|previous|letzten|vergangenen)\s(?P<count>\d{{1,4}}|{"|".join(_NUMBERS)})\s(?P<units>{_UNIT})
      | (?:the\s)?past\s(?P<past>{_UNIT})
      | (?P<year>{_YEAR})
    )(?!\w)(?!\.\d)""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE = re.compile(
    r"\b(?P<word>since|seit|after|nach|before|vor|until|till|bis|by|between|zwischen|from|von|vom|aus|in|im|during|während|within|on|am)"
    r"\s+(?:(?:the|the\s+year|dem|den|der|year|jahr|jahre|dem\s+jahr|early|late)\s+)?$",
    re.IGNORECASE,
)
_CLOCK = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d)(?:\s?(?P<half>[ap])\.?m\b\.?|\s?uhr\b)?|\s?(?P<only_half>[ap])\.?m\b\.?|\s?uhr\b)"
_CLOCK_BEFORE = re.compile(rf"(?<![\d.:,-]){_CLOCK},?\s+(?:(?:on|of|am|vom)\s+)?$", re.IGNORECASE)
_CLOCK_AFTER = re.compile(
    rf"(?:T|,?\s+(?:(?:at|um|after|nach|since|seit|before|vor)\s+)?){_CLOCK}(?![\d:])", re.IGNORECASE
)
_ORDER = re.compile(r"\b(after|nach|since|seit|before|vor)\b", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|to|und|bis|until|through)\s+(?:the\s+|in\s+)?$", re.IGNORECASE)
_LOOKED_BACK = 40
_MAX_MOMENTS = 32


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time span named by `query[start:end]`, in the caller's local time: from `first` up to but not including `until`; None if open.

    preposition: the word that introduces it, in lower case, or empty; relative: counted from today, as in `last week`;
    timed: bounded by a time of day.
    """

    start: int
    end: int
    first: datetime | None
    until: datetime | None
    preposition: str
    relative: bool
    timed: bool = False


@dataclass(frozen=True, slots=True)
class _Moment:
    start: int
    end: int
    first: datetime
    until: datetime
    relative: bool
    stands_alone: bool
    without_year: bool
    timed: bool = False
    order: str = ""


def periods(query: str, today: date) -> list[TimeSpan]:
    """The time spans in a query, in order. A year, or a month without a year, counts only after a preposition."""
    moments = list(_moments(query, today))
    found: list[TimeSpan] = []
    place = 0
    while place < len(moments):
        moment = moments[place]
        looked_at = max(0, moment.start - _LOOKED_BACK)
        before = _BEFORE.search(query[looked_at : moment.start])
        word = moment.order or (before["word"].lower() if before else "")
        start = looked_at + before.start() if before else moment.start
        following = moments[place + 1] if place + 1 < len(moments) else None
        joined = following is not None and _AND.fullmatch(query[moment.end : following.start]) is not None
        place += 1
        earliest = moment.first
        if following is not None and moment.without_year and not following.without_year:
            earliest = _in_year(earliest, following.first.year)
        if following is not None and joined and word in _RANGES and earliest < following.until:
            timed = moment.timed or following.timed
            last = following.first if following.timed else following.until
            found.append(TimeSpan(start, following.end, earliest, last, word, relative=False, timed=timed))
            place += 1
        elif word or moment.stands_alone:
            first, until = _bounds(moment, word)
            found.append(TimeSpan(start, moment.end, first, until, word, moment.relative, moment.timed))
    return found


def _in_year(at: datetime, year: int) -> datetime:
    try:
        return at.replace(year=year)
    except ValueError:  # 29 February
        return at.replace(year=year, day=28)


_RANGES = {"between", "zwischen", "from", "von", "vom"}


def _bounds(moment: _Moment, word: str) -> tuple[datetime | None, datetime | None]:
    match word:
        case "since" | "seit":
            return moment.first, None
        case "after" | "nach":
            return (moment.first if moment.timed else moment.until), None
        case "before" | "vor":
            return None, moment.first
        case "until" | "till" | "bis" | "by":
            return None, (moment.first if moment.timed else moment.until)
        case _:
            return moment.first, moment.until


def _moments(query: str, today: date) -> Iterator[_Moment]:
    for count, match in enumerate(_MOMENT.finditer(query)):
        if count >= _MAX_MOMENTS:
            return
        try:
            first, until = _span({name: text for name, text in match.groupdict().items() if text}, today)
        except (ValueError, OverflowError):  # such as 31 June
            continue
        relative = match["now"] or match["which"] or match["count"] or match["past"] or match["ago"]
        stands_alone = match["year"] is None and (match["month"] is None or match["month_year"] is not None)
        without_year = match["month"] is not None and match["month_year"] is None
        begins, ends = datetime.combine(first, clock_time()), datetime.combine(until, clock_time())
        day = _Moment(match.start(), match.end(), begins, ends, bool(relative), stands_alone, without_year)
        yield _at_its_time(query, day) if ends - begins == timedelta(days=1) else day


def _at_its_time(query: str, day: _Moment) -> _Moment:
    """A day narrowed to the time before or after it, as in `14:00 yesterday` and `yesterday after 2 pm`."""
    looked_at = max(0, day.start - _LOOKED_BACK)
    before = _CLOCK_BEFORE.search(query[looked_at : day.start])
    after = _CLOCK_AFTER.match(query[day.end : day.end + _LOOKED_BACK])
    found = before or after
    if found is None:
        return day
    half = (found["half"] or found["only_half"] or "").lower()
    hour = int(found["hour"]) % 12 + 12 * (half == "p") if half else int(found["hour"])
    if hour > 23 or (minute := int(found["minute"] or 0)) > 59:
        return day
    at = day.first.replace(hour=hour, minute=minute)
    order = "" if before else next((one.lower() for one in _ORDER.findall(found[0])), "")
    start, end = (looked_at + found.start(), day.end) if before else (day.start, day.end + found.end())
    return replace(day, start=start, end=end, first=at, until=at + timedelta(minutes=1), timed=True, order=order)


def _span(said: dict[str, str], today: date) -> tuple[date, date]:
    """[first, until) of the named groups of a match."""
    for day, month, year in (("day", "day_month", "day_year"), ("us_day", "us_month", "us_year")):
        if month in said:
            return _day(int(said[day]), _MONTHS[said[month].lower()], said.get(year), today)
    if "iso" in said:
        at = date.fromisoformat(said["iso"])
        return at, at + timedelta(days=1)
    if "month" in said:
        month_number = _MONTHS[said["month"].lower()]
        year_number = int(said.get("month_year", today.year - (month_number > today.month)))
        return _months(year_number, month_number, 1)
    if "quarter" in said:
        return _months(int(said["quarter_year"]), 3 * int(said["quarter"]) - 2, 3)
    if "year" in said:
        return _months(int(said["year"]), 1, 12)
    return _relative(said, today)


def _relative(said: dict[str, str], today: date) -> tuple[date, date]:
    tomorrow = today + timedelta(days=1)
    if "now" in said:
        return (today, tomorrow) if said["now"].lower() in {"today", "heute"} else (today - timedelta(days=1), today)
    if "which" in said:
        is_this = said["which"].lower().startswith(("this", "current", "diese"))
        return _calendar(_unit(said["unit"]), 0 if is_this else 1, today)
    if "ago" in said:
        back, unit = _number(said["ago"]), _unit(said["ago_units"])
        return _calendar(unit, back, today)
    count = said.get("count", "1").lower()
    number, unit = _number(count), _unit(said.get("units") or said["past"])
    if unit in {"day", "week"}:
        return tomorrow - timedelta(days=number * (7 if unit == "week" else 1)), tomorrow
    months = today.year * 12 + today.month - 1 - number * (12 if unit == "year" else 1)
    last = min(today.day, (_months(months // 12, months % 12 + 1, 1)[1] - timedelta(days=1)).day)
    return date(months // 12, months % 12 + 1, last), tomorrow


def _number(said: str) -> int:
    return int(said) if said.isdecimal() else _NUMBERS[said.lower()]


def _calendar(unit: str, back: int, today: date) -> tuple[date, date]:
    """The calendar day, week (from Monday), month or year, `back` units before today's."""
    if unit == "day":
        first = today - timedelta(days=back)
        return first, first + timedelta(days=1)
    if unit == "week":
        first = today - timedelta(days=today.weekday() + 7 * back)
        return first, first + timedelta(days=7)
    if unit == "year":
        return _months(today.year - back, 1, 12)
    months = today.year * 12 + today.month - 1 - back
    return _months(months // 12, months % 12 + 1, 1)


def _day(day: int, month: int, year: str | None, today: date) -> tuple[date, date]:
    """A day; without a year, its latest occurrence that is not in the future."""
    at = date(int(year) if year else today.year, month, day)
    if year is None and at > today:
        at = date(today.year - 1, month, day)
    return at, at + timedelta(days=1)


def _months(year: int, month: int, count: int) -> tuple[date, date]:
    if not MINYEAR < year < MAXYEAR - 1:
        raise ValueError(year)
    after = year * 12 + month - 1 + count
    return date(year, month, 1), date(after // 12, after % 12 + 1, 1)


def _unit(text: str) -> str:
    plain = text.lower()
    names: Sequence[str] = sorted(_UNITS, key=len, reverse=True)
    return next(_UNITS[name] for name in names if plain.startswith(name))
