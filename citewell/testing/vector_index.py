"""The conformance suite of the `VectorIndex` port.

Subclass `VectorIndexConformance` together with one class per declared capability, and define the fixture `open_index`:
a function that opens the index, on the same storage each time within one test.

    class TestMyIndex(VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance):
        @pytest.fixture
        def open_index(self, tmp_path):
            return lambda: MyIndex.open(tmp_path, DIMENSIONS)
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from citewell.errors import Unavailable
from citewell.ports import Capability, VectorIndex
from citewell.ports.remote_vectors import EventualIndex, RemovableIndex
from citewell.testing.points import ANN, BOB, DIMENSIONS, Opened, OpenIndex, about, ids_of, make_point, near, point_id
from citewell.testing.settling import settling
from citewell.testing.vector_filters import FilterConformance
from citewell.types import (
    Filter,
    Point,
)

__all__ = [
    "ANN",
    "BOB",
    "DIMENSIONS",
    "EventualConformance",
    "FilterConformance",
    "OpenIndex",
    "PersistenceConformance",
    "RemovalConformance",
    "SparseConformance",
    "VectorIndexConformance",
    "about",
    "make_point",
    "near",
    "point_id",
]


@pytest.mark.asyncio
class VectorIndexConformance(Opened):
    """Tests that every vector index must pass."""

    async def test_every_declared_capability_is_tested(self, index: VectorIndex) -> None:
        suites = {
            Capability.SPARSE: SparseConformance,
            Capability.FILTERS: FilterConformance,
            Capability.PERSISTENT: PersistenceConformance,
            Capability.EVENTUAL: EventualConformance,
        }
        tested = {capability for capability, suite in suites.items() if issubclass(type(self), suite)}
        assert index.capabilities & set(suites) == tested

    async def test_finds_the_nearest_first_with_inner_products_as_scores(self, index: VectorIndex) -> None:
        points = [make_point(n) for n in range(50)]
        await index.upsert(points)
        found = await index.search(near(7))
        assert found[0].id == point_id(7)
        assert found[0].score == pytest.approx(1.0, abs=1e-3)
        assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
        assert len(found) == 10

    async def test_agrees_with_brute_force(self, index: VectorIndex) -> None:
        points = [make_point(n, owner="ann" if n % 3 else "bob") for n in range(600)]
        await index.upsert(points)
        mine = [point for point in points if point.payload["owner_id"] == "ann"]
        matrix = np.asarray([point.dense for point in mine], dtype=np.float32)
        shared = 0
        for n in range(2_000, 2_020):
            best = np.argsort(-matrix @ np.asarray(make_point(n).dense or (), dtype=np.float32))[:10]
            shared += len({mine[i].id for i in best} & set(ids_of(await index.search(near(n)))))
        assert shared >= 0.99 * 200

    async def test_points_pull_a_query_towards_themselves(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n) for n in range(30)])
        query = near(3, limit=30)
        assert (await index.search(query))[0].id == point_id(3)
        pulled = await index.search(replace(query, pulls=((point_id(8), 5.0), (point_id(99), 9.0))))
        assert pulled[0].id == point_id(8)
        assert pulled[0].score <= 1.0 + 1e-3
        assert ids_of(await index.search(replace(query, pulls=((point_id(99), 9.0),)))) == ids_of(
            await index.search(query)
        )

    async def test_a_limit_beyond_the_size_returns_everything_once(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n) for n in range(5)])
        found = ids_of(await index.search(near(0, limit=100)))
        assert sorted(found) == sorted(point_id(n) for n in range(5))

    async def test_upsert_replaces_a_point_with_a_known_id(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1), make_point(2)])
        moved = make_point(3)
        await index.upsert([Point(id=point_id(1), dense=moved.dense, sparse=None, payload=moved.payload)])
        assert await index.count() == 2
        assert ids_of(await index.search(near(3, limit=1))) == [point_id(1)]

    async def test_an_owner_never_sees_another_owners_points(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, owner="bob" if n % 2 else "ann") for n in range(40)])
        for n in range(40):
            found = ids_of(await index.search(near(n, filter=ANN, limit=40)))
            assert sorted(found) == sorted(point_id(i) for i in range(0, 40, 2))
        assert await index.search(near(0, filter=Filter(owner_id="eve"))) == []

    async def test_scope_narrows_to_resources(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, resource=f"r{n % 4}") for n in range(40)])
        scope = Filter(owner_id="ann", resource_ids=("r1", "r3"))
        assert await index.count(scope) == 20
        found = ids_of(await index.search(near(0, filter=scope, limit=40)))
        assert sorted(found) == sorted(point_id(n) for n in range(40) if n % 4 in (1, 3))

    async def test_an_empty_scope_admits_nothing(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1)])
        nothing = Filter(owner_id="ann", resource_ids=())
        assert await index.search(near(1, filter=nothing)) == []
        assert await index.count(nothing) == 0
        await index.delete(nothing)
        assert await index.count() == 1

    async def test_counts_all_owners_or_what_a_filter_admits(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, owner="bob" if n < 3 else "ann") for n in range(10)])
        assert (await index.count(), await index.count(BOB), await index.count(ANN)) == (10, 3, 7)

    async def test_delete_removes_what_the_filter_admits_and_nothing_else(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, resource=f"r{n % 2}", owner="bob" if n > 20 else "ann") for n in range(30)])
        await index.delete(Filter(owner_id="ann", resource_ids=("r1",)))
        left = ids_of(await index.search(near(0, limit=50)))
        assert sorted(left) == sorted(point_id(n) for n in range(21) if n % 2 == 0)
        assert await index.count(BOB) == 9

    async def test_delete_ids_ignores_unknown_ids(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n) for n in range(3)])
        await index.delete_ids([point_id(0), point_id(99)])
        await index.delete_ids([])
        assert sorted(ids_of(await index.search(near(0)))) == sorted([point_id(1), point_id(2)])

    async def test_a_deleted_point_can_come_back(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1)])
        await index.delete_ids([point_id(1)])
        await index.upsert([make_point(1)])
        assert ids_of(await index.search(near(1))) == [point_id(1)]

    async def test_returns_stored_vectors_of_known_ids(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n) for n in range(3)])
        vectors = await index.vectors([point_id(2), point_id(99)])
        assert list(vectors) == [point_id(2)]
        np.testing.assert_allclose(vectors[point_id(2)], np.asarray(make_point(2).dense or ()), atol=1e-3)
        assert await index.vectors([]) == {}

    async def test_nothing_in_an_empty_index(self, index: VectorIndex) -> None:
        assert await index.search(near(1)) == []
        assert await index.count() == 0
        await index.upsert([])
        assert await index.count() == 0

    async def test_reads_and_writes_at_once_keep_every_promise(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n) for n in range(100)])

        async def write(batch: int) -> None:
            numbers = range(1_000 + batch * 20, 1_000 + batch * 20 + 20)
            await index.upsert([make_point(n, owner="bob" if n % 2 else "ann") for n in numbers])
            await index.delete_ids([point_id(batch)])

        async def read(n: int) -> None:
            kept = 50 + n % 50
            assert (await index.search(near(kept)))[0].id == point_id(kept)
            theirs = {point_id(i) for i in range(1_001, 1_200, 2)}
            assert not theirs & set(ids_of(await index.search(near(1_001, limit=500))))

        await asyncio.gather(*[write(b) for b in range(10)], *[read(n) for n in range(40)])
        assert (await index.count(ANN), await index.count(BOB)) == (190, 100)

    async def test_closing_twice_is_harmless_and_a_closed_index_says_so(self, open_index: OpenIndex) -> None:
        index = await open_index()
        await index.close()
        await index.close()
        with pytest.raises(Unavailable):
            await index.search(near(1))
        with pytest.raises(Unavailable):
            await index.upsert([make_point(1)])


@pytest.mark.asyncio
class SparseConformance(Opened):
    """For indexes that declare `SPARSE`."""

    async def test_a_rare_term_outweighs_a_common_one(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, terms=[1]) for n in range(20)] + [make_point(20, terms=[2])])
        found = await index.search(about(1, 2, limit=30))
        assert found[0].id == point_id(20)
        assert found[0].score > 3 * found[1].score
        assert len(found) == 21

    async def test_what_others_hold_does_not_change_a_lexical_score(self, open_index: OpenIndex) -> None:
        index = await open_index()
        await index.upsert([make_point(n, terms=[1 if n < 3 else 2]) for n in range(20)])
        before = await index.search(about(1, 2, limit=20))
        await index.upsert([make_point(n, owner="bob", terms=[1]) for n in range(100, 300)])
        assert await index.search(about(1, 2, limit=20)) == before
        await index.delete(BOB)
        assert await index.search(about(1, 2, limit=20)) == before
        await index.close()
        again = await open_index()
        if Capability.PERSISTENT in again.capabilities:
            assert await again.search(about(1, 2, limit=20)) == before
        await again.close()

    async def test_only_the_corpus_tells_how_rare_a_term_is(self, open_index: OpenIndex) -> None:
        index = await open_index()
        await index.upsert([make_point(n, resource=f"r{n % 2}", terms=[1 if n < 3 else 2]) for n in range(20)])
        await index.upsert([make_point(20, resource="r0", terms=[3])])
        one_file = Filter(owner_id="ann", resource_ids=("r0",), corpus=("r0", "r1"))
        query = about(1, 2, 3, 4, filter=one_file, limit=20)
        before = await index.search(query)
        alone = {one.id: one.score for one in await index.search(about(1, 2, 3, 4, limit=30))}
        assert len(before) == 11
        assert [one.score for one in before] == pytest.approx([alone[one.id] for one in before], rel=1e-5)
        hidden = [make_point(n, resource="hidden", terms=[1, 4] if n % 2 else [3]) for n in range(100, 400)]
        await index.upsert(hidden)
        assert await index.search(query) == before
        assert await index.search(replace(query, filter=replace(one_file, corpus=None))) != before
        await index.delete_ids([point.id for point in hidden[:100]])
        assert await index.search(query) == before
        await index.close()

    async def test_more_of_the_terms_is_better_and_none_is_not_found(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1, terms=[5, 6, 7]), make_point(2, terms=[5, 8]), make_point(3, terms=[9])])
        assert ids_of(await index.search(about(5, 6))) == [point_id(1), point_id(2)]
        assert await index.search(about(4_000_000_000)) == []

    async def test_a_query_without_terms_finds_nothing(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1, terms=[1])])
        assert await index.search(about()) == []

    async def test_terms_are_32_bit_numbers(self, index: VectorIndex) -> None:
        await index.upsert([make_point(1, terms=[2**32 - 1]), make_point(2, terms=[0])])
        assert ids_of(await index.search(about(2**32 - 1))) == [point_id(1)]
        assert ids_of(await index.search(about(0))) == [point_id(2)]

    async def test_lexical_search_keeps_to_the_filter(self, index: VectorIndex) -> None:
        await index.upsert([make_point(n, owner="bob" if n % 2 else "ann", terms=[1]) for n in range(10)])
        assert sorted(ids_of(await index.search(about(1)))) == sorted(point_id(n) for n in range(0, 10, 2))

    async def test_a_point_may_have_one_kind_of_vector_only(self, index: VectorIndex) -> None:
        both = make_point(1, terms=[1])
        words_only = Point(id=point_id(2), dense=None, sparse=both.sparse, payload=both.payload)
        await index.upsert([both, words_only, make_point(3)])
        assert sorted(ids_of(await index.search(about(1)))) == sorted([point_id(1), point_id(2)])
        assert sorted(ids_of(await index.search(near(1)))) == sorted([point_id(1), point_id(3)])
        assert list(await index.vectors([point_id(2)])) == []


@pytest.mark.asyncio
class EventualConformance:
    """For indexes that declare `EVENTUAL`."""

    async def test_a_count_never_lags_and_what_is_gone_is_not_found(self, open_index: OpenIndex) -> None:
        index = await open_index()
        assert isinstance(index, EventualIndex)
        await index.upsert([make_point(n, terms=[1]) for n in range(40)])
        assert (await index.count(ANN), await index.count()) == (40, 40)
        await index.settle()
        assert len(await index.search(near(0, limit=100))) == 40
        await index.delete_ids([point_id(n) for n in range(10)])
        assert await index.count(ANN) == 30
        left = {point_id(n) for n in range(10, 40)}
        assert set(ids_of(await index.search(near(3, limit=30)))) == left
        assert set(ids_of(await index.search(about(1, limit=100)))) == left
        await index.close()


@pytest.mark.asyncio
class RemovalConformance:
    """For indexes with their own table, collection or keys: `RemovableIndex`."""

    async def test_an_empty_index_is_taken_away_and_one_with_points_stays(self, open_index: OpenIndex) -> None:
        index = await open_index()
        assert isinstance(index, RemovableIndex)
        await index.upsert([make_point(1, terms=[1]), make_point(2, owner="bob", terms=[1])])
        await index.remove()
        assert (ids_of(await index.search(near(1))), await index.count()) == ([point_id(1)], 2)
        await index.delete(ANN)
        await index.delete(BOB)
        await index.remove()
        with pytest.raises(Unavailable):
            await index.upsert([make_point(3)])
        await index.close()
        again = await open_index()
        assert await again.count() == 0
        await again.upsert([make_point(1, terms=[1])])
        assert ids_of(await again.search(about(1))) == [point_id(1)]
        await again.close()


@pytest.mark.asyncio
class PersistenceConformance:
    """For indexes that declare `PERSISTENT`."""

    async def test_what_was_written_is_there_after_reopening(self, open_index: OpenIndex) -> None:
        first = settling(await open_index())
        await first.upsert([make_point(n, page=n) for n in range(200)])
        await first.delete_ids([point_id(5)])
        before = await first.search(near(9))
        await first.close()
        second = await open_index()
        after = await second.search(near(9))
        count = await second.count()
        await second.close()
        assert ids_of(after) == ids_of(before)
        assert count == 199
