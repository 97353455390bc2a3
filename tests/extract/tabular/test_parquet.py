from __future__ import annotations

import base64
import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import CorruptFile, PasswordRequired
from citewell.extract.formats.tabular.arrow_durations import durations
from citewell.extract.formats.tabular.copies import connect
from tests.extract.documents.reading import Reading, read, read_bytes
from tests.extract.tabular.tables import column, copied, copied_types, rows, tables


def parquet(folder: Path, query: str) -> Reading:
    """The reading of a Parquet file that holds a query's rows."""
    path = folder / "a.parquet"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return read(path)


def test_rows_are_numbered_in_order_and_copied_with_their_types(tmp_path: Path) -> None:
    reading = parquet(tmp_path, "SELECT i::INTEGER AS id, 'n' || i AS name, i / 4 AS share FROM range(3) t(i)")
    assert [row.text for row in rows(reading)][1] == "id: 1 | name: n1 | share: 0.25"
    assert [row.locator.row for row in rows(reading)] == [1, 2, 3]
    assert copied_types(reading) == {"_row": "BIGINT", "id": "INTEGER", "name": "VARCHAR", "share": "DOUBLE"}
    assert copied(reading)[2] == {"_row": 3, "id": 2, "name": "n2", "share": 0.5}
    assert column(reading, "id")["sum"] == 3
    assert tables(reading)[0]["row_count"] == 3


def test_structures_become_paths_and_lists_become_json(tmp_path: Path) -> None:
    query = "SELECT {'name': 'Ama', 'home': {'city': 'Accra'}} AS who, [1, 2] AS marks, MAP {'k': 1} AS extra"
    (row,) = rows(parquet(tmp_path, query))
    assert row.values == {"who.name": "Ama", "who.home.city": "Accra", "marks": "[1,2]", "extra": '{"k":1}'}


def test_every_type_can_be_read(tmp_path: Path) -> None:
    query = """
        SELECT true AS b, 1::TINYINT AS i1, 2::UBIGINT AS u8, 1.5::FLOAT AS f, 12.34::DECIMAL(9, 2) AS d,
               1::DECIMAL(38, 2) AS wide, DATE '2024-02-29' AS day, TIME '10:30:00' AS clock,
               TIMESTAMP '2024-01-02 03:04:05' AS moment, TIMESTAMPTZ '2024-01-02 03:04:05+02:00' AS zoned,
               TIMESTAMP_NS '2024-01-02 03:04:05.123456789' AS nanos, INTERVAL 1 DAY AS span,
               uuid '12345678-1234-1234-1234-123456789abc' AS id, 'abc'::BLOB AS words, '\\xFF\\x00'::BLOB AS bytes,
               'x'::ENUM('x', 'y') AS pick, NULL::INTEGER AS nothing
    """
    reading = parquet(tmp_path, query)
    assert rows(reading)[0].values == {
        "b": True,
        "i1": 1,
        "u8": 2,
        "f": 1.5,
        "d": 12.34,
        "wide": "1.00",
        "day": "2024-02-29",
        "clock": "10:30:00",
        "moment": "2024-01-02 03:04:05",
        "zoned": "2024-01-02 01:04:05",
        "nanos": "2024-01-02 03:04:05.123456789",
        "span": "1 day",
        "id": "12345678-1234-1234-1234-123456789abc",
        "words": "abc",
        "bytes": "<2 bytes>",
        "pick": "x",
    }
    assert copied(reading)[0]["day"] == datetime.date(2024, 2, 29)
    assert column(reading, "nothing")["nulls"] == 1


def test_numbers_without_end_are_left_out_of_statistics_and_counted(tmp_path: Path) -> None:
    reading = parquet(tmp_path, "SELECT unnest([1.0, 'nan'::DOUBLE, 'inf'::DOUBLE, 3.0, NULL]) AS v")
    facts = column(reading, "v")
    assert (facts["mean"], facts["max"], facts["not_finite"], facts["nulls"]) == (2.0, 3.0, 2, 1)


def test_columns_whose_names_differ_by_case_only_are_kept_apart(tmp_path: Path) -> None:
    reading = parquet(tmp_path, "SELECT {'a': 1, 'b': 2} AS x, 3 AS \"x.A\", 4 AS _row")
    assert [c["name"] for c in tables(reading)[0]["columns"]] == ["x.a", "x.b", "x.A (2)", "_row (2)"]


def test_damaged_and_encrypted_files_are_typed_errors(tmp_path: Path) -> None:
    parquet(tmp_path, "SELECT range AS n FROM range(10000)")
    whole = (tmp_path / "a.parquet").read_bytes()
    with pytest.raises(CorruptFile) as error:
        read_bytes(tmp_path, "cut.parquet", whole[:-40])
    assert str(tmp_path) not in error.value.message
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "holes.parquet", whole[:200] + b"\xff" * 400 + whole[600:])
    with pytest.raises(PasswordRequired):
        read_bytes(tmp_path, "locked.parquet", b"PARE" + whole[4:-4] + b"PARE")


def test_a_reader_reaches_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    connection = connect(tmp_path / "scratch")
    with pytest.raises(duckdb.Error):
        connection.execute(f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    with pytest.raises(duckdb.Error):
        connection.execute(f"COPY (SELECT 1) TO '{tmp_path / 'out.parquet'}'")
    with pytest.raises(duckdb.Error):
        connection.execute("SET enable_external_access = true")
    connection.close()


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_lengths_of_time_are_read_as_times(tmp_path: Path, unit: str, factor: int) -> None:
    seconds = [4500, 108_000, None, -60]
    took = [None if one is None else one * factor for one in seconds]
    table = pa.table({"run": ["a", "b", "c", "d"], "took": pa.array(took, pa.duration(unit)), "count": took})
    pq.write_table(table, tmp_path / "a.parquet")
    reading = read(tmp_path / "a.parquet")
    stored = ["01:15:00", "30:00:00", None, "-00:01:00"] if unit != "s" else None
    if stored is not None:  # Parquet has no durations in seconds; the library stores them as plain numbers
        assert [line["took"] for line in copied(reading)] == stored
        assert column(reading, "took")["dtype"] == "text"
    assert column(reading, "count")["dtype"] == "integer"


def test_fractions_of_seconds_are_kept(tmp_path: Path) -> None:
    pq.write_table(pa.table({"took": pa.array([1_250_000], pa.duration("us"))}), tmp_path / "a.parquet")
    assert copied(read(tmp_path / "a.parquet"))[0]["took"] == "00:00:01.25"


@given(st.binary(max_size=300))
def test_a_damaged_schema_names_no_durations(data: bytes) -> None:
    assert isinstance(durations(data), dict)
    assert isinstance(durations(base64.b64encode(b"\xff\xff\xff\xff" + data)), dict)
