"""Statistics of a table's columns, computed over all rows of its Parquet copy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a copy: its name, its dtype as people see it, and remarks on how it was written."""

    name: str
    dtype: str
    notes: JsonObject = field(default_factory=dict[str, JsonValue])


def inferred(name: str, found: ColumnKind) -> Column:
    """The column that an inferred kind makes."""
    notes = {"format": found.kind.format, "unit": found.unit, "null_markers": found.null_markers, "note": found.note}
    return Column(name, found.kind.dtype, {key: value for key, value in notes.items() if value})


def describe(connection: DuckDBPyConnection, copy: Path, columns: Sequence[Column], rows: int) -> list[JsonObject]:
    """One object per column: name, dtype, nulls, distinct, samples; for numbers and dates their range, mean and sum too."""
    source = f"read_parquet({literal(str(copy))})"
    return [_describe(connection, source, column, rows) for column in columns]


def _describe(connection: DuckDBPyConnection, source: str, described: Column, rows: int) -> JsonObject:
    column, dtype = quoted(described.name), described.dtype
    wanted = {"nulls": f"count(*) - count({column})"}
    if rows <= _EXACT_DISTINCT_ROWS:
        wanted["distinct"] = f"count(DISTINCT {column})"
    else:
        wanted["distinct_about"] = f"approx_count_distinct({column})"
    if dtype in _ORDERED:
        finite = f"{column}" if dtype != "number" else f"CASE WHEN isfinite({column}::DOUBLE) THEN {column} END"
        wanted |= {"min": f"min({finite})", "max": f"max({finite})"}
        if dtype in _NUMBERS:
            exact = f"sum({finite})" if dtype == "integer" else f"fsum({finite})"
            wanted |= {"sum": exact, "mean": f"favg({finite})", "stddev": f"stddev_samp({finite})"}
        if dtype == "number":
            wanted["not_finite"] = f"count({column}) - count({finite})"
    row = connection.execute(f"SELECT {', '.join(wanted.values())} FROM {source}").fetchone() or ()
    facts: dict[str, JsonValue] = {"name": described.name, "dtype": dtype}
    facts |= {key: plain(value) for key, value in zip(wanted, row, strict=True)}
    if not facts.get("not_finite"):
        facts.pop("not_finite", None)
    return {**facts, **described.notes, "samples": _samples(connection, source, column)}


def plain(value: object) -> JsonValue:
    """A database value as JSON; what JSON has no number for becomes None or text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


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
