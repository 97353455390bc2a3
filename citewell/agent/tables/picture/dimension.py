"""What a picture is to be drawn by: the words for it in a request (`by quarter`, `per branch`, `over time`, `monthly`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.tables.language import wording
from citewell.agent.tables.language.links import ColumnMention, column_mentions, core_name
from citewell.agent.tables.language.wording import FILLERS, GROUPING, QuestionWord, find_phrase, norm
from citewell.agent.tables.query.typed import DatePart
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn, TableInfo

_ACROSS = (*GROUPING, "over", "across", "against", "versus", "vs", "along", "split by", "for all")
_PARTS = {norm(part.value): part for part in DatePart}
_ADVERBS = {
    "daily": DatePart.DAY,
    "monthly": DatePart.MONTH,
    "quarterly": DatePart.QUARTER,
    "yearly": DatePart.YEAR,
    "annual": DatePart.YEAR,
    "annually": DatePart.YEAR,
}


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column to draw by, or time where no column is named; `rest` are the words without those for it.

    part: of the dates to group by, None as fits their span.
    """

    rest: str
    column: TableColumn | None = None
    part: DatePart | None = None


def find_dimensions(subject: str, table: TableInfo) -> list[Dimension]:
    """One per `by …` of the words, in their order, each with the words that all of them leave.

    Of words longer than any question for a table, none is read.
    """
    if len(subject) > THRESHOLDS.question_characters:
        return []
    question = wording.words(subject)
    mentions = column_mentions(question, table)
    found: list[tuple[int, int, TableColumn | None, DatePart | None]] = []
    taken: set[int] = set()
    for phrase in sorted(_ACROSS, key=lambda one: -len(one)):
        for first in find_phrase(question, phrase):
            named = _named(question, mentions, first + len(phrase.split()), table)
            if named is not None and not taken & {*range(first, named[0])}:
                found.append((first, *named))
                taken.update(range(first, named[0]))
    for index, word in enumerate(question):
        part = _ADVERBS.get(word.text.casefold())
        if part is not None and index not in taken:
            found.append((index, index + 1, _column_of_part(part, table), part))
            taken.add(index)
    rest = " ".join(word.text for index, word in enumerate(question) if index not in taken)
    return [Dimension(rest, column, part) for _, _, column, part in sorted(found, key=lambda one: one[0])]


def _named(
    question: Sequence[QuestionWord], mentions: Sequence[ColumnMention], start: int, table: TableInfo
) -> tuple[int, TableColumn | None, DatePart | None] | None:
    """What the words from `start` on name: (index after it, column, part of its dates); None for nothing to draw by."""
    while start < len(question) and question[start].norm in FILLERS | {"differ", "variou"}:
        start += 1
    if start >= len(question):
        return None
    mention = next((m for m in mentions if m.first == start), None)
    word = question[start].norm
    if mention is not None and (mention.whole or word not in _PARTS):
        return mention.last, mention.column, None
    if word in _PARTS:
        part = _PARTS[word]
        column = _column_of_part(part, table)
        return start + 1, column or (mention.column if mention is not None else None), part
    return (start + 1, None, None) if word == norm("time") else None


def _column_of_part(part: DatePart, table: TableInfo) -> TableColumn | None:
    """A column that is called so itself: `Month`."""
    named = [column for column in table.columns if norm(core_name(column.name)) == norm(part.value)]
    return named[0] if len(named) == 1 else None


def date_columns(table: TableInfo) -> list[TableColumn]:
    """Columns of dates and times."""
    return [column for column in table.columns if column.is_dated]
