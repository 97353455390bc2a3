"""Service accounts: created and managed by an owner, used by programs with keys, and deleted with everything they own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from citewell.errors import InvalidInput, NotFound, UnnamedProject, named
from citewell.features.auth.service import AuthService, check_no_more, check_person
from citewell.storage.accounts.owners import OwnerRepository, TokenInfo
from citewell.storage.accounts.service_accounts import ServiceAccountRepository
from citewell.types.accounts import ERASURE_CONFIRMATION, AccessScope, PersonState, Principal, ServiceAccount

_OFF = "This server has no accounts, so it has no service accounts. Set CITEWELL_ACCOUNTS=on, or use a token."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccountService:
    """Service accounts of owners. erase: erases everything of an owner, given the confirming words."""

    accounts: ServiceAccountRepository
    owners: OwnerRepository
    auth: AuthService
    erase: Callable[[str, str], Awaitable[object]]

    async def all(self, principal: Principal) -> list[ServiceAccount]:
        """The caller's service accounts, oldest first."""
        return await self.accounts.all(self._manager(principal))

    async def create(self, principal: Principal, name: str) -> ServiceAccount:
        """Create a service account without keys or projects. Raises `Conflict` if the name is taken, or there are too many."""
        return await self.accounts.create(self._manager(principal), _shown(name))

    async def change(
        self, principal: Principal, account_id: str, name: str | None, state: PersonState | None
    ) -> ServiceAccount:
        """Rename, suspend or reinstate it. Its keys stop or resume working within two seconds."""
        owner_id = self._manager(principal)
        fresh = None if name is None else _shown(name)
        await self.accounts.change(owner_id, account_id, name=fresh, state=state)
        self.auth.forget()
        return await self.accounts.get(owner_id, account_id)

    async def delete(self, principal: Principal, account_id: str) -> None:
        """Revoke its keys, and erase what it owns: files outside other owners' projects, chats, and its log."""
        owner_id = self._manager(principal)
        account = await self.accounts.get(owner_id, account_id)
        await self.accounts.end(owner_id, account_id)
        self.auth.forget()
        await self.erase(account.acts_as, ERASURE_CONFIRMATION)

    async def keys(self, principal: Principal, account_id: str) -> list[TokenInfo]:
        """Its valid keys, newest first."""
        return await self.owners.list_tokens(await self._acts_as(principal, account_id))

    async def create_key(
        self,
        principal: Principal,
        account_id: str,
        name: str,
        days: int | None,
        scopes: frozenset[AccessScope],
        projects: list[str] | None,
    ) -> tuple[TokenInfo, str]:
        """A new key and its secret, shown only once. Raises `Forbidden` beyond the caller's own scopes, and `NotFound` for a project it may not use."""
        account = await self.accounts.get(self._manager(principal), account_id)
        check_no_more(principal, scopes)
        ids = None if projects is None else _resolved(account, projects)
        end = principal.end_of(days)
        return await self.owners.create_token(account.acts_as, _shown(name), end, scopes, ids, principal.token_id)

    async def rotate_key(self, principal: Principal, account_id: str, key_id: str) -> tuple[TokenInfo, str]:
        """Replace a key by one with the same scopes, projects and lifetime; keys that the old one created are revoked too. Raises `Forbidden` beyond the caller's own scopes."""
        acts_as = await self._acts_as(principal, account_id)
        for key in await self.owners.list_tokens(acts_as):
            if key.id == key_id:
                check_no_more(principal, key.scopes)
        made = await self.owners.rotate_token(acts_as, key_id, principal.token_id, principal.expires_at)
        self.auth.forget()
        return made

    async def revoke_key(self, principal: Principal, account_id: str, key_id: str) -> None:
        """Revoke a key."""
        await self.owners.revoke_token(await self._acts_as(principal, account_id), key_id)
        self.auth.forget()

    async def _acts_as(self, principal: Principal, account_id: str) -> str:
        return (await self.accounts.get(self._manager(principal), account_id)).acts_as

    def _manager(self, principal: Principal) -> str:
        if not self.auth.has_accounts:
            raise NotFound(_OFF)
        check_person(principal)
        return principal.owner_id


def _shown(name: str) -> str:
    """A name on one line."""
    shown = " ".join(name.split())
    if not shown:
        raise InvalidInput("The service account needs a name.")
    return shown


def _resolved(account: ServiceAccount, projects: list[str]) -> tuple[str, ...]:
    """The distinct ids of projects that a service account may use, given by id or name."""
    for one in projects:
        UnnamedProject.check(one)
    by_name = {one.name: one.id for one in account.projects}
    known = {one.id for one in account.projects}
    found = {one: one if one in known else by_name.get(one) for one in projects}
    unknown = [one for one, known_as in found.items() if known_as is None]
    if unknown:
        raise NotFound(
            f"This service account is not in a project called {named(unknown[0])}. Add it as a member first."
        )
    return tuple(dict.fromkeys(one for one in found.values() if one is not None))
