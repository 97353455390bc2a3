"""The audit log is only ever added to: on both databases, whoever tries to change it."""

from __future__ import annotations

import time
import uuid

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from citewell.errors import InvalidCursor
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.accounts.audit_tables import audit_begun, audit_log, audit_removals
from citewell.storage.accounts.owner_data import OwnerDataRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditFilter, AuditOutcome


def entry(owner_id: str | None, **more: object) -> AuditEntry:
    values: dict[str, object] = {
        "at": time.time(),
        "owner_id": owner_id,
        "actor": AuditActor.TOKEN,
        "actor_id": owner_id,
        "credential_id": "t",
        "action": AuditAction.FILE_DELETED,
        "outcome": AuditOutcome.DONE,
        "status": 200,
        "network": "192.0.2.0/24",
        "request_id": str(uuid.uuid4()),
    }
    return AuditEntry(**(values | more))  # pyright: ignore[reportArgumentType]


async def logged(audit: AuditRepository, owner_id: str | None, **wanted: object) -> list[AuditEntry]:
    found, _ = await audit.page(owner_id, AuditFilter(**wanted), 500)  # pyright: ignore[reportArgumentType]
    return found


@pytest.fixture
async def ada(database: Database) -> str:
    return await OwnerRepository(database).ensure("ada")


@pytest.mark.parametrize(
    "statement",
    [
        sa.update(audit_log).values(outcome="done"),
        sa.update(audit_log).values(owner_id=None),
        sa.delete(audit_log),
        sa.delete(audit_log).where(audit_log.c.subject == "file"),
    ],
)
async def test_what_is_in_the_log_is_neither_changed_nor_deleted(
    database: Database, ada: str, statement: sa.Update | sa.Delete
) -> None:
    audit = AuditRepository(database)
    await audit.add([entry(ada, subject="file", outcome=AuditOutcome.REFUSED)])
    before = await logged(audit, ada)
    with pytest.raises(DBAPIError, match="only added to"):
        async with database.write() as connection:
            await connection.execute(statement)
    assert await logged(audit, ada) == before
    assert len(before) == 1


async def test_deleting_an_owner_or_emptying_the_table_does_not_empty_the_log(database: Database, ada: str) -> None:
    audit = AuditRepository(database)
    await audit.add([entry(ada)])
    statements = ["DELETE FROM owners"] + ([] if database.is_sqlite else ["TRUNCATE audit_log"])
    for statement in statements:
        with pytest.raises(DBAPIError, match="only added to"):
            async with database.write() as connection:
                await connection.exec_driver_sql(statement)
    assert len(await logged(audit, ada)) == 1


async def test_entries_are_deleted_by_age_and_no_others(database: Database, ada: str) -> None:
    audit, now = AuditRepository(database), time.time()
    await audit.add([entry(ada, at=now - age, subject=str(age)) for age in (100, 50, 10)])
    assert await audit.prune(now - 40) == 2
    assert [one.subject for one in await logged(audit, ada)] == ["10"]
    assert await database.rows(sa.select(audit_removals)) == []
    with pytest.raises(DBAPIError, match="only added to"):
        async with database.write() as connection:
            await connection.execute(sa.delete(audit_log))


async def test_an_owner_who_is_erased_takes_the_log_along_and_nobody_elses(database: Database, ada: str) -> None:
    audit, owners = AuditRepository(database), OwnerRepository(database)
    ben = await owners.ensure("ben")
    await audit.add([entry(ada), entry(ben, actor_id=ada), entry(None, subject=ada, action=AuditAction.DATA_ERASED)])
    await audit.begin(entry(ada))
    await OwnerDataRepository(database).erase(ada, keep_access=False)
    left = await logged(audit, None)
    assert [(one.owner_id, one.subject) for one in left] == [(None, ada), (ben, None)]
    assert await database.rows(sa.select(audit_begun)) == []
    await audit.add([entry(ada)])  # what ends after its owner is gone
    assert (await logged(audit, None))[0].owner_id is None


async def test_entries_are_added_once_and_all_or_none(database: Database, ada: str) -> None:
    audit, first, second = AuditRepository(database), entry(ada), entry(ada)
    await audit.add([first])
    await audit.add([first, second])
    assert [one.request_id for one in await logged(audit, ada)] == [second.request_id, first.request_id]
    broken = entry(ada, network=None)
    with pytest.raises(DBAPIError):
        await audit.add([entry(ada), broken])
    assert len(await logged(audit, ada)) == 2


async def test_a_change_that_was_never_ended_is_entered_as_interrupted(database: Database, ada: str) -> None:
    audit = AuditRepository(database)
    long_ago = time.time() - 100_000
    stopped, ended = entry(ada, at=long_ago, subject="a"), entry(ada, at=long_ago, subject="b")
    for one in (stopped, ended):
        await audit.begin(one)
    await audit.add([ended])
    assert await audit.finish_interrupted() == 1
    assert await audit.finish_interrupted() == 0
    assert {one.subject: one.outcome for one in await logged(audit, ada)} == {
        "a": AuditOutcome.INTERRUPTED,
        "b": AuditOutcome.DONE,
    }


async def test_what_another_server_has_under_way_is_left_to_it(database: Database, ada: str) -> None:
    audit = AuditRepository(database)
    await audit.begin(entry(ada))
    assert await audit.finish_interrupted() == (1 if database.is_sqlite else 0)


async def test_pages_follow_each_other_and_filters_narrow(database: Database, ada: str) -> None:
    audit, now = AuditRepository(database), time.time()
    actions = (AuditAction.FILE_DELETED, AuditAction.SIGNED_IN)
    await audit.add([entry(ada, at=now + n, subject=str(n), action=actions[n % 2]) for n in range(7)])
    found: list[str | None] = []
    cursor: str | None = None
    for size in (3, 3, 1):
        page, cursor = await audit.page(ada, AuditFilter(), 3, cursor)
        assert len(page) == size
        found += [one.subject for one in page]
    assert (found, cursor) == (["6", "5", "4", "3", "2", "1", "0"], None)
    assert [one.subject for one in await logged(audit, ada, action=AuditAction.SIGNED_IN)] == ["5", "3", "1"]
    assert [one.subject for one in await logged(audit, ada, since=now + 2, until=now + 4)] == ["3", "2"]
    assert [one.subject for one in await logged(audit, ada, subject="4", actor_id=ada)] == ["4"]
    assert await logged(audit, ada, outcome=AuditOutcome.FAILED) == []
    for wrong in ("nonsense", "WyJ4Il0"):
        with pytest.raises(InvalidCursor):
            await audit.page(ada, AuditFilter(), 3, wrong)
