"""What the agent needs of the rest of the system; storage and retrieval implement these, tests fake them.

Every method takes the owner first: it comes from the token by way of `TurnRequest`, and no tool has a parameter for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from citewell.types import Element, ResourceInfo, Scope, SearchRequest, SearchResult, TableInfo


class Searcher(Protocol):
    """Finds passages; with nothing indexed there are no hits."""

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits of `request.owner_id` only, best first."""
        ...


class ElementLookup(Protocol):
    """Loads the elements that a chunk was built from."""

    async def elements(
        self, owner_id: str, resource_id: str, version: int, ids: Sequence[str]
    ) -> Mapping[str, Element]:
        """Those of `ids` that exist in this version of the owner's resource."""
        ...


class Library(Protocol):
    """Lists and reads resources."""

    async def list_resources(self, owner_id: str, scope: Scope) -> Sequence[ResourceInfo]:
        """Everything in scope, in any state, newest first."""
        ...

    async def count_characters(self, owner_id: str, scope: Scope) -> int:
        """How much text all files in scope hold together."""
        ...

    async def read_resource(self, owner_id: str, resource_id: str, first: int, last: int) -> Sequence[Element]:
        """Elements whose page, slide or row lies in first..last (all, for a file without such units); `NotFound`."""
        ...


class Tables(Protocol):
    """Gives access to the Parquet copies of data files. Each has the column `_row`: the row number that a person sees."""

    async def list_tables(self, owner_id: str, scope: Scope) -> Sequence[TableInfo]:
        """All tables in scope."""
        ...

    async def open_table(self, owner_id: str, table: TableInfo) -> Path:
        """A local Parquet file with the table's rows; `NotFound` when it is not the owner's."""
        ...
