"""Reads questions about the tables on pages, which have no copies: their cells are typed and queried in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from citewell.agent.interface import TableReader
from citewell.agent.tables.language.cells import date_in, figures_in, grid_of
from citewell.agent.tables.language.links import table_words
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.language.shape import Shape
from citewell.agent.tables.lookup.answer import LookupAnswer, cells_hit, plain
from citewell.agent.tables.lookup.sheet import PageTable
from citewell.agent.tables.meaning.nearest import Described, description
from citewell.agent.tables.meaning.reader import KnownTable, ReadTable, chance_of, read_table
from citewell.agent.tables.query.compile import compile_query
from citewell.agent.tables.query.quoting import quoted
from citewell.agent.tables.query.typed import TableQuery, TextValue
from citewell.agent.tables.run.engine import ResultRow, TableResult, UnusableTable, as_plain, faults_of, result_of
from citewell.agent.tables.run.results import statement
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.errors import InvalidInput
from citewell.types import ROW_COLUMN, ColumnKind, Hit, TableColumn, TableInfo
from citewell.types.figures import read_figure

_MIN_ROWS = 2
_ALIKE = 0.8  # share of the filled cells of a column that are numbers or dates
_CITED = 20  # rows whose cells a citation shows
_GROUPED = re.compile(r"\d[,.'\s]\d{3}(?!\d)")
_AS_WRITTEN = frozenset({Shape.FOUND, Shape.LOOKUP, Shape.ROWS})
_SQL: dict[ColumnKind, str] = {"number": "DOUBLE", "date": "DATE", "text": "VARCHAR"}


@dataclass(frozen=True)
class HeldPageTable:
    """A page's table with typed columns; rows are numbered as in its grid."""

    page: PageTable

    @cached_property
    def info(self) -> TableInfo:
        """Its description, named by its title."""
        page, count = self.page, self.page.element.header_rows
        columns = tuple(column for column, _ in self._columns)
        return TableInfo(
            id=page.element.id,
            resource_id=page.resource_id,
            version=page.version,
            filename=page.filename,
            name=page.title,
            sheet=plain(page.title) or None,
            columns=columns,
            rows=len(page.grid) - count,
            provenance=page.provenance,
        )

    @cached_property
    def _columns(self) -> list[tuple[TableColumn, TextValue | None]]:
        page, count = self.page, self.page.element.header_rows
        names = _unique([_header(page, number) for number in range(len(page.grid[0]))])
        return [_column(name, [row[n] for row in page.grid[count:]]) for n, name in enumerate(names)]

    @cached_property
    def rows(self) -> list[tuple[int, tuple[Any, ...]]]:
        """Number and cells of each row that has some."""
        count = self.page.element.header_rows
        return [
            (number, tuple(_cell(text, *column) for text, column in zip(row, self._columns, strict=True)))
            for number, row in enumerate(self.page.grid[count:], count)
            if any(row)
        ]

    @cached_property
    def known(self) -> KnownTable:
        """What a question is read against."""
        grid = grid_of(self.info, [(cells, number) for number, cells in self.rows], ())
        values = {c.name: tuple(dict.fromkeys(c.texts)) for c in grid.columns if c.info.kind == "text"}
        label = grid.label.info if grid.label is not None else None
        return KnownTable(table_words(self.info, values), label, grid)

    def run(self, query: TableQuery) -> TableResult:
        """The result of a query. Takes some milliseconds; call it in a thread."""
        import duckdb

        compiled = compile_query(query, self.info, relation="held")
        with duckdb.connect() as connection:
            columns = ", ".join(f"{quoted(column.name)} {_SQL[column.kind]}" for column in self.info.columns)
            connection.execute(f"CREATE TABLE held ({columns}, {quoted(ROW_COLUMN)} BIGINT)")
            marks = ", ".join("?" * (len(self.info.columns) + 1))
            connection.executemany(f"INSERT INTO held VALUES ({marks})", [[*cells, n] for n, cells in self.rows])  # noqa: S608
            found = connection.execute(compiled.sql, list(compiled.parameters)).fetchall()
        return result_of(self.info, query, compiled, found)

    def as_written(self, result: TableResult) -> TableResult:
        """The result with its cells as the page has them: `5,000`, not 5000."""
        places = {column.name: place for place, column in enumerate(self.info.columns)}
        rows = tuple(
            replace(row, values=tuple(self.page.grid[row.rows.first][places[name]].strip() for name in result.columns))
            for row in result.rows
            if row.rows.first is not None
        )
        return replace(result, rows=rows)

    def hit(self, owner_id: str, result: TableResult, row: ResultRow) -> Hit:
        """The passage that a row of a result rests on, with its cells on the page."""
        numbers = set(row.rows.listed[:_CITED])
        named = [one for one in self.page.rows if one.number in numbers]
        asked = set(result.columns)
        columns = [c for c in self.page.columns if c.header in asked] or list(self.page.columns[:1])
        cells = [(self.page, one, column) for one in named for column in columns[:1]]
        return cells_hit(owner_id, statement(result, row), self.page, cells)


