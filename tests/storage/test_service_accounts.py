"""Service accounts in the database: whose they are, what ends with them, and what suspension of them or of their manager stops."""

from __future__ import annotations

import asyncio
import time

import pytest
import sqlalchemy as sa

from citewell.errors import Conflict, NotFound
from citewell.storage.accounts.members import MemberRepository
from citewell.storage.accounts.owner_data import OwnerDataRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.people import NewPerson, PersonRepository
from citewell.storage.accounts.service_accounts import MAX_SERVICE_ACCOUNTS, ServiceAccountRepository
from citewell.storage.accounts.tables import people
from citewell.storage.channels.triggers import TriggerRepository
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.tables import owners
from citewell.types import TriggerKind
from citewell.types.accounts import AccessScope, Person, PersonState, Role
from tests.storage.estates import add_estate


async def _person(database: Database, name: str) -> Person:
    new = NewPerson(email=f"{name}@example.org", name=name, password_hash="hash")
    return await PersonRepository(database).create(new, needs_invitation=False)


async def test_a_key_speaks_for_the_service_account_and_for_nobody_else(database: Database) -> None:
    ada, found = await _person(database, "ada"), ServiceAccountRepository(database)
    robot = await found.create(ada.owner_id, "robot")
    assert robot.acts_as != ada.owner_id
    _, key = await OwnerRepository(database).create_token(robot.acts_as, "key")
    principal = await OwnerRepository(database).principal_of(key)
    assert principal is not None
    assert (principal.owner_id, principal.managed_by) == (robot.acts_as, ada.owner_id)
    assert (principal.person_id, principal.is_administrator) == (None, False)
    assert [one.name for one in await ProjectRepository(database).all(robot.acts_as)] == ["My files"]
    assert [one.email for one in await PersonRepository(database).all()] == ["ada@example.org"]


async def test_names_are_an_owners_own_and_there_are_not_too_many(database: Database) -> None:
    found = ServiceAccountRepository(database)
    ada, ben = [await OwnerRepository(database).ensure(name) for name in ("ada", "ben")]
    robot = await found.create(ada, "robot")
    with pytest.raises(Conflict, match="robot"):
        await found.create(ada, "robot")
    await found.create(ben, "robot")
    other = await found.create(ada, "other")
    with pytest.raises(Conflict, match="robot"):
        await found.change(ada, other.id, name="robot")
    await found.change(ada, robot.id, name="robot")
    made = [found.create(ada, f"n{n}") for n in range(MAX_SERVICE_ACCOUNTS + 3)]
    refused = [one for one in await asyncio.gather(*made, return_exceptions=True) if isinstance(one, Conflict)]
    assert len(refused) == 5
    assert len(await found.all(ada)) == MAX_SERVICE_ACCOUNTS
    # An account that was not made leaves no owner behind.
    services = sa.select(sa.func.count()).where(owners.c.name.like("service:%"))
    assert [dict(row) for row in await database.rows(services)] == [{"count_1": MAX_SERVICE_ACCOUNTS + 1}]


@pytest.mark.parametrize("who", ["service account", "manager"])
async def test_suspending_it_or_its_manager_stops_its_keys_and_triggers(database: Database, who: str) -> None:
    await _person(database, "administrator")
    ada, found, tokens = await _person(database, "ada"), ServiceAccountRepository(database), OwnerRepository(database)
    robot, other = await found.create(ada.owner_id, "robot"), await found.create(ada.owner_id, "other")
    _, key = await tokens.create_token(robot.acts_as, "key")
    _, others_key = await tokens.create_token(other.acts_as, "key")
    trigger = await TriggerRepository(database).create(robot.acts_as, TriggerKind.RESULT, "t", None, "hash")

    async def suspend(state: PersonState) -> None:
        if who == "manager":
            await PersonRepository(database).set_state(ada.id, state)
        else:
            await found.change(ada.owner_id, robot.id, state=state)

    await suspend(PersonState.SUSPENDED)
    assert await tokens.principal_of(key) is None
    assert await TriggerRepository(database).find(trigger.id) is None
    assert (await tokens.principal_of(others_key) is None) == (who == "manager")
    await suspend(PersonState.ACTIVE)
    assert await tokens.principal_of(key) is not None
    assert await TriggerRepository(database).find(trigger.id) is not None


