"""Search in-process as a library grows: build, open, memory, milliseconds per step, recall with and without filters.

usage: .venv/bin/python benchmarks/search.py [--sizes 10000 100000 1000000] [--queries 300] [--output FILE]

Texts are real English (the documentation inside installed Python packages), cut into passages and drawn again in new
orders until there are enough. Vectors are generated: 384 dimensions whose variances fall off as those of a small sentence
model do, in clusters. Queries are vectors near those of a passage, and a few of its words.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import random
import re
import resource
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import report

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.points import index_point
from citewell.ports import Fingerprint, FloatMatrix
from citewell.retrieve.chunks import StoredChunk
from citewell.retrieve.retriever import Retriever
from citewell.types import Chunk, ChunkType, Filter, Locator, SearchRequest, VectorQuery

DIMENSIONS = 384
OWNER = "benchmark"
CHUNKS_PER_RESOURCE = 100
BATCH = 2_000
WORDS_PER_PASSAGE = 120
HEADER = (
    "Chunks",
    "Build s",
    "Graphs s",
    "Open s",
    "RSS MB",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "CPU ms",
    "Recall",
    "1:1000 p50 ms",
    "1:1000 recall",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    measured = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
            measured.append(asyncio.run(measure(Path(scratch), size, options.queries)))
            print(json.dumps(measured[-1]), flush=True)
    print(report.terminal(HEADER, [row(one) for one in measured]))
    if options.output:
        out = {"machine": report.machine(), "measured": measured}
        options.output.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


def row(one: dict) -> tuple[str, ...]:
    search, narrow = one["search"], one["filtered"]
    return (
        f"{one['chunks']:,}",
        *(f"{one[key]:.1f}" for key in ("build_s", "graphs_s", "open_s")),
        f"{one['rss_mb']:.0f}",
        *(f"{search[key]:.1f}" for key in ("p50_ms", "p95_ms", "p99_ms", "cpu_ms")),
        f"{one['recall']:.3f}",
        f"{narrow['p50_ms']:.1f}",
        f"{one['filtered_recall']:.3f}",
    )


async def measure(folder: Path, size: int, queries: int) -> dict:
    """Build an index of `size` passages, open it again, and search it."""
    vectors = generated_vectors(size, seed=size)
    index = await QdrantEdgeIndex.open(folder / "index", DIMENSIONS)
    started = time.perf_counter()
    await fill(index, vectors)
    build = time.perf_counter() - started
    await index.settled()
    graphs = time.perf_counter() - started - build
    await index.close()
    started = time.perf_counter()
    index = await QdrantEdgeIndex.open(folder / "index", DIMENSIONS)
    opened = time.perf_counter() - started
    asked = list(questions(vectors, queries))
    embedder = BuiltinEmbedder.load()
    result = {
        "chunks": size,
        "build_s": build,
        "graphs_s": graphs,
        "open_s": opened,
        "recall": await recall(index, vectors, asked, Filter(owner_id=OWNER)),
        "filtered_recall": await recall(index, vectors, asked, Filter(owner_id=OWNER, resource_ids=thousandth(size))),
    }
    retriever = Retriever(QueryEmbedder(embedder, dict(asked)), index, FoundChunks())
    result["search"] = await timed(retriever, asked, None)
    result["filtered"] = await timed(retriever, asked, thousandth(size))
    result["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    await index.close()
    return result


async def fill(index: QdrantEdgeIndex, vectors: FloatMatrix) -> None:
    texts = passages(seed=1)
    for start in range(0, len(vectors), BATCH):
        batch = vectors[start : start + BATCH]
        points = [index_point(chunk(start + i, next(texts)), v.tolist(), "doc.txt", "en") for i, v in enumerate(batch)]
        await index.upsert(points)


async def timed(retriever: Retriever, asked: Sequence[tuple[str, FloatMatrix]], scope: tuple[str, ...] | None) -> dict:
    """Wall and CPU milliseconds per search, after a tenth of them to warm up; embedding the query included."""
    spent, cpu, steps = [], 0.0, dict[str, float]()
    for number, (text, _) in enumerate([*asked[: len(asked) // 10], *asked]):
        began, began_cpu = time.perf_counter(), time.process_time()
        found = await retriever.search(SearchRequest(owner_id=OWNER, query=text, top_k=10, resource_ids=scope))
        if number >= len(asked) // 10:
            spent.append(1000 * (time.perf_counter() - began))
            cpu += 1000 * (time.process_time() - began_cpu)
            for step, took in found.trace.timings_ms.items():
                steps[step] = steps.get(step, 0.0) + took / len(asked)
    p50, p95, p99 = np.percentile(spent, [50, 95, 99])
    return {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "cpu_ms": cpu / len(asked), "steps_ms": steps}


async def recall(
    index: QdrantEdgeIndex, vectors: FloatMatrix, asked: Sequence[tuple[str, FloatMatrix]], scope: Filter
) -> float:
    """Share of the ten nearest by brute force that the dense leg returns among its first ten of a hundred."""
    admitted = np.arange(len(vectors))
    if scope.resource_ids is not None:
        admitted = np.array([n for n in admitted if resource_of(n) in scope.resource_ids])
    shared = 0
    for _, vector in asked:
        scores = vectors[admitted] @ vector
        nearest = admitted[np.argpartition(-scores, 10)[:10]]
        found = await index.search(VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=100))
        shared += len({chunk_id(n) for n in nearest} & {item.id for item in found[:10]})
    return shared / (10 * len(asked))


def generated_vectors(count: int, seed: int) -> FloatMatrix:
    """Unit vectors, float32, shape (count, 384), one cluster per about 200."""
    draw = np.random.default_rng(seed)
    spread = (np.arange(1, DIMENSIONS + 1) ** -0.4).astype(np.float32)
    centres = draw.normal(size=(max(1, count // 200), DIMENSIONS)).astype(np.float32)
    vectors = np.empty((count, DIMENSIONS), dtype=np.float32)
    for start in range(0, count, 50_000):
        some = vectors[start : start + 50_000]
        noise = draw.normal(size=some.shape).astype(np.float32)
        some[:] = (centres[draw.integers(0, len(centres), len(some))] + noise) * spread
        some /= np.linalg.norm(some, axis=1, keepdims=True)
    return vectors


def questions(vectors: FloatMatrix, count: int) -> Iterator[tuple[str, FloatMatrix]]:
    """Texts and vectors: some words of a passage each, and a vector near one."""
    draw, texts, words = np.random.default_rng(7), passages(seed=1), random.Random(7)
    noise = 0.5 / np.sqrt(DIMENSIONS)
    for number in range(count):
        passage = next(texts).split()
        start = words.randrange(max(1, len(passage) - 8))
        near = vectors[draw.integers(0, len(vectors))] + draw.normal(size=DIMENSIONS).astype(np.float32) * noise
        yield f"{' '.join(passage[start : start + 8])} {number}", (near / np.linalg.norm(near)).astype(np.float32)


def passages(seed: int) -> Iterator[str]:
    """Passages of about 120 words without end, from sentences in random order."""
    order, sentences = random.Random(seed), documentation()
    while True:
        words: list[str] = []
        while len(words) < WORDS_PER_PASSAGE:
            words += order.choice(sentences).split()
        yield " ".join(words)


def documentation(limit: int = 40_000) -> list[str]:
    """Sentences from the docstrings of the standard library and of what is installed."""
    found: dict[str, None] = {}
    for root in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for path in sorted(Path(root).rglob("*.py")):
            if len(found) >= limit:
                return list(found)
            found |= dict.fromkeys(docstring_sentences(path))
    return list(found)


def docstring_sentences(path: Path) -> list[str]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    sentences = [re.sub(r"\s+", " ", s).strip() for text in texts for s in re.split(r"(?<=[.!?])\s|\n\s*\n", text)]
    return [sentence for sentence in sentences if 5 <= len(sentence.split()) <= 60]


def chunk(number: int, text: str) -> Chunk:
    return Chunk(
        id=chunk_id(number),
        owner_id=OWNER,
        resource_id=resource_of(number),
        version=1,
        ordinal=number,
        type=ChunkType.TEXT,
        text=text,
        locator=Locator(page=number % CHUNKS_PER_RESOURCE + 1),
    )


def chunk_id(number: int) -> str:
    return str(uuid.UUID(int=int(number)))


def resource_of(number: int) -> str:
    return f"resource-{int(number) // CHUNKS_PER_RESOURCE}"


def thousandth(size: int) -> tuple[str, ...]:
    """Resources that together hold one chunk in a thousand, and at least one resource."""
    return tuple(f"resource-{7 * n}" for n in range(max(1, size // 1000 // CHUNKS_PER_RESOURCE)))


class QueryEmbedder:
    """Does the work of embedding a query, and returns the generated vector that belongs to it."""

    def __init__(self, inner: BuiltinEmbedder, vectors: dict[str, FloatMatrix]) -> None:
        self._inner = inner
        self._vectors = vectors
        self.fingerprint = Fingerprint("builtin", "all-MiniLM-L6-v2", DIMENSIONS)
        self.max_tokens = inner.max_tokens
        self.tokenizer = inner.tokenizer

    async def embed(self, texts: Sequence[str], kind: str = "document") -> FloatMatrix:
        await self._inner.embed(texts, "query")
        return np.stack([self._vectors[text] for text in texts])


class FoundChunks:
    """A `ChunkSource` that has everything: what loading from SQL costs is measured over HTTP."""

    async def load(self, owner_id: str, ids: Sequence[str]) -> dict[str, StoredChunk]:
        return {key: StoredChunk(chunk(uuid.UUID(key).int, ""), "doc.txt") for key in ids}

    async def resolve_scope(self, request: SearchRequest) -> tuple[str, ...] | None:
        return request.resource_ids


if __name__ == "__main__":
    main()
