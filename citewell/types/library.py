"""What a question may draw on: its scope, and the files and tables in it as an answer may describe them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from citewell.types.metadata import Provenance
from citewell.types.search import Expression

ColumnKind = Literal["text", "integer", "number", "boolean", "date", "datetime", "time"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question may draw on: one or more tagged resources, a project, or (both None) everything the owner has.

    Where filters chose the files, resource_ids are those that satisfied them when the question was asked, and tagged are the
    resources among which they were looked for (None for all).
    """

    project_id: str | None = None
    resource_ids: tuple[str, ...] | None = None
    filters: tuple[Expression, ...] = ()
    tagged: tuple[str, ...] | None = None

    def is_same(self, other: Scope) -> bool:
        """Whether both were asked for in the same way; which files satisfy a filter may have changed since."""
        return (self.project_id, self.filters, self._named) == (other.project_id, other.filters, other._named)

    @property
    def _named(self) -> tuple[str, ...] | None:
        return self.tagged if self.filters else self.resource_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInfo:
    """A resource as the agent may describe it. `note` says what was not read, or why it failed."""

    id: str
    filename: str
    version: int
    status: str
    category: str
    characters: int = 0
    pages: int = 0
    note: str = ""
    provenance: Provenance = Provenance()


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: its name as the file has it, and the kind of its values."""

    name: str
    kind: ColumnKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """A table of a data file with its typed Parquet copy. `id` (`t0`, `t1`, …) is unique within the resource version, `name` is not."""

    id: str
    resource_id: str
    version: int
    filename: str
    name: str
    sheet: str | None
    columns: tuple[TableColumn, ...]
    rows: int
    provenance: Provenance = Provenance()
