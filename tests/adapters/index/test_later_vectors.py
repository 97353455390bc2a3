"""Stores that give points their vectors later, without writing the rest of them again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.indexes.index_set import CompletingIndex
from citewell.ports import FloatMatrix
from citewell.testing.vector_index import ANN, BOB, DIMENSIONS, about, make_point, near, point_id
from citewell.types import Condition, Operator, Point


@pytest.fixture(params=["memory", "edge"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryIndex | QdrantEdgeIndex]:
    opened = MemoryIndex() if request.param == "memory" else await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    assert isinstance(opened, CompletingIndex)
    yield opened
    await opened.close()


def by_words(n: int, **payload: str) -> Point:
    return replace(make_point(n, terms=[7, 100 + n], **payload), dense=None)


def vectors_of(*numbers: int) -> dict[str, FloatMatrix]:
    return {point_id(n): np.asarray(make_point(n).dense, dtype=np.float32) for n in numbers}


async def test_a_point_keeps_its_words_and_fields_and_is_found_by_meaning(
    index: MemoryIndex | QdrantEdgeIndex,
) -> None:
    await index.upsert([by_words(n, sheet=f"s{n}") for n in range(5)])
    before = await index.search(about(7, 102))
    assert await index.search(near(2)) == []
    assert await index.add_vectors(vectors_of(2, 3)) == set()
    assert await index.search(about(7, 102)) == before
    only = replace(ANN, conditions=(Condition("sheet", Operator.EQ, "s2"),))
    assert [hit.id for hit in await index.search(near(3, only))] == [point_id(2)]
    assert {hit.id for hit in await index.search(near(2))} == {point_id(2), point_id(3)}
    assert await index.search(near(2, BOB)) == []
    assert await index.count() == 5


async def test_says_which_points_are_not_there_and_makes_none(index: MemoryIndex | QdrantEdgeIndex) -> None:
    await index.upsert([by_words(1), by_words(2)])
    await index.delete_ids([point_id(2)])
    assert await index.add_vectors(vectors_of(1, 2, 3)) == {point_id(2), point_id(3)}
    assert [hit.id for hit in await index.search(near(1))] == [point_id(1)]
    assert await index.count() == 1
    assert await index.add_vectors({}) == set()


async def test_vectors_that_come_while_the_graphs_are_built_are_in_what_takes_the_shards_place(tmp_path: Path) -> None:
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS, compact_from=100)
    await index.upsert([by_words(n) for n in range(150)])  # a compaction begins
    assert await index.add_vectors(vectors_of(*range(150))) == set()
    await index.settled()
    assert len(await index.vectors([point_id(n) for n in range(150)])) == 150
    await index.close()
    again = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    assert len(await again.vectors([point_id(n) for n in range(150)])) == 150
    assert [hit.id for hit in await again.search(near(77, limit=1))] == [point_id(77)]
    await again.close()
