"""The files and tables in a question's scope, as answers may describe them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from citewell.types.metadata import Provenance

ColumnKind = Literal["text", "integer", "number", "boolean", "date", "datetime", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInfo:
    """A resource as the agent may describe it. `note` says which parts were not read, or why it failed; `pages` counts units, such as sheets."""

    id: str
    filename: str
    version: int
    status: str
    category: str
    characters: int = 0
    pages: int = 0
    unit: str = "page"
    note: str = ""
    provenance: Provenance = Provenance()


ROW_COLUMN = "_row"
"""The column of a table's exact copy that holds the row number in the file; no other column has this name."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: its name in the file, and the kind of its values.

    unit:     the currency or percent sign next to its numbers, or empty
    written:  the `strftime` format of its dates, or empty
    decimals: the digits after the point in all its numbers; 0 if they differ
    grouped:  whether the file shows its numbers with signs between groups of digits
    """

    name: str
    kind: ColumnKind
    unit: str = ""
    written: str = ""
    decimals: int = 0
    grouped: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether it contains numbers."""
        return self.kind in ("integer", "number")

    @property
    def is_dated(self) -> bool:
        """Whether it contains dates, with or without times."""
        return self.kind in ("date", "datetime")

    @property
    def with_unit(self) -> str:
        """The name followed by the unit in parentheses, unless the name contains it: `Price (£)`."""
        return f"{self.name} ({self.unit})" if self.unit and self.unit not in self.name else self.name


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

    @property
    def only_dated(self) -> TableColumn | None:
        """The only column of dates; None if there are none or several."""
        dated = [column for column in self.columns if column.is_dated]
        return dated[0] if len(dated) == 1 else None
