"""Finds what a question names of a table: its columns, values of its cells, numbers and dates to compare with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.agent.tables.language.wording import FILLERS, QuestionWord, norm, norms
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn, TableInfo

_SHORT_FORMS = {
    short: norm(long)
    for short, long in (("min", "minimum"), ("max", "maximum"), ("avg", "average"), ("qty", "quantity"))
}
_NUMBERINGS = frozenset({"no", "nr", "number", "num", "id", "code", "#"})


@dataclass(frozen=True, slots=True)
class ColumnMention:
    """Words `first:last` of the question name this column; `whole` when they are its whole name (unit aside)."""

    column: TableColumn
    first: int
    last: int
    whole: bool


@dataclass(frozen=True, slots=True)
class ValueMention:
    """Words `first:last` of the question are this cell value of this column."""

    column: TableColumn
    value: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TableWords:
    """A table's vocabulary: per text column the different values, as compared; columns with too many are missing.

    years: the first and the last year of each column of dates; ranges: the lowest and the highest number of each column of numbers.
    """

    table: TableInfo
    values: Mapping[str, tuple[str, ...]]
    years: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    by_first: Mapping[str, tuple[tuple[tuple[str, ...], TableColumn, str], ...]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def table_words(
    table: TableInfo,
    values: Mapping[str, tuple[str, ...]],
    years: Mapping[str, tuple[int, int]] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> TableWords:
    """Index the values by their first word; those that no question can hold are left out."""
    columns = {column.name: column for column in table.columns}
    found: dict[str, list[tuple[tuple[str, ...], TableColumn, str]]] = {}
    for name, texts in values.items():
        for text in texts:
            key = norms(text) if len(text) <= THRESHOLDS.question_characters else ()
            if key:
                found.setdefault(key[0], []).append((key, columns[name], text))
    by_first = {first: tuple(entries) for first, entries in found.items()}
    return TableWords(table, values, years or {}, by_first, ranges or {})


def core_name(name: str) -> str:
    """A column's name without its unit in parentheses."""
    return _parted(name)[0] or name


def name_norms(column: TableColumn) -> tuple[str, ...]:
    """What the words of a column's name are compared by, its unit aside, and short forms written out: `Min. order` is a minimum order."""
    return tuple(_SHORT_FORMS.get(part, part) for part in norms(core_name(column.name)))


def is_numbering(name: str) -> bool:
    """Whether a column's numbers only tell rows apart: `Order no`, `Loan Number`, `Customer ID`."""
    words = core_name(name).casefold().replace(".", " ").split()
    compound = bool(words) and words[-1].endswith(("nummer", "nr"))  # `Rechnungsnummer`
    return words[-1:] == ["id"] or compound or (len(words) > 1 and words[-1] in _NUMBERINGS)


def is_coded(texts: Sequence[str]) -> bool:
    """Whether most of these are codes (`B004`), by which nobody calls a row that has a name besides."""
    return 2 * sum(any(c.isdigit() for c in text) and " " not in text for text in texts) > len(texts)


def unit_words(name: str) -> frozenset[str]:
    """The words of the unit in parentheses."""
    unit = _parted(name)[1]
    return frozenset(norms(unit)) if unit else frozenset()


def unit_of(name: str) -> str:
    """What a column's name has in parentheses at its end, as written; empty without any."""
    return (_parted(name)[1] or "").strip()


def _parted(name: str) -> tuple[str, str | None]:
    """The name before the parentheses at its end, and what is in them; None without any."""
    inner = name.rstrip()
    if not inner.endswith((")", "]")):
        return name, None
    closed = max(inner.rfind(")", 0, -1), inner.rfind("]", 0, -1)) + 1
    opened = min((place for sign in "([" if (place := inner.find(sign, closed)) >= 0), default=-1)
    return (name, None) if opened < 0 else (inner[:opened].rstrip(), inner[opened + 1 : -1])


