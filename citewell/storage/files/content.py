"""The contents of a resource version: elements, extracted blobs, chunks."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson
import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.channels.outbox import announce_chunks
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database
from citewell.storage.lookups import Lookup, Prepared, at_places, unindexed
from citewell.storage.tables import chunks, elements, resource_blobs, resources
from citewell.storage.work.payload_changes import file_facts, metadata_of
from citewell.types import (
    Category,
    Chunk,
    ChunkType,
    Element,
    FileFacts,
    Locator,
    OriginalPicture,
    Piece,
    Provenance,
    Status,
    StoredBlob,
    StoredChunk,
)

T = TypeVar("T")
_BATCH = 2_000
_IN_ONE_QUERY = 500
_SETTLED = (Status.INDEXED, Status.ANALYZED, Status.DESCRIBED)
_WITH_RESOURCE = chunks.join(resources, resources.c.id == chunks.c.resource_id)
_ELEMENT_ID = re.compile("e[0-9]{1,9}")
_OF_FILE = (
    resources.c.filename,
    resources.c.record_id,
    resources.c.identifier,
    resources.c.metadata.label("file_metadata"),
    resources.c.detected_category,
)
# Compiled once, because every search, or every file that is processed, runs them.
_LOADED = Lookup(
    sa.select(chunks, *_OF_FILE)
    .join(resources, resources.c.id == chunks.c.resource_id)
    .where(
        chunks.c.id.in_(sa.bindparam("ids", expanding=True)),
        chunks.c.owner_id == sa.bindparam("owner"),
        unindexed(resources.c.owner_id) == sa.bindparam("owner"),
    ),
    at_once=True,
)


_ELEMENTS = Prepared(
    sa.select(elements.c.ordinal, elements.c.data)
    .where(
        elements.c.resource_id == sa.bindparam("resource"),
        elements.c.version == sa.bindparam("version"),
        elements.c.ordinal > sa.bindparam("last"),
    )
    .order_by(elements.c.ordinal)
    .limit(sa.bindparam("most"))
)
_BLOBS = Prepared(
    sa.select(*(resource_blobs.c[name] for name in ("name", "key", "mime_type", "kind", "size", "metadata")))
    .where(
        resource_blobs.c.resource_id == sa.bindparam("resource"), resource_blobs.c.version == sa.bindparam("version")
    )
    .order_by(resource_blobs.c.name)
)
_CHUNKS = Prepared(
    sa.select(chunks)
    .where(chunks.c.resource_id == sa.bindparam("resource"), chunks.c.ordinal > sa.bindparam("last"))
    .order_by(chunks.c.ordinal)
    .limit(sa.bindparam("most"))
)
_CHUNK_IDS = Prepared(sa.select(chunks.c.id).where(chunks.c.resource_id == sa.bindparam("resource")))
_ADD_ELEMENTS = sa.insert(elements)
_ADD_CHUNKS = sa.insert(chunks)
_DROP_ELEMENTS = sa.delete(elements).where(
    elements.c.resource_id == sa.bindparam("resource"),
    elements.c.version == sa.bindparam("of"),
    elements.c.ordinal >= sa.bindparam("first"),
)
_DROP_BLOBS = sa.delete(resource_blobs).where(
    resource_blobs.c.resource_id == sa.bindparam("resource"), resource_blobs.c.version == sa.bindparam("of")
)


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with the file facts that its point stores.

    rows_before: how many rows of the same resource precede it, which decides whether it is embedded
    """

    chunk: Chunk
    file: FileFacts
    rows_before: int


@dataclass(frozen=True, slots=True)
class ChunkCount:
    """The number of chunks of a resource."""

    owner_id: str
    resource_id: str
    chunks: int


def insert_elements(
    connection: sa.Connection, resource_id: str, version: int, lines: Iterable[tuple[int, Element, str]]
) -> None:
    """Stores (ordinal, element, its JSON) triples in batches, inside the caller's transaction."""
    batch: list[dict[str, Any]] = []
    for ordinal, element, data in lines:
        batch.append(element_row(resource_id, version, ordinal, element, data))
        if len(batch) >= _BATCH:
            connection.execute(_ADD_ELEMENTS, batch)
            batch = []
    if batch:
        connection.execute(_ADD_ELEMENTS, batch)


