"""Parquet: rows with their structures flattened to paths, statistics, and a copy that numbers the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import duckdb

from citewell.errors import CorruptFile, PasswordRequired
from citewell.extract.core.sink import Sink
from citewell.extract.formats.tabular.arrow_durations import durations
from citewell.extract.formats.tabular.column_types import literal
from citewell.extract.formats.tabular.copies import quoted, write_parquet
from citewell.extract.formats.tabular.headers import distinct
from citewell.extract.formats.tabular.stats import Column
from citewell.extract.formats.tabular.values import text_of, tidy
from citewell.extract.formats.tabular.writer import MAX_COLUMNS, MORE, DataFile
from citewell.types import ROW_COLUMN

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

_FETCH = 2_000
_MAX_MORE = 1_000  # reading a column takes about 50 KB of the memory allowed for a copy
_EXACT_DIGITS = 15
_NESTED = ("struct", "list", "map", "array", "union", "variant")
_MOMENTS = ("date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns")
_ENCRYPTED_MAGIC = b"PARE"
_DTYPES = {
    **dict.fromkeys(
        ("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint"),
        "integer",
    ),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(
        ("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"), "datetime"
    ),
    "boolean": "boolean",
    "date": "date",
    "time": "time",
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column without structure: the SQL of its stored and its shown value."""

    name: str
    stored: str
    shown: str
    dtype: str


def extract(path: Path, sink: Sink) -> None:
    """Emits every row as an element, numbered from 1 in file order."""
    with path.open("rb") as file:
        if file.read(4) == _ENCRYPTED_MAGIC:
            raise PasswordRequired("The Parquet file is encrypted; keys for such files are not supported.")
    sink.start_unit("file", 1)
    try:
        with DataFile(sink, path) as data:
            _read(f"read_parquet({literal(str(path))})", _lengths(data.connection, path), data)
    except duckdb.Error as error:
        reason = str(error).strip().split("\n", 1)[0].replace(str(path), "the file")
        raise CorruptFile(f"The Parquet file cannot be read: {reason[:300]}") from error


def _lengths(connection: DuckDBPyConnection, path: Path) -> dict[str, int]:
    """Returns the units per second of columns that are lengths of time, by path."""
    sql = f"SELECT value FROM parquet_kv_metadata({literal(str(path))}) WHERE key = 'ARROW:schema'"
    found = connection.execute(sql).fetchone()
    return durations(bytes(found[0])) if found else {}


def _read(source: str, lengths: Mapping[str, int], data: DataFile) -> None:
    leaves = _bounded(_leaves(data.connection, source, lengths), data.sink)
    rows = data.emitter("data", [leaf.name for leaf in leaves])
    shown = ", ".join(f"{leaf.shown} AS {quoted(leaf.name)}" for leaf in leaves)
    cursor = data.connection.cursor()
    cursor.execute(f"SELECT {shown} FROM {source}")
    while batch := cursor.fetchmany(_FETCH):
        for values in batch:
            cells = [tidy(value) for value in values]
            rows.add(rows.rows + 1, cells, [text_of(cell) for cell in cells])
        data.sink.progress(rows.rows)
    rows.finish()
    stored = ", ".join(f"{leaf.stored} AS {quoted(leaf.name)}" for leaf in leaves)
    numbered = f"SELECT row_number() OVER () AS {ROW_COLUMN}, {stored} FROM {source}"
    write_parquet(data.connection, numbered, data.add_copy(rows), len(leaves))
    data.record(rows, [Column(leaf.name, leaf.dtype) for leaf in leaves])


