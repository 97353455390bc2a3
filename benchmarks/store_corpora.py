"""The same documents through every vector store and two embedders: what each finds beside brute force and beside the embedded default.

usage: .venv/bin/python benchmarks/store_corpora.py SET... [--queries 40] [--stores edge pgvector redis qdrant pinecone]
       [--embedders builtin hash] [--output FILE]

SETs are retrieval sets in the layout of BEIR; all of them go into one index, with the set and a number as metadata, beside a second owner who has a
fifth of the same texts. Postgres and Redis are those of the tests; Qdrant and Pinecone are their contract servers, which search by brute force:
of these two it is the adapter that is measured, not the service. Embedders: the built-in one, and the hash embedder of the tests.

Counted for `--queries` questions of each set: recall@10 of the search by meaning against brute force, over everything and within a nested filter;
points of the other owner, and points that the filter does not admit; nDCG@10 of the search as it is by default. Exit code 1 when a recall is below
0.99, a point is foreign, or nDCG@10 differs by more than 0.01 from that of Qdrant Edge.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import report
import sets
from qdrant_client import AsyncQdrantClient
from retrieval import HITS_PER_RECORD, OWNER, MemoryChunks, chunks_of
from stores import postgres

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from citewell.adapters.embedder.builtin import BuiltinEmbedder  # noqa: E402
from citewell.adapters.index.pgvector import PgvectorIndex  # noqa: E402
from citewell.adapters.index.pinecone import PineconeVectors  # noqa: E402
from citewell.adapters.index.qdrant import QdrantIndex  # noqa: E402
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex  # noqa: E402
from citewell.adapters.index.redis import RedisIndex, connect  # noqa: E402
from citewell.indexes.ledgered import LedgeredIndex  # noqa: E402
from citewell.ports import Embedder, Fingerprint, FloatMatrix, TextKind, VectorIndex  # noqa: E402
from citewell.ports.points import index_point, metadata_path  # noqa: E402
from citewell.retrieve.retriever import RetrievalOptions, Retriever  # noqa: E402
from citewell.settings import PineconeStore, load_settings  # noqa: E402
from citewell.storage.database import Database  # noqa: E402
from citewell.storage.vectors.point_ledger import PointLedger  # noqa: E402
from citewell.testing.embedder import HashEmbedder  # noqa: E402
from citewell.types import (  # noqa: E402
    AllOf,
    AnyOf,
    Condition,
    FileFacts,
    Filter,
    MetadataKind,
    Negation,
    Operator,
    Point,
    SearchRequest,
    SelfQuery,
    StoredChunk,
    VectorQuery,
)
from tests.contract_servers.pinecone_database import KEY, PineconeDatabase  # noqa: E402
from tests.contract_servers.qdrant import QdrantServer  # noqa: E402
from tests.contract_servers.serving import serving  # noqa: E402
from tests.redis_server import redis_server  # noqa: E402

STORES = ("edge", "pgvector", "redis", "qdrant", "pinecone")
EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "builtin": BuiltinEmbedder.load,
    "hash": lambda: HashEmbedder(dimensions=256),
}
OTHER_OWNER = "somebody else"
BATCH = 500
TIE = 1e-3  # cosines this near the tenth count as good: pgvector's graph compares numbers of 2 bytes
HEADER = (
    "Embedder",
    "Store",
    "Chunks",
    "Write s",
    "Recall",
    "Filtered",
    "Foreign",
    "Not admitted",
    "nDCG@10",
    "Search ms",
)


class Remembering:
    """An embedder that computes each vector of a question once, as every store is asked the same ones."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, FloatMatrix] = {}
        self.fingerprint, self.max_tokens, self.tokenizer = inner.fingerprint, inner.max_tokens, inner.tokenizer

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        if kind == "document":
            return await self._inner.embed(texts, kind)
        for text in texts:
            if text not in self._known:
                self._known[text] = (await self._inner.embed([text], kind))[0]
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True)
class Corpora:
    """Several sets as one: chunks with their set and number, their vectors, and questions with what is relevant."""

    stored: list[StoredChunk]
    facts: list[tuple[str, int]]
    vectors: FloatMatrix
    judged: list[sets.RetrievalSet]

    def points(self) -> list[Point]:
        return [
            index_point(
                one.chunk, vector.tolist(), FileFacts(filename=one.filename, metadata={"set": name, "number": n})
            )
            for one, vector, (name, n) in zip(self.stored, self.vectors, self.facts, strict=True)
        ]

    def admitted(self) -> list[int]:
        """The places of those that `FILTER` admits, in plain Python."""
        first = self.judged[0].name
        return [i for i, (name, n) in enumerate(self.facts) if (name != first or n < 400) and not 50 <= n < 100]

    def filter(self) -> AllOf:
        """(Another set than the first, or a number below 400) and not a number from 50 to 99."""
        kind, number = metadata_path("set", MetadataKind.TEXT), metadata_path("number", MetadataKind.NUMBER)
        other = Negation(Condition(kind, Operator.EQ, self.judged[0].name))
        low = AllOf((Condition(number, Operator.GTE, 50), Condition(number, Operator.LT, 100)))
        return AllOf((AnyOf((other, Condition(number, Operator.LT, 400))), Negation(low)))


