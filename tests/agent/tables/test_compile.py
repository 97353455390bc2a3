"""From typed query to SQL: a user's text is a bound parameter or a quoted known name, and the rows found are the right ones."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.agent.tables.query.compile import Compiled, compile_query, quoted
from citewell.agent.tables.query.typed import (
    Aggregate,
    ColumnRef,
    Comparator,
    DatePart,
    Function,
    Order,
    RowCondition,
    Scalar,
    TableQuery,
)
from citewell.agent.tables.run.engine import TableEngine, TableResult
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.errors import InvalidInput
from citewell.types import ROW_COLUMN, ColumnKind, TableColumn, TableInfo
from tests.agent.tables.sheets import OWNER, Sheets
from tests.depth import examples

KINDS: dict[str, ColumnKind] = {
    "text": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime",
    "time": "time",
}
ROWS: tuple[tuple[Any, ...], ...] = (
    ("Accra", 1, 0.5, True, date(2024, 1, 31), datetime(2024, 1, 31, 10), time(8, 30)),
    ("accra", 2, -1.25, False, date(2024, 5, 1), datetime(2024, 5, 1), time(8, 30, 15)),
    (None, None, None, None, None, None, None),
    ("Kumasi", 3, 1e300, True, date(2025, 2, 28), datetime(2025, 2, 28, 23, 59, 59), time(0)),
    ("50% 'off'; --", -7, 0.0, False, date(1999, 12, 31), datetime(1999, 12, 31, 12), time(23, 59, 59)),
    ("ΟΔΟΣ İstanbul", 2**53 + 1, 3.0, None, date(2024, 1, 31), None, None),
)
NASTY_NAMES = (
    'a"b',
    '"',
    "'; DROP TABLE t; --",
    "SELECT",
    "?",
    "$1",
    "{0}",
    "%Y",
    "x\ny",
    "größe 📏",
    "a,b",
    "\\",
    " ",
)


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Sheets:
    return Sheets(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def table(sheets: Sheets) -> TableInfo:
    return sheets.add(KINDS, ROWS)


@pytest.fixture(scope="module")
def ask(sheets: Sheets, table: TableInfo) -> Callable[..., TableResult]:
    """Run a query on the table of all kinds."""
    engine = TableEngine(sheets)

    def run(**parts: Any) -> TableResult:
        return asyncio.run(engine.run(OWNER, table, TableQuery(source="t", **parts)))

    return run


def _where(column: str, comparison: Comparator, value: Any = None, part: DatePart | None = None) -> RowCondition:
    return RowCondition(ColumnRef(column, part), comparison, value)


def _numbers(result: TableResult) -> list[int]:
    return [row.rows.first or 0 for row in result.rows]


# ---- What may stand in the SQL ----

_IDENTIFIER = re.compile(r'"(?:[^"]|"")*"')
_FORMATS = re.compile(r"'(?:%Y-%m|%Y-%m-%d|-Q)'")
_WORDS = re.compile(
    r"\b(?:SELECT|FROM|WHERE|CASE|WHEN|THEN|END|AND|OR|NOT|IN|IS|NULL|DISTINCT|ORDER|GROUP|BY|LIMIT|ASC|DESC|NULLS|LAST|CAST|AS|VARCHAR|true|"
    r"read_parquet|count|min|max|sum|fsum|favg|median|list|contains|starts_with|lower|year|quarter|strftime|isnan)\b"
)


def _foreign_text(sql: str, names: set[str]) -> set[str]:
    """What stands in the SQL that is neither of the compiler's own vocabulary nor the quoted name of a known column."""
    found: set[str] = set()

    def identifier(match: re.Match[str]) -> str:
        if match[0] not in names:
            found.add(match[0])
        return " "

    bare = _WORDS.sub(" ", _FORMATS.sub(" ", _IDENTIFIER.sub(identifier, sql)))
    words = set(re.findall(r"[^\W\d]\w*", bare))
    signs = set(re.sub(r"\w|\s", "", bare)) - set("?(),*=<>[:]|")
    return found | words | signs


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
_names = st.lists(
    st.one_of(st.sampled_from(NASTY_NAMES), _text.filter(bool)), min_size=1, max_size=4, unique_by=str.casefold
).filter(lambda names: ROW_COLUMN not in [name.casefold() for name in names])
_scalars: st.SearchStrategy[Scalar] = st.one_of(
    st.sampled_from(
        ["2024-01-31", "2024-05-01T10:00:00", "2024-05-01T10:00:00+02:00", "0001-01-01T00:00:00+02:00", "08:30", "08:30+01:00",
         "1,000", "1e999", "-inf", "nan", "true", "') OR 1=1 --", '" OR ""="', "?", "$1", "9" * 5000, "\ud800"]
    ),
    st.sampled_from([0, -7, 2**63, 2**127, -(2**127), 10**40, 10**400, 0.5, float("inf"), float("nan"), True, False]),
    st.text(max_size=6),  # lone surrogates too, as JSON has them
)  # fmt: skip


