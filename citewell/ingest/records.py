"""Adds texts directly, without a file: splits, embeds and indexes them in batches."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any
from weakref import WeakValueDictionary

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.chunk.strategies import SentenceEmbedder
from citewell.errors import InvalidInput, InvalidMetadata, VersionTaken, named
from citewell.indexes.index_set import IndexSet
from citewell.indexes.writing import write_chunks
from citewell.ingest.chunking import fitted, sentence_embedder
from citewell.ingest.identity import identify
from citewell.ports.metering import OnSpent, reported
from citewell.storage.files.records import Placing, RecordRepository, StoredRecord, TextRecord
from citewell.storage.work.payload_changes import PayloadChangeRepository
from citewell.text.spelling import suggestion
from citewell.types import Chunk, Element, ElementType, FileFacts, Filter, Locator
from citewell.types.metadata_values import MetadataLimits, checked_metadata

_BATCH = 256
_ATTEMPTS = 4
"""Attempts to write a batch. A failed one means that another server wrote one of its records meanwhile."""
_FIELDS = frozenset({"id", "text", "title", "metadata"})


@dataclass(frozen=True, slots=True)
class RecordsAdded:
    """The result of `add`: a resource id for each record in input order, and how many resources were new, replaced or unchanged."""

    resource_ids: tuple[str, ...]
    added: int
    replaced: int
    unchanged: int


class RecordIngest:
    """Adds text records of an owner to every open index."""

    def __init__(
        self,
        *,
        records: RecordRepository,
        payloads: PayloadChangeRepository,
        indexes: IndexSet,
        chunking: ChunkConfig,
        limits: MetadataLimits,
        on_spent: OnSpent,
    ) -> None:
        self._records = records
        self._payloads = payloads
        self._limits = limits
        self._indexes = indexes
        self._chunking = chunking
        self._on_spent = on_spent
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def add(self, owner_id: str, placing: Placing, records: Iterable[Mapping[str, Any]]) -> RecordsAdded:
        """Add records (`id`, `text`, optional `title`, `metadata`); one with a known id replaces the earlier record.

        If several records have the same id, the last one counts; concurrent requests with the same id take turns. Raises `InvalidInput` for a record
        without an id or text, `InvalidMetadata`, `Forbidden` for one that the caller may not change, and `VersionTaken` for one that another
        server keeps writing; earlier batches stay.
        """
        async with reported(owner_id, self._on_spent):
            return await self._add(owner_id, placing, records)

    async def _add(self, owner_id: str, placing: Placing, records: Iterable[Mapping[str, Any]]) -> RecordsAdded:
        ids: list[str] = []
        added = replaced = unchanged = 0
        for batch in _batches(iter(records)):
            parsed = [_parse(record, self._limits) for record in batch]
            last = {one.record_id: one for one in parsed}
            async with self._turn(owner_id, last):
                places = await self._written(owner_id, placing, list(last.values()))
            where = dict(zip(last, places, strict=True))
            ids += [where[one.record_id].resource_id for one in parsed]
            added += sum(place.is_new for place in places)
            unchanged += sum(place.unchanged for place in places)
            replaced += sum(not (place.is_new or place.unchanged) for place in places)
        return RecordsAdded(tuple(ids), added, replaced, unchanged)

    @asynccontextmanager
    async def _turn(self, owner_id: str, record_ids: Iterable[str]) -> AsyncGenerator[None]:
        """Lock these records of the owner within this process. Locks are taken in a fixed order, which rules out deadlocks."""
        async with AsyncExitStack() as stack:
            for record_id in sorted(record_ids):
                lock = self._turns.setdefault((owner_id, record_id), asyncio.Lock())
                await stack.enter_async_context(lock)
            yield

    async def _written(self, owner_id: str, placing: Placing, records: Sequence[TextRecord]) -> list[StoredRecord]:
        """Write a batch, starting over if another server has just written one of the records."""
        for left in reversed(range(_ATTEMPTS)):
            places = await self._records.plan(owner_id, records)
            try:
                await self._write(owner_id, placing, records, places)
            except VersionTaken:
                if not left:
                    raise
            else:
                return places
        raise AssertionError("the last attempt returns or raises")

    async def _write(
        self, owner_id: str, placing: Placing, records: Sequence[TextRecord], places: Sequence[StoredRecord]
    ) -> None:
        pairs = [(r, p) for r, p in zip(records, places, strict=True) if not p.unchanged]
        if not pairs:
            await self._records.write(owner_id, placing, records, places, [], [])
            return
        elements = [_element(record) for record, _ in pairs]
        sentences = sentence_embedder(self._indexes.active.embedder, asyncio.get_running_loop())
        per_record = await asyncio.to_thread(self._chunk, owner_id, pairs, elements, sentences)
        chunks = [chunk for some in per_record for chunk in some]
        await self._records.write(owner_id, placing, records, places, elements, chunks)
        files = await self._payloads.facts([place.resource_id for _, place in pairs])
        old = [place.resource_id for _, place in pairs if not place.is_new]
        await self._index(owner_id, chunks, files, old)
        counts = {place.resource_id: len(some) for (_, place), some in zip(pairs, per_record, strict=True)}
        await self._records.mark_indexed(counts)

    async def _index(
        self, owner_id: str, chunks: Sequence[Chunk], files: Mapping[str, FileFacts], replaced: Sequence[str]
    ) -> None:
        for index in self._indexes.all:
            if replaced:
                await index.store.delete(Filter(owner_id=owner_id, resource_ids=tuple(replaced)))
            present = [chunk for chunk in chunks if chunk.resource_id in files]  # others were deleted meanwhile
            await write_chunks(index, present, [True] * len(present), [files[chunk.resource_id] for chunk in present])

    def _chunk(
        self,
        owner_id: str,
        pairs: Sequence[tuple[TextRecord, StoredRecord]],
        elements: Sequence[Element],
        sentences: SentenceEmbedder,
    ) -> list[list[Chunk]]:
        embedder = self._indexes.active.embedder
        config = fitted(self._chunking, embedder)
        return [
            [
                identify(
                    draft,
                    owner_id,
                    place.resource_id,
                    place.version,
                    ordinal,
                    config.fingerprint,
                )
                for ordinal, draft in enumerate(
                    chunk_elements(
                        [element], config, embedder.tokenizer, record.title if record.has_title else "", sentences
                    )
                )
            ]
            for (record, place), element in zip(pairs, elements, strict=True)
        ]


def _parse(record: Mapping[str, Any], limits: MetadataLimits) -> TextRecord:
    if unknown := sorted(set(record) - _FIELDS):
        raise InvalidInput(f"A record has no `{unknown[0]}`. {suggestion(unknown[0], _FIELDS)}")
    record_id, text = record.get("id"), record.get("text")
    if record_id is None or not str(record_id).strip():
        raise InvalidInput("A record has no `id`. Add one.")
    if "\x00" in f"{record_id}{record.get('title')}":
        raise InvalidInput(f"Record {named(record_id)} has a null character in its `id` or `title`. Remove it.")
    if not isinstance(text, str):
        raise InvalidInput(f"Record {named(record_id)} needs a `text` that is a string.")
    text = text.replace("\x00", "")
    if not text.strip():
        raise InvalidInput(
            f"The `text` of record {named(record_id)} is empty. Leave the record out, or delete its resource."
        )
    title = str(record.get("title") or "").strip()
    said = {key: value for key, value in dict(record.get("metadata") or {}).items() if value is not None}
    try:
        metadata = checked_metadata(said, limits)
    except InvalidMetadata as error:
        raise InvalidMetadata(f"Record {named(record_id)}: {error.message}", **error.details) from error
    hashed = json.dumps([str(record_id), title, text, metadata], sort_keys=True, default=str)
    return TextRecord(
        record_id=str(record_id),
        title=title or str(record_id),
        has_title=bool(title),
        text=text,
        content_hash=hashlib.sha256(hashed.encode("utf-8", "replace")).hexdigest(),
        metadata=metadata,
    )


def _element(record: TextRecord) -> Element:
    place = Locator(char_start=0, char_end=len(record.text))
    return Element(id="e0", type=ElementType.PARAGRAPH, text=record.text, locator=place)


def _batches(records: Iterator[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    while batch := list(islice(records, _BATCH)):
        yield batch