async def read(folders: Sequence[Path], embedder: Embedder, queries: int) -> Corpora:
    stored: list[StoredChunk] = []
    facts: list[tuple[str, int]] = []
    judged = []
    for folder in folders:
        one = sets.load(folder)
        records = one.records()
        for record in records:
            record["id"] = f"{one.name}/{record['id']}"
        numbers = {record["id"]: number for number, record in enumerate(records)}
        added = chunks_of(records, embedder)
        stored += added
        facts += [(one.name, numbers[item.chunk.resource_id]) for item in added]
        judged.append(replace(one, queries=dict(islice(one.queries.items(), queries))))
    vectors = [
        await embedder.embed([one.chunk.embedded_text for one in stored[start : start + 64]])
        for start in range(0, len(stored), 64)
    ]
    return Corpora(stored, facts, np.concatenate(vectors), judged)


def best(
    corpora: Corpora, asked: FloatMatrix, admitted: Sequence[int]
) -> tuple[dict[str, int], FloatMatrix, FloatMatrix]:
    """Places by id, cosines of all questions with all chunks, and the tenth best cosine of each question."""
    cosines = asked @ corpora.vectors.T
    tenth = np.sort(cosines[:, admitted], axis=1)[:, -10]
    return {one.chunk.id: place for place, one in enumerate(corpora.stored)}, cosines, tenth


async def near(
    index: VectorIndex, corpora: Corpora, asked: FloatMatrix, scope: Filter, admitted: Sequence[int]
) -> tuple[float, int, int]:
    """recall@10, points of another owner, points that are not admitted."""
    places, cosines, tenth = best(corpora, asked, admitted)
    inside, good, foreign, outside = set(admitted), [], 0, 0
    for number, vector in enumerate(asked):
        found = await index.search(VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=100))
        mine = [places[one.id] for one in found if one.id in places]
        foreign += len(found) - len(mine)
        outside += len(set(mine) - inside)
        good.append(sum(cosines[number, place] >= tenth[number] - TIE for place in mine[:10]) / 10)
    return statistics.mean(good), foreign, outside


async def until_seen(index: VectorIndex, everything: VectorQuery) -> None:
    """Until what was written is found, in a store that shows it later."""
    for _ in range(20):
        if len(await index.search(everything)) == everything.limit:
            return


async def measure(index: VectorIndex, corpora: Corpora, embedder: Embedder) -> dict[str, Any]:
    points = corpora.points()
    theirs = [
        replace(
            point,
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, point.id)),
            payload=dict(point.payload) | {"owner_id": OTHER_OWNER},
        )
        for point in points[::5]
    ]
    started = time.perf_counter()
    for start in range(0, len(points), BATCH):
        await index.upsert(points[start : start + BATCH])
    written = time.perf_counter() - started
    for start in range(0, len(theirs), BATCH):
        await index.upsert(theirs[start : start + BATCH])
    texts = [text for one in corpora.judged for text in one.queries.values()]
    asked = await embedder.embed(texts, "query")
    await until_seen(index, VectorQuery(dense=points[0].dense, filter=Filter(owner_id=OWNER), limit=len(points)))
    recall, foreign, _ = await near(index, corpora, asked, Filter(owner_id=OWNER), range(len(points)))
    narrow = Filter(owner_id=OWNER, conditions=(corpora.filter(),))
    filtered, more, outside = await near(index, corpora, asked, narrow, corpora.admitted())
    everything = await index.search(VectorQuery(dense=tuple(asked[0].tolist()), filter=narrow, limit=len(points)))
    if len(everything) != len(corpora.admitted()):
        outside += abs(len(everything) - len(corpora.admitted()))
    ndcg, milliseconds = await quality(index, corpora, embedder)
    return {
        "chunks": len(points), "write_s": round(written, 1), "recall": round(recall, 4), "recall_filtered": round(filtered, 4),
        "foreign": foreign + more, "not_admitted": outside, "ndcg": {name: round(value, 4) for name, value in ndcg.items()},
        "ndcg_mean": round(statistics.mean(ndcg.values()), 4), "ms": round(milliseconds, 1),
        "counts": [await index.count(Filter(owner_id=owner)) for owner in (OWNER, OTHER_OWNER)],
    }  # fmt: skip


