"""Signing in with an identity provider: who may sign in, who gets an account, and which account an identity is connected to.

An identity is never connected by e-mail address alone to an account with a password. Citewell does not verify the addresses of people who
sign up with a password, so somebody could sign up with another person's address and wait. These people sign in with the password first.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from citewell.errors import CitewellError, Conflict, Forbidden, NotFound, RateLimited, Unauthorized, Unavailable
from citewell.errors import WrongCredentials as Wrong
from citewell.features.accounts.service import (
    MAX_PER_ACCOUNT,
    AccountService,
    Entry,
    From,
    checked_email,
    display_name,
)
from citewell.features.addresses import network_of
from citewell.storage.accounts.people import NewPerson
from citewell.types.accounts import Person, PersonState, Principal, SignInProblem

if TYPE_CHECKING:
    from citewell.features.identities.openid import Identity, OpenIdFlow, OpenIdProvider

FLOW_SECONDS = 600
"""Seconds that signing in at the provider may take."""
_MAX_BEGUN = 300  # failures in a quarter of an hour from one address, which may be a whole office's
_KIND, _ALGORITHM = "flow+jwt", "HS256"
# A path on this server: two slashes, or a slash and a character that browsers treat as one, would lead to another host.
_LOCAL = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
_OFF = "This server has no identity provider. Sign in with a password."


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A sign-in in progress. address: where the browser goes; token: stored by the browser until it returns."""

    address: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """The purpose of a sign-in. person_id, session_id: of a signed-in person who connects the identity to their account."""

    return_to: str = "/"
    invitation: str | None = None
    person_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The outcome of a return from the provider. problem: why it failed; entry: None if the person was already signed in."""

    return_to: str
    entry: Entry | None = None
    problem: SignInProblem | None = None


class _NotLetInError(Exception):
    """The provider knows the person, but they may not sign in here."""

    def __init__(self, problem: SignInProblem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityService:
    """Signing in with an identity provider. secret: signs the cookies of sign-ins in progress; domains: allowed for e-mail addresses."""

    accounts: AccountService
    provider: OpenIdProvider | None
    secret: bytes
    domains: tuple[str, ...] = ()
    redirect_url: str | None = None

    async def begin(self, return_to: str, invitation: str | None, redirect: str, sender: From) -> Begun:
        """Send a browser to the provider. redirect: where it returns to, unless configured."""
        return await self._begin(Purpose(return_to=local_path(return_to), invitation=invitation), redirect, sender)

    async def begin_link(self, principal: Principal, password: str, redirect: str, sender: From) -> Begun:
        """Send a signed-in person to the provider, to connect the identity there to their account. Requires the password."""
        person, accounts = await self.accounts.person(principal), self.accounts
        if principal.session_id is None:
            raise Forbidden("Sign in with an account in a browser to do this.")
        await accounts.count("account", person.email, MAX_PER_ACCOUNT)
        _, known = await accounts.people.get(person.id)
        if not await accounts.passwords.matches(known, password):
            raise Wrong("The current password is incorrect.")
        await accounts.attempts.forget("account", person.email)
        purpose = Purpose(return_to="/settings", person_id=person.id, session_id=principal.session_id)
        return await self._begin(purpose, redirect, sender)

    async def unlink(self, principal: Principal) -> None:
        """Disconnect the provider, and sign in only with the password. Raises `Conflict` for a person without one."""
        await self.accounts.people.unlink((await self.accounts.person(principal)).id)

    async def finish(
        self, token: str | None, *, state: str, code: str | None, issuer: str | None, sender: From
    ) -> Returned:
        """Sign in a person returning from the provider. token: from the browser's cookie; code: None if the provider refused."""
        read = self._read(token)
        if read is None or not hmac.compare_digest(read[0].state.encode(), state.encode("utf-8", "replace")):
            return Returned(return_to="/", problem=SignInProblem.EXPIRED)
        flow, purpose = read
        # Each state is valid once, across all servers of the database.
        used, _ = await self.accounts.attempts.count("openid", flow.state, FLOW_SECONDS)
        if used > 1:
            return Returned(return_to="/", problem=SignInProblem.EXPIRED)
        if code is None:
            return Returned(return_to=purpose.return_to, problem=SignInProblem.DECLINED)
        try:
            identity = await self._provider().identity(flow, code, issuer)
            entry = await self._let_in(identity, purpose, sender)
            await self.accounts.attempts.take_back("openid-begin", network_of(sender.address))
        except (_NotLetInError, CitewellError) as error:
            return Returned(return_to=purpose.return_to, problem=_problem(error))
        return Returned(return_to=purpose.return_to, entry=entry)

    def _provider(self) -> OpenIdProvider:
        if self.provider is None:
            raise NotFound(_OFF)
        return self.provider

    async def _begin(self, purpose: Purpose, redirect: str, sender: From) -> Begun:
        # Imported only if there is a provider: the libraries are large.
        from citewell.features.auth import jose
        from citewell.features.identities.openid import OpenIdFlow

        provider = self._provider()
        await self.accounts.count("openid-begin", network_of(sender.address), _MAX_BEGUN)
        flow = OpenIdFlow(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            redirect=self.redirect_url or redirect,
        )
        address = await provider.address(flow)
        claims = {"exp": int(time.time()) + FLOW_SECONDS, "flow": asdict(flow), "purpose": asdict(purpose)}
        token = jose.sign(claims, jose.secret_key(self._key()), _ALGORITHM, typ=_KIND)
        return Begun(address=address, token=token)

    def _read(self, token: str | None) -> tuple[OpenIdFlow, Purpose] | None:
        from citewell.features.auth import jose
        from citewell.features.identities.openid import OpenIdFlow

        key = jose.secret_key(self._key())
        try:
            claims = jose.read(token or "", key, _ALGORITHM, ("exp", "flow", "purpose"), kind=_KIND)
        except jose.InvalidTokenError:
            return None
        return OpenIdFlow(**claims["flow"]), Purpose(**claims["purpose"])

    def _key(self) -> bytes:
        """A different key from that of access tokens, so that neither passes for the other."""
        return hmac.new(self.secret, b"citewell openid", hashlib.sha256).digest()

    async def _let_in(self, identity: Identity, purpose: Purpose, sender: From) -> Entry | None:
        if purpose.person_id is not None:
            await self._link(identity, purpose)
            return None
        person = await self.accounts.people.by_identity(identity.issuer, identity.subject)
        if person is None:
            person = await self._newcomer(identity, purpose.invitation, sender)
        else:
            self._check_domain(person.email)
            if person.state is not PersonState.ACTIVE:
                raise _NotLetInError(SignInProblem.SUSPENDED)
            if purpose.invitation is not None:  # to a project; an invalid one does not prevent signing in
                with contextlib.suppress(CitewellError):
                    await self.accounts.invitations.accept(person.owner_id, person.email, purpose.invitation)
        if person.state is not PersonState.ACTIVE:
            raise _NotLetInError(SignInProblem.SUSPENDED)
        return await self.accounts.enter(person, sender)

    async def _link(self, identity: Identity, purpose: Purpose) -> None:
        """Connect the identity to the account of the person who started, who must still be signed in."""
        person = await self.accounts.sessions.person(purpose.session_id or "")
        if person is None or person.id != purpose.person_id:
            raise _NotLetInError(SignInProblem.EXPIRED)
        if identity.is_verified and identity.email is not None:
            self._check_domain(identity.email)
        elif self.domains:
            raise _NotLetInError(SignInProblem.UNVERIFIED)
        try:
            await self.accounts.people.link(person.id, identity.issuer, identity.subject)
        except Conflict as error:
            raise _NotLetInError(SignInProblem.OTHER_PERSON) from error

    async def _newcomer(self, identity: Identity, invitation: str | None, sender: From) -> Person:
        """The person for a new identity: a new account, or that of a person who used an earlier provider."""
        if identity.email is None or not identity.is_verified:
            raise _NotLetInError(SignInProblem.UNVERIFIED)
        email, accounts = checked_email(identity.email), self.accounts
        self._check_domain(email)
        found = await accounts.people.by_email(email)
        if found is not None:
            person, password = found
            # The same provider has a different subject, so the address now belongs to somebody else.
            if password is not None or person.issuer in (None, identity.issuer):
                raise _NotLetInError(SignInProblem.TAKEN)
            await accounts.people.link(person.id, identity.issuer, identity.subject)
            return person
        try:
            await accounts.check_first(sender)
        except Forbidden as error:
            raise _NotLetInError(SignInProblem.NO_ADMINISTRATOR) from error
        new = NewPerson(
            email=email, name=display_name(identity.name, email), identity=(identity.issuer, identity.subject)
        )
        needs = not accounts.is_open and not self.domains
        return await accounts.people.create(new, invitation, needs_invitation=needs)

    def _check_domain(self, email: str) -> None:
        if self.domains and email.rpartition("@")[2].lower() not in self.domains:
            raise _NotLetInError(SignInProblem.DOMAIN)


def local_path(text: str) -> str:
    """The path if it is on this server, or else the start page."""
    return text if _LOCAL.fullmatch(text) else "/"


_PROBLEMS: tuple[tuple[type[CitewellError], SignInProblem], ...] = (
    (Unauthorized, SignInProblem.REFUSED),
    (Unavailable, SignInProblem.UNAVAILABLE),
    (Forbidden, SignInProblem.NOT_INVITED),
    (Conflict, SignInProblem.TAKEN),
    (RateLimited, SignInProblem.TOO_MANY),
)


def _problem(error: _NotLetInError | CitewellError) -> SignInProblem:
    if isinstance(error, _NotLetInError):
        return error.problem
    return next((problem for kind, problem in _PROBLEMS if isinstance(error, kind)), SignInProblem.REFUSED)
