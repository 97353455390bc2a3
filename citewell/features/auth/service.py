"""Who is asking: tokens that Citewell issued, sessions of people, and JWTs of an identity provider when one is configured."""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from citewell.errors import Forbidden, InvalidInput, NotFound, Unauthorized, UnnamedProject, named
from citewell.features.auth.access_tokens import AccessTokens, csrf_of
from citewell.features.limits import Refusals
from citewell.storage.accounts.members import MemberRepository
from citewell.storage.accounts.owners import OwnerRepository, TokenInfo
from citewell.storage.accounts.sessions import SessionRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.types.accounts import ALL_SCOPES, ROLE_SCOPES, AccessScope, Grant, Principal, SharedProject, SignedIn
from citewell.types.names import composed_name

if TYPE_CHECKING:
    from citewell.features.auth.jwts import JwtRules

_REMEMBERED = 4_096
_REMEMBER_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthService:
    """Turns a token into a principal, and keeps count of how often an owner asks.

    access: how access tokens of sessions are issued and read, None where there are no accounts; local_owner: who administers the server
    without an account; sign_up: whether it is open, or by invitation; provider: the name of the one that people may sign in with;
    sends_mail: whether a forgotten password can be reset by e-mail.
    """

    repository: OwnerRepository
    projects: ProjectRepository
    sessions: SessionRepository
    members: MemberRepository
    local_owner: str
    access: AccessTokens | None = None
    jwt_rules: JwtRules | None = None
    requests_per_minute: int = 0
    has_accounts: bool = False
    sign_up: str | None = None
    provider: str | None = None
    sends_mail: bool = False
    _known: OrderedDict[str, tuple[Principal, float]] = field(default_factory=OrderedDict[str, tuple[Principal, float]])
    _refusals: Refusals = field(default_factory=Refusals)

    async def authenticate(self, token: str | None) -> Principal:
        """Whom a token speaks for; raises `Unauthorized`. What is revoked, ended or suspended may pass for two more seconds."""
        if not token:
            raise Unauthorized
        known = self._known.get(token)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        asked_at = time.monotonic()
        principal = await self._session(token) or await self._token(token) or await self._jwt(token)
        if principal is None:
            raise Unauthorized
        self._known[token] = (principal, asked_at + _REMEMBER_SECONDS)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return principal

    async def is_admitted(self, principal: Principal) -> bool:
        """Whether the credential of a request under way has been neither revoked nor suspended since."""
        if principal.session_id is not None:
            return await self.sessions.person(principal.session_id) is not None
        return principal.token_id is None or await self.repository.is_valid(principal.token_id)

    async def admit(self, owner_id: str) -> None:
        """Count a request; raises `RateLimited` when the owner's share of this minute is used up, on all servers of the database together."""
        if not self.requests_per_minute:
            return
        await self._refusals.admit(owner_id, self.requests_per_minute, self.repository.count_request)

    async def grant(
        self,
        principal: Principal,
        scope: AccessScope | None,
        *,
        project: str | None = None,
        project_id: str | None = None,
        resource_id: str | None = None,
    ) -> Grant:
        """Whose files a request is about: the principal's own, or those of a project of another owner that the principal is a member of.

        project: the one that the request asks to be kept to, by id or name; project_id, resource_id: what its path names. Raises
        `NotFound` for a project that is not open to the principal, `UnnamedProject`, and `Forbidden` for what its role in it is not good for.
        """
        UnnamedProject.check(project)
        if principal.project_ids is not None and (kept := await self.shared_projects(principal)):
            return _granted(_called(kept, project), scope, principal)
        writes = AccessScope.WRITE in principal.scopes
        own = Grant(owner_id=principal.owner_id, projects=await self._names(principal))
        own = replace(own, sees_history=writes or own.projects is None)
        if project is not None:
            with contextlib.suppress(NotFound):
                found = await self.projects.resolve(principal.owner_id, project)
                for kept in own.narrowed([found]) or ():
                    name = (await self.projects.get(principal.owner_id, kept)).name
                    return replace(own, projects={kept: name})
        if not self.has_accounts or principal.project_ids is not None:
            if project is not None:
                raise NotFound(f"There is no project called {named(project)}.")
            return own
        shared: list[SharedProject] = []
        if project is not None:
            shared = [one for one in await self.members.shared_with(principal.owner_id) if one.id == project]
            if not shared:
                raise NotFound(f"There is no project called {named(project)}.")
        elif project_id is not None:
            shared = [one for one in await self.members.shared_with(principal.owner_id) if one.id == project_id]
        elif resource_id is not None:
            shared = await self.members.holding(principal.owner_id, resource_id)
        return _granted(shared, scope, principal) if shared else own

    async def shared_projects(self, principal: Principal) -> list[SharedProject]:
        """The projects of others that the principal may use; of a service account's key for some projects, those."""
        kept = principal.project_ids
        if not self.has_accounts or (kept is not None and principal.managed_by is None):
            return []
        found = await self.members.shared_with(principal.owner_id)
        return [one for one in found if kept is None or one.id in kept]

    async def create_token(
        self,
        principal: Principal,
        name: str,
        days: int | None,
        scopes: frozenset[AccessScope] | None = None,
        projects: list[str] | None = None,
    ) -> tuple[TokenInfo, str]:
        """A new token and its secret, shown this once; it ends with the credential that asks for it. `Forbidden` when it would be good for more."""
        if not name.strip():
            raise InvalidInput("The token has no name. Give it one.")
        check_no_more(principal, scopes or principal.scopes)
        owner_id = principal.owner_id
        ids = principal.project_ids
        if projects is not None:
            named = await self.projects.resolve_all(owner_id, projects)
            if ids is not None and not set(named) <= set(ids):
                raise Forbidden("A token cannot make another one for projects that are closed to itself.")
            ids = named
        return await self.repository.create_token(
            owner_id, name.strip(), principal.end_of(days), scopes or principal.scopes, ids, principal.token_id
        )

    async def revoke_token(self, owner_id: str, token_id: str) -> None:
        """End a token's validity."""
        await self.repository.revoke_token(owner_id, token_id)
        self.forget()

    async def end_session(self, token: str | None, refresh_token: str | None) -> None:
        """Sign out where these tokens of a browser are from."""
        session_id = self.access.session_of(token, even_expired=True) if self.access is not None and token else None
        person = session_id and await self.sessions.person(session_id)
        if session_id and person:
            await self.sessions.end(person.id, session_id)
        elif self.access is not None and refresh_token:
            await self.sessions.end_by_token(refresh_token)
        self.forget()

    @property
    def sharing(self) -> MemberRepository | None:
        """Who may use the projects of others; None without accounts."""
        return self.members if self.has_accounts else None

    @property
    def access_seconds(self) -> int:
        """How long an access token is valid; 0 without accounts."""
        return 0 if self.access is None else self.access.seconds

    def access_token(self, signed_in: SignedIn) -> str:
        """A fresh access token of a session."""
        assert self.access is not None
        return self.access.issue(signed_in.person_id, signed_in.id)

    def csrf_of(self, token: str) -> str:
        """What our page sends along with this token in a cookie."""
        session_id = None if self.access is None else self.access.session_of(token, even_expired=True)
        return csrf_of(token) if session_id is None else self.csrf_of_session(session_id)

    def csrf_of_session(self, session_id: str) -> str:
        """What our page sends along in this session."""
        assert self.access is not None
        return self.access.csrf_of(session_id)

    def forget(self) -> None:
        """Ask the database about every token again: something was revoked here."""
        self._known.clear()

    async def _names(self, principal: Principal) -> dict[str, str] | None:
        """The names of the projects that a token is good for, by id; `Forbidden` once all of them are deleted."""
        if principal.project_ids is None:
            return None
        found = await self.projects.all(principal.owner_id)
        names = {one.id: one.name for one in found if one.id in principal.project_ids}
        if not names:
            raise Forbidden("The projects that this token is good for have been deleted. Create another token.")
        return names

    async def _session(self, token: str) -> Principal | None:
        session_id = None if self.access is None else self.access.session_of(token)
        person = await self.sessions.person(session_id) if session_id is not None else None
        if person is None:
            return None
        return Principal(
            owner_id=person.owner_id,
            person_id=person.id,
            session_id=session_id,
            is_administrator=person.is_administrator,
            name=person.name,
        )

    async def _token(self, token: str) -> Principal | None:
        principal = await self.repository.principal_of(token)
        if principal is not None and principal.owner_id == self.local_owner:
            return replace(principal, is_administrator=True)
        return principal

    async def _jwt(self, token: str) -> Principal | None:
        if self.jwt_rules is None or token.count(".") != 2:
            return None
        subject, expires_at = await self.jwt_rules.holder(token)
        owner_id = await self.repository.ensure(f"jwt:{subject}")
        return Principal(owner_id=owner_id, scopes=ALL_SCOPES, expires_at=expires_at)


