"""Memberships and invitations in the database: each invitation is used once, by whom it is for, and opens one project."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from citewell.errors import Forbidden, NotFound
from citewell.storage.accounts.members import InvitationRepository, MemberRepository
from citewell.storage.accounts.owner_data import OwnerDataRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.people import NewPerson, PersonRepository
from citewell.storage.accounts.tables import invitations
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.types.accounts import Role
from tests.storage.estates import Estate, add_estate


async def _invited(database: Database, ada: Estate, email: str | None = None, seconds: float = 60) -> str:
    made = await InvitationRepository(database).create(ada.owner, seconds, email, ada.project, Role.VIEWER)
    return made[1]


async def test_a_member_reaches_the_project_and_its_files_and_nothing_else_of_the_owner(database: Database) -> None:
    ada, members = await add_estate(database, "ada"), MemberRepository(database)
    ben = await OwnerRepository(database).ensure("ben")
    assert await members.holding(ben, ada.resource) == []
    await InvitationRepository(database).accept(ben, "ben@example.org", await _invited(database, ada))
    (shared,) = await members.shared_with(ben)
    assert (shared.id, shared.owner_id, shared.role) == (ada.project, ada.owner, Role.VIEWER)
    assert await members.holding(ben, ada.resource) == [shared]
    assert await members.readable(ben, [ada.resource, "another file"]) == {ada.resource}
    assert await members.readable(ada.owner, [ada.resource]) == set()
    assert await members.holding(ben, "another file") == []
    assert await members.holding(ada.owner, ada.resource) == []
    await members.leave(ben, ada.project)
    assert await members.holding(ben, ada.resource) == []
    assert await members.readable(ben, [ada.resource]) == set()
    with pytest.raises(NotFound):
        await members.leave(ben, ada.project)


async def test_erasing_somebody_leaves_the_memberships_and_invitations_of_others(database: Database) -> None:
    ada, members = await add_estate(database, "ada"), MemberRepository(database)
    ben, carl = [await OwnerRepository(database).ensure(name) for name in ("ben", "carl")]
    for one in (ben, carl):
        await InvitationRepository(database).accept(one, f"{one}@example.org", await _invited(database, ada))
    await _invited(database, ada)
    open_ones = await InvitationRepository(database).all(ada.owner)
    await OwnerDataRepository(database).erase(carl, keep_access=False)
    assert [one.owner_id for one in await members.all(ada.owner, ada.project)] == [ben]
    assert await InvitationRepository(database).all(ada.owner) == open_ones != []


async def test_of_many_who_use_an_invitation_at_once_one_succeeds(database: Database) -> None:
    ada, members = await add_estate(database, "ada"), MemberRepository(database)
    secret, found = await _invited(database, ada), InvitationRepository(database)
    owners = [await OwnerRepository(database).ensure(f"p{n}") for n in range(4)]
    await asyncio.gather(*(found.accept(one, "x@example.org", secret) for one in owners), return_exceptions=True)
    assert len(await members.all(ada.owner, ada.project)) == 1
    assert secret not in str(await database.rows(sa.select(invitations)))


@pytest.mark.parametrize(("email", "seconds"), [("carl@example.org", 60), (None, -1)])
async def test_an_invitation_for_somebody_else_or_of_yesterday_is_no_use(
    database: Database, email: str | None, seconds: float
) -> None:
    ada = await add_estate(database, "ada")
    ben, secret = await OwnerRepository(database).ensure("ben"), await _invited(database, ada, email, seconds)
    with pytest.raises(Forbidden):
        await InvitationRepository(database).accept(ben, "ben@example.org", secret)
    assert await MemberRepository(database).shared_with(ben) == []


async def test_who_signs_up_with_an_invitation_is_a_member_at_once(database: Database) -> None:
    ada = await add_estate(database, "ada")
    await PersonRepository(database).create(NewPerson(email="a@example.org", name="a"), needs_invitation=True)
    secret = await _invited(database, ada, "ben@example.org")
    new = NewPerson(email="ben@example.org", name="ben")
    ben = await PersonRepository(database).create(new, secret, needs_invitation=True)
    assert [one.id for one in await MemberRepository(database).shared_with(ben.owner_id)] == [ada.project]
    assert not ben.is_administrator


async def test_members_are_told_the_name_of_an_owner_who_has_an_account(database: Database) -> None:
    machine, members = await add_estate(database, "a machine"), MemberRepository(database)
    ada = await PersonRepository(database).create(
        NewPerson(email="ada@example.org", name="Ada"), needs_invitation=False
    )
    project = await ProjectRepository(database).create(ada.owner_id, "Kitchen", {})
    ben, found = await OwnerRepository(database).ensure("ben"), InvitationRepository(database)
    _, hers = await found.create(ada.owner_id, 60, None, project.id, Role.EDITOR)
    await found.accept(ben, "ben@example.org", await _invited(database, machine))
    await found.accept(ben, "ben@example.org", hers)
    assert [one.owner_name for one in await members.shared_with(ben)] == [None, "Ada"]


async def test_an_invitation_that_makes_no_account_is_not_used_up(database: Database) -> None:
    ada = await add_estate(database, "ada")
    secret = await _invited(database, ada, "ben@example.org")
    new = NewPerson(email="other@example.org", name="other")
    with pytest.raises(Forbidden):
        await PersonRepository(database).create(new, secret, needs_invitation=True)
    assert len(await InvitationRepository(database).all(ada.owner)) == 1
