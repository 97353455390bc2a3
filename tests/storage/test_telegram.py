"""Codes that link once, updates that are kept once, and what a suspended person may do in Telegram: nothing."""

from __future__ import annotations

import time

import sqlalchemy as sa

from citewell.storage.accounts.tables import people
from citewell.storage.channels.telegram import TelegramInboxRepository, TelegramLinkRepository
from citewell.storage.database import Database
from tests.storage.estates import add_estate


async def test_a_code_links_once_and_for_a_time_only(database: Database) -> None:
    ada, links = await add_estate(database, "ada"), TelegramLinkRepository(database)
    await links.add_code(ada.owner, "old", time.time() - 1)
    assert await links.redeem(1, "Ann", "old") is None
    await links.add_code(ada.owner, "first", time.time() + 60)
    await links.add_code(ada.owner, "second", time.time() + 60)
    assert await links.redeem(1, "Ann", "first") is None
    assert await links.redeem(1, "Ann", "second") == ada.owner
    assert await links.redeem(2, "Eve", "second") is None
    assert (await links.owner_of(1), await links.owner_of(2)) == (ada.owner, None)


async def test_guesses_are_counted_until_a_code_fits(database: Database) -> None:
    ada, links = await add_estate(database, "ada"), TelegramLinkRepository(database)
    assert [await links.count_guess(1, 60) for _ in range(3)] == [1, 2, 3]
    assert await links.count_guess(2, 60) == 1
    await links.add_code(ada.owner, "code", time.time() + 60)
    await links.redeem(1, "Ann", "code")
    assert await links.count_guess(1, 60) == 1


async def test_a_suspended_person_is_nobody_in_telegram(database: Database) -> None:
    ada, links = await add_estate(database, "ada"), TelegramLinkRepository(database)
    await links.add_code(ada.owner, "code", time.time() + 60)
    await links.redeem(1, "Ann", "code")
    ben = await add_estate(database, "ben")
    await links.add_code(ben.owner, "another code", time.time() + 60)
    await links.redeem(2, "Ben", "another code")
    person = {"id": "p", "owner_id": ada.owner, "email": "ann@example.org", "name": "Ann", "created_at": 1.0}
    async with database.write() as connection:
        await connection.execute(sa.insert(people).values(**person, is_administrator=False, state="active"))
    assert await links.owner_of(1) == ada.owner
    async with database.write() as connection:
        await connection.execute(sa.update(people).values(state="suspended"))
    assert await links.owner_of(1) is None
    assert await links.owner_of(2) == ben.owner, "somebody else's suspension is not theirs"


async def test_an_update_is_kept_once_and_done_in_order(database: Database) -> None:
    inbox = TelegramInboxRepository(database)
    assert await inbox.keep(7, [(12, 42, {"n": 2}), (11, 42, {"n": 1}), (12, 42, {})]) == [12, 11]
    assert await inbox.keep(8, [(12, 42, {"n": 3})]) == [12], "another bot numbers its own"
    first, second = await inbox.pending(7)
    assert (first.body, second.body) == ({"n": 1}, {"n": 2})
    await inbox.note(first, {"sent": [5]})
    await inbox.tried(first, 2)
    again = (await inbox.pending(7))[0]
    assert (again.progress, again.attempts) == ({"sent": [5]}, 2)
    await inbox.done(first, {})
    assert [one.update_id for one in await inbox.pending(7)] == [12]
    assert await inbox.keep(7, [(11, 42, {"n": 1})]) == []
