"""The embedded vector store: Qdrant Edge, in this process, in one folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import qdrant_edge as qe

from citewell.adapters.index.qdrant_edge_filters import admits_nothing, compile_filter
from citewell.errors import DataFolderBusy, Unavailable
from citewell.points import OWNER, PAYLOAD_FIELDS, FieldKind
from citewell.ports import Capability, FloatMatrix
from citewell.types import Filter, Point, ScoredId, VectorQuery

DENSE = "dense"
LEXICAL = "lexical"
_UPSERT_BATCH = 500
_SCHEMAS = {FieldKind.KEYWORD: qe.PayloadSchemaType.Keyword, FieldKind.INTEGER: qe.PayloadSchemaType.Integer}
T = TypeVar("T")


class QdrantEdgeIndex:
    """One shard. Open it with `open`; one process may hold a folder at a time.

    Searches run side by side in threads of their own (the engine releases the GIL); writes run one after another.
    """

    def __init__(self, shard: qe.EdgeShard, search_threads: int = 4) -> None:
        self._shard = shard
        self._searches = ThreadPoolExecutor(search_threads, thread_name_prefix="index-search")
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="index-write")
        self._closed = False

    @classmethod
    async def open(cls, folder: Path, dimensions: int) -> QdrantEdgeIndex:
        """Open the shard in `folder`, or create it. `Unavailable` when it does not open: rebuild it from SQL then."""
        return cls(await asyncio.to_thread(_open, folder, dimensions))

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, filters, and writes that survive the process."""
        return frozenset({Capability.SPARSE, Capability.FILTERS, Capability.PERSISTENT})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`; written to the write-ahead log when this returns."""
        for start in range(0, len(points), _UPSERT_BATCH):
            batch = points[start : start + _UPSERT_BATCH]
            await self._write(lambda batch=batch: self._upsert(batch))

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the index."""
        if admits_nothing(query.filter) or query.limit < 1 or (query.sparse and not query.sparse.indices):
            return []
        request = _request(query)
        found = await self._read(lambda: self._shard.query(request))
        return [ScoredId(str(point.id), float(point.score)) for point in found]

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        records = await self._read(lambda: self._shard.retrieve(list(ids), with_payload=False, with_vector=[DENSE]))
        return {str(record.id): _dense_of(record) for record in records if _dense_of(record).size}

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        if not admits_nothing(filter):
            compiled = compile_filter(filter)
            await self._write(lambda: self._shard.update(qe.UpdateOperation.delete_points_by_filter(compiled)))

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        if ids:
            await self._write(lambda: self._shard.update(qe.UpdateOperation.delete_points(list(ids))))

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`; exact."""
        if filter is not None and admits_nothing(filter):
            return 0
        request = qe.CountRequest(exact=True, filter=compile_filter(filter) if filter else None)
        return await self._read(lambda: self._shard.count(request))

    async def close(self) -> None:
        """See `VectorIndex.close`; waits for what is under way."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._writes.shutdown(wait=True)
        self._searches.shutdown(wait=True)
        self._shard.flush()
        self._shard.close()

    def _upsert(self, points: Sequence[Point]) -> None:
        self._shard.update(qe.UpdateOperation.upsert_points([_to_engine(point) for point in points]))

    async def _read(self, call: Callable[[], T]) -> T:
        return await self._run(self._searches, call)

    async def _write(self, call: Callable[[], T]) -> T:
        return await self._run(self._writes, call)

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        if self._closed:
            raise Unavailable("The index is closed.")
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, call)
        except Exception as error:  # the engine raises nothing more specific
            raise Unavailable(f"The index could not do this: {error}") from error


def _open(folder: Path, dimensions: int) -> qe.EdgeShard:
    try:
        if (folder / "edge_config.json").exists():
            return qe.EdgeShard.load(str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        shard = qe.EdgeShard.create(str(folder), _config(dimensions))
    except Exception as error:  # the engine raises nothing more specific
        if "WouldBlock" in str(error):
            raise DataFolderBusy from error
        raise Unavailable(f"The index in {folder} does not open: {error}") from error
    for field, kind in PAYLOAD_FIELDS.items():
        schema = qe.KeywordIndexParams(is_tenant=True) if field == OWNER else _SCHEMAS[kind]
        shard.update(qe.UpdateOperation.create_field_index(field, schema))
    return shard


def _config(dimensions: int) -> qe.EdgeConfig:
    return qe.EdgeConfig(
        vectors={DENSE: qe.EdgeVectorParams(size=dimensions, distance=qe.Distance.Dot)},
        sparse_vectors={LEXICAL: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
    )


def _request(query: VectorQuery) -> qe.QueryRequest:
    if query.dense is not None:
        nearest = qe.Query.Nearest(list(query.dense), using=DENSE)
    elif query.sparse is not None:
        vector = qe.SparseVector(list(query.sparse.indices), list(query.sparse.values))
        nearest = qe.Query.Nearest(vector, using=LEXICAL)
    else:
        raise ValueError("A vector query has a dense or a sparse vector.")
    return qe.QueryRequest(
        limit=query.limit, query=nearest, filter=compile_filter(query.filter), with_payload=False, with_vector=False
    )


def _to_engine(point: Point) -> qe.Point:
    vectors: dict[str, qe.NamedVector] = {}
    if point.dense is not None:
        vectors[DENSE] = list(point.dense)
    if point.sparse is not None and point.sparse.indices:
        vectors[LEXICAL] = qe.SparseVector(list(point.sparse.indices), list(point.sparse.values))
    return qe.Point(point.id, vectors, dict(point.payload))


def _dense_of(record: qe.Record) -> FloatMatrix:
    vectors = cast(dict[str, list[float]], record.vector or {})
    return np.asarray(vectors.get(DENSE, ()), dtype=np.float32)
