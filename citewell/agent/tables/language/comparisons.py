"""Numbers that a question compares with: `amount over 5,000`, `between 10 and 20`, `loan number 2`, `out of stock`."""

from __future__ import annotations

from citewell.agent.tables.language import wording
from citewell.agent.tables.language.amounts import DEALINGS, amount_column, is_money
from citewell.agent.tables.language.links import unit_words
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.wording import CURRENCIES, FILLERS, find_phrase
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn

_HAVING = frozenset({"with", "has", "have", "having"})


def read_comparisons(reading: Reading) -> None:
    """Find them all; a number that could belong to several columns, or to none, is the reading’s problem."""
    _read_none_left(reading)
    _read_between(reading)
    for name, phrases in wording.COMPARISONS:
        for phrase in phrases:
            for first in find_phrase(list(reading.question), phrase):
                last = first + len(phrase.split())
                number = _number_at(reading, last)
                if number is None or not reading.is_free(first, last + 1):
                    continue
                column = _column_for_number(reading, first, last + 1)
                if column is None:
                    reading.problem = f"it is not clear which column {phrase} {reading.question[last].text} is about"
                    continue
                reading.conditions.append(RowCondition(ColumnRef(column.name), Comparator(name), number))
                reading.use(first, last + 1)
    _read_equalities(reading)


def _read_none_left(reading: Reading) -> None:
    """`out of stock`: the rows where a column of numbers is 0."""
    for first in find_phrase(list(reading.question), "out of"):
        mention = next((m for m in reading.columns if m.first == first + 2 and m.column.is_numeric), None)
        if mention is not None and reading.is_free(first, first + 2):
            reading.columns.remove(mention)
            reading.conditions.append(RowCondition(ColumnRef(mention.column.name), Comparator.EQ, 0))
            reading.use(first, first + 2)


def _read_between(reading: Reading) -> None:
    for first in find_phrase(list(reading.question), "between"):
        low, high = _number_at(reading, first + 1), _number_at(reading, first + 3)
        if low is None or high is None or reading.question[first + 2].norm not in ("and", "to"):
            continue
        column = _column_for_number(reading, first, first + 4)
        if column is not None:
            reading.conditions += [
                RowCondition(ColumnRef(column.name), Comparator.GTE, low),
                RowCondition(ColumnRef(column.name), Comparator.LTE, high),
            ]
            reading.use(first, first + 4)


def _read_equalities(reading: Reading) -> None:
    """`loan number 2`, `term of 16`, `age is 30`: a number right after a numeric column's name; `with 2 rooms`: one right before it."""
    for mention in reading.columns:
        if not mention.column.is_numeric:
            continue
        index = mention.last
        while index < len(reading.question) and reading.question[index].norm in (
            "is",
            "of",
            "was",
            "=",
            "are",
            "were",
            "equal",
        ):
            index += 1
        number = _number_at(reading, index)
        if number is None and (number := _number_at(reading, mention.first - 1)) is not None:
            index = mention.first - 1
            if index < 1 or reading.question[index - 1].text.casefold() not in _HAVING:
                continue
        if (
            number is not None
            and reading.is_free(index, index + 1)
            and index - mention.last <= THRESHOLDS.number_after_column
        ):
            if any(c.ref.column == mention.column.name and c.comparison is Comparator.EQ for c in reading.conditions):
                reading.problem = f"it names several numbers of {mention.column.name}"
            reading.conditions.append(RowCondition(ColumnRef(mention.column.name), Comparator.EQ, number))
            reading.use(index, index + 1)


def _number_at(reading: Reading, index: int) -> int | float | None:
    return reading.question[index].number if 0 <= index < len(reading.question) else None


def _column_for_number(reading: Reading, first: int, last: int) -> TableColumn | None:
    """The numeric column named right before the comparison or right after the number; a unit may name it too."""
    numeric = [m for m in reading.columns if m.column.is_numeric]
    before = [
        m
        for m in numeric
        if 0 <= first - m.last <= THRESHOLDS.number_after_column and only_fillers(reading, m.last, first)
    ]
    after = [
        m
        for m in numeric
        if 0 <= m.first - last <= THRESHOLDS.number_before_column and only_fillers(reading, last, m.first)
    ]
    if before or after:
        return (before or after)[-1 if before else 0].column
    following = reading.question[last].norm if last < len(reading.question) else ""
    preceding = reading.question[last - 2].norm if last >= 2 else ""
    by_unit = [
        c for c in reading.words.table.columns if c.is_numeric and unit_words(c.name) & {following, preceding} - {""}
    ]
    if len(by_unit) == 1:
        if following in unit_words(by_unit[0].name):
            reading.use(last, last + 1)
        return by_unit[0]
    amount = amount_column(reading.words.table)
    if amount is not None and following in CURRENCIES:
        reading.use(last, last + 1)
        return amount
    if any(word.norm in DEALINGS for word in reading.question):
        return amount
    every = [c for c in reading.words.table.columns if c.is_numeric]
    return every[0] if len(every) == 1 else _within_range(reading, amount, reading.question[last - 1].number)


def _within_range(reading: Reading, amount: TableColumn | None, number: float | None) -> TableColumn | None:
    """The column of money for `flats under 1000`, where the number lies between the lowest and the highest amount, and within no other column."""
    if amount is None or number is None or not is_money(amount):
        return None
    within = [name for name, (low, high) in reading.words.ranges.items() if low <= number <= high]
    return amount if within == [amount.name] else None


def only_fillers(reading: Reading, first: int, last: int) -> bool:
    """Whether the words from `first` up to `last` say nothing by themselves."""
    return all(reading.question[i].norm in FILLERS for i in range(first, last))
