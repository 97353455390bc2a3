"""An exact in-memory vector store: the reference for all other stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from citewell.errors import Unavailable
from citewell.filters.predicates import admits
from citewell.ports import Capability, FloatMatrix
from citewell.ports.points import pulled
from citewell.text.sparse import inverse_frequency
from citewell.types import Filter, JsonObject, Point, ScoredId, SparseVector, VectorQuery


class MemoryIndex:
    """A vector index whose searches scan every point."""

    def __init__(self) -> None:
        self._points: dict[str, Point] = {}
        self._closed = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Dense and sparse search, and filters."""
        return frozenset({Capability.SPARSE, Capability.FILTERS})

    async def upsert(self, points: Sequence[Point]) -> None:
        """See `VectorIndex.upsert`."""
        self._check_open()
        self._points.update({point.id: point for point in points})

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """See `VectorIndex.search`. Dense scores are inner products, lexical ones BM25 with the IDF of the corpus."""
        self._check_open()
        admitted = [point for point in self._points.values() if admits(query.filter, point.payload)]
        if query.dense is not None:
            vectors = await self.vectors([key for key, _ in query.pulls])
            scores = _dense_scores(pulled(query.dense, query.pulls, vectors), admitted)
        elif query.sparse is not None:
            scores = self._lexical_scores(query.sparse, query.filter, admitted)
        else:
            raise ValueError("A vector query needs a dense or a sparse vector.")
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [ScoredId(key, score) for key, score in best[: max(0, query.limit)]]

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """See `VectorIndex.vectors`."""
        self._check_open()
        known = [self._points[key] for key in ids if key in self._points]
        return {point.id: np.asarray(point.dense, dtype=np.float32) for point in known if point.dense is not None}

    async def add_vectors(self, vectors: Mapping[str, FloatMatrix]) -> set[str]:
        """See `CompletingIndex.add_vectors`."""
        self._check_open()
        known = vectors.keys() & self._points.keys()
        for key in known:
            self._points[key] = replace(self._points[key], dense=tuple(vectors[key].tolist()))
        return vectors.keys() - known

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """See `VectorIndex.set_payload`."""
        self._check_open()
        for key, point in self._points.items():
            if admits(filter, point.payload):
                self._points[key] = replace(point, payload={**point.payload, **payload})

    async def delete(self, filter: Filter) -> None:
        """See `VectorIndex.delete`."""
        self._check_open()
        self._points = {key: point for key, point in self._points.items() if not admits(filter, point.payload)}

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """See `VectorIndex.delete_ids`."""
        self._check_open()
        for key in ids:
            self._points.pop(key, None)

    async def count(self, filter: Filter | None = None) -> int:
        """See `VectorIndex.count`."""
        self._check_open()
        return sum(1 for point in self._points.values() if filter is None or admits(filter, point.payload))

    async def close(self) -> None:
        """See `VectorIndex.close`; all points are discarded."""
        self._closed = True
        self._points.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The index is closed.")

    def _lexical_scores(self, query: SparseVector, filter: Filter, admitted: Sequence[Point]) -> dict[str, float]:
        counted = [
            _terms(one.sparse) for one in self._points.values() if one.sparse and admits(filter.counted, one.payload)
        ]
        weights: dict[int, float] = {}
        for term, weight in zip(query.indices, query.values, strict=True):
            holders = sum(1 for terms in counted if term in terms)
            weights[term] = weight * inverse_frequency(holders, len(counted))
        scores: dict[str, float] = {}
        for point in admitted:
            shared = [terms[t] * w for terms in [_terms(point.sparse)] for t, w in weights.items() if t in terms]
            if shared:
                scores[point.id] = sum(shared)
        return scores


def _dense_scores(query: FloatMatrix, admitted: Sequence[Point]) -> dict[str, float]:
    held = [point for point in admitted if point.dense is not None]
    if not held:
        return {}
    matrix = np.asarray([point.dense for point in held], dtype=np.float32)
    return dict(zip([point.id for point in held], (matrix @ query).tolist(), strict=True))


def _terms(sparse: SparseVector | None) -> dict[int, float]:
    return dict(zip(sparse.indices, sparse.values, strict=True)) if sparse else {}
