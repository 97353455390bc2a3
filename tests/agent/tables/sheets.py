"""Small real tables: Parquet copies as extraction writes them, and access to them by owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from citewell.adapters.reader.reading_model import ReadingModel
from citewell.adapters.reader.table_reader import BuiltinTableReader
from citewell.agent.tables.language.links import table_words
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.planner import Planned, TablePlanner
from citewell.agent.tables.query.compile import quoted
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import row_hits
from citewell.errors import NotFound
from citewell.types import ColumnKind, Scope, TableColumn, TableInfo

OWNER = "ada"
READER = BuiltinTableReader(ReadingModel.open())
"""The built-in model, of which every test asks the same."""
_TYPES: dict[ColumnKind, str] = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "time": "TIME",
}
LOAN_COLUMNS: dict[str, ColumnKind] = {
    "Loan Number": "integer",
    "Borrower": "text",
    "Branch": "text",
    "Status": "text",
    "Amount (GHS)": "number",
    "Term (months)": "integer",
    "Disbursed": "date",
    "Insured": "boolean",
}
LOAN_ROWS: tuple[tuple[object, ...], ...] = (
    (1, "Ama Mensah", "Accra", "paid", 5000.5, 12, "2024-01-15", True),
    (2, "Kofi Boateng", "Kumasi", "overdue", 12000.0, 24, "2024-03-01", False),
    (3, "Esi Owusu", "Accra", "overdue", 800.25, 6, "2024-11-30", True),
    (4, "Yaw Darko", "Tamale", "paid", 12000.0, 24, "2025-02-10", None),
    (5, "Akua Asante", "Kumasi", "active", None, 18, None, False),
    (6, "Kojo Annan", "Accra", "active", 2500.0, 12, "2025-06-05", True),
)
LOAN_VALUES: dict[str, tuple[str, ...]] = {
    name: tuple(sorted({str(row[index]) for row in LOAN_ROWS}))
    for index, (name, kind) in enumerate(LOAN_COLUMNS.items())
    if kind == "text"
}
LOANS = TableInfo(
    id="t0",
    resource_id="r",
    version=1,
    filename="Loans.xlsx",
    name="Loans",
    sheet="Loans",
    columns=tuple(TableColumn(name, kind) for name, kind in LOAN_COLUMNS.items()),
    rows=len(LOAN_ROWS),
)
LOAN_WORDS = table_words(LOANS, LOAN_VALUES)


@dataclass(slots=True)
class Sheets:
    """`Tables` of one owner, whose copies lie in a folder."""

    folder: Path
    tables: dict[str, TableInfo] = field(default_factory=dict[str, TableInfo])

    def add(
        self,
        columns: Mapping[str, ColumnKind],
        rows: Sequence[Sequence[object]],
        *,
        filename: str = "Loans.xlsx",
        sheet: str | None = "Loans",
        types: Mapping[str, str] | None = None,
        decimals: Mapping[str, int] | None = None,
    ) -> TableInfo:
        """Write a table whose first data row is row 2.

        types: columns stored as another SQL type than their kind's; decimals: those that the file shows of all numbers of a column
        """
        number = len(self.tables)
        table = TableInfo(
            id="t0",
            resource_id=f"resource-{number}",
            version=1,
            filename=filename,
            name=sheet or "data",
            sheet=sheet,
            columns=tuple(
                TableColumn(name, kind, decimals=(decimals or {}).get(name, 0)) for name, kind in columns.items()
            ),
            rows=len(rows),
        )
        stored = {name: (types or {}).get(name, _TYPES[kind]) for name, kind in columns.items()}
        with duckdb.connect() as connection:
            defined = ", ".join(f"{quoted(name)} {sql}" for name, sql in stored.items())
            connection.execute(f"CREATE TABLE t (_row BIGINT, {defined})")
            if rows:
                marks = ", ".join("?" * (len(columns) + 1))
                numbered = [[index, *row] for index, row in enumerate(rows, start=2)]
                connection.executemany(f"INSERT INTO t VALUES ({marks})", numbered)
            connection.execute(f"COPY t TO '{self.path(table)}' (FORMAT parquet)")
        self.tables[table.resource_id] = table
        return table

    def path(self, table: TableInfo) -> Path:
        """Where the copy lies."""
        return self.folder / f"{table.resource_id}.parquet"

    async def list_tables(self, owner_id: str, scope: Scope) -> Sequence[TableInfo]:
        """All of them, for their owner."""
        return list(self.tables.values()) if owner_id == OWNER else []

    async def open_table(self, owner_id: str, table: TableInfo) -> Path:
        """The copy; `NotFound` for anybody but the owner."""
        if owner_id != OWNER:
            raise NotFound
        return self.path(table)


def planner_of(engine: TableEngine) -> TablePlanner:
    """A planner as the product has it: with the built-in reader."""
    return TablePlanner(engine, reader=READER)


async def answer_of(sheets: Sheets, question: str) -> str | None:
    """What the planner says of all the sheets; `refused: ` and the reason where it says nothing, None where it is not asked."""
    engine = TableEngine(sheets)
    planned = await planner_of(engine).consider(OWNER, question, list(sheets.tables.values()))
    if not isinstance(planned, Planned):
        return f"refused: {planned.reason}" if planned is not None else None
    return await said_of(engine, planned)


async def said_of(engine: TableEngine, planned: Planned) -> str | None:
    """The answer of a plan; None where its rows say nothing."""
    result = await engine.run(OWNER, planned.plan.table, planned.plan.query)
    return phrase(planned.plan, result, planned.left_out, list(range(1, len(row_hits(OWNER, result)) + 1)))