def element_row(resource_id: str, version: int, ordinal: int, element: Element, data: str) -> dict[str, Any]:
    """Builds the row of an element whose JSON is `data`."""
    return {
        "resource_id": resource_id,
        "version": version,
        "ordinal": ordinal,
        "type": element.type.value,
        "page": element.locator.page or element.locator.slide,
        "data": data,
    }


def delete_elements(connection: sa.Connection, resource_id: str, version: int, first: int = 0) -> None:
    """Deletes a version's elements from number `first` on, so that a repeated extraction starts clean."""
    connection.execute(_DROP_ELEMENTS, {"resource": resource_id, "of": version, "first": first})


def replace_blobs(connection: sa.Connection, resource_id: str, version: int, blobs: Sequence[StoredBlob]) -> None:
    """Replaces the extracted blobs of a version."""
    connection.execute(_DROP_BLOBS, {"resource": resource_id, "of": version})
    if blobs:
        rows = [
            {
                "resource_id": resource_id,
                "version": version,
                "name": b.name,
                "key": b.key,
                "mime_type": b.mime_type,
                "kind": b.kind,
                "size": b.size,
                "metadata": b.metadata,
            }
            for b in blobs
        ]
        connection.execute(sa.insert(resource_blobs), rows)


def insert_chunks(connection: sa.Connection, new: Sequence[Chunk]) -> None:
    """Stores chunks of one owner, inside the caller's transaction."""
    for start in range(0, len(new), _BATCH):
        connection.execute(_ADD_CHUNKS, [_chunk_row(c) for c in new[start : start + _BATCH]])
    announce_chunks(connection, new)


def delete_chunks(connection: sa.Connection, resource_id: str, ids: Sequence[str] | None = None) -> None:
    """Deletes a resource's chunks of any version: those with `ids`, or all."""
    condition = chunks.c.resource_id == resource_id
    if ids is not None:
        condition &= chunks.c.id.in_(ids)
    connection.execute(sa.delete(chunks).where(condition))


