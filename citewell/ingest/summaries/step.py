"""The last step of stage 3: describes a file once its content is searchable. If it fails, only the description is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from citewell.errors import ProviderError
from citewell.indexes.index_set import OpenIndex
from citewell.ingest.chunking import chunk_title
from citewell.ingest.describe import describe_data, describe_picture
from citewell.ingest.summaries.extracted import outline, quoted_drafts, quoted_summary
from citewell.ingest.summaries.passages import written_drafts
from citewell.ingest.summaries.written import (
    WrittenSummary,
    characters_within,
    write_data_description,
    write_summary,
)
from citewell.ingest.vision import is_description
from citewell.ports import ChatModel, FloatMatrix
from citewell.storage.files.content import ContentRepository, spread
from citewell.types import (
    SUMMARY_OF,
    Category,
    Chunk,
    ChunkDraft,
    ChunkType,
    Element,
    JsonObject,
    Resource,
)

MAX_PASSAGES = 400
"""Chunks from which a document's quoted summary is chosen, spread evenly over a longer document."""

_CHUNK_CHARACTERS = 1_000
"""Characters of an average chunk, used to compute how many chunks may be sent."""


@dataclass(frozen=True, slots=True)
class Description:
    """A file's description: a text for lists, chunks to search and cite, and the error if it is not the requested kind."""

    text: str | None
    drafts: tuple[ChunkDraft, ...] = ()
    error: ProviderError | None = None


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of a resource: from memory if they are complete there, else from storage."""

    content: ContentRepository
    resource_id: str
    at_hand: Sequence[Chunk] = ()

    async def of(self, types: Sequence[ChunkType], most: int) -> Sequence[Chunk]:
        """Passages of these types in order: all, or `most` spread evenly over the resource."""
        if not self.at_hand:
            return await self.content.passages(self.resource_id, types, most)
        return spread([chunk for chunk in self.at_hand if chunk.type in types], most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summariser:
    """Describes files.

    model:  writes descriptions; without it, or with `tokens` of 0, they are quoted or computed
    tokens: the most sent to the model for one file; from a longer document, passages spread evenly over it
    """

    model: ChatModel | None
    tokens: int

    @property
    def writes(self) -> bool:
        """Whether a model writes descriptions."""
        return self.model is not None and self.tokens > 0

    async def run(
        self,
        resource: Resource,
        elements: Sequence[Element],
        language: str | None,
        index: OpenIndex,
        passages: Passages,
    ) -> Description:
        """The description of a resource whose content is indexed. If the model fails, it contains the error and a description made without a model."""
        match resource.detected_category:
            case Category.DATA:
                return await self._data(resource, index)
            case Category.IMAGE:
                return Description(_picture(resource, elements))
            case _:
                return await self._document(resource, elements, language, index, passages)

    async def _data(self, resource: Resource, index: OpenIndex) -> Description:
        computed = describe_data(resource.extraction_metadata)
        if self.model is None or not self.tokens or computed is None:
            return Description(computed)
        try:
            text = await write_data_description(self.model, resource.filename, resource.extraction_metadata)
        except ProviderError as error:
            return Description(computed, error=error)
        metadata: JsonObject = {SUMMARY_OF: "file", "model": self.model.model}
        return Description(text, tuple(written_drafts(text, (), _title(resource), index.embedder, metadata)))

    async def _document(
        self,
        resource: Resource,
        elements: Sequence[Element],
        language: str | None,
        index: OpenIndex,
        passages: Passages,
    ) -> Description:
        error: ProviderError | None = None
        if self.model is not None and self.tokens:
            try:
                written = await self._written(self.model, resource, index, passages)
            except ProviderError as failed:
                error = failed
            else:
                if written is not None:
                    return written
        chunks = await passages.of([ChunkType.TEXT], MAX_PASSAGES)
        vectors = await index.store.vectors([chunk.id for chunk in chunks]) if len(chunks) > 1 else {}
        quoted = await asyncio.to_thread(self.quoted, resource, elements, language, index, chunks, vectors)
        return replace(quoted, error=error)

    def quoted(
        self,
        resource: Resource,
        elements: Sequence[Element],
        language: str | None,
        index: OpenIndex,
        chunks: Sequence[Chunk],
        vectors: Mapping[str, FloatMatrix],
    ) -> Description:
        """The description without a model of a document with these chunks. vectors: of shape (dimensions,), by chunk; of use only if all are there"""
        chunks = spread([chunk for chunk in chunks if chunk.type is ChunkType.TEXT], MAX_PASSAGES)
        by_id = {element.id: element for element in elements}
        said = quoted_summary(chunks, _stacked(chunks, vectors), by_id, _title(resource), language)
        if not said:
            return Description(outline(elements))
        text = " ".join(one.text for one in said)
        return Description(text, tuple(quoted_drafts(said, _title(resource), index.embedder)))

    async def _written(
        self, model: ChatModel, resource: Resource, index: OpenIndex, passages: Passages
    ) -> Description | None:
        """The model's summary; None for a file without text."""
        most = max(1, characters_within(self.tokens) // _CHUNK_CHARACTERS)
        chunks = await passages.of([ChunkType.TEXT, ChunkType.TABLE, ChunkType.IMAGE], most)
        if not chunks:
            return None
        written = await write_summary(model, _title(resource), chunks)
        return Description(written.text, tuple(_of_document(written, chunks, resource, index, model.model)))


def _of_document(
    written: WrittenSummary, chunks: Sequence[Chunk], resource: Resource, index: OpenIndex, model: str
) -> Iterator[ChunkDraft]:
    title, embedder = _title(resource), index.embedder
    yield from written_drafts(written.text, chunks, title, embedder, {SUMMARY_OF: "file", "model": model})
    for section in written.sections:
        metadata: JsonObject = {SUMMARY_OF: "section", "model": model}
        yield from written_drafts(section.summary, section.chunks, title, embedder, metadata)


def _picture(resource: Resource, elements: Sequence[Element]) -> str:
    """The vision model's description, or else the facts of the file."""
    said = next((element.text for element in elements if is_description(element)), None)
    return said or describe_picture(resource.filename, resource.extraction_metadata).text


def _title(resource: Resource) -> str:
    return chunk_title(resource.filename, resource.extraction_metadata.get("title"))


def _stacked(chunks: Sequence[Chunk], vectors: Mapping[str, FloatMatrix]) -> FloatMatrix | None:
    """The vectors of several chunks; None unless all are there."""
    if len(chunks) < 2 or any(chunk.id not in vectors for chunk in chunks):
        return None
    return np.stack([vectors[chunk.id] for chunk in chunks]).astype(np.float32)
