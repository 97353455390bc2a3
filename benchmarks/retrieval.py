"""nDCG@10, recall@10 and MRR of the retriever's parts on sets in the layout of BEIR, without server or database.

usage: .venv/bin/python benchmarks/retrieval.py SET... [--multilingual] [--only NAME...] [--cache FOLDER] [--output FILE]
A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Vectors are kept in the cache folder, by model and text.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import report

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.reranker.builtin import LateInteractionReranker
from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.ports import Embedder, FloatMatrix, TextKind
from citewell.ports.points import index_point
from citewell.retrieve.evaluate import CONFIGURATIONS, Quality, Ranker, evaluate, read_corpus, read_judgements, table
from citewell.retrieve.retriever import Retriever
from citewell.text.language import detect_language
from citewell.types import (
    Chunk,
    Element,
    ElementType,
    FileFacts,
    Filter,
    Locator,
    MetadataKey,
    Provenance,
    SearchRequest,
    StoredChunk,
)

OWNER = "benchmark"
# A record that was split may hold several of the first places.
HITS_PER_RECORD = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--multilingual", action="store_true", help="with the multilingual model")
    parser.add_argument("--only", nargs="*", choices=list(CONFIGURATIONS), default=list(CONFIGURATIONS))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "citewell-vectors")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    load = BuiltinEmbedder.multilingual if options.multilingual else BuiltinEmbedder.load
    embedder = CachedEmbedder(load(), options.cache)
    results = {folder.name: asyncio.run(measure(folder, options.only, embedder)) for folder in options.sets}
    if options.output:
        out = {name: [quality.to_json() for quality in qualities] for name, qualities in results.items()}
        options.output.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


async def measure(folder: Path, names: Sequence[str], embedder: CachedEmbedder) -> list[Quality]:
    """Every named configuration over one index of the set."""
    stored = chunks_of(read_corpus(folder / "corpus.jsonl"), embedder)
    judged = read_judgements(folder / "queries.jsonl", folder / "qrels.tsv")
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        index = await QdrantEdgeIndex.open(Path(scratch), embedder.fingerprint.dimensions)
        started = time.perf_counter()
        vectors = await embedder.embed([item.chunk.embedded_text for item in stored])
        await index.upsert(
            [
                index_point(
                    item.chunk,
                    vector.tolist(),
                    FileFacts(filename=item.filename, language=detect_language(item.chunk.text)),
                )
                for item, vector in zip(stored, vectors, strict=True)
            ]
        )
        print(f"\n{folder.name}: {len(stored):,} chunks in {time.perf_counter() - started:.0f} s", flush=True)
        source = MemoryChunks({item.chunk.id: item for item in stored})
        reranker = LateInteractionReranker(embedder.inner)
        results = []
        for name in names:
            one = CONFIGURATIONS[name]
            retriever = Retriever(embedder, index, source, reranker if one.rerank else None, one.options)
            results.append(await evaluate(name, ranker(retriever), judged))
        await index.close()
    header, *rows = table(results)
    print(report.terminal(header, rows), flush=True)
    return results


def ranker(retriever: Retriever) -> Ranker:
    async def rank(query: str) -> list[str]:
        found = await retriever.search(SearchRequest(owner_id=OWNER, query=query, top_k=10 * HITS_PER_RECORD))
        return [hit.record_id or "" for hit in found.hits]

    return rank


def chunks_of(records: Sequence[Mapping[str, str]], embedder: Embedder) -> list[StoredChunk]:
    """The records cut as `Citewell.add_texts` cuts them."""
    config = ChunkConfig(max_tokens=embedder.max_tokens)
    stored = []
    for record in records:
        place = Locator(char_start=0, char_end=len(record["text"]))
        element = Element(id="e0", type=ElementType.PARAGRAPH, text=record["text"], locator=place)
        drafts = chunk_elements([element], config, embedder.tokenizer, record["title"])
        for ordinal, draft in enumerate(drafts):
            chunk = Chunk(
                id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{record['id']}\n{ordinal}")),
                owner_id=OWNER,
                resource_id=record["id"],
                version=1,
                ordinal=ordinal,
                type=draft.type,
                text=draft.text,
                context=draft.context,
                locator=draft.locator,
            )
            stored.append(StoredChunk(chunk, record["title"] or record["id"], Provenance(record_id=record["id"])))
    return stored


class MemoryChunks:
    """`ChunkSource` over a dictionary."""

    def __init__(self, stored: Mapping[str, StoredChunk]) -> None:
        self._stored = stored

    async def load(self, owner_id: str, ids: Sequence[str]) -> dict[str, StoredChunk]:
        return {key: self._stored[key] for key in ids}

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        return Filter(owner_id=request.owner_id, resource_ids=request.resource_ids)

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        return ()

    async def keys_within(
        self, owner_id: str, project_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        return ()


class CachedEmbedder:
    """An embedder whose vectors are kept in one file per call and model."""

    def __init__(self, inner: BuiltinEmbedder, folder: Path) -> None:
        self.inner = inner
        self._folder = folder
        self.fingerprint = inner.fingerprint
        self.max_tokens = inner.max_tokens
        self.tokenizer = inner.tokenizer

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        if kind == "query":
            return await self.inner.embed(texts, kind)
        key = hashlib.sha256("\x00".join([str(self.fingerprint), *texts]).encode()).hexdigest()
        path = self._folder / f"{key}.npy"
        if path.exists():
            return np.load(path)
        vectors = await self.inner.embed(texts, kind)
        self._folder.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors)
        return vectors


if __name__ == "__main__":
    main()