def _conditions(names: st.SearchStrategy[str]) -> st.SearchStrategy[RowCondition]:
    values = st.one_of(_scalars, _scalars, st.none(), st.lists(_scalars, max_size=3).map(tuple))
    return st.builds(RowCondition, _refs(names), st.sampled_from(Comparator), values)


def _refs(names: st.SearchStrategy[str]) -> st.SearchStrategy[ColumnRef]:
    return st.builds(ColumnRef, names, st.one_of(st.none(), st.none(), st.sampled_from(DatePart)))


def _queries(names: st.SearchStrategy[str]) -> st.SearchStrategy[TableQuery]:
    aggregates = st.builds(Aggregate, st.sampled_from(Function), st.one_of(st.none(), names))
    orders = st.builds(Order, names, st.booleans())
    return st.builds(
        TableQuery,
        source=st.just("t"),
        columns=st.lists(names, max_size=2).map(tuple),
        conditions=st.lists(_conditions(names), max_size=2).map(tuple),
        groups=st.lists(_refs(names), max_size=1).map(tuple),
        aggregates=st.lists(aggregates, max_size=1).map(tuple),
        order=st.lists(orders, max_size=1).map(tuple),
        limit=st.integers(1, 200),
    )


def _info(names: list[str], kinds: list[ColumnKind]) -> TableInfo:
    columns = tuple(TableColumn(name, kind) for name, kind in zip(names, kinds, strict=False))
    return TableInfo(id="t0", resource_id="r", version=1, filename="f", name="t", sheet=None, columns=columns, rows=1)


@given(_names, st.data())
@settings(max_examples=examples(60))
def test_a_users_text_is_a_bound_parameter_or_the_quoted_name_of_a_known_column(
    names: list[str], data: st.DataObject
) -> None:
    kinds = list(KINDS.values())[len(names[0]) % 5 :] * 2
    query = data.draw(_queries(st.one_of(st.sampled_from([*names, ROW_COLUMN]), _text)))
    try:
        compiled = compile_query(query, _info(names, kinds))
    except InvalidInput:
        return
    assert _foreign_text(compiled.sql, {quoted(name) for name in [*names, ROW_COLUMN]}) == set()
    assert _IDENTIFIER.sub("", compiled.sql).count("?") == 1 + len(compiled.parameters)


def test_the_property_would_notice_a_text_that_is_spliced_in() -> None:
    assert _foreign_text('SELECT "a" FROM read_parquet(?) WHERE "a" = \'x\'', {'"a"'}) == {"x", "'"}
    assert _foreign_text('SELECT "a" FROM read_parquet(?) ORDER BY "b"', {'"a"'}) == {'"b"'}
    assert _foreign_text("SELECT 1; DROP TABLE t", set()) == {";", "DROP", "TABLE", "t"}


@pytest.fixture(scope="module")
def nasty(sheets: Sheets) -> TableInfo:
    """A table whose names look like SQL."""
    kinds = list(KINDS.values())
    columns: dict[str, ColumnKind] = {name: kinds[index % len(kinds)] for index, name in enumerate(NASTY_NAMES)}
    return sheets.add(columns, [(*row, *row[: len(NASTY_NAMES) - len(row)]) for row in ROWS])


@given(
    st.sampled_from(list(KINDS)), st.sampled_from(Comparator), _scalars, st.one_of(st.none(), st.sampled_from(DatePart))
)
@settings(max_examples=examples(300))
def test_every_condition_is_answered_or_refused_in_our_own_words(
    sheets: Sheets, table: TableInfo, column: str, comparison: Comparator, value: Scalar, part: DatePart | None
) -> None:
    given = (value,) if comparison in (Comparator.IN, Comparator.NOT_IN) else value
    condition = _where(column, comparison, given, part)
    _answered_or_refused(sheets, table, TableQuery(source="t", conditions=(condition,)))


