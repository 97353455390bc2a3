"""Infers the value kind of each column of staged text: guessed from its first values, then proved over all rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from citewell.extract.formats.tabular.column_types import (
    DECIMAL_COMMA,
    DECIMAL_POINT,
    FOLDED,
    KINDS,
    TEXT,
    ValueKind,
    literal,
)
from citewell.extract.formats.tabular.values import MARKER
from citewell.types.figures import UNIT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SAMPLE_ROWS = 1_000
"""Rows whose values suggest a column's type, before all rows are checked."""
_SAMPLE_VALUES = 100
"""Distinct values per column used for that."""
_MARKER = re.compile(MARKER)
_COLUMNS_PER_QUERY = 20
"""Columns checked in one query; bounds memory on wide tables."""


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """The inferred content of a column.

    unit:          the one currency or percent sign of its numbers
    null_markers:  texts such as `N/A` that mean “no value” in a column of numbers or dates, with their counts
    note:          why a column that looks like numbers or dates stayed text
    decimals:      decimal places shown by all its numbers; 0 if they differ
    grouped:       whether its numbers have signs between groups of digits
    """

    kind: ValueKind
    unit: str | None = None
    null_markers: dict[str, int] = field(default_factory=dict[str, int])
    note: str | None = None
    decimals: int = 0
    grouped: bool = False

    def as_shown(self, decimals: int, *, grouped: bool = False, unit: str = "") -> ColumnKind:
        """Returns a number column with this many decimals (0 leaves them unchanged), signs between groups of digits, and
        a unit if it has none; other columns unchanged.
        """
        if self.kind.dtype not in ("integer", "number"):
            return self
        return replace(
            self, decimals=decimals or self.decimals, grouped=grouped or self.grouped, unit=self.unit or unit or None
        )

    def value(self, column: str) -> str:
        """Returns the SQL that converts the staged text of `column` to the typed value."""
        return column if self.kind is TEXT else self.kind.convert.replace("{c}", _meant(column))


@dataclass(frozen=True, slots=True)
class _Proof:
    """What holds for every cell of a column, and whether some cells are null markers."""

    kinds: list[ValueKind]
    marked: bool


def infer(
    connection: DuckDBPyConnection, table: str, width: int, beat: Callable[[], None], *, written: bool = False
) -> list[ColumnKind]:
    """Returns, for each column c0, c1, … of `table`, the first kind that all its cells pass, else text; calls `beat` on
    the way.

    written: numbers are as people wrote them, so that `1.200` is 1200 next to columns with decimal commas or days such
             as
    31.12.2025
    """
    samples = _samples(connection, table, width)
    guesses = [[kind for kind in KINDS if sample and all(map(kind.admits, sample))] for sample in samples]
    found: dict[int, ColumnKind] = {}
    while len(found) < width:
        open_columns = [index for index in range(width) if index not in found]
        for columns in _batches(open_columns):
            batch = {index: _first_with_rivals(guesses[index]) for index in columns}
            for index, proof in _prove(connection, table, batch).items():
                if not guesses[index] or guesses[index][0] in proof.kinds:
                    found[index] = _decide(connection, table, f"c{index}", proof)
                guesses[index] = guesses[index][1:]
            beat()
    if written and any(_shows_decimal_comma(one.kind) for one in found.values()):
        found |= _with_decimal_comma(connection, table, found)
    found |= _with_centuries(connection, table, found)
    if written:
        found |= _with_decimals(connection, table, found)
    return [found[index] for index in range(width)]


