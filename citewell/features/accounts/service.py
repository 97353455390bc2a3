"""People's accounts: signing up openly or by invitation, signing in with a password, and signing out of one session or all."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass

from citewell.errors import Forbidden, NotFound, RateLimited, UnnamedProject, WrongCredentials
from citewell.features.accounts.passwords import Passwords, check_password
from citewell.features.addresses import network_of, shortened
from citewell.features.auth.service import AuthService, check_person
from citewell.features.requests import invalid_request
from citewell.storage.accounts.attempts import AttemptRepository
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.accounts.members import InvitationRepository, MemberRepository
from citewell.storage.accounts.people import NewPerson, PersonRepository
from citewell.storage.accounts.sessions import SessionRepository
from citewell.types.accounts import (
    Invitation,
    Person,
    PersonState,
    Principal,
    ProjectMember,
    Role,
    SharedProject,
    SignedIn,
)
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditOutcome

_OFF = "This server has no accounts. Set CITEWELL_ACCOUNTS=on, or use a token."
_NO_ADMINISTRATOR = "There is no administrator yet. Create one on the server with `citewell accounts create-admin`, or by signing up there at http://127.0.0.1."
_MAX_EMAIL_LENGTH = 254  # RFC 5321
_MAX_AGENT_LENGTH = 200
_EMAIL = re.compile(r"[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,253}")
# Failures within a quarter of an hour, and new accounts per address. Somebody else can use up an account's limit to keep its owner out.
_SPAN_SECONDS = 900.0
MAX_PER_ACCOUNT, MAX_PER_ADDRESS = 20, 60
# Per network as in the audit log (IPv4 /24, IPv6 /48): each failure is an entry there, and one network may have more addresses than the log has room.
MAX_PER_NETWORK = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A person who has just signed in, with the session and the tokens for the browser."""

    person: Person
    signed_in: SignedIn
    access_token: str
    refresh_token: str
    csrf: str


