"""Statistics of a table's columns, computed over all rows of its Parquet copy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.extract.tabular.copies import literal, quoted
from citewell.extract.tabular.inference import ColumnKind
from citewell.types import JsonObject, JsonValue

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NUMBERS = ("integer", "number")
_ORDERED = (*_NUMBERS, "date", "datetime", "time")
_EXACT_DISTINCT_ROWS = 500_000
_SAMPLES = 5
_SAMPLE_ROWS = 1_000
_LONGEST_SAMPLE = 200


def describe(
    connection: DuckDBPyConnection, copy: Path, names: Sequence[str], kinds: Sequence[ColumnKind], rows: int
) -> list[JsonObject]:
    """One object per column: name, dtype, nulls, distinct, samples; for numbers and dates their range, mean and sum too."""
    return [_describe_column(connection, copy, name, kind, rows) for name, kind in zip(names, kinds, strict=True)]


def _describe_column(connection: DuckDBPyConnection, copy: Path, name: str, found: ColumnKind, rows: int) -> JsonObject:
    column, source = quoted(name), f"read_parquet({literal(str(copy))})"
    dtype = found.kind.dtype
    wanted = {"nulls": f"count(*) - count({column})"}
    if rows <= _EXACT_DISTINCT_ROWS:
        wanted["distinct"] = f"count(DISTINCT {column})"
    else:
        wanted["distinct_about"] = f"approx_count_distinct({column})"
    if dtype in _ORDERED:
        wanted |= {"min": f"min({column})", "max": f"max({column})"}
    if dtype in _NUMBERS:
        exact = f"sum({column})" if dtype == "integer" else f"fsum({column})"
        wanted |= {"sum": exact, "mean": f"favg({column})", "stddev": f"stddev_samp({column})"}
    row = connection.execute(f"SELECT {', '.join(wanted.values())} FROM {source}").fetchone() or ()
    facts: dict[str, JsonValue] = {"name": name, "dtype": dtype}
    facts |= {key: plain(value) for key, value in zip(wanted, row, strict=True)}
    facts |= _notes(found)
    facts["samples"] = _samples(connection, source, column)
    return facts


def plain(value: object) -> JsonValue:
    """A database value as JSON; what JSON has no number for becomes None or text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _notes(found: ColumnKind) -> dict[str, JsonValue]:
    notes = {"format": found.kind.format, "unit": found.unit, "null_markers": found.null_markers, "note": found.note}
    return {key: value for key, value in notes.items() if value}


def _samples(connection: DuckDBPyConnection, source: str, column: str) -> list[JsonValue]:
    query = f"SELECT {column} FROM (SELECT {column} FROM {source} WHERE {column} IS NOT NULL LIMIT {_SAMPLE_ROWS})"
    samples: list[JsonValue] = []
    for (value,) in connection.execute(query).fetchall():
        sample = plain(value)
        sample = sample[:_LONGEST_SAMPLE] if isinstance(sample, str) else sample
        if sample not in samples:
            samples.append(sample)
        if len(samples) == _SAMPLES:
            break
    return samples
