"""Everything specific to the Qdrant Edge engine: configuration, data types, and operations on shards."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, cast
from uuid import UUID

import numpy as np
import qdrant_edge as qe

from citewell.adapters.index.qdrant_edge_filters import compile_filter, compile_rest
from citewell.adapters.index.qdrant_edge_pages import read_ahead
from citewell.errors import DataFolderBusy, Unavailable
from citewell.ports import FloatMatrix
from citewell.ports.points import OWNER, RESOURCE, TYPE, FieldKind, field_kind, pulled
from citewell.ports.second_pass import Pulling
from citewell.types import Filter, JsonObject, Point, ScoredId, VectorQuery, scored

DENSE = "dense"
LEXICAL = "lexical"
# From this number of points on, vectors are searched as bytes in memory, and the best rescored with originals on disk.
QUANTIZE_FROM = 200_000
# Oversampling of the byte search. More candidates in memory make up for quantization errors; rescoring more of them
# with the originals would only read more from disk (1,000,000 chunks: recall@10 0.989 either way).
_WIDENED = 2
# Each owner has a graph, and there is none over all: in a common one, the links of an owner's points lead to others' near
# them, where a search may not go (recall@10 of 3,000 points beside 6,000 close ones of others: 0.23; alone, or with a
# graph of their own: 0.95), and others' vectors decide what is found.
_LINKS, _CANDIDATES = 16, 100
_GRAPH_FROM_KB = 10_000
"""Of an owner's vectors in a segment, in KiB; fewer are all compared."""
_MIN_COUNT = 50
_PAGE = 1_000
_MAX_WRITTEN = 200_000
_written: dict[int, str] = {}
# Half the memory and disk of float32, and a third less time per search without a graph. Cosines differ by up to 0.0003.
# Existing float32 shards stay float32.
_STORED = qe.VectorStorageDatatype.Float16
# One thread per segment costs more than it gains: for 100,000 chunks in two segments, a leg takes 0.42 ms in one
# thread, and 0.69 ms (0.65 ms of CPU) with the engine's default of eight.
_SEARCH_THREADS = 1
# Fields indexed from the start. Every other field is indexed when a filter first uses it.
ALWAYS_INDEXED = (OWNER, RESOURCE, TYPE)
# Filters on further fields read payloads, which is exact but slower.
MAX_INDEXED_FIELDS = 512
LegQuery: TypeAlias = tuple[VectorQuery, bool]
"""A leg's query, and whether all points are its owner's, so that the owner need not be checked per point.

Otherwise, and in searches with a corpus, document frequencies are counted over the owner's or the corpus's points only.
The time is proportional to their number: 1.5 to 2 ms more for an owner of 100,000 points, nothing measurable for 10,000
owners of 10 points each."""
Ranked: TypeAlias = tuple[list[int], list[float]]
"""Numeric ids and their scores."""
Stored: TypeAlias = tuple[str, dict[str, list[float] | tuple[list[int], list[float]]], JsonObject]
"""A point's id, vectors and payload, in a form that can be sent to another process."""
_SCHEMAS = {
    FieldKind.KEYWORD: qe.PayloadSchemaType.Keyword,
    FieldKind.INTEGER: qe.PayloadSchemaType.Integer,
    FieldKind.NUMBER: qe.PayloadSchemaType.Float,
    FieldKind.DATE: qe.PayloadSchemaType.Float,
}


def open_shard(path: Path) -> qe.EdgeShard:
    """Open an existing shard.

    Raises `DataFolderBusy` if another process holds it, `Unavailable` if it cannot be opened.
    """
    read_ahead(path)
    try:
        return qe.EdgeShard.load(str(path))
    except Exception as error:  # the engine raises nothing more specific
        if "WouldBlock" in str(error):
            raise DataFolderBusy from error
        raise Unavailable(f"The index in {path} cannot be opened: {error}") from error


def create_shard(path: Path, dimensions: int) -> qe.EdgeShard:
    """Create an empty shard.

    Each field index takes 0.05 s to write to disk, so only fields that every search uses get one.
    """
    path.mkdir(parents=True, exist_ok=True)
    shard = qe.EdgeShard.create(str(path), _config(dimensions, quantized=False, datatype=_STORED))
    index_fields(shard, ALWAYS_INDEXED)
    return shard


