"""The ledger agrees with the reference on both databases, after any writes."""

import random

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.storage.database import Database
from citewell.storage.vectors.point_ledger import PointLedger
from citewell.testing.vector_index import about, make_point, point_id
from citewell.types import ChunkType, Condition, Filter, Operator, Point


def _points(chance: random.Random, numbers: list[int]) -> list[Point]:
    return [
        make_point(
            *(n, ("ann", "bob")[n % 2], f"r{n % 3}"),
            terms=sorted(chance.sample(range(9), chance.randrange(4))),
            page=chance.randrange(5),
        )
        for n in dict.fromkeys(numbers)
    ]


async def test_words_and_counts_agree_with_the_reference_after_any_writes(database: Database) -> None:
    chance, ledger, reference = random.Random(0), PointLedger(database, "one"), MemoryIndex()
    other = PointLedger(database, "another")
    await other.note([make_point(n, terms=[1]) for n in range(50)])
    await other.confirm([point_id(n) for n in range(50)])
    for _ in range(25):
        numbers = [chance.randrange(60) for _ in range(8)]
        ids = [point_id(n) for n in numbers]
        if chance.random() < 0.3:
            await ledger.forget(ids)
            await reference.delete_ids(ids)
        else:
            points = _points(chance, numbers)
            await ledger.note(points)
            await ledger.confirm([point.id for point in points])
            await reference.upsert(points)
        for scope in (
            Filter(owner_id="ann"),
            Filter(owner_id="bob", resource_ids=("r1", "r7")),
            Filter(owner_id="ann", types=(ChunkType.ROW,)),
            Filter(owner_id="ann", conditions=(Condition("page", Operator.LTE, 2),)),
        ):
            query = about(1, 4, 7, filter=scope, limit=60)
            assert query.sparse is not None
            ours = await ledger.search(query.sparse, scope, 60)
            theirs = await reference.search(query)
            assert {one.id: pytest.approx(one.score, rel=1e-6) for one in ours} == {one.id: one.score for one in theirs}
            assert await ledger.count(scope) == await reference.count(scope)
        assert await ledger.count() == await reference.count()
    await ledger.clear()
    assert (await ledger.count(), await other.count()) == (0, 50)


async def test_what_is_not_confirmed_is_known_but_neither_counted_nor_found(database: Database) -> None:
    ledger = PointLedger(database, "one")
    await ledger.note([make_point(1, terms=[1])])
    query = about(1).sparse
    assert query is not None
    assert await ledger.search(query, Filter(owner_id="ann"), 5) == []
    assert await ledger.count() == 0
    assert [entry.owner_id for entry in await ledger.entries([point_id(1), point_id(2)])] == ["ann"]
    await ledger.confirm([point_id(1)])
    assert [one.id for one in await ledger.search(query, Filter(owner_id="ann"), 5)] == [point_id(1)]
    await ledger.note([make_point(1, terms=[1])])  # it is being written again
    assert await ledger.count() == 0


async def test_what_is_cut_of_a_payload_is_said_to_its_owner_alone(database: Database) -> None:
    ledger = PointLedger(database, "one")
    points = [make_point(1, "ann", terms=[1]), make_point(2, "bob", terms=[1])]
    await ledger.note(points)
    await ledger.set_payloads([(point.id, point.payload) for point in points], cut=[points[0].id])
    assert await ledger.has_cut("ann")
    assert not await ledger.has_cut("bob")
    assert not await PointLedger(database, "another").has_cut("ann")


async def test_a_filter_that_few_of_the_best_pass_still_finds_them(database: Database) -> None:
    ledger = PointLedger(database, "one")
    points = [make_point(n, terms=[1] if n >= 990 else [1, 2], page=1 if n >= 990 else 0) for n in range(1_000)]
    await ledger.note(points)
    await ledger.confirm([point.id for point in points])
    query, scope = about(1, 2).sparse, Filter(owner_id="ann", conditions=(Condition("page", Operator.EQ, 1),))
    assert query is not None
    assert {one.id for one in await ledger.search(query, scope, 50)} == {point_id(n) for n in range(990, 1_000)}
    many = Filter(owner_id="ann", resource_ids=("r0", *(f"x{n}" for n in range(2_000))))
    assert len(await ledger.search(query, many, 50)) == 50
    assert await ledger.count(many) == 1_000