@given(_queries(st.sampled_from([*NASTY_NAMES, ROW_COLUMN])))
def test_every_query_on_names_that_look_like_sql_is_answered_or_refused(
    sheets: Sheets, nasty: TableInfo, query: TableQuery
) -> None:
    _answered_or_refused(sheets, nasty, query)


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_a_column_of_any_name_can_be_read_filtered_and_counted(sheets: Sheets, nasty: TableInfo, name: str) -> None:
    filled = RowCondition(ColumnRef(name), Comparator.NOT_EMPTY)
    listed = TableQuery(source="t", columns=(name,), conditions=(filled,), order=(Order(name),))
    counted = TableQuery(source="t", groups=(ColumnRef(name),), aggregates=(Aggregate(Function.COUNT, name),))
    engine = TableEngine(sheets)
    rows = asyncio.run(engine.run(OWNER, nasty, listed)).rows
    groups = asyncio.run(engine.run(OWNER, nasty, counted)).rows
    assert len(rows) >= 4
    assert sum(row.values[1] for row in groups) == len(rows)


def _answered_or_refused(sheets: Sheets, table: TableInfo, query: TableQuery) -> None:
    message = ""
    try:
        result = asyncio.run(_engine(sheets.folder).run(OWNER, table, query))
        assert all(len(row.values) == len(result.columns) for row in result.rows)
        assert len(result.rows) <= query.limit
    except InvalidInput as error:
        message = error.message
    assert not re.search(r"Error:|LINE \d|read_parquet|Python|INT\d|BIGINT|\.parquet", message)
    message.encode()


@cache
def _engine(folder: Path) -> TableEngine:
    return TableEngine(Sheets(folder))


# ---- What the rows are ----

_OPERATORS: dict[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQ: lambda cell, value: cell is not None and cell == value,
    Comparator.NE: lambda cell, value: cell is None or cell != value,
    Comparator.LT: lambda cell, value: cell is not None and cell < value,
    Comparator.LTE: lambda cell, value: cell is not None and cell <= value,
    Comparator.GT: lambda cell, value: cell is not None and cell > value,
    Comparator.GTE: lambda cell, value: cell is not None and cell >= value,
}


def _values(kind: str) -> Iterator[Any]:
    column = list(KINDS).index(kind)
    yield from (row[column] for row in ROWS if row[column] is not None)


def _as_json(value: Any) -> Scalar:
    return value.isoformat() if isinstance(value, date | time) else value


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("comparison", _OPERATORS)
def test_comparisons_find_the_rows_that_python_finds(
    ask: Callable[..., TableResult], kind: str, comparison: Comparator
) -> None:
    column = list(KINDS).index(kind)
    for value in _values(kind):
        condition = _where(kind, comparison, _as_json(value))
        if kind == "boolean" and comparison not in (Comparator.EQ, Comparator.NE):
            with pytest.raises(InvalidInput, match="has no order"):
                ask(conditions=(condition,))
            continue
        expected = [n for n, row in enumerate(ROWS, start=2) if _OPERATORS[comparison](row[column], value)]
        assert _numbers(ask(conditions=(condition,))) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_lists_admit_their_members_and_not_in_also_admits_empty_cells(
    ask: Callable[..., TableResult], kind: str
) -> None:
    column = list(KINDS).index(kind)
    members = list(_values(kind))[:2]
    wanted = tuple(_as_json(value) for value in members)
    inside = [n for n, row in enumerate(ROWS, start=2) if row[column] in members and row[column] is not None]
    assert _numbers(ask(conditions=(_where(kind, Comparator.IN, wanted),))) == inside
    outside = _numbers(ask(conditions=(_where(kind, Comparator.NOT_IN, wanted),)))
    assert outside == [n for n in range(2, 8) if n not in inside]
    assert 4 in outside


@pytest.mark.parametrize("kind", KINDS)
def test_empty_and_filled_cells_make_up_all_rows(ask: Callable[..., TableResult], kind: str) -> None:
    column = list(KINDS).index(kind)
    empty = _numbers(ask(conditions=(_where(kind, Comparator.EMPTY),)))
    assert empty == [n for n, row in enumerate(ROWS, start=2) if row[column] is None]
    filled = _numbers(ask(conditions=(_where(kind, Comparator.NOT_EMPTY),)))
    assert sorted([*empty, *filled]) == list(range(2, 8))


@pytest.mark.parametrize(
    ("comparison", "value", "rows"),
    [
        (Comparator.CONTAINS, "CCR", [2, 3]),
        (Comparator.STARTS_WITH, "ac", [2, 3]),
        (Comparator.STARTS_WITH, "ccra", []),
        (Comparator.CONTAINS, "% 'OFF'", [6]),
        (Comparator.CONTAINS, "_", []),
        (Comparator.CONTAINS, "ΟΔΟΣ", [7]),  # Python and DuckDB differ in the small letter of a last sigma
        (Comparator.CONTAINS, "İSTAN", [7]),
    ],
)
def test_parts_of_texts_are_found_in_any_case(
    ask: Callable[..., TableResult], comparison: Comparator, value: str, rows: list[int]
) -> None:
    assert _numbers(ask(conditions=(_where("text", comparison, value),))) == rows


