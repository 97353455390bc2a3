"""Which kind of value each column of staged text holds: guessed from its first values, then proved over all rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citewell.extract.tabular.column_types import KINDS, NULL_MARKERS, TEXT, UNIT, Kind

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SAMPLE = 1_000
_MARKER_LIST = ", ".join(f"'{marker}'" for marker in NULL_MARKERS)


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """What a column was found to hold.

    unit:          the one currency or percent sign that its numbers carry
    null_markers:  texts such as `N/A` that stand for nothing in a column of numbers or dates, with their counts
    note:          why a column that looks like dates stayed text
    """

    kind: Kind
    unit: str | None = None
    null_markers: dict[str, int] = field(default_factory=dict[str, int])
    note: str | None = None

    def value(self, column: str) -> str:
        """SQL that turns the staged text of `column` into the typed value."""
        if self.kind is TEXT:
            return column
        text = f"trim({column})"
        if self.null_markers:
            text = f"CASE WHEN {text} IN ({_MARKER_LIST}) THEN NULL ELSE {text} END"
        return self.kind.convert.replace("{c}", f"({text})")


def infer(connection: DuckDBPyConnection, table: str, column: str) -> ColumnKind:
    """The first kind that all cells of the column pass, else text."""
    markers = _null_markers(connection, table, column)
    source = f"(SELECT trim({column}) AS v FROM {table} WHERE {column} IS NOT NULL"
    if markers:
        source += f" AND trim({column}) NOT IN ({_MARKER_LIST})"
    survivors = _passing(connection, f"{source} LIMIT {_SAMPLE})", KINDS)
    if not survivors:
        return ColumnKind(TEXT)
    survivors = _passing(connection, source + ")", survivors)
    if not survivors:
        return ColumnKind(TEXT)
    kind = survivors[0]
    if any(other.format in kind.rivals for other in survivors):
        return ColumnKind(TEXT, note=f"dates could be {kind.format} or {kind.rivals[0]}")
    units = _units(connection, source + ")") if kind.dtype == "number" and kind.format else []
    if len([unit for unit in units if unit]) > 1 or ("%" in units and len(units) > 1):
        return ColumnKind(TEXT, note="numbers carry different units")
    return ColumnKind(kind, unit=next((unit for unit in units if unit), None), null_markers=markers)


def _passing(connection: DuckDBPyConnection, source: str, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Those kinds that every row of `source` passes; none when it has no rows."""
    tests = ", ".join(f"coalesce(bool_and(coalesce({kind.test.replace('{c}', 'v')}, false)), false)" for kind in kinds)
    row = connection.execute(f"SELECT {tests} FROM {source}").fetchone()
    return tuple(kind for kind, passed in zip(kinds, row or (), strict=False) if passed)


def _null_markers(connection: DuckDBPyConnection, table: str, column: str) -> dict[str, int]:
    query = f"SELECT trim({column}) AS v, count(*) FROM {table} WHERE v IN ({_MARKER_LIST}) GROUP BY v ORDER BY v"
    return dict(connection.execute(query).fetchall())


def _units(connection: DuckDBPyConnection, source: str) -> list[str]:
    found: Counter[str] = Counter()
    for unit, count in connection.execute(
        f"SELECT regexp_extract(v, '{UNIT}'), count(*) FROM {source} GROUP BY 1"
    ).fetchall():
        found[str(unit)] += int(count)
    return [unit for unit, _ in found.most_common()]
