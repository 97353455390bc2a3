"""Whatever type a file's columns have, questions are answered: about it, and about other files."""

from __future__ import annotations

import datetime
import importlib
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.picture.illustrator import Illustrator
from citewell.agent.tables.picture.planner import PicturePlanner, PlannedPicture
from citewell.agent.tables.planner import Planned
from citewell.agent.tables.query.typed import TableQuery
from citewell.agent.tables.run.copies import CopyReader
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import result_text, row_hits
from citewell.features.suggestions.tables import table_questions
from citewell.features.tables.schemas import RowPage, SpreadOut
from citewell.features.tables.service import TableService
from citewell.storage.files.table_copies import _column
from citewell.types import Scope, TableInfo
from tests.agent.tables.sheets import planner_of
from tests.extract.documents.reading import Reading, read
from tests.extract.tabular.tables import copy_path, tables

pytestmark = pytest.mark.full

pa: Any = importlib.import_module("pyarrow")  # its types are partly known
pq: Any = importlib.import_module("pyarrow.parquet")
OWNER = "ada"
ITEMS = ["Rake", "Spade", "Fork"]
NAN, INF = float("nan"), float("inf")


def _of(kind: Any, *values: object) -> Callable[[], Any]:
    return lambda: pa.array([*values], type=kind)


def _numbers(kind: Any) -> Callable[[], Any]:
    return _of(kind, 1, None, 120)


_BYTES = (b"abc", None, b"\xff\x00")
_STRUCT = pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.decimal128(9, 2))]))])
_DAY = datetime.date(2024, 1, 2)
ARROW: dict[str, Callable[[], Any]] = {
    "NA": lambda: pa.nulls(3),
    "BOOL": _of(pa.bool_(), True, None, False),
    "INT8": _numbers(pa.int8()),
    "INT16": _numbers(pa.int16()),
    "INT32": _numbers(pa.int32()),
    "INT64": _of(pa.int64(), -(2**63), None, 2**63 - 1),
    "UINT8": _numbers(pa.uint8()),
    "UINT16": _numbers(pa.uint16()),
    "UINT32": _numbers(pa.uint32()),
    "UINT64": _of(pa.uint64(), 0, None, 2**64 - 1),
    "HALF_FLOAT": _of(pa.float16(), 1.5, NAN, INF),
    "FLOAT": _of(pa.float32(), 1.5, NAN, -INF),
    "DOUBLE": _of(pa.float64(), 1e308, NAN, -INF),
    "DECIMAL32": _of(pa.decimal32(7, 2), Decimal("9.95"), None, Decimal("12.50")),
    "DECIMAL64": _of(pa.decimal64(17, 2), Decimal("9.95"), None, Decimal("12.50")),
    "DECIMAL128": _of(pa.decimal128(38, 2), Decimal("9.95"), None, Decimal(10) ** 35),
    "DECIMAL256": _of(pa.decimal256(70, 2), Decimal("9.95"), None, Decimal(10) ** 50),
    "DATE32": _of(pa.date32(), _DAY, None, 10_000_000),
    "DATE64": _of(pa.date64(), _DAY, None, datetime.date(1, 1, 1)),
    "TIME32": _of(pa.time32("ms"), datetime.time(10, 30), None, datetime.time(23, 59, 59)),
    "TIME64": _of(pa.time64("ns"), datetime.time(10, 30), None, datetime.time(23, 59, 59, 999_999)),
    "TIMESTAMP": _of(pa.timestamp("us"), datetime.datetime(2024, 1, 2, 3, 4, 5), None, 2**62),
    "DURATION": _of(pa.duration("us"), datetime.timedelta(hours=1, minutes=15), None, datetime.timedelta(days=-40)),
    "STRING": _of(pa.string(), "alpha", None, "gamma"),
    "LARGE_STRING": _of(pa.large_string(), "alpha", None, ""),
    "STRING_VIEW": _of(pa.string_view(), "alpha", None, "x" * 50),
    "BINARY": _of(pa.binary(), *_BYTES),
    "LARGE_BINARY": _of(pa.large_binary(), *_BYTES),
    "BINARY_VIEW": _of(pa.binary_view(), *_BYTES),
    "FIXED_SIZE_BINARY": _of(pa.binary(16), uuid.UUID(int=7).bytes, None, b"\0" * 16),
    "LIST": _of(pa.list_(pa.int32()), [1, 2], None, []),
    "LARGE_LIST": _of(pa.large_list(pa.int32()), [1, 2], None, []),
    "LIST_VIEW": _of(pa.list_view(pa.int32()), [1, 2], None, []),
    "LARGE_LIST_VIEW": _of(pa.large_list_view(pa.int32()), [1, 2], None, []),
    "FIXED_SIZE_LIST": _of(pa.list_(pa.float32(), 2), [1.0, 2.0], None, [NAN, 3.0]),
    "STRUCT": _of(_STRUCT, {"a": 1, "b": {"c": Decimal("1.25")}}, None, {"a": None, "b": None}),
    "MAP": _of(pa.map_(pa.string(), pa.int32()), [("k", 1)], None, []),
    "DICTIONARY": lambda: pa.array(["red", None, "blue"]).dictionary_encode(),
}
"""A column of each of Arrow's types."""
NOT_IN_PARQUET = {"INTERVAL_MONTHS", "INTERVAL_DAY_TIME", "INTERVAL_MONTH_DAY_NANO", "RUN_END_ENCODED", "SPARSE_UNION", "DENSE_UNION"}  # fmt: skip
"""Those that pyarrow does not write."""
VARIANTS: dict[str, Callable[[], Any]] = {
    "whole decimals": _of(pa.decimal128(38, 0), Decimal(120), None, Decimal(95)),
    "moments with a zone": _of(pa.timestamp("us", "Africa/Accra"), datetime.datetime(2024, 1, 2), None, 2**62),
    "nanoseconds with a zone": _of(pa.timestamp("ns", "UTC"), 1_704_164_645_000_000_007, None, 0),
    "seconds": _of(pa.timestamp("s"), 0, None, 10**12),
    "decimals in a dictionary": lambda: pa.array([Decimal("1.5"), None, Decimal("2.5")]).dictionary_encode(),
    "list of structures": _of(pa.list_(_STRUCT), [{"a": 1, "b": None}], None, []),
    "nothing but NaN": _of(pa.float64(), NAN, NAN, NAN),
}


