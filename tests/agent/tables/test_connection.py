"""A query's database reads one file and nothing else of this machine, whatever the SQL."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from citewell.agent.tables.run.copies import connect
from tests.agent.tables.sheets import Sheets


def test_the_one_file_is_read(sheets: Sheets) -> None:
    path = sheets.path(sheets.add({"n": "integer"}, [(7,)]))
    with connect(path) as connection:
        assert connection.execute("SELECT n FROM read_parquet(?)", [str(path)]).fetchall() == [(7,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_parquet('{other}')",
        "SELECT * FROM read_csv('{other}')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/written.csv'",
        "ATTACH '{folder}/new.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "SET allowed_paths = ['/']",
    ],
)
def test_no_other_file_no_write_and_no_change_of_the_rules(sheets: Sheets, sql: str) -> None:
    path = sheets.path(sheets.add({"n": "integer"}, [(7,)]))
    other = sheets.path(sheets.add({"n": "integer"}, [(8,)]))
    before = sorted(sheets.folder.iterdir())
    with connect(path) as connection, pytest.raises(duckdb.Error):
        connection.execute(sql.format(other=other, folder=sheets.folder)).fetchall()
    assert sorted(sheets.folder.iterdir()) == before


def test_a_path_with_a_quote_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    sheets = Sheets(folder)
    plain = Sheets(tmp_path)
    path = plain.path(plain.add({"n": "integer"}, [(7,)])).rename(sheets.folder / "a.parquet")
    with connect(path) as connection:
        assert connection.execute("SELECT n FROM read_parquet(?)", [str(path)]).fetchall() == [(7,)]


def test_moments_are_compared_in_utc(sheets: Sheets) -> None:
    path = sheets.path(sheets.add({"n": "integer"}, [(7,)]))
    with connect(path) as connection:
        assert connection.execute("SELECT current_setting('TimeZone')").fetchall() == [("UTC",)]
