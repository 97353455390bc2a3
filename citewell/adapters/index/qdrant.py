"""A vector store in a Qdrant server or cluster: one collection per model, with a separate search graph for each owner.

`qdrant_edge` embeds the same engine, so searches, filters and scores mean the same in both.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import grpc
import numpy as np
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from citewell.adapters.index.qdrant_conditions import fields_of
from citewell.adapters.index.qdrant_filters import OURS, compile_filter
from citewell.adapters.index.qdrant_payload import file_fields, payload_of
from citewell.adapters.index.qdrant_schema import (
    DENSE,
    LEXICAL,
    MAX_INDEXED_FIELDS,
    CollectionLayout,
    collection_name,
    index_fields,
    prepare,
)
from citewell.errors import CitewellError, ConfigurationError, Unavailable
from citewell.filters.predicates import admits_nothing
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.ports.points import in_parts, pulled
from citewell.settings import QdrantStore
from citewell.types import FileFacts, Filter, JsonObject, JsonValue, Point, ScoredId, VectorQuery, scored

# The server accepts requests of up to 32 MB; a number takes up to 22 bytes of JSON.
_MAX_POINTS = 500
_MAX_NUMBERS = 400_000
_MAX_IDS = 5_000
# Candidates of a graph search, and the factor of quantized candidates rescored at full precision.
_CANDIDATES = 200
_OVERSAMPLING = 3.0
# Of concurrent changes to a point, all replicas keep the same last one.
_ORDERING = models.WriteOrdering.MEDIUM
# Exceptions of the client: its own, those of gRPC, and AssertionError or ValueError for incomplete responses.
_FAILURES = (ApiException, QdrantException, grpc.RpcError, OSError, ValueError, TypeError, AssertionError, RuntimeError)


class QdrantIndex:
    """One index in one collection, usable by any number of processes at once. Open it with `open`."""

    def __init__(self, client: AsyncQdrantClient, name: str, dimensions: int) -> None:
        self._client = client
        self._name = name
        self._batch = max(1, min(_MAX_POINTS, _MAX_NUMBERS // dimensions))
        self._indexed: frozenset[str] = frozenset()
        self._params: models.SearchParams | None = None
        self._readable = False
        self._closed = False

    @classmethod
    async def open(
        cls,
        client: AsyncQdrantClient,
        index: str,
        dimensions: int,
        *,
        prefix: str = "citewell",
        layout: CollectionLayout | None = None,
        readable: bool = False,
    ) -> QdrantIndex:
        """Open or create the index of this name. The index owns the client and closes it, also if opening fails.

        readable: points also hold their text and file name in plain fields, for other programs

        Raises `Unavailable` if the server cannot be reached; `ConfigurationError` if it rejects the key or is too old.
        """
        layout = layout or CollectionLayout()
        opened = cls(client, collection_name(prefix, index), dimensions)
        opened._readable, opened._params = readable, _search_params(layout)
        try:
            async with _failures("could not be opened"):
                opened._indexed = await prepare(client, opened._name, index, dimensions, layout)
        except BaseException:
            await opened.close()
            raise
        return opened

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, filters, and persistent writes."""
        return frozenset({Capability.SPARSE, Capability.FILTERS, Capability.PERSISTENT})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`; on return, logged by every replica and visible to all."""
        latest = list({point.id: point for point in points}.values())
        for start in range(0, len(latest), self._batch):
            batch = [_to_server(point, self._readable) for point in latest[start : start + self._batch]]
            async with self._calling():
                await self._client.upsert(self._name, batch, wait=True, ordering=_ORDERING)

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the corpus."""
        self._check_open()
        if admits_nothing(query.filter) or query.limit < 1 or (query.sparse and not query.sparse.indices):
            return []
        await self._index_fields_of(query.filter)
        vector: list[float] | models.SparseVector
        if query.dense is not None:
            vector, using, params = await self._pulled(query.dense, query), DENSE, self._params
        elif query.sparse is not None:
            vector = models.SparseVector(indices=list(query.sparse.indices), values=list(query.sparse.values))
            own = models.IdfCorpusParams(corpus=compile_filter(query.filter.counted))
            using, params = LEXICAL, models.SearchParams(idf=own)
        else:
            raise ValueError("A vector query needs a dense or a sparse vector.")
        async with self._calling():
            found = await self._client.query_points(
                self._name,
                query=vector,
                using=using,
                query_filter=compile_filter(query.filter),
                search_params=params,
                limit=query.limit,
                with_payload=False,
            )
        # The server orders ties by storage order, which other owners' writes could change.
        return sorted(scored([(str(one.id), one.score) for one in found.points]), key=lambda one: (-one.score, one.id))

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        found: dict[str, FloatMatrix] = {}
        for some in in_parts(ids, self._batch):
            async with self._calling():
                records = await self._client.retrieve(self._name, some, with_payload=False, with_vectors=[DENSE])
            for record in records:
                vector = record.vector.get(DENSE) if isinstance(record.vector, dict) else None
                if vector:
                    found[str(record.id)] = np.asarray(vector, dtype=np.float32)
        return found

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`; on return, logged by every replica and visible to all."""
        await self._set(filter, dict(payload), OURS)

    async def describe_file(self, filter: Filter, file: FileFacts) -> None:
        """See `DescribingIndex.describe_file`; does nothing unless points are readable."""
        if self._readable:
            await self._set(filter, file_fields(file), None)

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        if not admits_nothing(filter):
            await self._index_fields_of(filter)
            await self._delete(models.FilterSelector(filter=compile_filter(filter)))

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        for some in in_parts(ids, _MAX_IDS):
            await self._delete(models.PointIdsList(points=[*some]))

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`; exact."""
        if filter is not None and admits_nothing(filter):
            return 0
        if filter is not None:
            await self._index_fields_of(filter)
        async with self._calling():
            counted = await self._client.count(self._name, compile_filter(filter) if filter else None, exact=True)
        return counted.count

    async def remove(self) -> None:
        """See `RemovableIndex.remove`."""
        if await self.count() == 0:
            async with self._calling():
                await self._client.delete_collection(self._name)

    async def close(self) -> None:
        """See `VectorIndex.close`."""
        if not self._closed:
            self._closed = True
            await self._client.close()

    async def _pulled(self, dense: Sequence[float], query: VectorQuery) -> list[float]:
        if not query.pulls:
            return list(dense)
        return pulled(dense, query.pulls, await self.vectors([key for key, _ in query.pulls])).tolist()

    async def _set(self, filter: Filter, payload: dict[str, JsonValue], key: str | None) -> None:
        if admits_nothing(filter):
            return
        await self._index_fields_of(filter)
        async with self._calling():
            await self._client.set_payload(
                self._name, payload, compile_filter(filter), key=key, wait=True, ordering=_ORDERING
            )

    async def _delete(self, selector: models.FilterSelector | models.PointIdsList) -> None:
        async with self._calling():
            await self._client.delete(self._name, selector, wait=True, ordering=_ORDERING)

    async def _index_fields_of(self, filter: Filter) -> None:
        """Index the fields of a filter before its first use: servers may reject filters on unindexed fields."""
        missing = fields_of(filter) - self._indexed
        if missing and len(self._indexed) < MAX_INDEXED_FIELDS:
            async with self._calling():
                known = (await self._client.get_collection(self._name)).payload_schema
                self._indexed |= await index_fields(self._client, self._name, sorted(missing), known)

    @asynccontextmanager
    async def _calling(self) -> AsyncGenerator[None]:
        self._check_open()
        async with _failures("failed"):
            yield

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The index is closed.")


