"""Which columns a reading measures: those that it names for themselves, else the one column of amounts or of dates."""

from __future__ import annotations

from citewell.agent.tables.language.amounts import amount_column, currencies_beside, is_money
from citewell.agent.tables.language.links import ColumnMention, core_name, names_of_table
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.wording import norm
from citewell.agent.tables.query.typed import Comparator
from citewell.types import TableColumn

_MEASURE_NOUNS = frozenset(norm(word) for word in ("amount", "value", "number", "figure", "quantity"))

_SHOWN = 4  # currencies
_OF = frozenset({"of", "for", "over", "across", "all"})


class CannotPlan(Exception):
    """The question is about the table, but means no one query; the message says why.

    computes: whether it asks for a figure over several rows, so that no single row can be the answer.
    """

    def __init__(self, message: str, *, computes: bool = False) -> None:
        super().__init__(message)
        self.computes = computes


def metrics(reading: Reading, apart: TableColumn | None = None) -> list[TableColumn]:
    """Columns named for themselves: not as a condition's, a group's or (where there is a figure besides) the entity's name."""
    roles = {c.ref.column for c in reading.conditions} | {g.name for g in reading.groups}
    if apart is not None:
        roles.add(apart.name)
    named = list({m.column.name: m.column for m in reading.columns if m.column.name not in roles}.values())
    if reading.entity is not None and len(named) > 1:
        named = [c for c in named if reading.entity.name != c.name]
    return named


def one_metric(
    reading: Reading, apart: TableColumn | None = None, *, dated: bool = False, unnamed: bool = True
) -> TableColumn:
    """The column to measure: the one named, else (where it may go unnamed) that of amounts or of dates; `CannotPlan` where several could be meant."""
    named = metrics(reading, apart)
    given = {c.ref.column for c in reading.conditions}
    mentioned = any(_is_measurable(m.column, dated) and m.column.name not in given for m in reading.columns)
    # The `invoice` of “the largest invoice” names the rows of invoices, also where a column of their numbers is called so.
    beside = {
        m.column
        for m in reading.columns
        if (m.whole and _is_measurable(m.column, dated)) or not _is_row_noun(reading, m)
    }
    if unnamed and not mentioned and not [c for c in named if c != reading.entity and c in beside]:
        implied = reading.words.table.only_dated if dated else amount_column(reading.words.table)
        if implied is not None and (not named or not _is_measurable(named[0], dated)):
            return implied
    if len(named) > 1:  # “the average rent of flats” measures no flats
        named = [c for c in named if c in beside] or named
    named = [c for c in named if not _are_measured(reading, c)]
    if not named:
        named = [m.column for m in reading.columns if m.column.name in {c.ref.column for c in reading.conditions}]
        named = [c for c in dict.fromkeys(named) if _is_measurable(c, dated) and _is_measured_too(reading, c)]
    if len(named) == 2:
        named = _qualified(reading, named)
    if len(named) != 1:
        raise CannotPlan("it is not clear which column to measure")
    if not _is_measurable(named[0], dated):
        raise CannotPlan(f"{core_name(named[0].name)} holds {named[0].kind}, not {'dates' if dated else 'numbers'}")
    return named[0]


def require_one_currency(reading: Reading, metric: TableColumn) -> None:
    """`CannotPlan` for amounts of several currencies, unless the question names one, or asks by currency."""
    told = currencies_beside(reading.words.table, reading.words.values)
    if told is None or not metric.is_numeric or not is_money(metric):
        return
    column, texts = told
    chosen = any(c.ref.column == column.name and c.comparison is Comparator.EQ for c in reading.conditions)
    if not chosen and column not in reading.groups:
        raise CannotPlan(f"its amounts are in several currencies ({', '.join(texts[:_SHOWN])})", computes=True)


def _is_measurable(column: TableColumn, dated: bool) -> bool:
    return column.is_dated if dated else column.is_numeric


def _is_row_noun(reading: Reading, mention: ColumnMention) -> bool:
    """Whether these words name the rows, as the table is called so: the `appointments` of a column `Appointment ID`."""
    names = names_of_table(reading.words.table)
    return all(word.norm in names for word in reading.question[mention.first : mention.last])


def _are_measured(reading: Reading, column: TableColumn) -> bool:
    """Whether a column of names only says of what: the `flats` of “the average rent of flats”, in the plural."""
    if column.kind != "text":
        return False
    texts = [word.text.casefold() for word in reading.question]
    mentions = [m for m in reading.columns if m.column == column and m.whole and m.first > 0]
    return any(texts[m.first - 1] in _OF and texts[m.last - 1].endswith("s") for m in mentions)


def _qualified(reading: Reading, named: list[TableColumn]) -> list[TableColumn]:
    """Of two columns named side by side, the one that says which amount: "Outstanding" of "the outstanding amount".

    Its whole name must be there: the "loan" of "loan amount" is not the column "Loan Number".
    """
    first, second = (next(m for m in reading.columns if m.column.name == column.name) for column in named)
    if first.last != second.first and second.last != first.first:
        return named
    for one, other in ((first, second), (second, first)):
        plain = all(word.norm in _MEASURE_NOUNS for word in reading.question[one.first : one.last])
        if plain and other.whole and other.column.is_numeric:
            return [other.column]
    return named


def _is_measured_too(reading: Reading, column: TableColumn) -> bool:
    """Whether a condition's column is named besides: twice, or right after what is to be computed (`the total amount of invoices over 1000`)."""
    mentions = [m for m in reading.columns if m.column.name == column.name]
    ends = {operation.last for operation in reading.operations}
    return len(mentions) > 1 or any(m.first in ends for m in mentions)