def index_fields(shard: qe.EdgeShard, fields: Iterable[str]) -> frozenset[str]:
    """Index these payload fields unless they have an index of their kind; returns all indexed fields.

    Rebuilds every index that an earlier version built for another kind of value, also of fields not listed. Indexing
    reads the payloads of all points while searches continue: 0.5 s for 20,000 points, 2 s for 100,000. A filter that
    matches 1 in 1,000 of 100,000 points takes 0.2 ms with an index, and 0.3 to 2 s without.
    """
    known = shard.info().payload_schema
    indexed = set(known)
    for field in dict.fromkeys((*known, *fields)):
        kind = field_kind(field)
        if kind is None or (field in known and known[field].data_type == _SCHEMAS[kind]):
            continue
        if field in known:  # an earlier version stored another kind of value
            shard.update(qe.UpdateOperation.delete_field_index(field))
        elif len(indexed) >= MAX_INDEXED_FIELDS:
            continue
        shard.update(qe.UpdateOperation.create_field_index(field, _index_of(field, kind)))
        indexed.add(field)
    return frozenset(indexed)


def _index_of(field: str, kind: FieldKind) -> qe.KeywordIndexParams | qe.PayloadSchemaType:
    if kind is not FieldKind.KEYWORD:
        return _SCHEMAS[kind]
    return qe.KeywordIndexParams(is_tenant=True) if field == OWNER else qe.KeywordIndexParams(prefix=True)


def optimize_shard(path: Path, dimensions: int) -> None:
    """Build the search graphs of a shard that is not open elsewhere, and reclaim the space of deleted points.

    Runs in its own process, because the engine holds the GIL throughout.
    """
    shard = open_shard(path)
    quantized = shard.info().points_count >= QUANTIZE_FROM
    shard.close()
    read_ahead(path)  # the engine evicts files from memory when it closes them
    shard = qe.EdgeShard.load(str(path), _config(dimensions, quantized, _datatype(path)))
    shard.optimize()
    shard.flush()
    shard.close()


def _datatype(path: Path) -> qe.VectorStorageDatatype | None:
    """The data type of a shard's vectors. Without it, the engine assumes float32 and cannot reopen the shard."""
    try:
        stored = json.loads((path / "edge_config.json").read_text(encoding="utf-8"))["vectors"][DENSE].get("datatype")
    except FileNotFoundError:
        return None
    return _STORED if stored == "float16" else None


def unindexed_points(shard: qe.EdgeShard) -> int:
    """The approximate number of points without a graph; the engine counts dense and sparse vectors together."""
    info = shard.info()
    return max(0, 2 * info.points_count - info.indexed_vectors_count)


def upsert_points(shard: qe.EdgeShard, points: Sequence[Point]) -> int:
    """Write points, which are in the write-ahead log on return; returns the new total."""
    shard.update(qe.UpdateOperation.upsert_points([_to_engine(point) for point in points]))
    return points_count(shard)


def add_vectors(shard: qe.EdgeShard, vectors: Mapping[str, FloatMatrix]) -> None:
    """Add dense vectors to existing points; in the write-ahead log on return."""
    if vectors:
        changes = [qe.PointVectors(key, {DENSE: vector.tolist()}) for key, vector in vectors.items()]
        shard.update(qe.UpdateOperation.update_vectors(changes))


def known_ids(shard: qe.EdgeShard, ids: Sequence[str]) -> set[str]:
    """The ids for which points exist."""
    return {str(record.id) for record in shard.retrieve(list(ids), with_payload=False, with_vector=False)}


def set_payload(shard: qe.EdgeShard, filter: Filter, payload: JsonObject) -> None:
    """Set payload fields of all points that match the filter; in the write-ahead log on return."""
    shard.update(qe.UpdateOperation.set_payload_by_filter(compile_filter(filter), dict(payload)))


def delete_points(shard: qe.EdgeShard, ids: Sequence[str]) -> int:
    """Delete points; unknown ids are ignored. Returns how many are left."""
    shard.update(qe.UpdateOperation.delete_points(list(ids)))
    return points_count(shard)