async def build(settings: QdrantStore, fingerprint: Fingerprint) -> QdrantIndex:
    """Open the index of a model's vectors; see `QdrantIndex.open`."""
    layout = CollectionLayout(shards=settings.shards, replicas=settings.replicas, quantization=settings.quantization)
    return await QdrantIndex.open(
        connect(settings),
        str(fingerprint),
        fingerprint.dimensions,
        prefix=settings.collection,
        layout=layout,
        readable=settings.readable_payload,
    )


def connect(settings: QdrantStore) -> AsyncQdrantClient:
    """A client for the server, which connects at its first call.

    Raises `ConfigurationError` if no server address is set.
    """
    with warnings.catch_warnings():
        # A key over plain HTTP: `citewell doctor` reports it where it matters.
        warnings.simplefilter("ignore", UserWarning)
        return AsyncQdrantClient(
            url=settings.address,
            port=settings.port,
            grpc_port=settings.grpc_port or 6334,
            prefer_grpc=settings.grpc_port is not None,
            api_key=settings.api_key.get_secret_value() if settings.api_key else None,
            timeout=max(1, round(settings.seconds)),
            check_compatibility=False,
        )


@asynccontextmanager
async def _failures(what: str) -> AsyncGenerator[None]:
    """Convert the client's errors to ours; `what` completes "The vector store in Qdrant …"."""
    try:
        yield
    except CitewellError:
        raise
    except _FAILURES as error:
        if _status(error) in (401, 403):
            raise ConfigurationError(
                "The Qdrant server rejects the key or requires one: set CITEWELL_QDRANT_API_KEY."
            ) from error
        raise Unavailable(f"The vector store in Qdrant {what}: {_reason(error)}") from error


def _status(error: BaseException) -> int | None:
    if isinstance(error, UnexpectedResponse):
        return error.status_code
    if isinstance(error, grpc.aio.AioRpcError):
        return 401 if error.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED) else None
    return None


def _reason(error: BaseException) -> str:
    """The error on one line, with the server's message if there is one."""
    if isinstance(error, ResponseHandlingException):
        return _reason(error.source)
    if isinstance(error, UnexpectedResponse):
        return f"status {error.status_code}: {_said(error)}"
    if isinstance(error, grpc.aio.AioRpcError):
        return f"{error.code().name.lower()}: {error.details()}"
    if isinstance(error, AssertionError | TypeError | ValueError):
        return "the response is not from Qdrant"
    return str(error).split("\n")[0] or type(error).__name__


def _said(error: UnexpectedResponse) -> str:
    try:
        return str(error.structured()["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return error.reason_phrase or "no reason given"


def _search_params(layout: CollectionLayout) -> models.SearchParams:
    quantized = layout.quantization != "none"
    again = models.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING) if quantized else None
    return models.SearchParams(hnsw_ef=_CANDIDATES, quantization=again)


def _to_server(point: Point, readable: bool) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {}
    if point.dense is not None:
        vectors[DENSE] = list(point.dense)
    if point.sparse is not None and point.sparse.indices:
        vectors[LEXICAL] = models.SparseVector(indices=list(point.sparse.indices), values=list(point.sparse.values))
    return models.PointStruct(id=point.id, vector=vectors, payload=payload_of(point, readable))
