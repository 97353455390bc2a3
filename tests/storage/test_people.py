"""People, their sessions and their attempts in the database: who is the first, what is used once, and what ends."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from citewell.errors import Conflict, Forbidden, NotFound
from citewell.storage.accounts.attempts import AttemptRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.people import NewPerson, PersonRepository
from citewell.storage.accounts.sessions import SessionRepository
from citewell.storage.accounts.tables import people, refresh_tokens, sessions
from citewell.storage.database import Database
from citewell.types.accounts import AccessScope, Person, PersonState


async def _person(database: Database, name: str = "ada") -> Person:
    new = NewPerson(email=f"{name}@example.org", name=name, password_hash="hash")
    return await PersonRepository(database).create(new, needs_invitation=False)


async def test_of_many_who_come_at_once_one_is_the_first(database: Database) -> None:
    made = await asyncio.gather(*(_person(database, f"p{n}") for n in range(6)))
    assert [one.is_administrator for one in made].count(True) == 1
    assert len({one.owner_id for one in made}) == 6


async def test_an_address_belongs_to_one_person(database: Database) -> None:
    await _person(database)
    results = await asyncio.gather(*(_person(database, "ben") for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(one, Conflict) for one in results) == 2
    assert len(await PersonRepository(database).all()) == 2


async def test_where_an_invitation_is_needed_only_the_first_comes_without(database: Database) -> None:
    found = PersonRepository(database)
    first = await found.create(NewPerson(email="a@example.org", name="a"), needs_invitation=True)
    assert first.is_administrator
    for invitation in (None, "made up"):
        with pytest.raises(Forbidden):
            await found.create(NewPerson(email="b@example.org", name="b"), invitation, needs_invitation=True)
    made = NewPerson(email="c@example.org", name="c")
    assert (await found.create(made, needs_invitation=True, administrator=True)).is_administrator


async def test_a_refresh_token_is_good_for_one_use_even_by_many_at_once(database: Database) -> None:
    ada, found = await _person(database), SessionRepository(database)
    begun, secret = await found.begin(ada.id, "browser", "::1", 60)
    results = await asyncio.gather(*(found.rotate(secret) for _ in range(5)))
    assert sum(one is not None for one in results) == 1
    assert await found.person(begun.id) is None  # the others were a second use


async def test_a_chain_of_refresh_tokens_stays_one_session(database: Database) -> None:
    ada, found = await _person(database), SessionRepository(database)
    begun, secret = await found.begin(ada.id, "browser", "::1", 60)
    for _ in range(4):
        rotated = await found.rotate(secret)
        assert rotated is not None
        same, person, secret = rotated
        assert (same.id, same.expires_at, person.id) == (begun.id, begun.expires_at, ada.id)
    assert [one.id for one in await found.all(ada.id)] == [begun.id]


async def test_a_session_ends_with_its_time_and_refreshing_does_not_prolong_it(database: Database) -> None:
    ada, found = await _person(database), SessionRepository(database)
    over, secret = await found.begin(ada.id, "browser", "::1", -1)
    assert await found.person(over.id) is None
    assert await found.rotate(secret) is None
    assert await found.all(ada.id) == []


async def test_secrets_of_sessions_are_not_stored(database: Database) -> None:
    ada = await _person(database)
    _, secret = await SessionRepository(database).begin(ada.id, "browser", "::1", 60)
    stored = str(await database.rows(sa.select(refresh_tokens))) + str(await database.rows(sa.select(sessions)))
    assert secret not in stored


async def test_who_is_suspended_has_no_session_and_no_token(database: Database) -> None:
    await _person(database, "administrator")
    ben, found, owners = await _person(database, "ben"), SessionRepository(database), OwnerRepository(database)
    begun, refresh = await found.begin(ben.id, "browser", "::1", 60)
    _, token = await owners.create_token(ben.owner_id, "script")
    assert await owners.principal_of(token)
    await PersonRepository(database).set_state(ben.id, PersonState.SUSPENDED)
    assert await found.person(begun.id) is None
    assert await found.rotate(refresh) is None
    assert await owners.principal_of(token) is None
    await PersonRepository(database).set_state(ben.id, PersonState.ACTIVE)
    assert await owners.principal_of(token)
    assert await found.person(begun.id) is None


async def test_the_last_administrator_stays(database: Database) -> None:
    ada, found = await _person(database), PersonRepository(database)
    with pytest.raises(Conflict):
        await found.set_state(ada.id, PersonState.SUSPENDED)
    with pytest.raises(NotFound):
        await found.set_state("nobody", PersonState.SUSPENDED)


async def test_another_password_ends_the_other_sessions(database: Database) -> None:
    ada, found = await _person(database), SessionRepository(database)
    here, _ = await found.begin(ada.id, "here", "::1", 60)
    there, _ = await found.begin(ada.id, "there", "::1", 60)
    await PersonRepository(database).change(ada.id, password_hash="new", keep_session=here.id)
    assert await found.person(here.id)
    assert await found.person(there.id) is None


async def test_a_hash_is_only_renewed_while_it_is_the_current_one(database: Database) -> None:
    ada, found = await _person(database), PersonRepository(database)
    await found.change(ada.id, password_hash="chosen meanwhile")
    await found.rehash(ada.id, "hash", "renewed")
    assert (await found.get(ada.id))[1] == "chosen meanwhile"
    await found.rehash(ada.id, "chosen meanwhile", "renewed")
    assert [row["password_hash"] for row in await database.rows(sa.select(people))] == ["renewed"]


async def test_attempts_are_counted_by_all_until_they_are_forgotten_or_their_time_is_over(database: Database) -> None:
    found = AttemptRepository(database)
    counted = await asyncio.gather(*(found.count("account", "ada", 60) for _ in range(6)))
    assert sorted(count for count, _ in counted) == [1, 2, 3, 4, 5, 6]
    assert all(0 < left <= 60 for _, left in counted)
    assert (await found.count("address", "ada", 60))[0] == 1
    await found.forget("account", "ada")
    assert (await found.count("account", "ada", -1))[0] == 1
    assert (await found.count("account", "ada", 60))[0] == 1


async def test_a_token_says_what_it_is_good_for_and_when_it_was_used(database: Database) -> None:
    owners, ada = OwnerRepository(database), await OwnerRepository(database).ensure("ada")
    scopes = frozenset({AccessScope.READ})
    info, secret = await owners.create_token(ada, "reader", None, scopes, ("p1",))
    assert info.prefix is not None
    assert secret.startswith(info.prefix)
    principal = await owners.principal_of(secret)
    assert principal is not None
    assert (principal.scopes, principal.project_ids, principal.token_id) == (scopes, ("p1",), info.id)
    (listed,) = await owners.list_tokens(ada)
    assert listed.last_used_at is not None
    await owners.principal_of(secret)
    assert (await owners.list_tokens(ada))[0].last_used_at == listed.last_used_at


async def test_the_machines_own_token_is_good_for_everything_and_nothing_is_written_of_it(database: Database) -> None:
    owners, local = OwnerRepository(database), await OwnerRepository(database).ensure("local")
    await owners.adopt_token(local, "this machine", "known")
    principal = await owners.principal_of("known")
    assert principal is not None
    assert (principal.scopes, principal.project_ids) == (frozenset(AccessScope), None)
    assert (await owners.list_tokens(local))[0].last_used_at is None
