"""Finds the numbers and times in a question. What they are for, the model decides."""

from __future__ import annotations

import calendar
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from citewell.agent.tables.meaning.locales import months_of, separators_of, spelt_numbers
from citewell.text.language import detect_language
from citewell.text.quantities import SCALES

MIN_YEAR, MAX_YEAR = 1500, 2100
_MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: number for number, word in enumerate(_ONES.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), start=2)
}
_POWERS = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "last": 0}
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.|er|º)?"
_OF = "(?: (?:of|de))?"
_YEAR = r"(?P<year>1[5-9]\d\d|20\d\d)(?!\d)"
_NUMBER_WORD = "|".join((*_WORDS, *_POWERS, "dozen"))
_CLOCK = re.compile(r"(?<!\d)(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?!\d)")
_SPELT = re.compile(
    rf"\b(?:(?:half a|a|an) )?(?:{_NUMBER_WORD})(?:(?:[ -]| and )(?:{_NUMBER_WORD}))*\b|\b(?:a|the) couple\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenTime:
    """A day, or whole months, of a year or of any: `month` and how many follow it; a year alone has twelve."""

    year: int | None
    month: int = 1
    months: int = 12
    day: int | None = None

    def span(self, year: int) -> tuple[date, date]:
        """From the first day up to, not including, the last, in this year where it names none; `ValueError` for 30 February."""
        year = self.year or year
        if self.day is not None:
            first = date(year, self.month, self.day)
            return first, first + timedelta(days=1)
        end = self.month + self.months
        return date(year, self.month, 1), date(year + (end > 12), (end - 1) % 12 + 1, 1)


@dataclass(frozen=True, slots=True)
class Mention:
    """Characters `start:end` of the question name a number, a time, a time of day, or, as a year does, two of them."""

    start: int
    end: int
    number: float | None = None
    time: WrittenTime | None = None
    clock: str = ""


def mentions(question: str) -> tuple[Mention, ...]:
    """All of them in order, none within another."""
    language = detect_language(question) or "en"
    found: list[Mention] = []
    for one in (*_times(question, language), *_clocks(question), *_numbers(question, language)):
        place = bisect_left(found, one.start, key=lambda other: other.start)
        if all(other.end <= one.start or one.end <= other.start for other in found[max(place - 1, 0) : place + 1]):
            found.insert(place, one)
    return tuple(found)


def _times(question: str, language: str) -> Iterator[Mention]:
    months = _months(language)
    for pattern in _dated(language):
        for match in pattern.finditer(question):
            groups = {name: value.lower() for name, value in match.groupdict().items() if value}
            time = _time(groups, months)
            if time is not None:
                alone = time.year is not None and set(groups) == {"year"}
                yield Mention(match.start(), match.end(), float(time.year) if alone and time.year else None, time)


@lru_cache(maxsize=64)
def _months(language: str) -> dict[str, int]:
    return _MONTHS | (months_of(language) if language != "en" else {})


@lru_cache(maxsize=64)
def _dated(language: str) -> tuple[re.Pattern[str], ...]:
    """How times are written, with the months of English and of this language."""
    month = "(?P<month>" + "|".join(map(re.escape, sorted(_months(language), key=len, reverse=True))) + r")\b\.?"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"(?<!\d){_YEAR}-(?P<month_number>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?(?![\d-])",
            rf"(?<![\d.])(?P<day>\d\d?)(?P<sign>[./])(?P<month_number>\d\d?)(?P=sign){_YEAR}",
            rf"\b{_DAY}{_OF} {month}(?:,?{_OF} {_YEAR})?",
            rf"\b{month} {_DAY}\b(?:,? {_YEAR})?",
            rf"\b{month}(?:,?{_OF} {_YEAR})?",
            rf"\b(?:q(?P<quarter>[1-4])|(?P<quarter_word>first|second|third|fourth|1st|2nd|3rd|4th) quarter)\b(?: of)?(?:,? ?{_YEAR})?",
            rf"\b(?:h(?P<half>[12])|(?P<half_word>first|second|1st|2nd) half)\b(?: of)?(?:,? ?{_YEAR})?",
            rf"(?:(?<![\w.,-])|(?<=\bfy)){_YEAR}(?![.,]\d)(?!-\d)(?!\w)",
        )
    )


@lru_cache(maxsize=64)
def _digits(language: str) -> tuple[re.Pattern[str], str, str]:
    """How digits are written, and the signs that group them and come before decimals."""
    group, decimal = (",", ".") if language == "en" else separators_of(language)
    groups = re.escape(group) + "'’"
    pattern = (
        rf"(?<![\w.,'’-])(?P<sign>[-−])?(?P<digits>\d{{1,3}}(?:[{groups}]\d{{3}})+|\d{{1,15}})(?P<decimals>{re.escape(decimal)}\d{{1,9}})?"
        rf"(?: ?(?P<scale>{'|'.join(sorted(SCALES, key=len, reverse=True))})\b)?(?P<ordinal>st|nd|rd|th)?"
    )
    return re.compile(pattern, re.IGNORECASE), f"[{groups}]", decimal


def _time(groups: dict[str, str], months: dict[str, int]) -> WrittenTime | None:
    year = int(groups["year"]) if "year" in groups else None
    day = int(groups["day"]) if "day" in groups else None
    if quarter := groups.get("quarter") or _ORDINALS.get(groups.get("quarter_word", "")):
        return WrittenTime(year, 3 * int(quarter) - 2, 3)
    if half := groups.get("half") or _ORDINALS.get(groups.get("half_word", "")):
        return WrittenTime(year, 6 * int(half) - 5, 6)
    if "month" in groups:
        return WrittenTime(year, months[groups["month"]], 1, day)
    if "month_number" in groups:
        month = int(groups["month_number"])
        if groups.get("sign") == "/" and day is not None and max(day, month) <= 12 and day != month:
            return None  # either may be the month
        if month > 12 and day is not None:
            day, month = month, day
        return WrittenTime(year, month, 1, day) if 1 <= month <= 12 else None
    return WrittenTime(year)


def _clocks(question: str) -> Iterator[Mention]:
    for match in _CLOCK.finditer(question):
        yield Mention(match.start(), match.end(), clock=f"{int(match['hour']):02}:{match['minute']}")


def _numbers(question: str, language: str) -> Iterator[Mention]:
    digits, groups, decimal = _digits(language)
    for match in digits.finditer(question):
        whole = re.sub(groups, "", match["digits"])
        number = float(f"{whole}{(match['decimals'] or '').replace(decimal, '.')}") * 10 ** SCALES.get(
            (match["scale"] or "").lower(), 0
        )
        yield Mention(match.start(), match.end(), -number if match["sign"] else number)
    if language != "en":
        for start, end, value in spelt_numbers(question, language):
            yield Mention(start, end, value)
        return
    for match in _SPELT.finditer(question):
        yield Mention(match.start(), match.end(), _spelt(match[0].lower()))


def _spelt(text: str) -> float:
    """`twenty-five`, `two hundred and fifty`, `half a dozen`, `a couple`."""
    if text.endswith("couple"):
        return 2.0
    words = re.findall(r"[a-z]+", text)
    total, current = 0.0, 0.0
    for word in words:
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "dozen":
            current = 12 * (0.5 if "half" in words else current or 1)
        elif word == "hundred":
            current = 100 * (current or 1)
        elif word in _POWERS:
            total, current = total + _POWERS[word] * (current or 1), 0.0
    return total + current
