"""Follow-ups in the terms of the question before: the same of another value, or another column of the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from citewell.agent.tables.language.links import TableWords, ValueMention, column_mentions, value_mentions
from citewell.agent.tables.language.wording import QuestionWord
from citewell.agent.tables.language.wording import words as words_of
from citewell.agent.tables.meaning.meaning import Meaning
from citewell.agent.tables.meaning.view import ColumnView
from citewell.agent.tables.query.typed import ColumnRef, Comparator, one_of
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.types.table_reading import ColumnRole

_NAMING = (Comparator.EQ, Comparator.IN)
_NAMED_SHARE = 0.5
"""Share of a follow-up's words that name something of the table; of fewer it is a question of its own."""


def may_continue(own: str, words: TableWords) -> bool:
    """Whether most of the message names values or columns of the table, without which it is no follow-up about it."""
    if len(own) > THRESHOLDS.question_characters:
        return False
    asked = words_of(own)
    mentions = (*value_mentions(asked, words), *column_mentions(asked, words.table))
    return _is_named(own, asked, [(one.first, one.last) for one in mentions])


def continued(meaning: Meaning, own: str, words: TableWords, columns: Mapping[str, ColumnView]) -> Meaning | None:
    """The meaning with the values that the message names in the place of the column's own, and with the column that it names.

    None where it names nothing of the table, much besides, or values of several columns, and for texts longer than a question for a
    table. columns: of the table, by name
    """
    if len(own) > THRESHOLDS.question_characters:
        return None
    asked = words_of(own)
    values = _of_one_column(value_mentions(asked, words), {one.ref.column for one in meaning.conditions})
    taken = {place for one in values for place in range(one.first, one.last)}
    named = [m for m in column_mentions(asked, words.table) if taken.isdisjoint(range(m.first, m.last))]
    if not _is_named(own, asked, [(m.first, m.last) for m in (*values, *named)]):
        return None
    changed = _with_values(meaning, values) if values else meaning
    wanted = tuple(dict.fromkeys(m.column.name for m in named if m.column.name not in changed.fixed))
    if not wanted:
        return changed if values else None
    shown = tuple(columns[name] for name in wanted if name in columns)
    measured = bool(meaning.columns(ColumnRole.MEASURE))
    role = ColumnRole.MEASURE if measured and all(one.kind == "number" for one in shown) else ColumnRole.ANSWER
    if not shown or not meaning.columns(role):
        return changed if values else None
    return replace(changed, roles={**changed.roles, role: shown})


def _of_one_column(values: Sequence[ValueMention], asked: set[str]) -> list[ValueMention]:
    """The values of the only column that has all of them, or that the question before has values of."""
    names = {one.column.name for one in values}
    kept = names & asked or names
    return [one for one in values if one.column.name in kept] if len(kept) == 1 else []


def _with_values(meaning: Meaning, values: Sequence[ValueMention]) -> Meaning:
    name = values[0].column.name
    wanted = tuple(dict.fromkeys(one.value for one in values))
    before = [one for one in meaning.conditions if one.ref.column == name and one.comparison in _NAMING]
    if not before:
        return replace(meaning, conditions=(*meaning.conditions, one_of(ColumnRef(name), wanted)))
    exchanged = (one_of(one.ref, wanted) if one in before else one for one in meaning.conditions)
    return replace(meaning, conditions=tuple(exchanged))


def _is_named(own: str, asked: Sequence[QuestionWord], places: Sequence[tuple[int, int]]) -> bool:
    language = detect_language(own) or "en"
    named = " ".join(asked[n].text for first, last in places for n in range(first, last))
    terms = set(analyze(own, language, query=True))
    found = terms & set(analyze(named, language, query=True))
    return bool(found) and len(found) >= _NAMED_SHARE * len(terms)
