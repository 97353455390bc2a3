"""Points and queries for tests of vector indexes: each number always gives the same ones."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeAlias

import numpy as np
import pytest_asyncio

from citewell.ports import VectorIndex
from citewell.testing.settling import settling
from citewell.types import (
    Filter,
    JsonValue,
    Point,
    ScoredId,
    SparseVector,
    VectorQuery,
)

DIMENSIONS = 32
OpenIndex: TypeAlias = Callable[[], Awaitable[VectorIndex]]
ANN = Filter(owner_id="ann")
BOB = Filter(owner_id="bob")


def make_point(
    n: int, owner: str = "ann", resource: str = "r0", terms: Sequence[int] = (), **payload: JsonValue
) -> Point:
    """Point number `n`: its random unit vector, always the same, and the payload fields that are not None."""
    vector = np.random.default_rng(n).normal(size=DIMENSIONS)
    vector /= np.linalg.norm(vector)
    sparse = SparseVector(tuple(terms), (1.0,) * len(terms)) if terms else None
    base: dict[str, JsonValue] = {"owner_id": owner, "resource_id": resource, "type": "text"}
    said = {key: value for key, value in payload.items() if value is not None}
    return Point(id=point_id(n), dense=tuple(vector.tolist()), sparse=sparse, payload=base | said)


def point_id(n: int) -> str:
    """The id of point number `n`."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(n)))


def near(n: int, filter: Filter = ANN, limit: int = 10) -> VectorQuery:
    """A query whose best answer is point number `n`."""
    return VectorQuery(dense=make_point(n).dense, filter=filter, limit=limit)


def about(*terms: int, filter: Filter = ANN, limit: int = 10) -> VectorQuery:
    """A lexical query for terms, each once."""
    return VectorQuery(sparse=SparseVector(terms, (1.0,) * len(terms)), filter=filter, limit=limit)


def ids_of(found: Sequence[ScoredId]) -> list[str]:
    """The ids of a search's hits, in order."""
    return [item.id for item in found]


class Opened:
    """Shared by the suites of vector indexes: the index that `open_index` opens, closed after each test."""

    @pytest_asyncio.fixture
    async def index(self, open_index: OpenIndex) -> AsyncIterator[VectorIndex]:
        """An index that shows writes at once."""
        opened = settling(await open_index())
        yield opened
        await opened.close()