def _leaves(connection: DuckDBPyConnection, source: str, lengths: Mapping[str, int]) -> list[Leaf]:
    """Returns the file's columns, with structures expanded into their fields.

    lengths: units per second of columns that are lengths of time
    """
    relation = connection.sql(f"SELECT * FROM {source}")
    found: list[Leaf] = []
    work = [(name, quoted(name), kind) for name, kind in zip(relation.columns, relation.types, strict=True)][::-1]
    while work:
        name, sql, kind = work.pop()
        if kind.id == "struct" and len(found) + len(work) < MAX_COLUMNS:
            fields = cast("list[tuple[str, DuckDBPyType]]", kind.children)
            work.extend(
                (f"{name}.{field}", f"struct_extract({sql}, {literal(field)})", inner) for field, inner in fields[::-1]
            )
        else:
            length = lengths.get(name) if kind.id == "bigint" else None
            found.append(_leaf(name, sql, kind) if length is None else _length(name, sql, length))
    names = distinct([leaf.name for leaf in found])
    return [replace(leaf, name=name) for leaf, name in zip(found, names, strict=True)]


def _bounded(leaves: list[Leaf], sink: Sink) -> list[Leaf]:
    """Returns the first 1,000 columns, and one more for the next 1,000 as a JSON object; further ones are skipped."""
    own, more = leaves[:MAX_COLUMNS], leaves[MAX_COLUMNS : MAX_COLUMNS + _MAX_MORE]
    if not more:
        return own
    sink.warn(f"the file has {len(leaves):,} columns; those after the first {MAX_COLUMNS:,} share the column {MORE!r}")
    if left_out := len(leaves) - len(own) - len(more):
        sink.skip(f"the last {left_out:,} of {len(leaves):,} columns")
    fields = ", ".join(f"{quoted(leaf.name)} := {leaf.shown}" for leaf in more)
    shared = f"CAST(to_json(struct_pack({fields})) AS VARCHAR)"
    return [*own, Leaf(distinct([*(leaf.name for leaf in own), MORE])[-1], shared, shared, "text")]


def _length(name: str, sql: str, per_second: int) -> Leaf:
    """Returns a length of time as `hours:mm:ss`, with the fraction of a second that it has."""
    seconds = f"abs({sql}) // {per_second}"
    clock = f"format('{{:02d}}:{{:02d}}:{{:02d}}', {seconds} // 3600, {seconds} // 60 % 60, {seconds} % 60)"
    digits = len(str(per_second)) - 1
    rest = f"abs({sql}) % {per_second}"
    part = f"CASE WHEN {rest} > 0 THEN rtrim('.' || lpad(CAST({rest} AS VARCHAR), {digits}, '0'), '0') ELSE '' END"
    text = f"CASE WHEN {sql} < 0 THEN '-' ELSE '' END || {clock} || {part}"
    return Leaf(name, text, text, "text")


def _leaf(name: str, sql: str, column_type: DuckDBPyType) -> Leaf:
    kind = column_type.id
    dtype = _DTYPES.get(kind, "text")
    text = f"CAST({sql} AS VARCHAR)"
    if kind in _NESTED:
        text = f"CAST(to_json({sql}) AS VARCHAR)"
    elif kind == "blob":
        text = f"coalesce(TRY(decode({sql})), '<' || octet_length({sql}) || ' bytes>')"
    elif kind in ("hugeint", "uhugeint"):
        return Leaf(name, f"TRY_CAST({sql} AS DECIMAL(38, 0))", sql, dtype)
    elif kind == "timestamp with time zone":
        return Leaf(name, f"{sql} AT TIME ZONE 'UTC'", f"CAST({sql} AT TIME ZONE 'UTC' AS VARCHAR)", dtype)
    elif kind == "float":
        return Leaf(name, sql, f"CAST({text} AS DOUBLE)", dtype)
    elif kind == "decimal":
        precision = cast("dict[str, int]", dict(column_type.children))["precision"]
        return Leaf(name, sql, f"CAST({sql} AS DOUBLE)" if precision <= _EXACT_DIGITS else text, dtype)
    elif dtype != "text":
        return Leaf(name, sql, sql if kind not in _MOMENTS else text, dtype)
    return Leaf(name, text, text, "text")