def _with_centuries(
    connection: DuckDBPyConnection, table: str, found: Mapping[int, ColumnKind]
) -> dict[int, ColumnKind]:
    """Returns columns of dates with two digits for the year, in the century that a column of years beside them has."""
    short = [i for i, one in found.items() if one.kind.dtype == "date" and "%y" in (one.kind.format or "")]
    whole = [i for i, one in found.items() if one.kind.dtype == "integer"][:_COLUMNS_PER_QUERY]
    out: dict[int, ColumnKind] = {}
    for place, other in ((place, other) for place in short for other in whole):
        day, year = found[place].value(f"c{place}"), found[other].value(f"c{other}")
        same = "coalesce(y BETWEEN 1000 AND 2999 AND y % 100 = year(d) % 100, false)"
        query = f"SELECT count(d) > 0, bool_and({same}) FROM (SELECT {day} AS d, {year} AS y FROM {table}) WHERE d IS NOT NULL"
        if place not in out and all(connection.execute(query).fetchone() or (False,)):
            kind = found[place].kind
            moved = f"TRY(make_date(CAST({year} AS INTEGER), month({kind.convert}), day({kind.convert})))"
            out[place] = replace(found[place], kind=replace(kind, convert=moved))
    return out


def _shows_decimal_comma(kind: ValueKind) -> bool:
    return kind.format == DECIMAL_COMMA or (kind.format or "").startswith("%d.%m.")


def _with_decimal_comma(
    connection: DuckDBPyConnection, table: str, found: Mapping[int, ColumnKind]
) -> dict[int, ColumnKind]:
    """Returns number columns with a point or comma that may also be read like the other columns of their table."""
    comma = next(kind for kind in KINDS if kind.format == DECIMAL_COMMA)
    doubtful = [
        index for index, one in found.items() if one.kind.dtype == "number" and one.kind.format in (None, DECIMAL_POINT)
    ]
    proofs = [_prove(connection, table, {index: [comma] for index in columns}) for columns in _batches(doubtful)]
    return {
        index: _decide(connection, table, f"c{index}", proof)
        for batch in proofs
        for index, proof in batch.items()
        if proof.kinds
    }


def _with_decimals(
    connection: DuckDBPyConnection, table: str, found: Mapping[int, ColumnKind]
) -> dict[int, ColumnKind]:
    """Returns columns whose numbers all have the same decimals: two or more, or one that is 0 in some of them."""
    numbers = [index for index, one in found.items() if one.kind.dtype == "number"]
    out: dict[int, ColumnKind] = {}
    for columns in _batches(numbers):
        facts: list[str] = []
        for index in columns:
            bare = found[index].kind.bare.replace("{c}", f"v{index}")
            digits = f"length(regexp_extract({bare}, '[.]([0-9]+)$', 1))"
            facts += [f"min({digits})", f"max({digits})", f"bool_or(regexp_matches({bare}, '[.][0-9]*0$'))"]
        meant = ", ".join(f"{_meant(f'c{index}')} AS v{index}" for index in columns)
        row = connection.execute(f"SELECT {', '.join(facts)} FROM (SELECT {meant} FROM {table})").fetchone() or ()
        values = iter(row)
        for index, (least, most, has_zero) in zip(columns, zip(values, values, values, strict=True), strict=True):
            if least and least == most and (least > 1 or has_zero):
                out[index] = found[index].as_shown(least)
    return out


