"""The stages of `search.py`, each in a process of its own, so that one's memory is not counted as another's.

usage: library_stages.py build FOLDER | search FOLDER
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import generated
import numpy as np
from process import Watch, cpu_seconds, tree

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.ports import Fingerprint, FloatMatrix
from citewell.retrieve.retriever import Retriever
from citewell.types import Filter, MetadataKey, SearchRequest, StoredChunk, VectorQuery

BATCH = 2_000
Question = tuple[str, FloatMatrix]


async def build(folder: Path) -> dict[str, Any]:
    """Fill an index, and wait until its search graphs are built."""
    vectors = generated.read_vectors(folder / "vectors.npy")
    texts = generated.passages(json.loads((folder / "sentences.json").read_text(encoding="utf-8")), seed=1)
    words = generated.analysed(texts, len(vectors))
    index = await QdrantEdgeIndex.open(folder / "index", generated.DIMENSIONS)
    watch = Watch(os.getpid())
    started = time.perf_counter()
    for start in range(0, len(vectors), BATCH):
        batch = enumerate(np.asarray(vectors[start : start + BATCH]), start)
        await index.upsert([generated.point(number, words[number % len(words)], vector) for number, vector in batch])
    filled = time.perf_counter() - started
    await index.settled()
    settled = time.perf_counter() - started
    await index.close()
    watch.stop()
    return {
        "build_s": filled,
        "graphs_s": settled - filled,
        "build_peak_mb": watch.peak_mb,
        "build_anonymous_mb": watch.peak_anonymous_mb,
    }


async def search(folder: Path) -> dict[str, Any]:
    """Open the index, and search it: times, memory, and which chunks the dense leg finds."""
    asked = _questions(folder)
    started = time.perf_counter()
    index = await QdrantEdgeIndex.open(folder / "index", generated.DIMENSIONS)
    opened = time.perf_counter() - started
    size = await index.count()
    narrow = generated.thousandth(size)
    retriever = Retriever(QueryEmbedder(BuiltinEmbedder.load(), dict(asked)), index, FoundChunks())
    result: dict[str, Any] = {
        "chunks": size,
        "open_s": opened,
        "open_mb": _status("VmRSS"),
        "search": await timed(retriever, asked, None),
        "filtered": await timed(retriever, asked, narrow),
        "rss_mb": _status("VmRSS"),
        "anonymous_mb": _status("RssAnon"),
        "found": await found(index, asked, Filter(owner_id=generated.OWNER)),
        "found_filtered": await found(index, asked, Filter(owner_id=generated.OWNER, resource_ids=narrow)),
    }
    await index.close()
    return result


async def timed(retriever: Retriever, asked: Sequence[Question], scope: tuple[str, ...] | None) -> dict[str, Any]:
    """Wall and CPU milliseconds per search over the second half, after the first to warm up; embedding the query included."""
    spent: list[float] = []
    used, steps = 0.0, dict[str, float]()
    measured = len(asked) // 2
    for number, (text, _) in enumerate(asked):
        if number == measured:
            used = cpu_seconds(os.getpid())
        began = time.perf_counter()
        request = SearchRequest(owner_id=generated.OWNER, query=text, top_k=10, resource_ids=scope)
        answer = await retriever.search(request)
        if number >= measured:
            spent.append(1000 * (time.perf_counter() - began))
            for step, took in answer.trace.timings_ms.items():
                steps[step] = steps.get(step, 0.0) + took / measured
    cpu = 1000 * (cpu_seconds(os.getpid()) - used)
    p50, p95, p99 = (float(value) for value in np.percentile(spent, [50, 95, 99]))
    return {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "cpu_ms": cpu / measured, "steps_ms": steps}


async def found(index: QdrantEdgeIndex, asked: Sequence[Question], scope: Filter) -> list[list[str]]:
    """The first ten of the hundred that the dense leg returns, per query."""
    lists = [
        await index.search(VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=100)) for _, vector in asked
    ]
    return [[item.id for item in one[:10]] for one in lists]


class QueryEmbedder:
    """Does the work of embedding a query, and returns the generated vector that belongs to it."""

    def __init__(self, inner: BuiltinEmbedder, vectors: dict[str, FloatMatrix]) -> None:
        self._inner = inner
        self._vectors = vectors
        self.fingerprint = Fingerprint("builtin", "all-MiniLM-L6-v2", generated.DIMENSIONS)
        self.max_tokens = inner.max_tokens
        self.tokenizer = inner.tokenizer

    async def embed(self, texts: Sequence[str], kind: str = "document") -> FloatMatrix:
        await self._inner.embed(texts, "query")
        return np.stack([self._vectors[text] for text in texts])


class FoundChunks:
    """A `ChunkSource` that has everything: what loading from SQL costs is measured over HTTP."""

    async def load(self, owner_id: str, ids: Sequence[str]) -> dict[str, StoredChunk]:
        return {key: StoredChunk(generated.chunk(0, ""), "doc.txt") for key in ids}

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        return Filter(owner_id=request.owner_id, resource_ids=request.resource_ids)

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        return ()


def _questions(folder: Path) -> list[Question]:
    texts = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    return list(zip(texts, np.load(folder / "queries.npy"), strict=True))


def _status(name: str) -> float:
    """A figure of this process and the index's in MB, as the kernel has it; what both map counts twice."""
    lines = [
        line
        for pid in tree(os.getpid())
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    ]
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


if __name__ == "__main__":
    stage = {"build": build, "search": search}[sys.argv[1]]
    print(json.dumps(asyncio.run(stage(Path(sys.argv[2])))))
