"""Timelines: every change of state of a resource, oldest first, from any point on."""

from __future__ import annotations

import time

from citewell.storage.database import Database
from citewell.storage.files.events import EventRepository, record_event
from citewell.types import Status
from tests.storage.rows import add_resource


async def test_a_timeline_is_read_from_any_point_on(database: Database) -> None:
    _, resource_id = await add_resource(database, "ada")
    before = time.time()
    async with database.write() as connection:
        await connection.run_sync(record_event, resource_id, 1, Status.EXTRACTING, {"attempt": 1, "ä": [None]})
        await connection.run_sync(record_event, resource_id, 2, Status.FAILED)
    events = EventRepository(database)
    found = await events.since(resource_id)
    assert [event["status"] for event in found] == ["uploaded", "extracting", "failed"]
    assert [event["version"] for event in found] == [1, 1, 2]
    assert found[1]["attempt"] == 1
    assert found[1]["ä"] == [None]
    assert all(before <= float(str(event["at"])) <= time.time() for event in found[1:])
    ids = [int(str(event["id"])) for event in found]
    assert ids == sorted(set(ids))
    assert await events.since(resource_id, ids[1]) == found[2:]
    assert await events.since(resource_id, ids[-1]) == []


async def test_timelines_do_not_mix_and_end_with_their_resource(database: Database) -> None:
    from citewell.storage.files.resources import ResourceRepository

    owner, one = await add_resource(database, "ada")
    _, two = await add_resource(database, "ada")
    events = EventRepository(database)
    assert len(await events.since(one)) == len(await events.since(two)) == 1
    await ResourceRepository(database).delete(owner, one)
    assert await events.since(one) == []
    assert len(await events.since(two)) == 1


async def test_an_event_of_a_transaction_that_fails_is_none(database: Database) -> None:
    _, resource_id = await add_resource(database, "ada")
    try:
        async with database.write() as connection:
            await connection.run_sync(record_event, resource_id, 1, Status.FAILED)
            raise RuntimeError
    except RuntimeError:
        pass
    assert len(await EventRepository(database).since(resource_id)) == 1