def column_mentions(question: Sequence[QuestionWord], table: TableInfo) -> list[ColumnMention]:
    """Columns named in the question, longest names first where they overlap; parts of names only where one column has them."""
    texts = [word.norm for word in question]
    found: list[ColumnMention] = []
    for key, column in _named_once(texts, table):
        for first in range(len(texts) - len(key) + 1):
            if tuple(texts[first : first + len(key)]) == key and not _taken(found, first, first + len(key)):
                found.append(ColumnMention(column, first, first + len(key), whole=True))
    return sorted([*found, *_partial(texts, table, found)], key=lambda m: m.first)


def value_mentions(question: Sequence[QuestionWord], words: TableWords) -> list[ValueMention]:
    """Every value that the question contains whole (or but for a year at its end), the longest at each place."""
    texts = [word.norm for word in question]
    found: list[ValueMention] = []
    for first, word in enumerate(texts):
        entries = words.by_first.get(word, ())
        whole = [
            ValueMention(column, value, first, first + len(key))
            for key, column, value in entries
            if tuple(texts[first : first + len(key)]) == key
        ]
        found += whole or _without_year(texts, first, entries)
    longest = {m.first: max(o.last for o in found if o.first == m.first) for m in found}
    found = [m for m in found if m.last == longest[m.first]]
    return [m for m in found if not any(o.first < m.first and o.last >= m.last for o in found)]


def _named_once(texts: Sequence[str], table: TableInfo) -> list[tuple[tuple[str, ...], TableColumn]]:
    """Column names, longest first; of columns that differ in their unit only, the one whose unit the question names."""
    by_key: dict[tuple[str, ...], list[TableColumn]] = {}
    for column in table.columns:
        by_key.setdefault(name_norms(column), []).append(column)
    out: list[tuple[tuple[str, ...], TableColumn]] = []
    for key, columns in by_key.items():
        named = columns if len(columns) == 1 else [c for c in columns if unit_words(c.name) & set(texts)]
        if len(named) == 1 and key and not (len(key) == 1 and key[0] in FILLERS):
            out.append((key, named[0]))
    return sorted(out, key=lambda pair: -len(pair[0]))


def _partial(texts: Sequence[str], table: TableInfo, found: Sequence[ColumnMention]) -> list[ColumnMention]:
    """Words that occur in the name of one column only."""
    owners: dict[str, list[TableColumn]] = {}
    for column in table.columns:
        for part in set(name_norms(column)):
            owners.setdefault(part, []).append(column)
    out: list[ColumnMention] = []
    for index, text in enumerate(texts):
        columns = owners.get(text, [])
        if (
            len(columns) == 1
            and text not in FILLERS
            and not text.isdigit()
            and not _taken([*found, *out], index, index + 1)
        ):
            out.append(ColumnMention(columns[0], index, index + 1, whole=False))
    return out


def _without_year(
    texts: Sequence[str], first: int, entries: Sequence[tuple[tuple[str, ...], TableColumn, str]]
) -> list[ValueMention]:
    """`Q1` for `Q1 2025`, where only one value of the column begins so."""
    out: list[ValueMention] = []
    for key, column, value in entries:
        short = tuple(part for part in key if not re.fullmatch(r"(?:19|20)\d\d", part))
        if not short or short == key or short != key[: len(short)] or tuple(texts[first : first + len(short)]) != short:
            continue
        rivals = [k for k, c, _ in entries if c.name == column.name and k[: len(short)] == short]
        if len(rivals) == 1:
            out.append(ValueMention(column, value, first, first + len(short)))
    return out


def _taken(mentions: Sequence[ColumnMention], first: int, last: int) -> bool:
    return any(m.first < last and m.last > first for m in mentions)


def names_of_table(table: TableInfo) -> frozenset[str]:
    """Words by which a question may name the table: of its sheet, name and file."""
    stem = table.filename.rsplit(".", 1)[0]
    return frozenset(norm(w) for text in (table.sheet or "", table.name, stem) for w in re.findall(r"[^\W_]+", text))
