"""Exact copies of tables, for questions computed over all rows."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from citewell.errors import DamagedFile, NotFound
from citewell.ports import BlobStore
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.types import ColumnKind, Resource, ResourceFilter, Scope, TableColumn, TableInfo

_MAX_RESOURCES = 500


@dataclass(frozen=True, slots=True)
class SqlTables:
    """Implements the agent's `Tables`. Copies from an object store are cached in `cache` on first use."""

    resources: ResourceRepository
    projects: ProjectRepository
    content: ContentRepository
    blobs: BlobStore
    cache: Path

    async def list_tables(self, owner_id: str, scope: Scope) -> Sequence[TableInfo]:
        """Returns all tables in scope, from its newest 500 files.

        If the scope names resources, those and the files inside them count, within its projects.
        """
        ids = await self.projects.named_within(owner_id, scope)
        if ids is not None:
            most = max(_MAX_RESOURCES, len(scope.resource_ids or ()))
            found = [await self.resources.get(owner_id, i) for i in ids[:most]]
        else:
            named = scope.project_ids
            projects = None if named is None else await self.projects.resolve_all(owner_id, named)
            found = await self.resources.with_tables(owner_id, ResourceFilter(project_ids=projects), _MAX_RESOURCES)
        return [table for resource in found for table in _tables(resource)]

    async def open_table(self, owner_id: str, table: TableInfo) -> Path:
        """Returns the path of a local Parquet file with the table's rows. Raises `DamagedFile` if it is missing."""
        await self.resources.get(owner_id, table.resource_id)
        for blob in await self.content.blobs(table.resource_id, table.version, "parquet"):
            if blob.metadata.get("table_id") == table.id:
                with contextlib.suppress(NotFound):
                    return await self._local(blob.key)
        raise DamagedFile("The exact copy of this table is missing. Upload the file again as a new version.")

    async def _local(self, key: str) -> Path:
        if self.blobs.backend == "local":
            async with self.blobs.local_copy(key) as path:
                return path
        kept = copy_path(self.cache, key)
        if not kept.exists():
            async with self.blobs.local_copy(key) as path:
                await asyncio.to_thread(_keep, path, kept)
        return kept


def _keep(path: Path, kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(".part")
    shutil.copyfile(path, part)
    part.replace(kept)


def copy_path(cache: Path, key: str) -> Path:
    """Returns the cache path of a copy from an object store."""
    return cache / hashlib.sha256(key.encode()).hexdigest()


def _tables(resource: Resource) -> list[TableInfo]:
    tables = resource.extraction_metadata.get("tables")
    if not isinstance(tables, Sequence) or isinstance(tables, str):
        return []
    return [_table(resource, cast(Mapping[str, Any], t)) for t in tables if isinstance(t, Mapping) and t.get("copy")]


def _table(resource: Resource, table: Mapping[str, Any]) -> TableInfo:
    return TableInfo(
        id=str(table["id"]),
        resource_id=resource.id,
        version=resource.version,
        filename=resource.filename,
        name=str(table.get("name") or ""),
        sheet=table.get("sheet"),
        columns=tuple(map(_column, table.get("columns", ()))),
        rows=int(table.get("row_count") or 0),
        provenance=resource.provenance,
    )


def _column(column: Mapping[str, Any]) -> TableColumn:
    kind = cast(ColumnKind, column["dtype"])
    written = str(column.get("format") or "") if kind == "date" else ""
    return TableColumn(
        str(column["name"]),
        kind,
        str(column.get("unit") or ""),
        written,
        int(column.get("decimals") or 0),
        bool(column.get("grouped")),
    )
