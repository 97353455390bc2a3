"""Requests for pictures over a small real table: what is drawn, by what, and what is said of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from citewell.agent.tables.picture.answer import answer_with_picture
from citewell.agent.tables.picture.choose import Wish, picture_of
from citewell.agent.tables.picture.picture import MAX_BARS, Form, Picture
from citewell.agent.tables.picture.planner import PicturePlanner, PlannedPicture
from citewell.agent.tables.picture.vega import SCHEMA, vega_lite
from citewell.agent.tables.planner import Refused
from citewell.agent.tables.query.typed import TableQuery, parse_query
from citewell.agent.tables.run.engine import ResultRow, RowFacts, TableEngine, TableResult, table_key
from citewell.errors import InvalidInput
from citewell.types import ColumnKind
from tests.agent.tables import sheets
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets, planner_of

LOANS = replace(sheets.LOANS, resource_id="resource-0")


@pytest.fixture
def engine(tmp_path: Path) -> TableEngine:
    folder = Sheets(tmp_path)
    assert folder.add(LOAN_COLUMNS, LOAN_ROWS) == LOANS
    return TableEngine(folder)


async def plan(engine: TableEngine, message: str) -> PlannedPicture | Refused | None:
    return await PicturePlanner(engine, planner_of(engine)).consider(OWNER, message, (LOANS,))


async def draw(engine: TableEngine, message: str) -> Picture:
    planned = await plan(engine, message)
    assert isinstance(planned, PlannedPicture), planned
    picture = picture_of(await engine.run(OWNER, planned.table, planned.query), {}, planned.wish)
    assert picture is not None
    return picture


def points(picture: Picture) -> list[tuple[object, ...]]:
    return [(point.x, point.y, *([point.series] if point.series else [])) for point in picture.points]


async def test_an_amount_is_added_up_by_the_column_that_is_named(engine: TableEngine) -> None:
    picture = await draw(engine, "plot amount by branch")
    assert picture.title == "Total of Amount (GHS) by Branch"
    assert points(picture) == [("Tamale", 12000.0), ("Kumasi", 12000.0), ("Accra", 8300.75)] or points(picture) == [
        ("Kumasi", 12000.0),
        ("Tamale", 12000.0),
        ("Accra", 8300.75),
    ]


@pytest.mark.parametrize(
    "words", ["plot the number of loans by status", "distribution of status", "pie chart of status"]
)
async def test_rows_are_counted_by_the_values_of_a_column(engine: TableEngine, words: str) -> None:
    picture = await draw(engine, words)
    assert picture.title == "Number of rows by Status"
    assert sorted(points(picture)) == [("active", 2.0), ("overdue", 2.0), ("paid", 2.0)]


async def test_a_trend_is_drawn_by_the_dates_in_their_order(engine: TableEngine) -> None:
    picture = await draw(engine, "trend of loan amounts over time")
    assert picture.x == "Disbursed (month)"
    assert picture.temporal
    assert [point.x for point in picture.points] == ["2024-01", "2024-03", "2024-11", "2025-02", "2025-06"]
    yearly = await draw(engine, "plot yearly amount as a line")
    assert (yearly.form, points(yearly)) == (Form.LINE, [("2024", 17800.75), ("2025", 14500.0)])


async def test_conditions_of_the_request_hold(engine: TableEngine) -> None:
    picture = await draw(engine, "chart the amount by status for the Accra branch")
    assert sorted(points(picture)) == [("active", 2500.0), ("overdue", 800.25), ("paid", 5000.5)]
    # Each group is one row, so nothing was added up.
    assert picture.title == "Amount (GHS) by Status"


async def test_what_the_words_compute_is_what_is_drawn(engine: TableEngine) -> None:
    picture = await draw(engine, "plot the average amount by branch")
    assert picture.y == "Average of Amount (GHS)"
    assert dict(points(picture))["Accra"] == pytest.approx(8300.75 / 3)  # pyright: ignore[reportArgumentType, reportCallIssue]


async def test_a_second_dimension_makes_series(engine: TableEngine) -> None:
    picture = await draw(engine, "plot amount by branch by status")
    assert picture.series == "Status"
    assert ("Accra", 5000.5, "paid") in points(picture)


async def test_columns_of_one_unit_are_drawn_together_also_in_a_sheet_called_like_one_of_them(tmp_path: Path) -> None:
    folder = Sheets(tmp_path)
    rows = [("Q1 2031", 10.0, 8.0), ("Q2 2031", 12.0, 9.0), ("Q3 2031", 15.0, 20.0)]
    columns: dict[str, ColumnKind] = {"Quarter": "text", "Sales (EUR)": "number", "Costs (EUR)": "number"}
    table = folder.add(columns, rows, sheet="Sales by quarter")
    engine = TableEngine(folder)
    found = await PicturePlanner(engine, planner_of(engine)).consider(
        OWNER, "plot sales and costs by quarter", (table,)
    )
    assert isinstance(found, PlannedPicture), found
    picture = picture_of(await engine.run(OWNER, table, found.query), {}, found.wish)
    assert picture is not None
    assert points(picture) == [
        ("Q1 2031", 10.0, "Sales (EUR)"),
        ("Q1 2031", 8.0, "Costs (EUR)"),
        ("Q2 2031", 12.0, "Sales (EUR)"),
        ("Q2 2031", 9.0, "Costs (EUR)"),
        ("Q3 2031", 15.0, "Sales (EUR)"),
        ("Q3 2031", 20.0, "Costs (EUR)"),
    ]
    answer = answer_with_picture(found, await engine.run(OWNER, table, found.query))
    assert answer is not None
    assert answer.text.splitlines() == [
        "Sales (EUR) by Quarter:",
        "- Q1 2031: 10 [1], the lowest",
        "- Q3 2031: 15 [2], the highest",
        "",
        "Costs (EUR) by Quarter:",
        "- Q1 2031: 8 [3], the lowest",
        "- Q3 2031: 20 [4], the highest",
    ]


async def test_a_histogram_has_ranges_of_equal_width_that_hold_every_value(engine: TableEngine) -> None:
    picture = await draw(engine, "histogram of loan amounts")
    assert picture.form is Form.HISTOGRAM
    assert picture.bin is not None
    assert sum(point.y for point in picture.points) == 5
    assert all(float(point.x) % picture.bin == 0 for point in picture.points)
    assert picture.points[0].x == 0


@pytest.mark.parametrize("message", ["chart of accounts", "plot the results", "Which branch has most loans?"])
async def test_what_names_nothing_of_the_table_is_no_picture(engine: TableEngine, message: str) -> None:
    assert await plan(engine, message) is None


@pytest.mark.parametrize("message", ["plot amount by colour", "histogram of amount in Norwegian kroner"])
async def test_what_cannot_be_drawn_is_refused_with_a_reason(engine: TableEngine, message: str) -> None:
    found = await plan(engine, message)
    assert isinstance(found, Refused)
    assert found.computes
    assert found.reason


async def test_the_answer_says_its_ends_and_cites_their_rows(engine: TableEngine) -> None:
    planned = await plan(engine, "plot amount by status for the Accra branch")
    assert isinstance(planned, PlannedPicture)
    answer = answer_with_picture(planned, await engine.run(OWNER, planned.table, planned.query))
    assert answer is not None
    assert answer.text.splitlines() == [
        "Amount (GHS) by Status:",
        "- paid: 5000.5 [1], the highest",
        "- overdue: 800.25 [2], the lowest",
    ]
    assert [row.rows.first for row in answer.rows] == [2, 4]


def result(query: Mapping[str, Any], rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> TableResult:
    typed = parse_query(cast(Any, {"source": table_key(LOANS), **query}))
    found = tuple(ResultRow(values, RowFacts(1, n, n, (n,))) for n, values in enumerate(rows, start=2))
    return TableResult(LOANS, typed, columns, found, bool(typed.groups))


BY_BRANCH = {"groups": ["Branch"], "aggregates": [{"function": "sum", "column": "Amount (GHS)"}], "limit": 200}


def test_too_many_bars_are_cut_to_the_highest_and_said_to_be() -> None:
    rows = [(f"branch {n}", float(n)) for n in range(50)]
    picture = picture_of(result(BY_BRANCH, rows, ("Branch", "sum(Amount (GHS))")), {})
    assert picture is not None
    assert len(picture.points) == MAX_BARS
    assert min(point.y for point in picture.points) == 20
    assert picture.title.endswith(f"the {MAX_BARS} highest of 50")


def test_cells_that_no_picture_has_a_place_for_are_left_out() -> None:
    rows = [("a", 1.0), ("b", math.nan), ("c", None), (None, 2.0), ("d", math.inf), ("e", -3), ("f", 4)]
    picture = picture_of(result(BY_BRANCH, rows, ("Branch", "sum(Amount (GHS))")), {})
    assert picture is not None
    assert points(picture) == [("a", 1.0), ("e", -3.0), ("f", 4.0)]


def test_two_values_are_left_to_words_unless_a_picture_was_asked_for() -> None:
    found = result(BY_BRANCH, [("a", 1.0), ("b", 2.0)], ("Branch", "sum(Amount (GHS))"))
    assert picture_of(found, {}) is None
    assert picture_of(found, {}, Wish(asked=True)) is not None


def test_a_ranking_of_all_rows_is_offered_with_the_named_row_marked() -> None:
    query = {
        "columns": ["Borrower", "Amount (GHS)"],
        "order": [{"by": "Amount (GHS)", "descending": True}],
        "limit": 21,
    }
    rows = [("Ama", 9.0), ("Kofi", 7.0), ("Esi", 1.0)]
    picture = picture_of(result(query, rows, ("Borrower", "Amount (GHS)")), {0: 1})
    assert picture is not None
    assert [(point.x, point.named, point.cite) for point in picture.points] == [
        ("Ama", True, 1),
        ("Kofi", False, None),
        ("Esi", False, None),
    ]
    assert not picture.is_open
    # Of more rows than were read, only those that the answer names: the others may be anything.
    assert picture_of(result({**query, "limit": 3}, rows, ("Borrower", "Amount (GHS)")), {0: 1}) is None


CASES: list[tuple[dict[str, Any], list[tuple[Any, ...]], tuple[str, ...]]] = [
    (BY_BRANCH, [("a", 1.0), ("b", 2.0), ("c", 3.0)], ("Branch", "sum(Amount (GHS))")),
    (BY_BRANCH, [(f"a branch with a long name {n}", n) for n in range(20)], ("Branch", "sum(Amount (GHS))")),
    (BY_BRANCH, [(f"Q{n} 2025", n) for n in (3, 1, 2, 4)], ("Branch", "sum(Amount (GHS))")),
    (BY_BRANCH, [(f"{n}", n) for n in range(2001, 2020)], ("Branch", "sum(Amount (GHS))")),
    (
        {"groups": [{"column": "Amount (GHS)", "bin": 500}], "aggregates": [{"function": "count"}]},
        [(0.0, 3), (500.0, 2), (1500.0, 1)],
        ("bin(Amount (GHS))", "count"),
    ),
    (
        {"groups": ["Branch", "Status"], "aggregates": [{"function": "count"}]},
        [("a", "x", 3), ("a", "y", 2), ("b", "x", 1)],
        ("Branch", "Status", "count"),
    ),
]


@pytest.mark.parametrize(("query", "rows", "columns"), CASES)
def test_a_specification_is_vega_lite(
    query: dict[str, Any], rows: list[tuple[Any, ...]], columns: tuple[str, ...]
) -> None:
    """Checked part by part; the whole was compared with the published schema when these shapes were made."""
    picture = picture_of(result(query, rows, columns), {})
    assert picture is not None
    spec = json.loads(json.dumps(vega_lite(picture), allow_nan=False))
    known = {"$schema", "title", "description", "data", "mark", "encoding", "width", "usermeta"}
    assert set(spec) == known
    assert spec["$schema"] == SCHEMA
    assert spec["mark"]["type"] in ("bar", "line")
    values = spec["data"]["values"]
    assert 3 <= len(values) <= 200
    channels = {"x", "y", "x2", "xOffset", "yOffset", "color"}
    assert set(spec["encoding"]) <= channels
    fields = [channel["field"] for channel in spec["encoding"].values() if "field" in channel]
    assert {"x", "y"} <= set(fields)
    for value in values:
        assert set(fields) <= set(value)
        assert isinstance(value["y"], int | float)
        assert value["rows"]
    types = [c["type"] for c in spec["encoding"].values() if "type" in c]
    assert set(types) <= {"quantitative", "nominal", "ordinal"}
    assert spec["usermeta"]["citewell"]["resource_id"] == LOANS.resource_id


async def test_numbers_are_grouped_by_ranges(engine: TableEngine) -> None:
    query = parse_query({"source": table_key(LOANS), "groups": [{"column": "Term (months)", "bin": 10}], "order": []})
    found = await engine.run(OWNER, LOANS, query)
    assert [row.values for row in found.rows] == [(0.0, 1), (10.0, 3), (20.0, 2)]
    assert query == parse_query(cast(Any, query.to_json()))
    text = TableQuery(source="x", groups=query.groups).groups[0].name
    assert text == "bin(Term (months))"


@pytest.mark.parametrize("bad", [0, -1, "10", True, math.inf])
async def test_a_range_without_width_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInput):
        parse_query({"source": "x", "groups": [{"column": "Term (months)", "bin": cast(Any, bad)}]})


async def test_texts_have_no_ranges(engine: TableEngine) -> None:
    query = parse_query({"source": table_key(LOANS), "groups": [{"column": "Branch", "bin": 10}]})
    with pytest.raises(InvalidInput, match="no `bin`"):
        await engine.run(OWNER, LOANS, query)