def spread(items: Sequence[T], most: int) -> Sequence[T]:
    """Returns all items, or `most` of them, evenly spaced."""
    return items if len(items) <= most else [items[place * len(items) // most] for place in range(most)]


class ContentRepository:
    """Reads elements, blobs and chunks; the methods that serve a user are scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def elements_page(
        self,
        resource_id: str,
        version: int,
        limit: int,
        cursor: str | None = None,
        page: int | None = None,
        type: str | None = None,
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Returns a page of elements in reading order, as stored JSON, and the next cursor."""
        query = sa.select(elements.c.ordinal, elements.c.data).where(
            elements.c.resource_id == resource_id, elements.c.version == version
        )
        if cursor:
            query = query.where(elements.c.ordinal > decode_cursor(cursor, int)[0])
        if page is not None:
            query = query.where(elements.c.page == page)
        if type is not None:
            query = query.where(elements.c.type == type)
        rows = await self._database.rows(query.order_by(elements.c.ordinal).limit(limit + 1))
        found = [json.loads(row["data"]) for row in rows[:limit]]
        return found, encode_cursor(rows[limit - 1]["ordinal"]) if len(rows) > limit else None

    async def texts_with(self, resource_id: str, version: int, words: Sequence[str], limit: int) -> list[str]:
        """Returns the texts of a version's first `limit` elements that contain one of the words, ignoring case."""
        data = sa.func.lower(elements.c.data)
        query = sa.select(elements.c.data).where(
            elements.c.resource_id == resource_id,
            elements.c.version == version,
            sa.or_(*(data.contains(word.lower(), autoescape=True) for word in words)),
        )
        rows = await self._database.rows(query.order_by(elements.c.ordinal).limit(limit))
        return [str(json.loads(row["data"])["text"]) for row in rows]

    async def iterate_elements(self, resource_id: str, version: int) -> AsyncGenerator[list[Element]]:
        """Yields all elements of a version in reading order, in batches."""
        last: int | None = -1
        while last is not None:
            rows = await self._database.fetch(_ELEMENTS, resource=resource_id, version=version, last=last, most=_BATCH)
            last = rows[-1]["ordinal"] if len(rows) == _BATCH else None
            if rows:
                yield [Element.from_json(json.loads(row["data"])) for row in rows]

    async def elements_by_id(self, resource_id: str, version: int, ids: Sequence[str]) -> dict[str, Element]:
        """Returns the elements of a version with these ids (`e0`, `e1`, …)."""
        ordinals = [int(i[1:]) for i in ids if _ELEMENT_ID.fullmatch(i)]
        query = sa.select(elements.c.data).where(
            elements.c.resource_id == resource_id, elements.c.version == version, elements.c.ordinal.in_(ordinals)
        )
        found = [Element.from_json(json.loads(row["data"])) for row in await self._database.rows(query)]
        return {element.id: element for element in found}

    async def blobs(self, resource_id: str, version: int, kind: str | None = None) -> list[StoredBlob]:
        """Returns the extracted blobs of a version."""
        rows = await self._database.fetch(_BLOBS, resource=resource_id, version=version)
        return [StoredBlob(**row) for row in rows if kind is None or row["kind"] == kind]

    async def blob(self, resource_id: str, version: int, name: str) -> StoredBlob:
        """Returns one extracted blob. Raises `NotFound` if the version has no blob of that name."""
        for found in await self.blobs(resource_id, version):
            if found.name == name:
                return found
        raise NotFound

    async def load_chunks(self, owner_id: str, ids: Sequence[str]) -> dict[str, StoredChunk]:
        """Returns by id the chunks that belong to the owner and still exist."""
        rows = await self._database.look_up(_LOADED, ids, {"owner": owner_id})
        return {found.chunk.id: found for found in await self._stored_chunks(rows)}

    async def chunks_at(self, owner_id: str, places: Sequence[tuple[str, int, int]]) -> list[StoredChunk]:
        """Returns the owner's chunks at these (resource, version, ordinal)."""
        mine = chunks.c.owner_id == owner_id, unindexed(resources.c.owner_id) == owner_id
        query = sa.select(chunks, *_OF_FILE).join(resources, resources.c.id == chunks.c.resource_id).where(*mine)
        parts = [await self._database.rows(query.where(some)) for some in at_places(chunks, places)]
        return await self._stored_chunks([row for part in parts for row in part])

    async def _stored_chunks(self, rows: Sequence[Mapping[Any, Any]]) -> list[StoredChunk]:
        found = [_stored_chunk(row) for row in rows]
        inside = [one.chunk for one in found if one.picture is None and one.chunk.type is ChunkType.IMAGE]
        if not inside:
            return found
        pictures = await self._pictures(inside)
        return [replace(one, picture=pictures.get(one.chunk.id, one.picture)) for one in found]

    async def _pictures(self, found: Sequence[Chunk]) -> dict[str, OriginalPicture]:
        """Returns the pictures inside files that these chunks describe, by chunk id."""
        column = elements.c
        places = [place for chunk in found for place in _element_places(chunk)]
        query = sa.select(column.resource_id, column.version, column.ordinal, column.data)
        blobs = {
            (row["resource_id"], row["version"], row["ordinal"]): orjson.loads(row["data"]).get("blob")
            for some in at_places(elements, places)
            for row in await self._database.rows(query.where(some))
        }
        named = {chunk.id: next(filter(None, map(blobs.get, _element_places(chunk))), None) for chunk in found}
        return {chunk.id: OriginalPicture(chunk.resource_id, blob) for chunk in found if (blob := named[chunk.id])}

    async def passages(self, resource_id: str, types: Sequence[ChunkType], most: int) -> list[Chunk]:
        """Returns chunks of these types in order: all, or `most` of them, evenly spaced over the resource."""
        wanted = chunks.c.resource_id == resource_id, chunks.c.type.in_([kind.value for kind in types])
        ordered = sa.select(chunks.c.id).where(*wanted).order_by(chunks.c.ordinal)
        ids = [row["id"] for row in await self._database.rows(ordered)]
        ids = spread(ids, most)
        found: list[Chunk] = []
        for start in range(0, len(ids), _BATCH):
            query = sa.select(chunks).where(chunks.c.id.in_(ids[start : start + _BATCH])).order_by(chunks.c.ordinal)
            found += [_chunk(row) for row in await self._database.rows(query)]
        return found

    async def chunks_page(
        self, resource_id: str, limit: int, cursor: str | None = None
    ) -> tuple[list[Chunk], str | None]:
        """Returns a page of a resource's chunks in order, and the next cursor."""
        last = decode_cursor(cursor, int)[0] if cursor else -1
        rows = await self._database.fetch(_CHUNKS, resource=resource_id, last=last, most=limit + 1)
        found = [_chunk(row) for row in rows[:limit]]
        return found, encode_cursor(found[-1].ordinal) if len(rows) > limit else None

    async def neighbours(self, owner_id: str, resource_id: str, ordinals: Sequence[int]) -> list[Chunk]:
        """Returns the chunks of a resource at these ordinals, in order."""
        query = (
            sa.select(chunks)
            .where(chunks.c.resource_id == resource_id, chunks.c.owner_id == owner_id, chunks.c.ordinal.in_(ordinals))
            .order_by(chunks.c.ordinal)
        )
        return [_chunk(row) for row in await self._database.rows(query)]

    async def chunk_ids(self, resource_id: str) -> set[str]:
        """Returns the ids of all chunks of a resource."""
        return {row["id"] for row in await self._database.fetch(_CHUNK_IDS, resource=resource_id)}

    async def count_of(self, resource_id: str) -> int:
        """Counts the chunks of a resource."""
        query = sa.select(sa.func.count()).select_from(chunks).where(chunks.c.resource_id == resource_id)
        return await self._database.look(lambda connection: connection.scalar(query)) or 0

    async def count_chunks(self, owner_id: str | None = None, up_to: str | None = None) -> int:
        """Counts the chunks of an owner, or of all; with `up_to`, only those of resources up to that id."""
        query = sa.select(sa.func.count()).select_from(chunks)
        if up_to is not None:
            query = query.where(chunks.c.resource_id <= up_to)
        if owner_id is not None:
            query = query.where(chunks.c.owner_id == owner_id)
        return await self._database.look(lambda connection: connection.scalar(query)) or 0

    async def count_settled_chunks(self) -> int:
        """Counts the chunks of all successfully indexed resources, embedded or not: every index must contain them."""
        held = resources.c.status.in_([*_SETTLED, Status.EMBEDDING])
        query = sa.select(sa.func.count()).select_from(_WITH_RESOURCE).where(held)
        return await self._database.look(lambda connection: connection.scalar(query)) or 0

    async def settled_resources(self, limit: int) -> AsyncGenerator[list[ChunkCount]]:
        """Yields every resource whose chunks are final, with their count, `limit` at a time."""
        last = ""
        while True:
            query = (
                sa.select(chunks.c.owner_id, chunks.c.resource_id, sa.func.count())
                .select_from(_WITH_RESOURCE)
                .where(
                    resources.c.status.in_([*_SETTLED, Status.EMBEDDING, Status.PARTIAL]), chunks.c.resource_id > last
                )
                .group_by(chunks.c.owner_id, chunks.c.resource_id)
                .order_by(chunks.c.resource_id)
                .limit(limit)
            )
            async with self._database.read() as connection:
                rows = (await connection.execute(query)).all()
            if not rows:
                return
            last = rows[-1][1]
            yield [ChunkCount(*row) for row in rows]

    async def files_after(self, last: str, limit: int) -> list[ChunkCount]:
        """Returns resources with chunks, in any state and of any owner, by id after `last`, with chunk counts."""
        query = (
            sa.select(chunks.c.owner_id, chunks.c.resource_id, sa.func.count())
            .where(chunks.c.resource_id > last)
            .group_by(chunks.c.owner_id, chunks.c.resource_id)
            .order_by(chunks.c.resource_id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [ChunkCount(*row) for row in (await connection.execute(query)).all()]

    async def existing(self, ids: Sequence[str]) -> set[str]:
        """Returns which of these chunks exist."""
        found: set[str] = set()
        for start in range(0, len(ids), _IN_ONE_QUERY):
            query = sa.select(chunks.c.id).where(chunks.c.id.in_(ids[start : start + _IN_ONE_QUERY]))
            found |= {row["id"] for row in await self._database.rows(query)}
        return found

    async def after(self, resource_id: str, ids: Sequence[str]) -> set[str]:
        """Returns which of these chunks no longer exist, or have a resource id greater than this one."""
        query = sa.select(chunks.c.id).where(chunks.c.id.in_(ids), chunks.c.resource_id <= resource_id)
        return set(ids) - {row["id"] for row in await self._database.rows(query)}

    async def facts(self, resource_ids: Sequence[str]) -> dict[str, FileFacts]:
        """Returns the facts that points store about these resources; missing ones are omitted."""
        return await file_facts(self._database, resource_ids)

    async def owners(self) -> list[str]:
        """Returns all owners that have resources."""
        return [row["owner_id"] for row in await self._database.rows(sa.select(resources.c.owner_id).distinct())]

    async def sample_chunks(self, limit: int) -> list[IndexedChunk]:
        """Returns a sample of the chunks that every index must contain with a vector: no rows.

        Ids are hashes, so ordering by id samples at random.
        """
        query = (
            sa.select(chunks)
            .select_from(_WITH_RESOURCE)
            .where(resources.c.status.in_(_SETTLED), chunks.c.type != ChunkType.ROW.value)
            .order_by(chunks.c.id)
            .limit(2 * limit)
        )
        rows = await self._database.rows(query)
        found = [chunk for chunk in map(_chunk, rows) if not chunk.repeats_a_passage][:limit]
        files = await file_facts(self._database, list({chunk.resource_id for chunk in found}))
        return [IndexedChunk(chunk, files[chunk.resource_id], 0) for chunk in found if chunk.resource_id in files]

    async def iterate_chunks(
        self, batch: int = 512, resource_ids: Sequence[str] | None = None
    ) -> AsyncGenerator[list[IndexedChunk]]:
        """Yields every chunk (of these resources) with its file facts, in batches, to rebuild an index from.

        Chunks come resource by resource, in order.
        """
        place = (chunks.c.resource_id, chunks.c.version, chunks.c.ordinal)
        last: tuple[str, int, int] = ("", 0, -1)
        rows_before = 0
        while True:
            query = sa.select(chunks).where(sa.tuple_(*place) > sa.tuple_(*last)).order_by(*place).limit(batch)
            if resource_ids is not None:
                query = query.where(chunks.c.resource_id.in_(resource_ids))
            async with self._database.read() as connection:
                rows = (await connection.execute(query)).mappings().all()
            if not rows:
                return
            found: list[IndexedChunk] = []
            files = await file_facts(self._database, list({row["resource_id"] for row in rows}))
            for row in rows:
                chunk = _chunk(row)
                last_place, last = last, (chunk.resource_id, chunk.version, chunk.ordinal)
                if chunk.resource_id not in files:  # deleted in the meantime
                    continue
                if (chunk.resource_id, chunk.version) != last_place[:2]:
                    rows_before = 0
                found.append(IndexedChunk(chunk, files[chunk.resource_id], rows_before))
                rows_before += chunk.type is ChunkType.ROW
            yield found


def _chunk_row(chunk: Chunk) -> dict[str, Any]:
    return {
        "id": chunk.id,
        "owner_id": chunk.owner_id,
        "resource_id": chunk.resource_id,
        "version": chunk.version,
        "ordinal": chunk.ordinal,
        "type": chunk.type.value,
        "text": chunk.text,
        "context": chunk.context,
        "locator": _compact(chunk.locator.to_json()),
        "pieces": _compact([[p.element_id, p.start, p.end] for p in chunk.pieces]),
        "token_count": chunk.token_count,
        "metadata": _compact(chunk.metadata),
    }


def _element_places(chunk: Chunk) -> list[tuple[str, int, int]]:
    """Returns the (resource, version, ordinal) of the elements that a chunk was made from."""
    ids = (piece.element_id for piece in chunk.pieces)
    return [(chunk.resource_id, chunk.version, int(one[1:])) for one in ids if _ELEMENT_ID.fullmatch(one)]


def _stored_chunk(row: Mapping[Any, Any]) -> StoredChunk:
    chunk = _chunk(row)
    provenance = Provenance(
        record_id=row["record_id"], identifier=row["identifier"], metadata=metadata_of(row["file_metadata"])
    )
    is_picture = row["detected_category"] == Category.IMAGE
    return StoredChunk(chunk, row["filename"], provenance, OriginalPicture(chunk.resource_id) if is_picture else None)


def _chunk(row: Mapping[Any, Any]) -> Chunk:
    return Chunk(
        id=row["id"],
        owner_id=row["owner_id"],
        resource_id=row["resource_id"],
        version=row["version"],
        ordinal=row["ordinal"],
        type=ChunkType(row["type"]),
        text=row["text"],
        context=row["context"],
        locator=Locator.from_json(orjson.loads(row["locator"])),
        pieces=tuple(Piece(*piece) for piece in orjson.loads(row["pieces"])),
        token_count=row["token_count"],
        metadata=json.loads(row["metadata"]),
    )


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