def _csv(value: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "v.csv"
        path.write_text("item,value\n" + "\n".join(f"{item},{value}" for item in ITEMS) + "\n", encoding="utf-8")
        return path

    return write


CSV = {
    "integer": "7", "huge": "9" * 40, "number": "1.5", "exponent": "1e308", "grouped": '"1,234.5"', "comma": '"1.234,5"', "percent": "12%",
    "currency": "$9.95", "negative": "(9.95)", "date": "2024-01-31", "day first": "31/01/2024", "datetime": "2024-01-31 10:30", "zone": "2024-01-31T10:30:00+02:00",
    "time": "10:30", "duration": "30:15:00", "boolean": "true", "nan": "NaN", "infinite": "inf", "empty": "", "text": "alpha", "json": '"{""a"": [1]}"', "nul": "a\0b",
}  # fmt: skip


def _xlsx(value: Any, number_format: str = "") -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "v.xlsx"
        with xlsxwriter.Workbook(str(path), {"nan_inf_to_errors": True}) as book:
            sheet, form = book.add_worksheet("Sheet"), book.add_format({"num_format": number_format})
            sheet.write_row(0, 0, ["item", "value"])
            for row, item in enumerate(ITEMS, 1):
                sheet.write(row, 0, item)
                sheet.write(row, 1, value, form)
        return path

    return write


XLSX = {
    "integer": _xlsx(7), "large": _xlsx(10**20), "number": _xlsx(1.5), "currency": _xlsx(9.95, "£0.00"), "percent": _xlsx(0.12, "0%"), "text": _xlsx("alpha"),
    "boolean": _xlsx(True), "date": _xlsx(_DAY, "yyyy-mm-dd"), "datetime": _xlsx(datetime.datetime(2024, 1, 2, 3, 4), "yyyy-mm-dd hh:mm"), "time": _xlsx(datetime.time(10, 30), "hh:mm"),
    "duration": _xlsx(datetime.timedelta(hours=30), "[h]:mm:ss"), "formula": _xlsx("=1/0"), "error": _xlsx(NAN), "infinite": _xlsx(INF), "blank": _xlsx(None),
}  # fmt: skip


def _parquet(column: Callable[[], Any]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "v.parquet"
        pq.write_table(pa.table({"item": ITEMS, "value": column()}), path)
        return path

    return write


FILES: dict[str, Callable[[Path], Path]] = {
    **{f"Parquet {name}": _parquet(column) for name, column in {**ARROW, **VARIANTS}.items()},
    **{f"CSV {name}": _csv(value) for name, value in CSV.items()},
    **{f"XLSX {name}": write for name, write in XLSX.items()},
}
QUESTIONS = (
    "When is the boathouse locked?",
    "How many rows are there?",
    "What is the value of Spade?",
    "What is the total value?",
    "Which item has the highest value?",
    "What is the average value by item?",
    "How many items have a value over 1?",
    "Draw a chart of value by item",
    "Show the distribution of value",
)


@dataclass(frozen=True)
class OneTable:
    """`Tables` of a single copy."""

    path: Path
    info: TableInfo

    async def list_tables(self, owner_id: str, scope: Scope) -> list[TableInfo]:
        return [self.info]

    async def open_table(self, owner_id: str, table: TableInfo) -> Path:
        return self.path


def _info(reading: Reading) -> TableInfo:
    (table,) = tables(reading)
    columns = tuple(map(_column, table["columns"]))
    return TableInfo(
        id="t0", resource_id="r", version=1, filename="v.parquet", name="data", sheet=table.get("sheet"), columns=columns, rows=table["row_count"],
    )  # fmt: skip


def test_every_type_of_arrow_is_tried_that_a_parquet_file_can_have() -> None:
    known = {name.removeprefix("Type_") for name in dir(pa.lib) if name.startswith("Type_")}
    assert known == ARROW.keys() | NOT_IN_PARQUET


@pytest.mark.parametrize("kind", FILES)
async def test_every_question_is_planned_run_and_phrased(kind: str, tmp_path: Path) -> None:
    reading = read(FILES[kind](tmp_path))
    found = OneTable(copy_path(reading), _info(reading))
    assert found.info.rows == len(ITEMS)
    engine = TableEngine(found)
    planner = planner_of(engine)
    pictures = PicturePlanner(engine, planner)
    for question in QUESTIONS:
        planned = await planner.consider(OWNER, question, [found.info])
        if isinstance(planned, Planned):
            result = await engine.run(OWNER, found.info, planned.plan.query)
            phrase(planned.plan, result, planned.left_out, [*range(1, 99)])
            row_hits(OWNER, result)
            await Illustrator(engine).draw(OWNER, result, ())
        drawn = await pictures.consider(OWNER, question, [found.info])
        if isinstance(drawn, PlannedPicture):
            row_hits(OWNER, await engine.run(OWNER, found.info, drawn.query))
    whole = await engine.run(OWNER, found.info, TableQuery(source="r/t0"))
    assert len(result_text(whole, [1, 2, 3]).splitlines()) == len(ITEMS)
    assert all(_is_plain(value) for row in whole.rows for value in row.values)
    table_questions(reading.summary.metadata["tables"])


@pytest.mark.parametrize("kind", FILES)
async def test_its_rows_and_distributions_can_be_looked_at(kind: str, tmp_path: Path) -> None:
    reading = read(FILES[kind](tmp_path))
    found = OneTable(copy_path(reading), _info(reading))
    service = TableService(tables=found, copies=CopyReader())  # type: ignore[arg-type]
    page = RowPage.of(await service.page(OWNER, OWNER, "r", "t0", 0, 100, None))
    assert [row.cells[0] for row in page.rows] == ITEMS
    json.loads(page.model_dump_json(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    for column in page.columns:
        spread = SpreadOut.model_validate(await service.spread(OWNER, OWNER, "r", "t0", column))
        assert sum(bar.count for bar in spread.bars) + spread.others <= len(ITEMS)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | datetime.date | datetime.time)