def matching_ids(shard: qe.EdgeShard, filter: Filter) -> list[str]:
    """The ids of all points that match the filter."""
    ids: list[str] = []
    compiled, offset = compile_filter(filter), None
    while True:
        request = qe.ScrollRequest(offset=offset, limit=_PAGE, filter=compiled, with_payload=False, with_vector=False)
        records, offset = shard.scroll(request)
        ids += [str(record.id) for record in records]
        if offset is None:
            return ids


def read_points(shard: qe.EdgeShard, ids: Sequence[str]) -> list[Stored]:
    """The existing points among `ids`."""
    records = shard.retrieve(list(ids), with_payload=True, with_vector=True)
    return [(str(one.id), _vectors(one), dict(one.payload or {})) for one in records]


def _vectors(record: qe.Record) -> dict[str, list[float] | tuple[list[int], list[float]]]:
    stored = cast(dict[str, list[float] | qe.SparseVector], record.vector or {})
    return {
        name: (list(one.indices), list(one.values)) if isinstance(one, qe.SparseVector) else one
        for name, one in stored.items()
    }


def write_points(shard: qe.EdgeShard, points: Sequence[Stored]) -> None:
    """Write points read from another shard."""
    if points:
        made = [
            qe.Point(
                key,
                {name: one if isinstance(one, list) else qe.SparseVector(*one) for name, one in vectors.items()},
                dict(payload),
            )
            for key, vectors, payload in points
        ]
        shard.update(qe.UpdateOperation.upsert_points(made))


def points_count(shard: qe.EdgeShard) -> int:
    """The number of points of all owners."""
    return shard.info().points_count


def count(shard: qe.EdgeShard, filter: Filter | None) -> int:
    """The exact number of points that match the filter."""
    return shard.count(qe.CountRequest(exact=True, filter=compile_filter(filter) if filter else None))


def delete(shard: qe.EdgeShard, filter: Filter) -> int:
    """Delete the points that match the filter. Returns how many are left."""
    shard.update(qe.UpdateOperation.delete_points_by_filter(compile_filter(filter)))
    return points_count(shard)


def flush(shard: qe.EdgeShard) -> None:
    """Write everything to disk."""
    shard.flush()


def points_on_disk(path: Path, dimensions: int) -> int:
    """The approximate number of points in a shard, estimated from its file sizes; 0 if it is damaged."""
    try:
        bytes_each = dimensions * (2 if _datatype(path) else 4)
        files = [file for file in path.glob(f"segments/*/vector_storage-{DENSE}/**/*") if file.is_file()]
        return sum(file.stat().st_blocks for file in files if file.suffix in (".dat", ".mmap")) * 512 // bytes_each
    except (OSError, ValueError, LookupError):
        return 0


def search_all(shard: qe.EdgeShard, asked: Sequence[LegQuery]) -> list[Ranked]:
    """The results of each leg, best first, in one pass of the engine."""
    requests = [_request(shard, query, is_sole_owner) for query, is_sole_owner in asked]
    if len(requests) == 1:
        return [_ranked(shard.query(requests[0]))]
    return [_ranked(found) for found in shard.query_batch(qe.QueryBatchRequest(requests))]


def search_twice_all(shard: qe.EdgeShard, asked: Sequence[tuple[LegQuery, Pulling]]) -> list[tuple[Ranked, Ranked]]:
    """For each query, its results, and those after the first ones pulled it; two engine passes for all queries."""
    found = search_all(shard, [leg for leg, _ in asked])
    pulled = [pulling.pulls(scored_ids(ranked)) for (_, pulling), ranked in zip(asked, found, strict=True)]
    again = [number for number, pulls in enumerate(pulled) if pulls]
    legs = [(replace(asked[number][0][0], pulls=pulled[number]), asked[number][0][1]) for number in again]
    moved = dict(zip(again, search_all(shard, legs) if legs else (), strict=True))
    return [(ranked, moved.get(number, ranked)) for number, ranked in enumerate(found)]


