"""Parts for tests of retrieval: an embedder that discriminates, chunks in memory, a chat model that says what it is told."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence

import numpy as np

from citewell.errors import ProviderUnavailable
from citewell.ports import (
    Capability,
    ChatDelta,
    ChatMessage,
    Fingerprint,
    FloatMatrix,
    Reranked,
    TextKind,
    Tokenizer,
    ToolSpec,
    VectorIndex,
)
from citewell.ports.points import index_point
from citewell.types import (
    Chunk,
    ChunkType,
    FileFacts,
    Filter,
    JsonObject,
    Locator,
    MetadataKey,
    Provenance,
    SearchRequest,
    StoredChunk,
)

DIMENSIONS = 64


class WordEmbedder:
    """A text's vector is the sum of a random direction per word, and of one per meaning where words share it."""

    def __init__(self, meanings: Mapping[str, str] | None = None, model: str = "words") -> None:
        self.fingerprint = Fingerprint("test", model, DIMENSIONS)
        self.max_tokens = 256
        self.is_away = False
        self._meanings = meanings or {}

    @property
    def tokenizer(self) -> Tokenizer:
        raise AssertionError("Retrieval does not count tokens.")

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        if self.is_away:
            raise ProviderUnavailable("It did not answer.")
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> FloatMatrix:
        words = [self._meanings.get(word, word) for word in text.lower().replace("?", "").replace(".", "").split()]
        total = sum((_direction(word) for word in words), np.zeros(DIMENSIONS))
        return (total / (np.linalg.norm(total) or 1.0)).astype(np.float32)


def _direction(word: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "little")
    return np.random.default_rng(seed).normal(size=DIMENSIONS)


class MemoryChunks:
    """`ChunkSource` over a dictionary; it answers for the owner of each chunk."""

    def __init__(self) -> None:
        self.stored: dict[str, StoredChunk] = {}
        self.projects: dict[str, tuple[str, ...]] = {}
        self.keys: list[MetadataKey] = []
        self.keys_of: dict[tuple[str, ...], list[MetadataKey]] = {}
        self.loads = 0

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        return self.keys

    async def keys_within(
        self, owner_id: str, project_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        return self.keys if project_ids is None else self.keys_of[tuple(project_ids)]

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        self.loads += 1
        known = {key: self.stored[key] for key in ids if key in self.stored}
        return {key: item for key, item in known.items() if item.chunk.owner_id == owner_id}

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        inside = None if request.projects is None else self.projects[request.projects[0]]
        admitted = request.resource_ids if inside is None else inside
        return Filter(owner_id=request.owner_id, resource_ids=admitted, corpus=inside)


def make_chunk(text: str, owner: str = "ann", filename: str = "notes.txt", page: int = 1, ordinal: int = 0) -> Chunk:
    """A chunk of a file; the file is a resource of its own per owner."""
    return Chunk(
        id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}\n{filename}\n{page}\n{ordinal}\n{text}")),
        owner_id=owner,
        resource_id=f"{owner}/{filename}",
        version=1,
        ordinal=ordinal,
        type=ChunkType.TEXT,
        text=text,
        locator=Locator(page=page),
    )


async def fill(
    index: VectorIndex, source: MemoryChunks, embedder: WordEmbedder, chunks: Sequence[tuple[Chunk, str]]
) -> None:
    """Index chunks, each with its file's name, and make their text known to the source."""
    vectors = await embedder.embed([chunk.embedded_text for chunk, _ in chunks])
    await index.upsert(
        [
            index_point(chunk, v.tolist(), FileFacts(filename=name))
            for (chunk, name), v in zip(chunks, vectors, strict=True)
        ]
    )
    source.stored |= {
        chunk.id: StoredChunk(chunk, name, Provenance(record_id=f"record {chunk.text[:5]}")) for chunk, name in chunks
    }


class LengthReranker:
    """Prefers short texts."""

    model = "length"

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.asked = ""

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        self.seen, self.asked = list(documents), query
        ranked = [Reranked(index, 1.0 / len(text)) for index, text in enumerate(documents)]
        return sorted(ranked, key=lambda item: -item.score)[:top_k]


class ScriptedChat:
    """Answers every call with the same text, in two pieces; or with an error when there is none."""

    model = "scripted"
    capabilities = frozenset({Capability.STRUCTURED_OUTPUT})

    def __init__(self, answer: str | None) -> None:
        self._answer = answer
        self.asked: list[str] = []

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncIterator[ChatDelta]:
        self.asked.append(messages[-1].content)
        if self._answer is None:
            raise ProviderUnavailable
        half = len(self._answer) // 2
        yield ChatDelta(text=self._answer[:half])
        yield ChatDelta(text=self._answer[half:])
