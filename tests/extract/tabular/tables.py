"""What the tests ask of a read data file: its tables' facts, and its copies as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from citewell.types import Element, ElementType
from tests.extract.documents.reading import Reading


def tables(reading: Reading) -> list[dict[str, Any]]:
    return list(reading.summary.metadata["tables"])  # type: ignore[arg-type]


def column(reading: Reading, name: str, table: int = 0) -> dict[str, Any]:
    return next(column for column in tables(reading)[table]["columns"] if column["name"] == name)


def rows(reading: Reading) -> list[Element]:
    return reading.of(ElementType.ROW)


def copy_path(reading: Reading, table: int = 0) -> Path:
    name = tables(reading)[table]["copy"]
    blob = next(blob for blob in reading.summary.blobs if blob.name == name)
    assert blob.kind == "parquet"
    return reading.folder / blob.path


def copied(reading: Reading, table: int = 0) -> list[dict[str, Any]]:
    """The rows of a table's Parquet copy."""
    with duckdb.connect() as connection:
        relation = connection.execute("SELECT * FROM read_parquet(?)", [str(copy_path(reading, table))])
        names = [description[0] for description in relation.description or ()]
        return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]


def copied_types(reading: Reading, table: int = 0) -> dict[str, str]:
    with duckdb.connect() as connection:
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(copy_path(reading, table))])
        return {row[0]: row[1] for row in described.fetchall()}
