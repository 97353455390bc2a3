"""Follow-ups that name another value or time: `total amount in Accra`, then `and in Kumasi?`."""

from __future__ import annotations

from citewell.agent.tables.language.dates import time_span
from citewell.agent.tables.language.links import TableWords, ValueMention, value_mentions
from citewell.agent.tables.language.wording import QuestionWord
from citewell.agent.tables.language.wording import words as words_of
from citewell.agent.tables.thresholds import THRESHOLDS

Span = tuple[int, int]


def exchanged(base: str, own: str, known: TableWords) -> str | None:
    """The question `base` with what `own` names in the place of the same column's values, or of the time; None where there is no such place.

    Texts longer than a question for a table are not read.
    """
    if max(len(base), len(own)) > THRESHOLDS.question_characters:
        return None
    before, after = words_of(base), words_of(own)
    for given, wanted in (*_values(before, after, known), *_times(before, after, known)):
        start, end = before[given[0]].start, before[given[1] - 1].end
        return base[:start] + own[after[wanted[0]].start : after[wanted[1] - 1].end] + base[end:]
    return None


def _values(before: list[QuestionWord], after: list[QuestionWord], known: TableWords) -> list[tuple[Span, Span]]:
    """Where both name values of one column, the first of which may be followed by others."""
    named, other = value_mentions(before, known), value_mentions(after, known)
    shared = {v.column.name for v in named} & {v.column.name for v in other}
    return [(_span(named, name), _span(other, name)) for name in sorted(shared)] if len(shared) == 1 else []


def _span(mentions: list[ValueMention], name: str) -> Span:
    found = [m for m in mentions if m.column.name == name]
    return min(m.first for m in found), max(m.last for m in found)


def _times(before: list[QuestionWord], after: list[QuestionWord], known: TableWords) -> list[tuple[Span, Span]]:
    """Where both name a time and the table has dates."""
    dated = [column for column in known.table.columns if column.is_dated]
    years = known.years.get(dated[0].name) if dated else None
    spans = [_time(words, years) for words in (before, after)] if dated else []
    return [(spans[0], spans[1])] if len(spans) == 2 and spans[0] is not None and spans[1] is not None else []


def _time(words: list[QuestionWord], years: tuple[int, int] | None) -> Span | None:
    texts = [word.text.casefold() for word in words]
    found = ((index, span.end) for index in range(len(texts)) if (span := time_span(texts, index, years)) is not None)
    return next(found, None)