def usable(pages: Sequence[PageTable]) -> list[PageTable]:
    """Those with a header and some rows."""
    return [p for p in pages if p.element.header_rows and len(p.grid) - p.element.header_rows >= _MIN_ROWS]


def described(page: PageTable) -> Described:
    """How the nearest tables are chosen."""
    rows = page.grid[page.element.header_rows :]
    columns = [(_header(page, n), [row[n] for row in rows if row[n]]) for n in range(len(page.grid[0]))]
    return Described(page.terms, description(plain(page.title), columns))


def answer_from_pages(
    owner_id: str, question: str, pages: Sequence[PageTable], reader: TableReader
) -> LookupAnswer | None:
    """The answer of the table that is most likely meant; None where none is, surely enough. Takes 20 ms a table; call it in a thread."""
    best: tuple[float, ReadTable, HeldPageTable] | None = None
    for page in pages:
        held = HeldPageTable(page)
        with suppress(UnusableTable), faults_of(held.info):
            _, read = read_table(reader, question, held.known)
            chance = 0.0 if read is None else chance_of(read, THRESHOLDS)
            if read is not None and (best is None or chance > best[0]):
                best = chance, read, held
    if best is None or best[0] < THRESHOLDS.meant:
        return None
    found = None
    with suppress(UnusableTable), faults_of(best[2].info):
        found = _worded(owner_id, best[1], best[2])
    return None if found is None else replace(found, chance=min(best[0], 0.9999))


def _worded(owner_id: str, read: ReadTable, held: HeldPageTable) -> LookupAnswer | None:
    totals = held.known.grid.totals if held.known.grid is not None else frozenset[int]()
    try:
        result = held.run(read.plan.query)
    except InvalidInput:
        return None
    if totals and not read.meaning.conditions:
        return None  # a row that sums up others would be counted twice
    if read.plan.shape in _AS_WRITTEN:
        result = held.as_written(result)
    hits = [held.hit(owner_id, result, row) for row in result.rows[: THRESHOLDS.cited_rows]]
    text = phrase(read.plan, result, (), list(range(1, len(hits) + 1)))
    return LookupAnswer(text, tuple(hits)) if text else None


def _header(page: PageTable, number: int) -> str:
    heads = [row[number] for row in page.grid[: page.element.header_rows]]
    return plain(" ".join(dict.fromkeys(filter(None, heads)))) or f"Column {number + 1}"


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    out: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _column(name: str, texts: Sequence[str]) -> tuple[TableColumn, TextValue | None]:
    """A column by what its cells are, and how they are figures."""
    filled = [text.strip() for text in texts if text.strip()]
    enough = max(1.0, _ALIKE * len(filled))
    part = figures_in(filled, enough)
    if part is not None:
        found = (read_figure(text, part is TextValue.DECIMAL_COMMA) for text in filled)
        unit = next((figure.unit for figure in found if figure is not None and figure.unit), "")
        return TableColumn(name, "number", unit=unit, grouped=any(map(_GROUPED.search, filled))), part
    if sum(date_in(text) is not None for text in filled) >= enough:
        return TableColumn(name, "date"), None
    return TableColumn(name, "text"), None


def _cell(text: str, column: TableColumn, part: TextValue | None) -> Any:
    text = text.strip()
    if not text:
        return None
    if column.kind == "number":
        figure = read_figure(text, part is TextValue.DECIMAL_COMMA)
        if figure is None:
            return None
        return float(figure.value) if column.grouped or column.unit else as_plain(float(figure.value))
    if column.kind == "date":
        day = date_in(text)
        return None if day is None else day.date()
    return text