def test_all_conditions_must_hold(ask: Callable[..., TableResult]) -> None:
    both = (_where("integer", Comparator.GT, 1), _where("boolean", Comparator.EQ, True))
    assert _numbers(ask(conditions=both)) == [5]


@pytest.mark.parametrize(
    ("part", "value", "rows"),
    [(DatePart.YEAR, 2024, [2, 3, 7]), (DatePart.QUARTER, "2024-Q1", [2, 7]), (DatePart.MONTH, "2025-02", [5]), (DatePart.DAY, "2024-05-01", [3])],
)  # fmt: skip
def test_a_part_of_a_date_can_be_compared(
    ask: Callable[..., TableResult], part: DatePart, value: Scalar, rows: list[int]
) -> None:
    assert _numbers(ask(conditions=(_where("date", Comparator.EQ, value, part),))) == rows


@pytest.mark.parametrize("part", DatePart)
def test_a_missing_date_has_no_part_either(ask: Callable[..., TableResult], part: DatePart) -> None:
    assert _numbers(ask(conditions=(_where("date", Comparator.EMPTY, part=part),))) == [4]
    groups = ask(groups=(ColumnRef("date", part),), aggregates=(Aggregate(Function.COUNT),))
    assert {row.values[0]: row.values[1] for row in groups.rows}[None] == 1
    assert groups.columns == (f"{part.value}(date)", "count")


def test_figures_are_exact_and_say_which_rows_they_come_from(ask: Callable[..., TableResult]) -> None:
    functions = (
        Function.COUNT,
        Function.COUNT_DISTINCT,
        Function.SUM,
        Function.AVG,
        Function.MIN,
        Function.MAX,
        Function.MEDIAN,
    )
    result = ask(aggregates=(Aggregate(Function.COUNT), *(Aggregate(f, "integer") for f in functions)))  # fmt: skip
    whole = 2**53 + 1
    assert result.columns[0] == "count"
    assert result.columns[3] == "sum(integer)"
    assert result.rows[0].values[:4] == (6, 5, 5, 1 + 2 + 3 - 7 + whole)
    assert result.rows[0].values[4] == pytest.approx((whole - 1) / 5)
    assert result.rows[0].values[5:] == (-7, whole, 2)
    facts = result.rows[0].rows
    assert (facts.count, facts.first, facts.last, facts.listed) == (6, 2, 7, (2, 3, 4, 5, 6, 7))


def test_groups_list_their_rows_and_come_in_the_order_asked_for(ask: Callable[..., TableResult]) -> None:
    by_flag = {"groups": (ColumnRef("boolean"),), "aggregates": (Aggregate(Function.SUM, "integer"),)}
    highest = ask(**by_flag, order=(Order("sum(integer)", descending=True),))
    assert [row.values for row in highest.rows] == [(None, 2**53 + 1), (True, 4), (False, -5)]
    assert [row.rows.listed for row in highest.rows] == [(4, 7), (2, 5), (3, 6)]
    lowest = ask(**by_flag, order=(Order("sum(integer)"),), limit=1)
    assert [row.values for row in lowest.rows] == [(False, -5)]
    assert [row.values[0] for row in ask(groups=(ColumnRef("boolean"),)).rows] == [False, True, None]


def test_rows_come_in_the_files_order_unless_told_otherwise_and_empty_cells_last(
    ask: Callable[..., TableResult],
) -> None:
    assert _numbers(ask(columns=("text",))) == [2, 3, 4, 5, 6, 7]
    assert _numbers(ask(order=(Order("number", descending=True),))) == [5, 7, 2, 6, 3, 4]
    assert _numbers(ask(order=(Order("number"),), columns=("text",))) == [3, 6, 2, 7, 5, 4]
    assert _numbers(ask(order=(Order(ROW_COLUMN, descending=True),), limit=2)) == [7, 6]


def test_a_long_group_lists_its_first_rows_and_counts_all(sheets: Sheets) -> None:
    long = sheets.add({"n": "integer"}, [(1,)] * (THRESHOLDS.listed_rows + 10))
    query = TableQuery(source="t", aggregates=(Aggregate(Function.COUNT),))
    facts = asyncio.run(TableEngine(sheets).run(OWNER, long, query)).rows[0].rows
    assert facts.listed == tuple(range(2, THRESHOLDS.listed_rows + 2))
    assert (facts.count, facts.last) == (THRESHOLDS.listed_rows + 10, THRESHOLDS.listed_rows + 11)


