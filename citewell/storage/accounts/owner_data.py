"""An owner's data, table by table: for export, for erasure, and to verify that nothing is left."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from citewell.storage.accounts.audit import removing
from citewell.storage.accounts.owners import DEFAULT_PROJECT
from citewell.storage.accounts.tables import service_accounts
from citewell.storage.conversations.quotations import Withdrawn, is_hidden, withdraw, without_words
from citewell.storage.database import Database
from citewell.storage.tables import embedding_cache, metadata, owners, projects, resource_versions, resources, tokens

_BATCH = 500
SECRET = {
    "tokens": {"token_hash"},
    "people": {"password_hash"},
    "invitations": {"token_hash"},
    "shared_answers": {"token_hash"},
    "webhooks": {"secret"},
    "triggers": {"secret_hash"},
    "trigger_calls": {"body_hash"},
}
# Exported tables. An owner's other tables are derived from these or hold nothing about the owner; tests list the
# reasons.
EXPORTED = (
    "projects",
    "resources",
    "resource_versions",
    "resource_projects",
    "contained_files",
    "resource_events",
    "expired_files",
    "chunks",
    "threads",
    "messages",
    "citations",
    "remembered",
    "conversation_memories",
    "shared_answers",
    "usage",
    "tokens",
    "reindex_runs",
    "sources",
    "source_items",
    "people",
    "service_accounts",
    "sessions",
    "audit_log",
    "memberships",
    "invitations",
    "webhooks",
    "webhook_deliveries",
    "triggers",
    "trigger_calls",
    "claude_files",
    "telegram_links",
    "telegram_threads",
    "telegram_files",
)
# Kept by an erasure: deletions pending elsewhere, and the owner row of an owner who keeps access.
_KEPT = frozenset({"owners", "deletions"})


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The uploaded bytes of a file version."""

    resource_id: str
    version: int
    filename: str
    key: str


class OwnerDataRepository:
    """Reads, counts and erases an owner's rows, found by `owner_id` or through references."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def counts(self, owner_id: str) -> dict[str, int]:
        """Counts the owner's rows by table; tables without any are omitted."""
        found: dict[str, int] = {}
        async with self._database.read() as connection:
            for table in metadata.sorted_tables:
                condition = belongs(table, owner_id)
                if condition is None or table is owners:
                    continue
                query = sa.select(sa.func.count()).select_from(table).where(condition)
                if count := (await connection.execute(query)).scalar_one():
                    found[table.name] = count
        return found

    async def rows(self, owner_id: str, table: str) -> AsyncGenerator[dict[str, Any]]:
        """Yields the owner's rows of a table in key order.

        Secrets are omitted, and so are quotations from files that the owner may not read.
        """
        source = metadata.tables[table]
        condition = belongs(source, owner_id)
        assert condition is not None, table
        columns = [column for column in source.columns if column.name not in SECRET.get(table, ())]
        hidden = is_hidden(source, sa.literal(owner_id))
        shown = columns if hidden is None else [*columns, hidden.label("is_hidden")]
        key = list(source.primary_key.columns)
        after: tuple[Any, ...] | None = None
        while True:
            query = sa.select(*shown).where(condition).order_by(*key).limit(_BATCH)
            if after is not None:
                query = query.where(sa.tuple_(*key) > sa.tuple_(*(sa.literal(value) for value in after)))
            found = await self._database.rows(query)
            for row in found:
                values = {str(name): value for name, value in row.items()}
                yield without_words(table, values) if values.pop("is_hidden", False) else values
            if len(found) < _BATCH:
                return
            after = tuple(found[-1][column.name] for column in key)

    async def service_owners(self, owner_id: str) -> list[str]:
        """Returns the owner ids of the owner's service accounts."""
        query = sa.select(service_accounts.c.acts_as).where(service_accounts.c.owner_id == owner_id)
        return [row["acts_as"] for row in await self._database.rows(query)]

    async def resource_ids(self, owner_id: str, *, inside_others: bool = False) -> list[str]:
        """Returns the ids of the owner's files; those inside other files only if `inside_others`."""
        query = sa.select(resources.c.id).where(resources.c.owner_id == owner_id)
        if not inside_others:
            query = query.where(resources.c.parent_id.is_(None))
        return [row["id"] for row in await self._database.rows(query)]

    async def originals(self, owner_id: str) -> list[OriginalFile]:
        """Returns the uploaded bytes of every version, by blob key."""
        table = resource_versions
        query = (
            sa.select(table.c.resource_id, table.c.version, table.c.filename, table.c.blob_key)
            .join(resources, resources.c.id == table.c.resource_id)
            .where(resources.c.owner_id == owner_id, table.c.blob_key.is_not(None))
            .order_by(resources.c.created_at, table.c.resource_id, table.c.version)
        )
        return [
            OriginalFile(row["resource_id"], row["version"], row["filename"], row["blob_key"])
            for row in await self._database.rows(query)
        ]

    async def withdraw_quotations(self, owner_id: str) -> Withdrawn:
        """Removes citations of the owner's files from other owners' conversations, before the files are erased."""
        async with self._database.write() as connection:
            return await connection.run_sync(withdraw, owner_id)

    async def forget_vectors(self, hashes: Sequence[str]) -> int:
        """Deletes cached vectors of these texts (SHA-256, in hexadecimal) for every model; returns their number."""
        removed = 0
        async with self._database.write() as connection:
            for start in range(0, len(hashes), _BATCH):
                some = [bytes.fromhex(one) for one in hashes[start : start + _BATCH]]
                removed += (
                    await connection.execute(sa.delete(embedding_cache).where(embedding_cache.c.text_hash.in_(some)))
                ).rowcount
        return removed

    async def erase(self, owner_id: str, *, keep_access: bool) -> None:
        """Deletes every row of the owner; with `keep_access`, the owner, its tokens and an empty project stay.

        Files and the data of service accounts must be deleted first: this method does not touch bytes or vectors. Keys
        of service accounts created in the meantime are revoked.
        """
        kept = _KEPT | ({tokens.name} if keep_access else set[str]())
        managed = sa.select(service_accounts.c.acts_as).where(service_accounts.c.owner_id == owner_id)
        async with self._database.write() as connection, removing(connection, owner_id=owner_id):
            await connection.execute(sa.delete(tokens).where(tokens.c.owner_id.in_(managed)))
            for table in reversed(metadata.sorted_tables):
                condition = belongs(table, owner_id)
                if condition is not None and table.name not in kept:
                    await connection.execute(sa.delete(table).where(condition))
            if keep_access:
                values = {"id": str(uuid.uuid4()), "owner_id": owner_id, "name": DEFAULT_PROJECT}
                await connection.execute(sa.insert(projects).values(created_at=time.time(), settings={}, **values))
            else:
                await connection.execute(sa.delete(owners).where(owners.c.id == owner_id))


def belongs(table: sa.Table, owner_id: str) -> sa.ColumnElement[bool] | None:
    """Returns the condition for an owner's rows in a table; None for a table without owners."""
    if table is owners:
        return owners.c.id == owner_id
    if "owner_id" in table.c:
        return table.c.owner_id == owner_id
    for key in sorted(table.foreign_keys, key=lambda one: one.parent.name):
        parent = key.column.table
        if parent is table or (condition := belongs(parent, owner_id)) is None:
            continue
        return key.parent.in_(sa.select(key.column).where(condition))
    return None
