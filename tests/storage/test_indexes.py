"""The registry of indexes: the first one answers, one at a time does, and the one before can be returned to."""

from __future__ import annotations

import asyncio

import pytest

from citewell.errors import NotFound
from citewell.storage.database import Database
from citewell.storage.vectors.indexes import IndexRepository, IndexState


@pytest.fixture
def indexes(database: Database) -> IndexRepository:
    return IndexRepository(database)


async def test_the_first_index_answers_and_the_next_is_built(indexes: IndexRepository) -> None:
    assert await indexes.active() is None
    first = await indexes.ensure_active("model-a", "local", {"dimensions": 384})
    assert first.state is IndexState.ACTIVE
    assert first.activated_at is not None
    assert first.settings == {"dimensions": 384}
    second = await indexes.ensure_active("model-b", "local", {})
    assert (second.state, second.activated_at) == (IndexState.BUILDING, None)
    assert await indexes.active() == first
    assert await indexes.all() == [first, second]


async def test_a_known_index_is_found_by_model_and_store(indexes: IndexRepository) -> None:
    first = await indexes.ensure_active("model-a", "local", {"a": 1})
    assert await indexes.ensure_active("model-a", "local", {"a": 2}) == first
    assert await indexes.create("model-a", "local", {}) == first
    other = await indexes.create("model-a", "remote", {})
    assert other.id != first.id
    assert other.state is IndexState.BUILDING


async def test_processes_that_start_at_once_share_one_index(indexes: IndexRepository) -> None:
    records = await asyncio.gather(*(indexes.ensure_active("model-a", "local", {}) for _ in range(6)))
    assert len({record.id for record in records}) == 1
    made = await asyncio.gather(*(indexes.create("model-b", "local", {}) for _ in range(6)))
    assert len({record.id for record in made}) == 1
    assert len(await indexes.all()) == 2


async def test_one_index_answers_at_a_time(indexes: IndexRepository) -> None:
    first = await indexes.ensure_active("model-a", "local", {})
    second = await indexes.create("model-b", "local", {})
    await indexes.activate(second.id)
    assert (await indexes.get(first.id)).state is IndexState.RETIRED
    active = await indexes.active()
    assert active is not None
    assert active.id == second.id
    assert active.activated_at is not None
    await indexes.activate(first.id)
    assert [record.state for record in await indexes.all()] == [IndexState.ACTIVE, IndexState.RETIRED]


async def test_an_index_that_is_not_there_does_not_put_out_the_one_that_answers(indexes: IndexRepository) -> None:
    first = await indexes.ensure_active("model-a", "local", {})
    with pytest.raises(NotFound):
        await indexes.activate("nothing")
    active = await indexes.active()
    assert active is not None
    assert active.id == first.id


async def test_progress_is_noted_with_and_without_a_change_of_state(indexes: IndexRepository) -> None:
    await indexes.ensure_active("model-a", "local", {})
    made = await indexes.create("model-b", "local", {})
    await indexes.set_progress(made.id, 5, 10)
    found = await indexes.get(made.id)
    assert (found.progress, found.total, found.state) == (5, 10, IndexState.BUILDING)
    await indexes.set_progress(made.id, 10, 10, IndexState.READY)
    assert (await indexes.get(made.id)).state is IndexState.READY


async def test_a_forgotten_index_is_gone(indexes: IndexRepository) -> None:
    made = await indexes.create("model-b", "local", {})
    await indexes.delete(made.id)
    with pytest.raises(NotFound):
        await indexes.get(made.id)
    assert await indexes.all() == []
