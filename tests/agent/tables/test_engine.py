"""Queries run on the owner's copy, within memory and time, and failures are told without the engine's own words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from citewell.agent.tables.query.compile import Compiled
from citewell.agent.tables.query.typed import Aggregate, ColumnRef, Comparator, Function, RowCondition, TableQuery
from citewell.agent.tables.run import copies
from citewell.agent.tables.run import engine as engine_module
from citewell.agent.tables.run.engine import RowFacts, TableEngine, find_table, table_key, table_name
from citewell.errors import InvalidInput, NotFound, Unavailable
from citewell.types import TableInfo
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets


def _sum(column: str) -> TableQuery:
    return TableQuery(source="t", aggregates=(Aggregate(Function.SUM, column),))


async def test_a_row_comes_with_the_number_that_a_person_sees(sheets: Sheets) -> None:
    table = sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    overdue = RowCondition(ColumnRef("Status"), Comparator.EQ, "overdue")
    query = TableQuery(source="t", columns=("Borrower", "Amount (GHS)"), conditions=(overdue,))
    result = await TableEngine(sheets).run(OWNER, table, query)
    assert result.columns == ("Borrower", "Amount (GHS)")
    assert [row.values for row in result.rows] == [("Kofi Boateng", 12000.0), ("Esi Owusu", 800.25)]
    assert [row.rows for row in result.rows] == [RowFacts(1, 3, 3, (3,)), RowFacts(1, 4, 4, (4,))]
    assert not result.grouped
    assert (result.table, result.query) == (table, query)


async def test_a_figure_over_no_rows_is_empty(sheets: Sheets) -> None:
    table = sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    nowhere = (RowCondition(ColumnRef("Branch"), Comparator.EQ, "Paris"),)
    query = TableQuery(source="t", conditions=nowhere, aggregates=(Aggregate(Function.SUM, "Amount (GHS)"),))
    row = (await TableEngine(sheets).run(OWNER, table, query)).rows[0]
    assert row.values == (None,)
    assert row.rows == RowFacts(0, None, None, ())


async def test_only_the_owner_has_a_table_read(sheets: Sheets) -> None:
    table = sheets.add({"n": "integer"}, [(1,)])
    engine = TableEngine(sheets)
    await engine.run(OWNER, table, _sum("n"))  # its connection stays open
    with pytest.raises(NotFound):
        await engine.run("ben", table, _sum("n"))
    with pytest.raises(NotFound):
        await engine.distinct("ben", table, "n", 5)


async def test_different_texts_are_listed_in_order_unless_there_are_too_many(sheets: Sheets) -> None:
    table = sheets.add({'a"b': "text"}, [("x",), ("z",), (None,), ("y",), ("x",)])
    engine = TableEngine(sheets)
    assert await engine.distinct(OWNER, table, 'a"b', 3) == ("x", "y", "z")
    assert await engine.distinct(OWNER, table, 'a"b', 2) is None


async def test_many_tables_and_many_questions_at_once_give_each_its_own_answer(sheets: Sheets) -> None:
    tables = [sheets.add({"n": "integer"}, [(number,)]) for number in range(10)]  # more than stay open
    engine = TableEngine(sheets)
    results = await asyncio.gather(*(engine.run(OWNER, table, _sum("n")) for table in tables * 2))
    assert [result.rows[0].values[0] for result in results] == [*range(10)] * 2


async def test_a_result_out_of_range_is_refused_in_our_own_words(sheets: Sheets) -> None:
    table = sheets.add({"n": "integer"}, [(9 * 10**37,), (9 * 10**37,)], types={"n": "DECIMAL(38, 0)"})
    with pytest.raises(InvalidInput) as refused:
        await TableEngine(sheets).run(OWNER, table, _sum("n"))
    assert refused.value.message.startswith("The table cannot answer this query")
    assert "Error" not in refused.value.message


@pytest.mark.parametrize("damage", ["gone", "cut off", "other"])
async def test_a_damaged_copy_is_unavailable_and_its_path_is_not_told(sheets: Sheets, damage: str) -> None:
    table = sheets.add({"n": "integer"}, [(1,)])
    path = sheets.path(table)
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:50] if damage == "cut off" else b"no table")
    with pytest.raises(Unavailable) as failed:
        await TableEngine(sheets).run(OWNER, table, _sum("n"))
    assert failed.value.message == "The exact copy of this table cannot be read. Upload the file again."


async def test_a_query_is_stopped_when_its_time_is_over(sheets: Sheets, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sheets.add({"n": "integer"}, [(n,) for n in range(1000)])
    endless = "SELECT count(*) FROM read_parquet(?) a, range(100_000_000) b, range(100_000_000) c WHERE a.n + b.range < c.range"
    engine = TableEngine(sheets)

    def stuck(query: TableQuery, table: TableInfo) -> Compiled:
        return Compiled(endless, (), ("count",), False)

    await engine.run(OWNER, table, _sum("n"))
    monkeypatch.setattr(copies, "_SECONDS", 0.2)
    monkeypatch.setattr(engine_module, "compile_query", stuck)
    with pytest.raises(Unavailable, match="took longer"):
        await engine.run(OWNER, table, _sum("n"))
    monkeypatch.undo()
    assert (await engine.run(OWNER, table, _sum("n"))).rows[0].values == (499_500,)


# ---- Naming a table ----


def _table(number: int, filename: str, name: str, sheet: str | None) -> TableInfo:
    resource = f"resource-{number}"
    return TableInfo(
        id="t0", resource_id=resource, version=1, filename=filename, name=name, sheet=sheet, columns=(), rows=1
    )


TABLES: Sequence[TableInfo] = (
    _table(0, "Finance.xlsx", "Loans", "Loans"),
    _table(0, "Finance.xlsx", "Fees", "Fees"),
    _table(1, "Old.xlsx", "Loans", "Loans"),
    _table(2, "Ledger.csv", "data", None),
)


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("resource-0/t0", None),  # two tables of this key: as if an id came twice
        ("resource-2/t0", 3),
        ("RESOURCE-1/T0", 2),
        ("Finance.xlsx/Loans", 0),
        (" finance.xlsx/fees ", 1),
        ("Fees", 1),
        ("Loans", None),
        ("Ledger.csv", 3),
        ("Old.xlsx", 2),
        ("Finance.xlsx", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_a_table_is_found_by_every_name_that_is_its_alone(source: str, number: int | None) -> None:
    if number is not None:
        assert find_table(TABLES, source) is TABLES[number]
        return
    with pytest.raises(InvalidInput) as refused:
        find_table(TABLES, source)
    assert "resource-2/t0 (Ledger.csv)" in refused.value.message or "Ledger.csv" in refused.value.message


def test_without_tables_the_refusal_says_so() -> None:
    with pytest.raises(InvalidInput, match="there are no tables"):
        find_table((), "Loans")


def test_keys_name_one_table_each() -> None:
    assert table_key(TABLES[3]) == "resource-2/t0"
    assert table_name(TABLES[0]) == "Finance.xlsx/Loans"
