"""Qdrant Edge passes the suite, and agrees with the reference store on random data."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import qdrant_edge as qe

from citewell.adapters.index import qdrant_edge_engine as engine
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.index.qdrant_edge_folder import ShardFolder
from citewell.errors import DataFolderBusy, Unavailable
from citewell.ports import FloatMatrix
from citewell.testing.vector_index import (
    DIMENSIONS,
    FilterConformance,
    PersistenceConformance,
    SparseConformance,
    VectorIndexConformance,
    about,
    make_point,
    near,
    point_id,
)
from citewell.types import AnyOf, Condition, Expression, Filter, Negation, Operator, Point, VectorQuery

FROM_PAGE_7 = Condition("page", Operator.GTE, 7)


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


async def test_a_second_owner_who_comes_during_searches_is_never_found(tmp_path: Path) -> None:
    """As long as all points are one owner's, searches do not ask whose they are."""
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    assert await index.search(near(0)) == []
    await index.upsert([make_point(n, terms=[7]) for n in range(50)])
    anns, bob = {point_id(n) for n in range(50)}, Filter(owner_id="bob")
    assert await index.search(near(0, bob)) == []
    assert await index.search(about(7, filter=bob)) == []
    writing = asyncio.create_task(index.upsert([make_point(n, "bob", terms=[7]) for n in range(50, 2_050)]))
    searched = 0
    while not writing.done() or searched < 3:
        for query in (near(60, limit=100), about(7, limit=100)):
            assert {hit.id for hit in await index.search(query)} == anns
        searched += 1
        await asyncio.sleep(0)
    await writing
    assert len(await index.search(near(60, bob, limit=5_000))) == 2_000
    await index.close()


async def test_what_a_sole_owner_asks_for_is_narrowed_all_the_same(tmp_path: Path) -> None:
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    await index.upsert([make_point(n, resource=f"r{n % 2}", page=n) for n in range(20)])
    second = Filter(owner_id="ann", resource_ids=("r1",))
    assert {hit.id for hit in await index.search(near(0, second, limit=50))} == {point_id(n) for n in range(1, 20, 2)}
    later = Filter(owner_id="ann", resource_ids=("r1",), conditions=(FROM_PAGE_7,))
    assert {hit.id for hit in await index.search(near(0, later, limit=50))} == {point_id(n) for n in range(7, 20, 2)}
    assert len(await index.search(near(0, limit=50))) == 20
    await index.close()


def _indexed(folder: Path) -> set[str]:
    """The fields with an index of their own in an index that nobody has open."""
    current = ShardFolder(folder).current()
    assert current is not None
    shard = engine.open_shard(current)
    fields = set(shard.info().payload_schema)
    shard.close()
    return fields


async def _found(index: QdrantEdgeIndex, *conditions: Expression) -> set[str]:
    query = VectorQuery(
        dense=make_point(0).dense, filter=Filter(owner_id="ann", conditions=tuple(conditions)), limit=100
    )
    return {hit.id for hit in await index.search(query)}


