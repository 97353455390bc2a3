"""Tables far wider than they are filled: read in seconds and little memory, every value kept, and said so."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from citewell.extract.formats.tabular import writer
from citewell.extract.sandbox import ParserLimits
from citewell.ingest.parser_scratch import read_elements
from citewell.ingest.parsers import ParserPool
from citewell.types import ExtractOptions
from tests.extract.documents.reading import read, read_bytes
from tests.extract.tabular.tables import column, copied, rows, tables

pytestmark = [pytest.mark.full, pytest.mark.slow(25)]


async def test_records_that_share_no_field_are_read_in_seconds_and_little_memory(tmp_path: Path) -> None:
    source = tmp_path / "wide.json"
    source.write_text(json.dumps([{f"key {n}": n} for n in range(20_000)]))
    limits = ParserLimits(memory_bytes=400 << 20, stall_seconds=20, total_seconds=40)
    async with ParserPool(1, limits=limits) as pool:
        summary = await pool.parse(source, source.name, ExtractOptions(), tmp_path / "scratch")
    assert summary.coverage.rows == 20_000
    texts = [element.text for element in read_elements(tmp_path / "scratch")]
    assert "key 7: 7" in texts[7]
    assert all(f"key {n}" in texts[n] for n in (0, 999, 1_000, 19_999))
    assert "different fields" in " ".join(summary.coverage.units[0].warnings)


def test_a_field_has_all_its_values_in_its_column_or_none(tmp_path: Path) -> None:
    records = [{"id": n, f"only {n}": n} for n in range(3_000)] + [{"id": n, "late": n} for n in range(3_000, 3_100)]
    reading = read_bytes(tmp_path, "a.ndjson", "\n".join(map(json.dumps, records)))
    found = copied(reading)
    assert len(found) == 3_100
    assert column(reading, "id")["sum"] == sum(range(3_100))
    for record, row in zip(records, found, strict=True):
        more = json.loads(row.pop("(more)") or "{}")
        del row["_row"]
        kept = {name: value for name, value in row.items() if value is not None}
        assert kept | more == record
        assert not kept.keys() & more.keys()


def test_records_with_many_fields_each_keep_their_columns(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.json", json.dumps([{f"f{n}": n * m for n in range(600)} for m in range(30)]))
    assert tables(reading)[0]["column_count"] == 600
    assert "different fields" not in reading.notes()


def test_columns_beyond_the_thousandth_share_one(tmp_path: Path) -> None:
    lines = [",".join(f"c{n}" for n in range(3_000)), *(",".join(str(n * m) for n in range(3_000)) for m in range(5))]
    reading = read_bytes(tmp_path, "a.csv", "\n".join(lines))
    assert tables(reading)[0]["column_count"] == 1_001
    assert column(reading, "c999")["sum"] == 999 * 10
    assert json.loads(copied(reading)[2]["(more)"])["c2999"] == str(2 * 2_999)
    assert '"c2999": "5998"' in rows(reading)[2].text
    assert "3,000 columns" in reading.notes()


def test_a_row_longer_than_all_others_does_not_widen_the_table_for_them(tmp_path: Path) -> None:
    lines = ["a,b", *(f"{n},{n}" for n in range(2_000)), ",".join(map(str, range(5_000))), *["1,1"] * 2_000]
    reading = read_bytes(tmp_path, "a.csv", "\n".join(lines))
    assert tables(reading)[0]["column_count"] < 300
    assert tables(reading)[0]["row_count"] == 4_001
    long = rows(reading)[2_000]
    assert "4999" in long.text
    assert "5,000 columns" in reading.notes()
    assert copied(reading)[2_001]["a"] == 1


def test_a_table_of_nothing_but_gaps_keeps_its_rows_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_ROOMY_CELLS", 1_000_000)
    lines = [",".join(f"c{n}" for n in range(400)), ",".join(map(str, range(400))), *(f"{n}," for n in range(6_000))]
    reading = read_bytes(tmp_path, "a.csv", "\n".join(lines))
    assert len(rows(reading)) == 6_001
    assert "no exact copy" in reading.notes()
    assert not tables(reading)
    assert not reading.summary.blobs


def test_a_shortage_of_memory_costs_the_copy_and_not_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*_: object) -> None:
        raise duckdb.OutOfMemoryException("no memory")

    monkeypatch.setattr("citewell.extract.formats.tabular.copies.write_parquet", short)
    reading = read_bytes(tmp_path, "a.csv", "a,b\n" + "\n".join(f"{n},{n}" for n in range(100)))
    assert len(rows(reading)) == 100
    assert "more memory than a copy may use" in reading.notes()
    assert not reading.summary.blobs


def test_a_parquet_file_of_many_columns_is_read_as_far_as_memory_allows_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    columns = ", ".join(f"i * {n} AS c{n}" for n in range(2_500))
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {columns} FROM range(5) r(i)) TO '{path}' (FORMAT parquet)")
    reading = read(path)
    assert tables(reading)[0]["column_count"] == 1_001
    assert json.loads(copied(reading)[3]["(more)"])["c1999"] == 3 * 1_999
    assert "the last 500 of 2,500 columns" in reading.notes()
