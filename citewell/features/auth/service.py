"""Authentication: tokens issued by Citewell, people's sessions, and an identity provider's JWTs if configured."""

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
    """Turns a token into a principal, and limits each owner's requests.

    access:      issues and verifies the access tokens of sessions; None without accounts
    local_owner: administers the server without an account
    sign_up:     whether sign-up is open, or by invitation
    provider:    the name of the identity provider, if any
    sends_mail:  whether forgotten passwords can be reset by e-mail
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
        """The principal of a token. Raises `Unauthorized`. A revoked or suspended credential may pass for two more seconds."""
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
        """Whether the credential of a running request is still neither revoked nor suspended."""
        if principal.session_id is not None:
            return await self.sessions.person(principal.session_id) is not None
        return principal.token_id is None or await self.repository.is_valid(principal.token_id)

    async def admit(self, owner_id: str) -> None:
        """Count a request. Raises `RateLimited` if the owner's limit for this minute is used up, across all servers of the database."""
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
        """The files a request may use: the principal's own, or those of a project in which the principal is a member.

        project: the project the request is limited to, by id or name; project_id, resource_id: from its path. Raises `NotFound` for a
        project that the principal may not use, `UnnamedProject`, and `Forbidden` if its role does not suffice.
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
        """Projects that others share with the principal; for a service account's key limited to projects, only those."""
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
        """A new token and its secret, shown only once; it ends with the credential that creates it. Raises `Forbidden` if it would exceed that credential."""
        if not name.strip():
            raise InvalidInput("The token needs a name.")
        check_no_more(principal, scopes or principal.scopes)
        owner_id = principal.owner_id
        ids = principal.project_ids
        if projects is not None:
            named = await self.projects.resolve_all(owner_id, projects)
            if ids is not None and not set(named) <= set(ids):
                raise Forbidden("A token cannot create one for projects that it cannot access itself.")
            ids = named
        return await self.repository.create_token(
            owner_id, name.strip(), principal.end_of(days), scopes or principal.scopes, ids, principal.token_id
        )

    async def revoke_token(self, owner_id: str, token_id: str) -> None:
        """Revoke a token."""
        await self.repository.revoke_token(owner_id, token_id)
        self.forget()

    async def end_session(self, token: str | None, refresh_token: str | None) -> None:
        """End the session of these browser tokens."""
        session_id = self.access.session_of(token, even_expired=True) if self.access is not None and token else None
        person = session_id and await self.sessions.person(session_id)
        if session_id and person:
            await self.sessions.end(person.id, session_id)
        elif self.access is not None and refresh_token:
            await self.sessions.end_by_token(refresh_token)
        self.forget()

    @property
    def sharing(self) -> MemberRepository | None:
        """Members of shared projects; None without accounts."""
        return self.members if self.has_accounts else None

    @property
    def access_seconds(self) -> int:
        """Seconds for which an access token is valid; 0 without accounts."""
        return 0 if self.access is None else self.access.seconds

    def access_token(self, signed_in: SignedIn) -> str:
        """A new access token for a session."""
        assert self.access is not None
        return self.access.issue(signed_in.person_id, signed_in.id)

    def csrf_of(self, token: str) -> str:
        """The CSRF token for a token in a cookie."""
        session_id = None if self.access is None else self.access.session_of(token, even_expired=True)
        return csrf_of(token) if session_id is None else self.csrf_of_session(session_id)

    def csrf_of_session(self, session_id: str) -> str:
        """The CSRF token for a session."""
        assert self.access is not None
        return self.access.csrf_of(session_id)

    def forget(self) -> None:
        """Check every token in the database again, because one was revoked here."""
        self._known.clear()

    async def _names(self, principal: Principal) -> dict[str, str] | None:
        """The names of a token's projects, by id. Raises `Forbidden` once all of them are deleted."""
        if principal.project_ids is None:
            return None
        found = await self.projects.all(principal.owner_id)
        names = {one.id: one.name for one in found if one.id in principal.project_ids}
        if not names:
            raise Forbidden("The projects of this token have been deleted. Create another token.")
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
    """Raise `Forbidden` if a new credential has scopes that its creator lacks."""
    if not scopes <= principal.scopes:
        raise Forbidden("A token cannot create one with more scopes than its own.")


def check_person(principal: Principal) -> None:
    """Raise `Forbidden` for a service account, for actions reserved to people."""
    if principal.managed_by is not None:
        raise Forbidden("A service account may not do this. Sign in with a person's account.")


def _called(shared: Sequence[SharedProject], project: str | None) -> Sequence[SharedProject]:
    """The project with this id or name, or all if none is requested. Raises `NotFound` if it is not among them."""
    wanted = None if project is None else composed_name(project)
    found = [one for one in shared if wanted is None or wanted in (one.id, composed_name(one.name))]
    if not found:
        raise NotFound(f"There is no project called {named(project or '')}.")
    return found


def _granted(shared: Sequence[SharedProject], scope: AccessScope | None, principal: Principal) -> Grant:
    """The grant for these projects, all of one owner. Raises `Forbidden` if no role suffices."""
    enough = [one for one in shared if scope is None or scope in ROLE_SCOPES[one.role]]
    if not enough:
        raise Forbidden(f"Your role in this project, {shared[0].role.value}, does not allow this. Ask its owner.")
    writes = AccessScope.WRITE in principal.scopes.intersection(*(ROLE_SCOPES[one.role] for one in enough))
    return Grant(owner_id=enough[0].owner_id, projects={one.id: one.name for one in enough}, sees_history=writes)
