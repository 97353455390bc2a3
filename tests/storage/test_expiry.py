"""Lifetimes of files: announced first, postponed if that is late, and never shortened by another upload."""

from __future__ import annotations

import time

import pytest

from citewell.storage.channels.telegram import TelegramChatRepository, TelegramFile
from citewell.storage.database import Database
from citewell.storage.files.expiry import ExpiringFile, ExpiryRepository, times_of
from citewell.storage.files.resources import ResourceRepository
from tests.storage.rows import add_resource, new_resource

HOUR = 3_600.0


@pytest.mark.parametrize(("hours", "ahead"), [(1_000, 24), (96, 24), (48, 12), (1, 0.25)])
def test_a_deletion_is_announced_a_day_before_or_in_the_last_quarter(hours: float, ahead: float) -> None:
    times = times_of(hours * HOUR, 0.0)
    assert times == {"expires_at": hours * HOUR, "notice_at": (hours - ahead) * HOUR}


async def test_a_file_is_announced_and_then_deleted_and_a_late_announcement_postpones(database: Database) -> None:
    expiry, now = ExpiryRepository(database), time.time()
    owner, resource = await add_resource(database, "ann")
    await expiry.set(owner, resource, now + 48 * HOUR)
    assert await expiry.due(now + 30 * HOUR) == []
    late = now + 60 * HOUR
    (file,) = await expiry.due(late)
    end = await expiry.announce(file, late)
    assert end is not None
    assert end - late == pytest.approx(12 * HOUR, abs=60)
    assert await expiry.announce(file, late) is None  # another server was first
    assert await expiry.due(end - 1) == []
    (file,) = await expiry.due(end)
    assert (file.id, file.notice_at) == (resource, None)


@pytest.mark.parametrize(
    ("known", "again", "kept"),
    [(None, 5.0, None), (9.0, 5.0, 9.0), (5.0, 9.0, 9.0), (5.0, None, None)],
    ids=["forever stays forever", "never shorter", "longer", "for good"],
)
async def test_uploading_a_file_again_never_shortens_its_lifetime(
    database: Database, known: float | None, again: float | None, kept: float | None
) -> None:
    expiry, now = ExpiryRepository(database), time.time()
    owner, outer = await add_resource(database, "ann")
    resources = ResourceRepository(database)
    inner, _ = await resources.create(new_resource(owner, parent_id=outer), "")
    await expiry.set(owner, outer, known and now + known)
    await expiry.prolong(owner, inner.id, again and now + again)  # the file around it would take it along
    assert (await resources.get(owner, outer)).expires_at == (kept and pytest.approx(now + kept))


async def test_a_receipt_outlives_the_file_for_a_while(database: Database) -> None:
    expiry = ExpiryRepository(database)
    owner, resource = await add_resource(database, "ann")
    for one in (resource, *[(await add_resource(database, "ann"))[1] for _ in range(2)]):
        resource = one
        await ResourceRepository(database).delete(owner, resource, has_expired=True)
        await expiry.complete(resource, 0)
    first, cursor = await expiry.receipts(owner, 2, None)
    rest, end = await expiry.receipts(owner, 2, cursor)
    assert [len(first), len(rest), end] == [2, 1, None]
    assert first[0].receipt == {
        "deleted": [first[0].resource_id],
        "chunks": 0,
        "elements": 0,
        "files": 1,
        "quotations": 0,
        "vectors_left": 0,
    }
    await expiry.prune(time.time() + 1)
    assert await expiry.receipts(owner, 2, None) == ([], None)


async def test_files_sent_to_a_bot_are_left_to_it_until_it_is_a_day_late(database: Database) -> None:
    expiry, now = ExpiryRepository(database), time.time()
    owner, resource = await add_resource(database, "ann")
    await expiry.set(owner, resource, now + HOUR)
    chats = TelegramChatRepository(database)
    await chats.add_file(
        TelegramFile(
            bot_id=1,
            chat_id=42,
            message_id=7,
            topic_id=0,
            user_id=42,
            status_message_id=8,
            owner_id=owner,
            resource_id=resource,
            language="en",
        )
    )

    def ids(found: list[ExpiringFile]) -> list[str]:
        return [one.id for one in found]

    assert ids(await expiry.due(now + HOUR, 1)) == [resource]
    assert ids(await expiry.due(now + HOUR, 2)) == []
    assert ids(await expiry.due(now + HOUR)) == []
    assert ids(await expiry.due(now + 26 * HOUR)) == [resource]
