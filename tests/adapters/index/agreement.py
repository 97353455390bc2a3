"""A store answers as the exact index in memory does, whatever is written to it and asked of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.ports import VectorIndex
from citewell.testing.vector_index import about, make_point, near, point_id
from citewell.types import AnyOf, Condition, Expression, Filter, Negation, Operator, Point

_OWNERS = ("ann", "bob")


def random_expression(
    chance: random.Random, parts: Sequence[str] = ("1", "file", "%", "_"), depth: int = 2
) -> Expression:
    """Conditions on numbers, keywords, parts of texts and fields that are there, which may be denied or alternatives.

    parts: what file names may be asked to contain; `%` and the like mean something to some stores, and here only themselves
    """
    if depth and chance.random() < 0.5:
        some = tuple(random_expression(chance, parts, depth - 1) for _ in range(chance.randrange(1, 4)))
        return chance.choice([AnyOf(some), Negation(some[0])])
    return chance.choice(
        [
            Condition("page", chance.choice([Operator.GT, Operator.LTE, Operator.EQ]), chance.randrange(6)),
            Condition("tag", Operator.IN, (f"t{chance.randrange(4)}", "none")),
            Condition("tag", Operator.PREFIX, chance.choice(["t", "t1", "x"])),
            Condition("filename", Operator.CONTAINS, chance.choice(parts)),
            Condition("sheet", Operator.EXISTS, chance.random() < 0.5),
        ]
    )


def _points(chance: random.Random) -> list[Point]:
    return [
        make_point(
            n, owner="bob" if n % 5 == 4 else "ann", page=list(range(n % 7)) or None, filename=f"file {n}.pdf",
            tag=[f"t{n % 4}", f"t{n % 3}"], sheet="s" if n % 6 == 0 else None, terms=sorted(chance.sample(range(9), 3)),
        )
        for n in range(80)
    ]  # fmt: skip


async def check_filters(index: VectorIndex, rounds: int, parts: Sequence[str] = ("1", "file", "%", "_")) -> None:
    """Random filters admit the same points, in searches by meaning and by words, with the same scores, and the same number of them."""
    chance, reference = random.Random(1), MemoryIndex()
    points = _points(chance)
    await index.upsert(points)
    await reference.upsert(points)
    for _ in range(rounds):
        scope = Filter(owner_id="ann", conditions=(random_expression(chance, parts),))
        for query in (near(1, filter=scope, limit=80), about(1, 4, 7, filter=scope, limit=80)):
            ours, theirs = [await one.search(query) for one in (index, reference)]
            expected = {one.id: pytest.approx(one.score, rel=1e-4, abs=1e-5) for one in theirs}
            assert {one.id: one.score for one in ours} == expected, scope
        assert await index.count(scope) == await reference.count(scope)


async def check_document_frequencies(index: VectorIndex) -> None:
    """Lexical scores stay the same as points are written, change hands and are deleted, by id and by filter."""
    chance, reference = random.Random(0), MemoryIndex()
    for _ in range(40):
        numbers = [chance.randrange(60) for _ in range(8)]
        match chance.randrange(4):
            case 0:
                ids = [point_id(n) for n in numbers]
                await asyncio.gather(index.delete_ids(ids), reference.delete_ids(ids))
            case 1:
                scope = Filter(owner_id=chance.choice(_OWNERS), resource_ids=(f"r{chance.randrange(3)}",))
                await asyncio.gather(index.delete(scope), reference.delete(scope))
            case _:
                points = [
                    make_point(n, owner=chance.choice(_OWNERS), resource=f"r{n % 3}", terms=chance.sample(range(9), 3))
                    for n in numbers
                ]
                await index.upsert(points)
                await reference.upsert(points)
        for scope in (Filter(owner_id="ann"), Filter(owner_id="bob", resource_ids=("r1",))):
            ours, theirs = [await one.search(about(1, 4, 7, filter=scope, limit=60)) for one in (index, reference)]
            assert {one.id: pytest.approx(one.score, rel=1e-4) for one in ours} == {one.id: one.score for one in theirs}
        assert await index.count() == await reference.count()