def check_no_more(principal: Principal, scopes: frozenset[AccessScope]) -> None:
    """Raise `Forbidden` for scopes of a new credential that the one that makes it does not have."""
    if not scopes <= principal.scopes:
        raise Forbidden("A token cannot make another one that is good for more than itself.")


def check_person(principal: Principal) -> None:
    """Raise `Forbidden` for a service account: for what only people do."""
    if principal.managed_by is not None:
        raise Forbidden(
            "A service account may not do this. Its keys are for programs; sign in with an account of your own."
        )


def _called(shared: Sequence[SharedProject], project: str | None) -> Sequence[SharedProject]:
    """The one with this id or name, or all where none is asked for; `NotFound` where it is not among them."""
    wanted = None if project is None else composed_name(project)
    found = [one for one in shared if wanted is None or wanted in (one.id, composed_name(one.name))]
    if not found:
        raise NotFound(f"There is no project called {named(project or '')}.")
    return found


def _granted(shared: Sequence[SharedProject], scope: AccessScope | None, principal: Principal) -> Grant:
    """What membership of these projects, all of one owner, is good for; `Forbidden` where none of the roles is enough."""
    enough = [one for one in shared if scope is None or scope in ROLE_SCOPES[one.role]]
    if not enough:
        raise Forbidden(f"As {shared[0].role.value} of this project you may not do this. Ask its owner.")
    writes = AccessScope.WRITE in principal.scopes.intersection(*(ROLE_SCOPES[one.role] for one in enough))
    return Grant(owner_id=enough[0].owner_id, projects={one.id: one.name for one in enough}, sees_history=writes)
