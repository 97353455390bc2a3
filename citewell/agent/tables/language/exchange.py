"""Follow-ups that name another time: `total amount in 2024`, then `and in 2025?`."""

from __future__ import annotations

from citewell.agent.tables.language.dates import time_span
from citewell.agent.tables.language.links import TableWords
from citewell.agent.tables.language.wording import QuestionWord
from citewell.agent.tables.language.wording import words as words_of
from citewell.agent.tables.thresholds import THRESHOLDS

Span = tuple[int, int]


def exchanged(base: str, own: str, known: TableWords) -> str | None:
    """The question `base` with the time that `own` names in the place of its own; None where either has none.

    Texts longer than a question for a table are not read.
    """
    if max(len(base), len(own)) > THRESHOLDS.question_characters:
        return None
    before, after = words_of(base), words_of(own)
    for given, wanted in _times(before, after, known):
        start, end = before[given[0]].start, before[given[1] - 1].end
        return base[:start] + own[after[wanted[0]].start : after[wanted[1] - 1].end] + base[end:]
    return None


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
