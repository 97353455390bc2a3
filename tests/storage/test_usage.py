"""The ledger: entries are summed by day, thread or message, and by what was used."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.spending.usage import UsageRepository
from citewell.types import Usage, UsageKind

_DAY = 86_400.0


@pytest.fixture
async def ada(database: Database) -> str:
    return await OwnerRepository(database).ensure("ada")


def _spent(kind: UsageKind = "chat", model: str = "m", provider: str = "p") -> Usage:
    return Usage(kind=kind, provider=provider, model=model, input_tokens=10, output_tokens=2, units=1, cost=0.25)


async def test_days_are_summed_in_utc_newest_first(database: Database, ada: str) -> None:
    usage = UsageRepository(database)
    for at in (_DAY, 2 * _DAY - 0.5, 2 * _DAY):
        await usage.add(ada, [_spent()], at=at)
    rows = await usage.totals(ada)
    assert [row["day"] for row in rows] == ["1970-01-03", "1970-01-02"]
    assert [(row["input_tokens"], row["output_tokens"], row["units"], row["cost"]) for row in rows] == [
        (10, 2, 1, 0.25),
        (20, 4, 2, 0.5),
    ]


async def test_kinds_providers_and_models_are_kept_apart(database: Database, ada: str) -> None:
    usage = UsageRepository(database)
    await usage.add(ada, [_spent("embedding"), _spent("chat", "b"), _spent("chat", "a")])
    await usage.add(ada, [_spent("chat", "a", "q")])
    rows = await usage.totals(ada)
    assert [(row["kind"], row["model"]) for row in rows] == [
        ("chat", "a"),
        ("chat", "a"),
        ("chat", "b"),
        ("embedding", "m"),
    ]


async def test_threads_and_messages_are_summed_by_themselves(database: Database, ada: str) -> None:
    usage = UsageRepository(database)
    await usage.add(ada, [_spent()], "t1", "m1", at=1.0)
    await usage.add(ada, [_spent()], "t1", "m2", at=2.0)
    await usage.add(ada, [_spent()], "t2", "m3", at=3.0)
    await usage.add(ada, [_spent()], at=4.0)
    by_thread = await usage.totals(ada, by="thread")
    assert [(row["thread_id"], row["input_tokens"]) for row in by_thread] == [(None, 10), ("t2", 10), ("t1", 20)]
    by_message = await usage.totals(ada, by="message", thread_id="t1")
    assert [row["message_id"] for row in by_message] == ["m2", "m1"]
    assert [row["thread_id"] for row in await usage.totals(ada, by="message", message_id="m3")] == ["t2"]


async def test_only_what_came_since_is_summed(database: Database, ada: str) -> None:
    usage = UsageRepository(database)
    await usage.add(ada, [_spent()], at=5.0)
    await usage.add(ada, [_spent()], at=6.0)
    (row,) = await usage.totals(ada, since=6.0)
    assert row["input_tokens"] == 10
    assert await usage.totals(ada, since=7.0) == []


async def test_an_unpriced_model_costs_nothing(database: Database, ada: str) -> None:
    usage = UsageRepository(database)
    await usage.add(ada, [replace(_spent(), cost=None)])
    (row,) = await usage.totals(ada)
    assert row["cost"] == 0.0


async def test_an_entry_without_a_time_is_of_now_and_none_is_no_entry(database: Database, ada: str) -> None:
    usage = UsageRepository(database)
    await usage.add(ada, [])
    before = time.time()
    await usage.add(ada, [_spent()])
    assert len(await usage.totals(ada, since=before)) == 1