@pytest.mark.full
def test_close_vectors_of_others_do_not_change_what_an_owner_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a graph over all owners, links lead to the others, and seven of ten neighbours are not found any more."""
    config = engine._config

    def from_few_points(*how: Any, **more: Any) -> qe.EdgeConfig:
        """The same, but a graph from 100 KB of vectors on: 10 MB are too many for a test."""
        made = config(*how, **more)
        early = qe.EdgeOptimizersConfig(indexing_threshold=100)
        return qe.EdgeConfig(vectors=made.vectors, sparse_vectors=made.sparse_vectors, optimizers=early)

    monkeypatch.setattr(engine, "_config", from_few_points)
    monkeypatch.setattr(engine, "_GRAPH_FROM_KB", 100)
    chance = np.random.default_rng(7)
    centres = chance.normal(size=(20, 64))
    mine = _unit(centres[chance.integers(0, 20, 2_000)] + 0.8 * chance.normal(size=(2_000, 64)))
    theirs = _unit(np.repeat(mine, 2, axis=0) + 0.05 * chance.normal(size=(4_000, 64)))
    asked = _unit(centres[chance.integers(0, 20, 50)] + 0.8 * chance.normal(size=(50, 64)))
    wanted = [{str(uuid.UUID(int=int(n) + 1)) for n in np.argsort(-(mine @ one))[:10]} for one in asked]
    found: dict[str, float] = {}
    for name, others in (("alone", None), ("beside others", theirs)):
        folder = tmp_path / name
        shard = engine.create_shard(folder, 64)
        engine.upsert_points(shard, _points("ada", mine, 1))
        if others is not None:
            engine.upsert_points(shard, _points("ben", others, 1_000_000))
        shard.close()
        engine.optimize_shard(folder, 64)
        shard = engine.open_shard(folder)
        legs = [
            (VectorQuery(filter=Filter(owner_id="ada"), limit=10, dense=tuple(one.tolist())), others is None)
            for one in asked
        ]
        ranked = [engine.scored_ids(engine.search_all(shard, [leg])[0]) for leg in legs]
        found[name] = sum(len(best & {hit.id for hit in hits}) for best, hits in zip(wanted, ranked, strict=True)) / (
            10 * len(asked)
        )
        assert shard.info().indexed_vectors_count >= len(mine), "there is a graph"
        shard.close()
    assert min(found.values()) > 0.85
    assert abs(found["alone"] - found["beside others"]) < 0.05


def _unit(vectors: npt.NDArray[np.floating]) -> FloatMatrix:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _points(owner: str, vectors: FloatMatrix, first: int) -> list[Point]:
    payload = {"owner_id": owner, "resource_id": "r", "type": "text"}
    return [
        Point(id=str(uuid.UUID(int=first + n)), dense=tuple(one.tolist()), sparse=None, payload=payload)
        for n, one in enumerate(vectors)
    ]


async def test_a_field_gets_an_index_when_a_filter_first_uses_it(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = await QdrantEdgeIndex.open(folder, DIMENSIONS)
    await index.upsert([make_point(n, page=n, sheet="a") for n in range(10)])
    await index.close()
    assert _indexed(folder) == set(engine.ALWAYS_INDEXED)
    index = await QdrantEdgeIndex.open(folder, DIMENSIONS)
    nested = AnyOf((FROM_PAGE_7, Negation(Condition("sheet", Operator.EXISTS, True))))
    assert await _found(index, nested) == {point_id(n) for n in (7, 8, 9)}
    await index.close()
    assert _indexed(folder) == {*engine.ALWAYS_INDEXED, "page", "sheet"}


async def test_first_uses_of_fields_at_once_and_during_writes_find_everything(tmp_path: Path) -> None:
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    await index.upsert([make_point(n, page=n, row=n) for n in range(10)])
    writing = asyncio.create_task(index.upsert([make_point(n, page=0) for n in range(100, 1_600)]))
    by_row = Condition("row", Operator.LT, 2)
    found = await asyncio.gather(*(_found(index, one) for one in (FROM_PAGE_7, by_row) * 8))
    await writing
    assert found == [{point_id(n) for n in (7, 8, 9)}, {point_id(0), point_id(1)}] * 8
    assert await index.count(Filter(owner_id="ann", conditions=(Condition("page", Operator.EQ, 0),))) == 1_501
    await index.close()


async def test_an_index_for_another_kind_of_value_is_made_again_when_it_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    await (await QdrantEdgeIndex.open(folder, DIMENSIONS)).close()
    current = ShardFolder(folder).current()
    assert current is not None
    shard = engine.open_shard(current)
    shard.update(qe.UpdateOperation.create_field_index("date", qe.PayloadSchemaType.Integer))
    shard.close()
    index = await QdrantEdgeIndex.open(folder, DIMENSIONS)
    await index.upsert([make_point(n, date=n + 0.5) for n in range(3)])
    assert await _found(index, Condition("date", Operator.GTE, 1.5)) == {point_id(1), point_id(2)}
    await index.close()


async def test_more_fields_than_may_have_an_index_are_filtered_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MAX_INDEXED_FIELDS", 4)
    index = await QdrantEdgeIndex.open(tmp_path / "index", DIMENSIONS)
    await index.upsert([make_point(n, page=n, row=n) for n in range(10)])
    assert await _found(index, FROM_PAGE_7, Condition("row", Operator.LT, 9)) == {point_id(7), point_id(8)}
    await index.close()
    assert len(_indexed(tmp_path / "index")) == 4