async def quality(index: VectorIndex, corpora: Corpora, embedder: Embedder) -> tuple[dict[str, float], float]:
    """nDCG@10 per set, and the median time of a search."""
    source = MemoryChunks({one.chunk.id: one for one in corpora.stored})
    retriever = Retriever(embedder, index, source, None, RetrievalOptions(self_query=SelfQuery.OFF))
    found, spent = {}, []
    for one in corpora.judged:
        ranking = {}
        for key, text in one.queries.items():
            started = time.perf_counter()
            result = await retriever.search(SearchRequest(owner_id=OWNER, query=text, top_k=10 * HITS_PER_RECORD))
            spent.append((time.perf_counter() - started) * 1e3)
            records = dict.fromkeys(hit.record_id or "" for hit in result.hits)
            ranking[key] = [record.removeprefix(f"{one.name}/") for record in records]
        found[one.name] = one.ndcg10(ranking)
    return found, statistics.median(spent)


@asynccontextmanager
async def opened(store: str, fingerprint: Fingerprint) -> AsyncGenerator[VectorIndex]:
    """An empty index in a store of its own, which is gone afterwards."""
    name, dimensions = f"corpora-{fingerprint.provider}", fingerprint.dimensions
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="citewell-bench-")))
        index: VectorIndex
        if store == "edge":
            index = await QdrantEdgeIndex.open(folder / "index", dimensions)
        elif store == "pgvector":
            index = await PgvectorIndex.open(stack.enter_context(postgres(None)), name, dimensions, schema="bench")
        elif store == "redis":
            index = await RedisIndex.open(
                connect(stack.enter_context(redis_server()), 60), name, dimensions, prefix="bench"
            )
        elif store == "qdrant":
            url = stack.enter_context(serving(QdrantServer().app))
            client = AsyncQdrantClient(url=url, timeout=60, check_compatibility=False)
            index = await QdrantIndex.open(client, name, dimensions, prefix="bench")
        else:
            server = PineconeDatabase(lag=2)
            server.address = stack.enter_context(serving(server.app))
            settings = load_settings(vector_store="pinecone", pinecone_api_key=KEY, pinecone_url=server.address).store
            assert isinstance(settings, PineconeStore)
            database = Database(f"sqlite+aiosqlite:///{folder / 'ledger.db'}")
            stack.push_async_callback(database.close)
            await database.migrate()
            remote = await PineconeVectors.open(settings, fingerprint)
            index = LedgeredIndex(remote.store, PointLedger(database, remote.name))
        stack.push_async_callback(index.close)
        yield index


async def run(
    folders: Sequence[Path], stores: Sequence[str], embedders: Sequence[str], queries: int
) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for name in embedders:
        embedder = Remembering(EMBEDDERS[name]())
        corpora = await read(folders, embedder, queries)
        for store in stores:
            async with opened(store, embedder.fingerprint) as index:
                one = await measure(index, corpora, embedder)
            result.setdefault(embedder.fingerprint.provider, {})[store] = one
            print(embedder.fingerprint, store, json.dumps(one), file=sys.stderr, flush=True)
    return result


def wrong(result: dict[str, dict[str, Any]]) -> bool:
    """Whether a store is not as good as it must be."""
    return any(
        one["recall"] < 0.99 or one["recall_filtered"] < 0.99 or one["foreign"] or one["not_admitted"]
        or any(abs(one["ndcg"][name] - value) > 0.01 for name, value in stores["edge"]["ndcg"].items())
        for stores in result.values() for one in stores.values()
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--stores", nargs="*", choices=STORES, default=list(STORES))
    parser.add_argument("--embedders", nargs="*", choices=list(EMBEDDERS), default=list(EMBEDDERS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    stores = list(dict.fromkeys(("edge", *options.stores)))
    result = asyncio.run(run(options.sets, stores, options.embedders, options.queries))
    rows = [
        (
            embedder, store, f"{one['chunks']:,}", f"{one['write_s']:.0f}", f"{one['recall']:.4f}", f"{one['recall_filtered']:.4f}",
            str(one["foreign"]), str(one["not_admitted"]), f"{one['ndcg_mean']:.4f}", f"{one['ms']:.0f}",
        )
        for embedder, by_store in result.items() for store, one in by_store.items()
    ]  # fmt: skip
    print(report.terminal(HEADER, rows))
    if options.output is not None:
        options.output.write_text(json.dumps({"machine": report.machine()} | result, indent=1) + "\n", encoding="utf-8")
    sys.exit(wrong(result))


if __name__ == "__main__":
    main()
