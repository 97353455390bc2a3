"""Qdrant Edge passes the suite, and agrees with the reference store on random data."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.errors import DataFolderBusy, Unavailable
from citewell.testing.vector_index import (
    DIMENSIONS,
    FilterConformance,
    PersistenceConformance,
    SparseConformance,
    VectorIndexConformance,
    make_point,
)


class TestQdrantEdgeIndex(VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance):
    @pytest.fixture
    def open_index(self, tmp_path: Path) -> Callable[[], Awaitable[QdrantEdgeIndex]]:
        return lambda: QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)


async def test_a_folder_that_is_open_elsewhere_is_busy(tmp_path: Path) -> None:
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    with pytest.raises(DataFolderBusy):
        await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    await index.close()


async def test_a_damaged_shard_says_that_it_does_not_open(tmp_path: Path) -> None:
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    await index.upsert([make_point(1)])
    await index.close()
    for file in (tmp_path / "index").rglob("*.json"):
        file.write_bytes(b"\x00damaged")
    with pytest.raises(Unavailable):
        await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