def _request(shard: qe.EdgeShard, query: VectorQuery, is_sole_owner: bool) -> qe.QueryRequest:
    params: qe.SearchParams | None = None
    if query.dense is not None:
        dense: Sequence[float] = query.dense
        if query.pulls:
            dense = pulled(dense, query.pulls, dense_vectors(shard, [key for key, _ in query.pulls])).tolist()
        nearest = qe.Query.Nearest(list(dense), using=DENSE)
        params = _search_params(shard, query.limit)
    elif query.sparse is not None:
        vector = qe.SparseVector(list(query.sparse.indices), list(query.sparse.values))
        nearest = qe.Query.Nearest(vector, using=LEXICAL)
        if not is_sole_owner or query.filter.corpus is not None:
            params = qe.SearchParams(idf=qe.IdfParams(corpus=compile_filter(query.filter.counted)))
    else:
        raise ValueError("A vector query needs a dense or a sparse vector.")
    return qe.QueryRequest(
        limit=query.limit,
        query=nearest,
        filter=compile_rest(query.filter) if is_sole_owner else compile_filter(query.filter),
        params=params,
        with_payload=False,
        with_vector=False,
    )


def _ranked(points: Sequence[qe.ScoredPoint]) -> Ranked:
    # The engine creates the UUID on each access.
    return [cast(UUID, point.id).int for point in points], [point.score for point in points]


def scored_ids(ranked: Ranked) -> list[ScoredId]:
    """Results as `ScoredId`s."""
    # Formatted ids are cached; a lookup is ten times as fast as formatting.
    numbers, scores = ranked
    return scored(zip([_written.get(number) or _write_id(number) for number in numbers], scores, strict=True))


def _write_id(number: int) -> str:
    if len(_written) >= _MAX_WRITTEN:
        _written.clear()
    name = _written[number] = str(UUID(int=number))
    return name


def dense_vectors(shard: qe.EdgeShard, ids: Sequence[str]) -> dict[str, FloatMatrix]:
    """The dense vectors of the points that have one."""
    found: dict[str, FloatMatrix] = {}
    for record in shard.retrieve(list(ids), with_payload=False, with_vector=[DENSE]):
        vector = cast(dict[str, list[float]], record.vector or {}).get(DENSE)
        if vector:
            found[str(record.id)] = np.asarray(vector, dtype=np.float32)
    return found


def _search_params(shard: qe.EdgeShard, limit: int) -> qe.SearchParams | None:
    if shard.info().points_count < QUANTIZE_FROM:
        return None
    scored_again = qe.QuantizationSearchParams(rescore=True, oversampling=max(1.0, _MIN_COUNT / limit))
    return qe.SearchParams(hnsw_ef=_WIDENED * max(limit, _MIN_COUNT), quantization=scored_again)


def _config(dimensions: int, quantized: bool, datatype: qe.VectorStorageDatatype | None = None) -> qe.EdgeConfig:
    bytes_in_memory = qe.ScalarQuantizationConfig(qe.ScalarType.Int8, quantile=0.99, memory=qe.Memory.Pinned)
    dense = qe.EdgeVectorParams(
        size=dimensions,
        distance=qe.Distance.Dot,
        datatype=datatype,
        memory=qe.Memory.Cold if quantized else qe.Memory.Cached,
        hnsw_config=qe.HnswIndexConfig(
            m=0, payload_m=_LINKS, ef_construct=_CANDIDATES, full_scan_threshold=_GRAPH_FROM_KB
        ),
        quantization_config=bytes_in_memory if quantized else None,
    )
    # Memory-mapped, the lexical index of a large library uses only spare memory. One-byte weights halve the bytes to
    # read and change BM25 by up to 0.04 %.
    lexical = qe.EdgeSparseVectorParams(
        modifier=qe.Modifier.Idf,
        datatype=qe.VectorStorageDatatype.Uint8 if quantized else None,
        memory=qe.Memory.Cached if quantized else qe.Memory.Pinned,
    )
    return qe.EdgeConfig(vectors={DENSE: dense}, sparse_vectors={LEXICAL: lexical}, max_search_threads=_SEARCH_THREADS)


def _to_engine(point: Point) -> qe.Point:
    vectors: dict[str, qe.NamedVector] = {}
    if point.dense is not None:
        vectors[DENSE] = list(point.dense)
    if point.sparse is not None and point.sparse.indices:
        vectors[LEXICAL] = qe.SparseVector(list(point.sparse.indices), list(point.sparse.values))
    return qe.Point(point.id, vectors, dict(point.payload))


def main() -> None:
    """Optimize the shard named on the command line: `python -m … FOLDER DIMENSIONS`."""
    os.nice(10)
    optimize_shard(Path(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    main()
