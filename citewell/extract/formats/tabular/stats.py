"""Statistics of a table's columns, computed over all rows of its Parquet copy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.extract.formats.tabular.column_types import literal
from citewell.extract.formats.tabular.copies import quoted
from citewell.extract.formats.tabular.inference import ColumnKind
from citewell.types import JsonObject, JsonValue

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NUMBERS = ("integer", "number")
_ORDERED = (*_NUMBERS, "date", "datetime", "time")
_EXACT_DISTINCT_ROWS = 500_000
"""Rows up to which distinct counts and quartiles are exact; beyond, they are estimated."""
_QUANTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75}
_COLUMNS_PER_QUERY = 25
"""Columns aggregated in one query,"""
_CELLS_PER_QUERY = 1_000_000
"""and cells: bounds memory."""
_SAMPLES = 5
"""Example values shown per column."""
_SAMPLE_ROWS = 1_000
"""Rows sampled for them before the whole column is queried."""
_MAX_SAMPLE_LENGTH = 200
"""Characters shown per example."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a copy: its name, its dtype as shown to people, and remarks on how it was written."""

    name: str
    dtype: str
    notes: JsonObject = field(default_factory=dict[str, JsonValue])


def inferred(name: str, found: ColumnKind) -> Column:
    """Returns the column for an inferred kind."""
    notes: JsonObject = {
        "format": found.kind.format,
        "unit": found.unit,
        "decimals": found.decimals,
        "grouped": found.grouped,
        "null_markers": dict(found.null_markers),
        "note": found.note,
    }
    return Column(name, found.kind.dtype, {key: value for key, value in notes.items() if value})


def describe(
    connection: DuckDBPyConnection, copy: Path, columns: Sequence[Column], rows: int, beat: Callable[[], None]
) -> list[JsonObject]:
    """Returns one object per column: name, dtype, nulls, distinct, samples; for numbers and dates also their range, for
    numbers also quartiles, mean and sum.

    `beat` is called along the way.
    """
    source = f"read_parquet({literal(str(copy))})"
    width = max(1, min(_COLUMNS_PER_QUERY, _CELLS_PER_QUERY // max(1, rows)))
    described: list[JsonObject] = []
    for first in range(0, len(columns), width):
        described += _describe(connection, source, columns[first : first + width], rows)
        beat()
    return described


def _describe(
    connection: DuckDBPyConnection, source: str, columns: Sequence[Column], rows: int
) -> Iterator[JsonObject]:
    wanted = [_aggregates(column, rows, f"lows.low{place}") for place, column in enumerate(columns)]
    lows = ", ".join(f"{_low(column)} AS low{place}" for place, column in enumerate(columns))
    facts = ", ".join(sql for facts in wanted for sql in facts.values())
    query = f"WITH lows AS (SELECT {lows} FROM {source} AS t) SELECT {facts} FROM {source} AS t CROSS JOIN lows"
    values = iter(connection.execute(query).fetchone() or ())
    samples = _samples(connection, source, columns)
    for column, facts, sample in zip(columns, wanted, samples, strict=True):
        found: dict[str, JsonValue] = {key: plain(next(values)) for key in facts}
        if not found.get("not_finite"):
            found.pop("not_finite", None)
        yield {"name": column.name, "dtype": column.dtype, **found, **column.notes, "samples": sample}


def _aggregates(column: Column, rows: int, low: str) -> dict[str, str]:
    """Returns the SQL of every fact about a column. Spread is computed relative to the smallest value (`low`), so that
    large numbers lose no digits.
    """
    name, dtype = f"t.{quoted(column.name)}", column.dtype
    wanted = {"nulls": f"count(*) - count({name})"}
    if rows <= _EXACT_DISTINCT_ROWS:
        wanted["distinct"] = f"count(DISTINCT {name})"
    else:
        wanted["distinct_about"] = f"approx_count_distinct({name})"
    if dtype in _ORDERED:
        finite = _finite(column)
        wanted |= {"min": f"min({finite})", "max": f"max({finite})"}
        if dtype in _NUMBERS:
            total = f"sum({finite})" if dtype == "integer" else f"fsum({finite})"
            exact = "HUGEINT" if dtype == "integer" else "DOUBLE"
            above = f"({finite}::{exact} - {low}::{exact})::DOUBLE"
            number = f"{finite}::DOUBLE"
            share = "quantile_cont" if rows <= _EXACT_DISTINCT_ROWS else "approx_quantile"
            wanted |= {key: f"{share}({number}, {at})" for key, at in _QUANTILES.items()}
            wanted |= {"sum": total, "mean": f"favg({finite})", "stddev": f"stddev_samp({above})"}
        if dtype == "number":
            wanted["not_finite"] = f"count({name}) - count({finite})"
    return wanted


def _finite(column: Column) -> str:
    name = f"t.{quoted(column.name)}"
    return name if column.dtype != "number" else f"CASE WHEN isfinite({name}::DOUBLE) THEN {name} END"


def _low(column: Column) -> str:
    return f"min({_finite(column)})" if column.dtype in _NUMBERS else "min(NULL::INTEGER)"


def plain(value: object) -> JsonValue:
    """Converts a database value to JSON; numbers that JSON lacks become None or text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _samples(connection: DuckDBPyConnection, source: str, columns: Sequence[Column]) -> list[list[JsonValue]]:
    """Returns the first few distinct values of each column."""
    names = ", ".join(quoted(column.name) for column in columns)
    head = connection.execute(f"SELECT {names} FROM {source} LIMIT {_SAMPLE_ROWS}").fetchall()
    samples: list[list[JsonValue]] = []
    for place, column in enumerate(columns):
        values = [row[place] for row in head if row[place] is not None]
        if not values and len(head) == _SAMPLE_ROWS:
            name = quoted(column.name)
            query = f"SELECT {name} FROM {source} WHERE {name} IS NOT NULL LIMIT {_SAMPLES}"
            values = [value for (value,) in connection.execute(query).fetchall()]
        shown = [value[:_MAX_SAMPLE_LENGTH] if isinstance(value, str) else plain(value) for value in values]
        samples.append(list(dict.fromkeys(shown))[:_SAMPLES])
    return samples