async def test_a_suspended_persons_triggers_open_nothing(database: Database) -> None:
    await _person(database, "administrator")
    ada, ben, triggers = await _person(database, "ada"), await _person(database, "ben"), TriggerRepository(database)
    hers, his = [
        await triggers.create(one.owner_id, TriggerKind.RESULT, "t", None, f"hash of {one.name}") for one in (ada, ben)
    ]
    await PersonRepository(database).set_state(ada.id, PersonState.SUSPENDED)
    assert await triggers.find(hers.id) is None
    assert await triggers.find(his.id) is not None


async def test_the_end_of_one_ends_its_keys_and_memberships_and_no_others(database: Database) -> None:
    ada = await add_estate(database, "ada")
    found, tokens, members = ServiceAccountRepository(database), OwnerRepository(database), MemberRepository(database)
    robot, other = await found.create(ada.owner, "robot"), await found.create(ada.owner, "other")
    keys: dict[str, str] = {}
    for one in (robot, other):
        keys[one.id] = (await tokens.create_token(one.acts_as, "key"))[1]
        await members.set_role(ada.owner, ada.project, one.acts_as, Role.EDITOR)
    await found.end(ada.owner, robot.id)
    assert await tokens.principal_of(keys[robot.id]) is None
    assert await tokens.principal_of(keys[other.id]) is not None
    assert [one.owner_id for one in await members.all(ada.owner, ada.project)] == [other.acts_as]
    await OwnerDataRepository(database).erase(robot.acts_as, keep_access=False)
    assert [one.id for one in await found.all(ada.owner)] == [other.id]
    with pytest.raises(NotFound):
        await found.get(ada.owner, robot.id)


async def test_erasing_the_manager_leaves_no_key_that_works(database: Database) -> None:
    """Even of a service account that was made after the others were erased."""
    ada = await _person(database, "ada")
    robot = await ServiceAccountRepository(database).create(ada.owner_id, "robot")
    _, key = await OwnerRepository(database).create_token(robot.acts_as, "key")
    ben = await _person(database, "ben")
    bens = await ServiceAccountRepository(database).create(ben.owner_id, "robot")
    _, bens_key = await OwnerRepository(database).create_token(bens.acts_as, "key")
    assert await OwnerDataRepository(database).service_owners(ada.owner_id) == [robot.acts_as]
    await OwnerDataRepository(database).erase(ada.owner_id, keep_access=False)
    assert await OwnerRepository(database).principal_of(key) is None
    assert await OwnerRepository(database).principal_of(bens_key) is not None
    assert [row["name"] for row in await database.rows(sa.select(people.c.name))] == ["ben"]


async def test_only_the_owners_own_service_accounts_become_members_without_an_invitation(database: Database) -> None:
    ada, ben = await add_estate(database, "ada"), await add_estate(database, "ben")
    found, members = ServiceAccountRepository(database), MemberRepository(database)
    robot, foreign = await found.create(ada.owner, "robot"), await found.create(ben.owner, "robot")
    for member in (foreign.acts_as, ben.owner, robot.id):
        with pytest.raises(NotFound):
            await members.set_role(ada.owner, ada.project, member, Role.VIEWER)
    with pytest.raises(NotFound):
        await members.set_role(ada.owner, ben.project, robot.acts_as, Role.VIEWER)
    await members.set_role(ada.owner, ada.project, robot.acts_as, Role.VIEWER)
    await members.set_role(ada.owner, ada.project, robot.acts_as, Role.EDITOR)
    [member] = await members.all(ada.owner, ada.project)
    assert (member.owner_id, member.name, member.role, member.is_service) == (
        robot.acts_as,
        "robot",
        Role.EDITOR,
        True,
    )
    [account] = await found.all(ada.owner)
    assert [(one.id, one.role) for one in account.projects] == [(ada.project, Role.EDITOR)]


async def test_a_rotated_token_is_good_for_the_same_and_the_old_one_ends(database: Database) -> None:
    tokens, ada = OwnerRepository(database), await OwnerRepository(database).ensure("ada")
    scopes, soon = frozenset({AccessScope.READ}), time.time() + 100
    old, secret = await tokens.create_token(ada, "key", soon, scopes, ("p1",))
    new, fresh = await tokens.rotate_token(ada, old.id)
    assert (new.name, new.scopes, new.project_ids) == ("key", scopes, ("p1",))
    assert new.expires_at is not None
    assert new.expires_at - new.created_at == pytest.approx(soon - old.created_at, abs=1)
    assert fresh != secret
    assert await tokens.principal_of(secret) is None
    assert await tokens.principal_of(fresh) is not None
    again = await asyncio.gather(*(tokens.rotate_token(ada, new.id) for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(one, NotFound) for one in again) == 2
    assert len(await tokens.list_tokens(ada)) == 1
