"""Queries whose SQL is written once, and not whenever they are asked: those of every search, and of every step of a file's way."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

_DIALECT = sqlite.dialect()


@dataclass(frozen=True, slots=True)
class _Statement:
    """A query as SQLite reads it: the parameter at each place, each column with what makes its value of what is stored, and the values that
    the query itself names."""

    text: str
    places: tuple[str, ...]
    columns: tuple[tuple[str, Callable[[Any], Any] | None], ...]
    own: Mapping[str, Any]

    def read(self, connection: sqlite3.Connection, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows."""
        values = {**self.own, **parameters}
        found = connection.execute(self.text, [values[name] for name in self.places]).fetchall()
        return [
            {
                name: value if made is None or value is None else made(value)
                for (name, made), value in zip(self.columns, row, strict=True)
            }
            for row in found
        ]


class Lookup:
    """A query for the rows of some ids, its expanding parameter `ids`."""

    def __init__(self, query: sa.Select[*tuple[Any, ...]]) -> None:
        self.query = query
        self._statements: dict[int, _Statement] = {}

    def read(
        self, connection: sqlite3.Connection, ids: Sequence[str | bytes], parameters: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """The rows from SQLite, in a quarter of the time that SQLAlchemy takes to execute the query."""
        statement = self._statements.get(len(ids))
        if statement is None:
            statement = self._statements[len(ids)] = _written(self.query.params(ids=list(ids), **parameters))
        return statement.read(connection, {**parameters, **{f"ids_{number}": one for number, one in enumerate(ids, 1)}})


class Prepared:
    """A query with the same parameters every time, each a text, a number or bytes."""

    def __init__(self, query: sa.Select[*tuple[Any, ...]]) -> None:
        self.query = query
        self._statement: _Statement | None = None

    def read(self, connection: sqlite3.Connection, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows from SQLite, as `Lookup` reads them."""
        if self._statement is None:
            self._statement = _written(self.query)
        return self._statement.read(connection, parameters)


def _stored(bound: sa.BindParameter[Any]) -> object:
    """The value of a parameter as SQLite takes it: the path into JSON, for example, for a key."""
    made = bound.type.dialect_impl(_DIALECT).bind_processor(_DIALECT)
    return bound.value if made is None else made(bound.value)


def _written(query: sa.Select[*tuple[Any, ...]]) -> _Statement:
    compiled = query.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    columns = tuple((column.name, column.type.result_processor(_DIALECT, None)) for column in query.selected_columns)
    own = {name: _stored(bound) for name, bound in compiled.binds.items() if not bound.required}
    return _Statement(str(compiled), tuple(compiled.positiontup or ()), columns, own)
