"""Queries compiled to SQL only once: those that every search or every processing step runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

_DIALECT = sqlite.dialect()
_VERSIONS = 200
"""Versions per condition: SQLite limits the depth of an expression to 1,000."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A query compiled for SQLite, with its parameters in order, its columns and their converters, and its literals.

    at_once: see `Lookup`
    """

    text: str
    places: tuple[str, ...]
    columns: tuple[tuple[str, Callable[[Any], Any] | None], ...]
    own: Mapping[str, Any]
    at_once: bool = False

    def read(self, connection: sqlite3.Connection, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Runs the query and returns its rows."""
        values = {**self.own, **parameters}
        found: Iterable[Sequence[Any]] = connection.execute(
            self.text, [values[name] for name in self.places]
        ).fetchall()
        if self.at_once:
            ((rows,),) = found
            found = orjson.loads(rows)
        return [
            {
                name: value if made is None or value is None else made(value)
                for (name, made), value in zip(self.columns, row, strict=True)
            }
            for row in found
        ]


class Lookup:
    """A query for rows by id, with an expanding parameter `ids`.

    at_once: read all rows as one JSON array, in no particular order; for columns of plain texts and integers.
    Otherwise, the driver releases the GIL for each row that it fetches, and on a busy server each reacquisition waits.
    """

    def __init__(self, query: sa.Select[*tuple[Any, ...]], at_once: bool = False) -> None:
        self.query = query
        self._at_once = at_once
        self._statements: dict[int, _Statement] = {}

    def read(
        self, connection: sqlite3.Connection, ids: Sequence[str | bytes], parameters: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Returns the rows from SQLite, in a quarter of the time that SQLAlchemy takes."""
        statement = self._statements.get(len(ids))
        if statement is None:
            query = self.query.params(ids=list(ids), **parameters)
            statement = self._statements[len(ids)] = _written(query, self._at_once)
        return statement.read(connection, {**parameters, **{f"ids_{number}": one for number, one in enumerate(ids, 1)}})


class Prepared:
    """A query with fixed parameter names; each value is a text, a number or bytes."""

    def __init__(self, query: sa.Select[*tuple[Any, ...]]) -> None:
        self.query = query
        self._statement: _Statement | None = None

    def read(self, connection: sqlite3.Connection, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Returns the rows from SQLite, as fast as `Lookup.read`."""
        if self._statement is None:
            self._statement = _written(self.query)
        return self._statement.read(connection, parameters)


def unindexed(column: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
    """Wraps the column in an expression, so that SQLite does not use its index.

    Without statistics, SQLite expects ten rows per owner or status, and would scan all of an owner's rows instead of
    looking up twenty ids: 100 ms instead of 0.1 ms at 100,000 chunks.
    """
    return column.concat("")


def at_places(table: sa.Table, places: Iterable[tuple[str, int, int]]) -> Iterator[sa.ColumnElement[bool]]:
    """Yields conditions, each for some versions, that together match the rows at these (resource, version, ordinal).

    SQLite does not use an index for a list of tuples: at 100,000 chunks, that takes 30 ms instead of 0.3.
    """
    ordinals: dict[tuple[str, int], set[int]] = {}
    for resource_id, version, ordinal in places:
        ordinals.setdefault((resource_id, version), set()).add(ordinal)
    versions, column = list(ordinals), table.c
    for start in range(0, len(versions), _VERSIONS):
        yield sa.or_(
            *(
                sa.and_(
                    column.resource_id == one[0], column.version == one[1], column.ordinal.in_(sorted(ordinals[one]))
                )
                for one in versions[start : start + _VERSIONS]
            )
        )


def _stored(bound: sa.BindParameter[Any]) -> object:
    """Converts a parameter's value to its SQLite form, such as a JSON path for a key."""
    made = bound.type.dialect_impl(_DIALECT).bind_processor(_DIALECT)
    return bound.value if made is None else made(bound.value)


def _written(query: sa.Select[*tuple[Any, ...]], at_once: bool = False) -> _Statement:
    compiled = query.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    columns = tuple((column.name, column.type.result_processor(_DIALECT, None)) for column in query.selected_columns)
    own = {name: _stored(bound) for name, bound in compiled.binds.items() if not bound.required}
    text = str(compiled)
    if at_once:
        names = ", ".join(f'"{name}"' for name, _ in columns)
        text = f"SELECT json_group_array(json_array({names})) FROM ({text})"  # noqa: S608 - our own columns
    return _Statement(text, tuple(compiled.positiontup or ()), columns, own, at_once)