# ---- What is refused, and how values are read ----


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"columns": ("nothing",)}, "no column 'nothing'. The columns are: text, integer"),
        ({"columns": ("TEXT",)}, "no column 'TEXT'"),
        ({"aggregates": (Aggregate(Function.SUM, "text"),)}, "`text` holds text, which has no sum"),
        ({"aggregates": (Aggregate(Function.AVG, "date"),)}, "`date` holds date, which has no avg"),
        ({"aggregates": (Aggregate(Function.MEDIAN, "boolean"),)}, "has no median"),
        ({"groups": (ColumnRef("text", DatePart.YEAR),)}, "`text` holds text, not dates; it has no year"),
        ({"groups": (ColumnRef("text"),), "columns": ("date",)}, "may only name columns of `groups`"),
        ({"groups": (ColumnRef("text"),), "order": (Order("date"),)}, "`order` names 'date'; it may name text, count"),
        ({"conditions": (_where("integer", Comparator.EQ, "many"),)}, "`integer` holds integer; 'many' cannot be compared with it"),
        ({"conditions": (_where("date", Comparator.GT, "yesterday"),)}, "'yesterday' cannot be compared"),
        ({"conditions": (_where("boolean", Comparator.EQ, 1),)}, "`boolean` holds boolean"),
        ({"conditions": (_where("integer", Comparator.EQ, True),)}, "`integer` holds integer; True cannot"),
        ({"conditions": (_where("text", Comparator.EQ, None),)}, "`eq` needs one `value`"),
        ({"conditions": (_where("text", Comparator.CONTAINS, ("a", "b")),)}, "`contains` needs one `value`"),
        ({"conditions": (_where("text", Comparator.EQ, "\ud800"),)}, "`text` holds text"),
        ({"conditions": (_where("text", Comparator.CONTAINS, "\ud800"),)}, "`text` holds text"),
        ({"conditions": (_where("time", Comparator.EQ, "08:30+01:00"),)}, "`time` holds time"),
        ({"conditions": (_where("datetime", Comparator.GT, "0001-01-01T00:00:00+02:00"),)}, "`datetime` holds datetime"),
    ],
)  # fmt: skip
def test_what_the_table_cannot_answer_is_refused_with_the_reason(
    table: TableInfo, parts: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        compile_query(TableQuery(source="t", **parts), table)
    assert words in refused.value.message


@pytest.mark.parametrize(
    ("column", "written", "bound"),
    [
        ("integer", "1,234,567", 1_234_567),
        ("number", " 12.5 ", 12.5),
        ("number", "1,234.5", 1234.5),
        ("integer", 10**40, 1e40),
        pytest.param("integer", -(10**400), float("-inf"), id="past floats"),
        ("integer", 2**127 - 1, 2**127 - 1),
        ("text", 5, "5"),
        ("boolean", "TRUE", True),
        ("date", "2024-01-31T23:00:00", date(2024, 1, 31)),
        ("datetime", "2024-01-31", datetime(2024, 1, 31)),
        ("datetime", "2024-01-31T10:00:00+02:00", datetime(2024, 1, 31, 8)),
        ("datetime", "2024-01-31T10:00:00Z", datetime(2024, 1, 31, 10)),
        ("time", "08:30", time(8, 30)),
    ],
)
def test_values_are_bound_as_what_their_column_holds(
    table: TableInfo, column: str, written: Scalar, bound: object
) -> None:
    query = TableQuery(source="t", conditions=(_where(column, Comparator.EQ, written),))
    compiled = compile_query(query, table)
    assert compiled.parameters == (bound,)
    assert type(compiled.parameters[0]) is type(bound)


def test_a_plain_query_selects_all_columns_and_the_row_number(table: TableInfo) -> None:
    listed = ", ".join(
        f'CASE WHEN NOT isnan("{name}") THEN "{name}" END' if name == "number" else f'"{name}"' for name in KINDS
    )
    assert compile_query(TableQuery(source="t"), table) == Compiled(
        f'SELECT {listed}, "_row" FROM read_parquet(?) WHERE true ORDER BY "_row" LIMIT 20', (), tuple(KINDS), False
    )


def test_a_number_too_large_for_any_column_is_still_compared(ask: Callable[..., TableResult]) -> None:
    assert len(ask(conditions=(_where("integer", Comparator.LT, 10**400),)).rows) == 5
    assert ask(conditions=(_where("number", Comparator.GT, 10**400),)).rows == ()


def test_the_copy_is_of_real_parquet(sheets: Sheets, table: TableInfo) -> None:
    assert Path(sheets.path(table)).read_bytes()[:4] == b"PAR1"