def _batches(columns: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yields as many columns at a time as one query checks."""
    return (columns[first : first + _COLUMNS_PER_QUERY] for first in range(0, len(columns), _COLUMNS_PER_QUERY))


def _first_with_rivals(kinds: Sequence[ValueKind]) -> list[ValueKind]:
    """Returns the next kind to prove, and those that read the same texts differently."""
    return [kind for kind in kinds if kind is kinds[0] or kind.format in kinds[0].rivals]


def _samples(connection: DuckDBPyConnection, table: str, width: int) -> list[set[str]]:
    """Returns some distinct values of each column, without null markers."""
    columns = ", ".join(f"trim(c{index})" for index in range(width))
    rows = connection.execute(f"SELECT {columns} FROM {table} LIMIT {_SAMPLE_ROWS}").fetchall() if width else []
    samples: list[set[str]] = []
    for index in range(width):
        seen = {row[index]: None for row in rows if row[index] is not None and not _MARKER.fullmatch(row[index])}
        if not seen and len(rows) == _SAMPLE_ROWS:
            query = f"SELECT {_meant('v')} FROM (SELECT c{index} AS v FROM {table}) WHERE {_meant('v')} IS NOT NULL LIMIT {_SAMPLE_VALUES}"
            seen = dict.fromkeys(value for (value,) in connection.execute(query).fetchall())
        samples.append(set(list(seen)[:_SAMPLE_VALUES]))
    return samples


def _prove(connection: DuckDBPyConnection, table: str, guesses: Mapping[int, Sequence[ValueKind]]) -> dict[int, _Proof]:
    """Returns, for each column, the guesses that hold for every cell."""
    open_columns = [index for index, kinds in guesses.items() if kinds]
    if not open_columns:
        return {index: _Proof([], False) for index in guesses}
    tests = [f"count(c{index}) > count(v{index})" for index in open_columns]
    tests += [
        f"bool_and(coalesce({kind.test.replace('{c}', f'v{index}')}, false)) FILTER (WHERE v{index} IS NOT NULL)"
        for index in open_columns
        for kind in guesses[index]
    ]
    meant = ", ".join(f"c{index}, {_meant(f'c{index}')} AS v{index}" for index in open_columns)
    outcomes = iter(
        connection.execute(f"SELECT {', '.join(tests)} FROM (SELECT {meant} FROM {table})").fetchone() or ()
    )
    marked = {index: bool(next(outcomes)) for index in open_columns}
    return {
        index: _Proof([kind for kind in kinds if next(outcomes)], marked.get(index, False))
        for index, kinds in guesses.items()
    }


def _decide(connection: DuckDBPyConnection, table: str, column: str, proof: _Proof) -> ColumnKind:
    kinds = proof.kinds
    if not kinds:
        return ColumnKind(TEXT)
    kind = kinds[0]
    if any(other.format in kind.rivals for other in kinds):
        return ColumnKind(TEXT, note=f"dates could be {kind.format} or {kind.rivals[0]}")
    if kind.dtype == "number" and kind.format and _are_codes(connection, table, column):
        return ColumnKind(TEXT, note="groups of three digits, as many in all: numbers that name something")
    units = _units(connection, table, column) if kind.dtype == "number" and kind.format else []
    if len([unit for unit in units if unit]) > 1 or ("%" in units and len(units) > 1):
        return ColumnKind(TEXT, note="numbers carry different units")
    markers = _null_markers(connection, table, column) if proof.marked else {}
    unit = next((unit for unit in units if unit), None)
    return ColumnKind(kind, unit, markers, grouped=kind.format in (DECIMAL_POINT, DECIMAL_COMMA))


def _meant(column: str) -> str:
    """Returns the SQL for a column's trimmed text, NULL for null markers."""
    return f"(CASE WHEN {_is_marker(column)} THEN NULL ELSE trim({column}) END)"


def _is_marker(column: str) -> str:
    return f"regexp_full_match(trim({column}), {literal(MARKER)})"


def _null_markers(connection: DuckDBPyConnection, table: str, column: str) -> dict[str, int]:
    query = f"SELECT trim({column}) AS v, count(*) FROM {table} WHERE {_is_marker(column)} GROUP BY v ORDER BY v"
    return dict(connection.execute(query).fetchall())


def _are_codes(connection: DuckDBPyConnection, table: str, column: str) -> bool:
    """Whether all numbers are of nine digits or more, as many in each, in groups of three: `612 345 678` is a telephone."""
    folded = FOLDED.replace("{c}", _meant(column))
    facts = "count(v) > 1, bool_and(regexp_full_match(v, '[0-9]{3}( [0-9]{3}){2,}')), min(length(v)) = max(length(v))"
    row = connection.execute(f"SELECT {facts} FROM (SELECT {folded} AS v FROM {table})").fetchone() or ()
    return all(row)


def _units(connection: DuckDBPyConnection, table: str, column: str) -> list[str]:
    """Returns the units in a column of numbers, "" for numbers without one."""
    folded = FOLDED.replace("{c}", _meant(column))
    found = f"rtrim(regexp_extract({folded}, {literal(UNIT)}), '.')"
    query = f"SELECT DISTINCT {found} FROM {table} WHERE {_meant(column)} IS NOT NULL"
    return [str(unit) for (unit,) in connection.execute(query).fetchall()]