@dataclass(frozen=True, slots=True, kw_only=True)
class From:
    """A request's origin, from its headers and the network. is_here: it comes from this machine, addressed by a name that cannot be rebound."""

    agent: str
    address: str
    is_here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountService:
    """Signing up, in and out. is_on: whether the server has accounts; is_private: whether only this machine can reach it."""

    people: PersonRepository
    sessions: SessionRepository
    attempts: AttemptRepository
    members: MemberRepository
    invitations: InvitationRepository
    auth: AuthService
    audit: AuditRepository
    passwords: Passwords
    is_on: bool
    is_private: bool
    is_open: bool
    session_seconds: float
    access_seconds: int

    async def sign_up(self, email: str, name: str, password: str, invitation: str | None, sender: From) -> Entry:
        """Create an account and sign in. The first account administers the server, and can only be created from this machine."""
        self.require()
        email = checked_email(email)
        check_password(password, email)
        await self.count("sign-up", network_of(sender.address), MAX_PER_ADDRESS)
        await self.check_first(sender)
        person = await self.people.create(
            NewPerson(email=email, name=display_name(name, email), password_hash=await self.passwords.hash(password)),
            invitation,
            needs_invitation=not self.is_open,
        )
        return await self.enter(person, sender)

    async def check_first(self, sender: From) -> None:
        """Raise `Forbidden` unless the first person, who administers the server, is at this machine: not another site's page under a rebound
        name, and not somebody behind a proxy."""
        if not (self.is_private and sender.is_here) and not await self.people.exist():
            raise Forbidden(_NO_ADMINISTRATOR)

    async def create_administrator(self, email: str, name: str, password: str) -> Person:
        """Create an administrator account, for the command line."""
        email = checked_email(email)
        check_password(password, email, "password")
        new = NewPerson(email=email, name=display_name(name, email), password_hash=await self.passwords.hash(password))
        person = await self.people.create(new, needs_invitation=False, administrator=True)
        await self.note_here(AuditAction.ADMINISTRATOR_MADE, person)
        return person

    async def note_here(self, action: AuditAction, person: Person) -> None:
        """Record an action on a person from the command line in the audit log."""
        done = AuditEntry(
            at=time.time(),
            owner_id=person.owner_id,
            actor=AuditActor.SYSTEM,
            action=action,
            subject=person.id,
            outcome=AuditOutcome.DONE,
            request_id=str(uuid.uuid4()),
        )
        await self.audit.add([done])

    async def sign_in(self, email: str, password: str, sender: From) -> Entry:
        """Sign in with a password. Raises the same `WrongCredentials` for an unknown address, a wrong password and a suspended account."""
        self.require()
        email = checked_email(email)
        await self.count("network", shortened(sender.address), MAX_PER_NETWORK)
        await self.count("address", network_of(sender.address), MAX_PER_ADDRESS)
        await self.count("account", email, MAX_PER_ACCOUNT)
        person, known = await self.people.by_email(email) or (None, None)
        if not await self.passwords.matches(known, password) or person is None or known is None:
            raise WrongCredentials
        if person.state is not PersonState.ACTIVE:
            raise WrongCredentials
        await self.attempts.forget("account", email)
        await self.attempts.take_back("address", network_of(sender.address))
        await self.attempts.take_back("network", shortened(sender.address))
        if self.passwords.is_outdated(known):
            await self.people.rehash(person.id, known, await self.passwords.hash(password))
        return await self.enter(person, sender)

    async def owner_called(self, email: str) -> str | None:
        """The owner whose account has this address, for the audit log; None if there is none."""
        found = await self.people.by_email(checked_email(email))
        return found and found[0].owner_id

    async def refresh(self, refresh_token: str | None) -> Entry | None:
        """New tokens for those of a browser; None if they are not valid. Using a token twice ends its session."""
        self.require()
        rotated = await self.sessions.rotate(refresh_token) if refresh_token else None
        if rotated is None:
            self.auth.forget()
            return None
        signed_in, person, fresh = rotated
        return self._entry(person, signed_in, fresh)

    async def person(self, principal: Principal) -> Person:
        """The caller's account. Raises `NotFound` if the token belongs to no person."""
        self.require()
        if principal.person_id is None:
            raise NotFound("This token belongs to no person. Sign in with an account.")
        return (await self.people.get(principal.person_id))[0]

    async def change(self, principal: Principal, name: str | None, current: str | None, password: str | None) -> Person:
        """Change the name or the password, which requires the current one and signs out everywhere else."""
        person = await self.person(principal)
        if password is not None:
            check_password(password, person.email)
            await self.count("account", person.email, MAX_PER_ACCOUNT)
            _, known = await self.people.get(person.id)
            if known is not None and not await self.passwords.matches(known, current or ""):
                raise WrongCredentials("The current password is incorrect.")
            await self.attempts.forget("account", person.email)
        hashed = await self.passwords.hash(password) if password is not None else None
        fresh_name = display_name(name, person.email) if name is not None else None
        if fresh_name is not None or hashed is not None:
            await self.people.change(
                person.id, name=fresh_name, password_hash=hashed, keep_session=principal.session_id
            )
            self.auth.forget()
        return (await self.people.get(person.id))[0]

    async def signed_in(self, principal: Principal) -> list[SignedIn]:
        """The person's sessions."""
        return await self.sessions.all((await self.person(principal)).id)

    async def sign_out(self, principal: Principal, session_id: str | None) -> None:
        """Sign out of one session or all; takes effect within two seconds, also in other processes."""
        person = await self.person(principal)
        if session_id is None:
            await self.sessions.end_all(person.id)
        else:
            await self.sessions.end(person.id, session_id)
        self.auth.forget()

    async def everybody(self, principal: Principal) -> list[Person]:
        """All people with accounts, for administrators."""
        self._administer(principal)
        return await self.people.all()

    async def set_state(self, principal: Principal, person_id: str, state: PersonState) -> Person:
        """Suspend or reinstate a person, for administrators. Sessions and tokens stop within two seconds."""
        self._administer(principal)
        changed = await self.people.set_state(person_id, state)
        self.auth.forget()
        return changed

    async def invite(
        self, principal: Principal, email: str | None, project_id: str | None, role: Role | None, days: int
    ) -> tuple[Invitation, str]:
        """An invitation to the server (administrators only) or to the caller's project, and its secret, which is shown only once.

        It expires no later than the credential that creates it.
        """
        self.require()
        check_person(principal)
        UnnamedProject.check(project_id)
        if project_id is None:
            self._administer(principal)
        address = checked_email(email) if email is not None else None
        given = (role or Role.VIEWER) if project_id is not None else None
        return await self.invitations.create(
            principal.owner_id, principal.lifetime(days), address, project_id, given, principal.token_id
        )

    async def invited(self, principal: Principal) -> list[Invitation]:
        """The caller's valid invitations."""
        self.require()
        return await self.invitations.all(principal.owner_id)

    async def take_back(self, principal: Principal, invitation_id: str) -> None:
        """Revoke the caller's invitation."""
        self.require()
        await self.invitations.revoke(principal.owner_id, invitation_id)

    async def accept(self, principal: Principal, secret: str) -> None:
        """Join the project in an invitation."""
        person = await self.person(principal)
        await self.invitations.accept(person.owner_id, person.email, secret)

    async def members_of(self, owner_id: str, project_id: str) -> list[ProjectMember]:
        """The members of a project of this owner."""
        self.require()
        return await self.members.all(owner_id, project_id)

    async def set_role(self, owner_id: str, project_id: str, member_id: str, role: Role) -> None:
        """Change a member's role, or add the owner's service account as a member."""
        self.require()
        await self.members.set_role(owner_id, project_id, member_id, role)

    async def remove_member(self, owner_id: str, project_id: str, member_id: str) -> None:
        """Remove a member. Takes effect with the next request."""
        self.require()
        await self.members.remove(owner_id, project_id, member_id)

    async def shared_with(self, principal: Principal) -> list[SharedProject]:
        """Projects that others share with the caller."""
        self.require()
        return await self.auth.shared_projects(principal)

    async def leave(self, principal: Principal, project_id: str) -> None:
        """Leave another owner's project."""
        self.require()
        await self.members.leave(principal.owner_id, project_id)

    def require(self) -> None:
        """Raise `NotFound` if the server has no accounts."""
        if not self.is_on:
            raise NotFound(_OFF)

    def _administer(self, principal: Principal) -> None:
        self.require()
        if not principal.is_administrator:
            raise Forbidden("Only administrators may do this.")

    async def count(self, kind: str, name: str, limit: int) -> None:
        """Count an attempt. Raises `RateLimited` after `most` in a quarter of an hour."""
        tried, left = await self.attempts.count(kind, name, _SPAN_SECONDS)
        if tried > limit:
            raise RateLimited("Too many attempts. Wait, then try again.", retry_after=left)

    async def enter(self, person: Person, sender: From) -> Entry:
        """Start a session for an authenticated person."""
        agent = sender.agent[:_MAX_AGENT_LENGTH]
        signed_in, fresh = await self.sessions.begin(person.id, agent, sender.address, self.session_seconds)
        return self._entry(person, signed_in, fresh)

    def _entry(self, person: Person, signed_in: SignedIn, refresh_token: str) -> Entry:
        return Entry(
            person=person,
            signed_in=signed_in,
            access_token=self.auth.access_token(signed_in),
            refresh_token=refresh_token,
            csrf=self.auth.csrf_of_session(signed_in.id),
        )


def checked_email(email: str) -> str:
    """The address in lower case. Raises `InvalidRequest` if it is not an e-mail address."""
    email = email.strip().lower()
    if len(email) > _MAX_EMAIL_LENGTH or not _EMAIL.fullmatch(email):
        raise invalid_request([{"field": "body.email", "problem": "This is not an e-mail address."}])
    return email


def display_name(name: str, email: str) -> str:
    """A person's name on one line; if empty, the address up to the @."""
    return " ".join(name.split()) or email.partition("@")[0]
