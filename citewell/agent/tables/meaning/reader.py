"""Reads a question beside each table that it may be about, and plans the query of the likeliest meaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from citewell.agent.interface import TableReader
from citewell.agent.tables.language.cells import Grid, GridColumn
from citewell.agent.tables.language.links import TableWords
from citewell.agent.tables.language.shape import Plan
from citewell.agent.tables.meaning.meaning import Meaning, meanings
from citewell.agent.tables.meaning.mentions import mentions
from citewell.agent.tables.meaning.plans import PlannedTable, plan_of
from citewell.agent.tables.meaning.view import ColumnView, TableView, named_whole, shown_values, years_of
from citewell.agent.tables.query.typed import ColumnRef, Part, TextValue
from citewell.agent.tables.thresholds import TableThresholds
from citewell.agent.understand.numbered import called_otherwise, numbers_of
from citewell.text.analysis import analyze, term_groups
from citewell.text.language import detect_language
from citewell.types import TableColumn, TableInfo
from citewell.types.table_reading import RowOperation, ShownColumn, ShownTable

MAX_MENTIONS = 64
"""Numbers and times of a question that a table is read for; the work grows with their square."""
_ANSWERED = {
    RowOperation.COUNT: "rows",
    RowOperation.DISTINCT: "number of different values",
    RowOperation.SUM: "total",
    RowOperation.AVERAGE: "average",
    RowOperation.EXTREME: "highest lowest",
    RowOperation.TOP: "highest lowest",
    RowOperation.DIFFERENCE: "difference",
}
"""The words that answers of these have besides those of the table."""
_USUAL = 0.35
_READS_CELLS = frozenset({RowOperation.LOOKUP, RowOperation.FILTER, RowOperation.EXISTS})


@dataclass(frozen=True, slots=True)
class KnownTable:
    """What is known of a table: its words, and its cells where it is small; label: the column that names its rows."""

    words: TableWords
    label: TableColumn | None
    grid: Grid | None


@dataclass(frozen=True, slots=True)
class ReadTable:
    """What a question means of a table, with the plan.

    meant: log-odds that the table is meant; explained: share of the question's words that the table's name, the columns and values of the
    reading, and the words of its answer have
    """

    plan: Plan
    meaning: Meaning
    meant: float
    explained: float

    @property
    def computes(self) -> bool:
        """Whether it takes more than the cells of certain rows."""
        return self.meaning.operation not in _READS_CELLS


def chance_of(read: ReadTable, limits: TableThresholds) -> float:
    """How likely the answer is right."""
    meant = max(-limits.meant_most, min(limits.meant_most, read.meant))
    parts = limits.parts_sure * read.meaning.logarithm + limits.explained_sure * read.explained
    return 1.0 / (1.0 + math.exp(-(limits.meant_sure * meant + parts + limits.sure)))


def view_of(question: str, known: KnownTable) -> TableView:
    """What the model is shown of a table beside this question."""
    table = known.words.table
    if known.grid is not None:
        texts = [tuple(dict.fromkeys(filter(None, c.texts))) for c in known.grid.columns]
        pairs = list(zip(known.grid.columns, texts, strict=True))
        named = named_whole(question, [text for c, one in pairs if _kind(c.info, c.part) == "text" for text in one])
        columns = tuple(_of_cells(question, column, one, named) for column, one in pairs)
    else:
        named = named_whole(question, [value for values in known.words.values.values() for value in values])
        columns = tuple(_of_words(question, column, known.words, named) for column in table.columns)
    return TableView(title_of(table), columns)


def title_of(table: TableInfo) -> str:
    """The names of its file and sheet, in words."""
    stem = table.filename.rpartition(".")[0] or table.filename
    return " ".join(f"{stem} {table.sheet or ''}".replace("_", " ").split())


def _of_cells(question: str, column: GridColumn, values: Sequence[str], named: frozenset[str]) -> ColumnView:
    kind = _kind(column.info, column.part)
    years = years_of(_days(column)) if kind == "date" else None
    ref = ColumnRef(column.name, column.part) if kind in ("number", "date") else ColumnRef(column.name)
    shown = shown_values(question, values, named) if kind == "text" else ()
    empty, zero = any(not text for text in column.texts), kind == "number" and 0 in column.measures
    return ColumnView(column.name, kind, ref, shown, years, empty, zero)


def _kind(info: TableColumn, part: Part | None = None) -> str:
    """part: what the texts of a column hold."""
    if info.is_numeric or (isinstance(part, TextValue) and part.is_number):
        return "number"
    if info.is_dated or part is TextValue.DATE:
        return "date"
    return "time" if info.kind == "time" else "text"


def _days(column: GridColumn) -> list[date]:
    return [date.fromordinal(int(value)) for value in column.measures if value is not None]


def _of_words(question: str, column: TableColumn, words: TableWords, named: frozenset[str]) -> ColumnView:
    """Of a table whose cells are not held; cells of it may be empty."""
    kind = _kind(column)
    values = ("true", "false") if column.kind == "boolean" else words.values.get(column.name, ())
    shown = shown_values(question, values, named) if kind == "text" else ()
    low, high = words.ranges.get(column.name, (1.0, 1.0))
    zero = low <= 0 <= high
    return ColumnView(column.name, kind, ColumnRef(column.name), shown, words.years.get(column.name), True, zero)


def read_table(reader: TableReader, question: str, known: KnownTable) -> tuple[float, ReadTable | None]:
    """The log-odds that the table is meant, and the likeliest meaning that can be planned."""
    found = mentions(question)[:MAX_MENTIONS]
    view = view_of(question, known)
    read = reader.read(question, [(one.start, one.end) for one in found], shown(view))
    table, asked = planned_table(known), numbers_of(question, "en")
    for one in meanings(read, view, found, question):
        if any(called_otherwise(asked, str(value), "en") for part in one.conditions for value in part.values):
            continue
        if (plan := plan_of(one, table)) is not None:
            return read.meant, ReadTable(plan, one, read.meant, _explained(question, view, one))
    return read.meant, None


def planned_table(known: KnownTable) -> PlannedTable:
    """What plans need of a table."""
    return PlannedTable(known.words.table, known.label, _time_of(known))


def _explained(question: str, view: TableView, meaning: Meaning) -> float:
    """A code counts as one word; of a question in another language, words tell little: it counts as one of which a usual share is explained."""
    words = [{term.text for term in group if term.weight >= 1.0} for group in term_groups(question, "en", query=True)]
    asked = {min(group): group for group in words if group}.values()
    conditions = (*meaning.conditions, *meaning.part)
    said = [view.title, _ANSWERED.get(meaning.operation, ""), meaning.figure.value]
    said += [column.name for columns in meaning.roles.values() for column in columns]
    said += [str(part) for c in conditions for part in (c.ref.column, *c.values)]
    told = frozenset(analyze(" ".join(said), "en"))
    share = sum(not told.isdisjoint(group) for group in asked) / len(asked) if asked else 0.0
    return share if detect_language(question) in (None, "en") else max(share, _USUAL)


def shown(view: TableView) -> ShownTable:
    """The view without what only the query needs."""
    return ShownTable(view.title, tuple(ShownColumn(one.name, one.kind, one.values) for one in view.columns))


def _time_of(known: KnownTable) -> TableColumn | None:
    if known.grid is not None:
        return known.grid.time.info if known.grid.time is not None else None
    return known.words.table.only_dated
