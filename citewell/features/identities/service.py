"""Signing in with an identity provider: who is let in, who gets an account, and whose account an identity is put to.

An identity is never put to an account because of its e-mail address alone where that account has a password: Citewell does not check the
addresses of those who sign up with one, so somebody could wait there for the address's owner. Such people sign in with the password first.
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
"""How long signing in at the provider may take."""
_MAX_BEGUN = 300  # in a quarter of an hour from one address, which may be that of a whole office; those that succeed do not count
_KIND, _ALGORITHM = "flow+jwt", "HS256"
# A path of this server: two slashes, or one and what browsers take for one, would lead to another host.
_LOCAL = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
_OFF = "Nobody signs in with an identity provider here. Use a password."


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A sign-in under way. address: where the browser goes; token: what it keeps until it comes back."""

    address: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What a sign-in is for. person_id, session_id: of somebody signed in, to whose account the identity is put."""

    return_to: str = "/"
    invitation: str | None = None
    person_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a browser came back with. problem: why it is not signed in; entry: None where somebody was signed in already."""

    return_to: str
    entry: Entry | None = None
    problem: SignInProblem | None = None


class _NotLetInError(Exception):
    """Somebody is known to the provider, and not let in."""

    def __init__(self, problem: SignInProblem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityService:
    """Signing in with an identity provider. secret: what signs the cookies of sign-ins under way; domains: of the addresses that are let in."""

    accounts: AccountService
    provider: OpenIdProvider | None
    secret: bytes
    domains: tuple[str, ...] = ()
    redirect_url: str | None = None

    async def begin(self, return_to: str, invitation: str | None, redirect: str, sender: From) -> Begun:
        """Send a browser to the provider. redirect: where to it comes back, unless that is configured."""
        return await self._begin(Purpose(return_to=local_path(return_to), invitation=invitation), redirect, sender)

    async def begin_link(self, principal: Principal, password: str, redirect: str, sender: From) -> Begun:
        """Send somebody who is signed in to the provider, to put the identity there to their account; the password is asked for again."""
        person, accounts = await self.accounts.person(principal), self.accounts
        if principal.session_id is None:
            raise Forbidden("Sign in with an account in a browser to do this.")
        await accounts.count("account", person.email, MAX_PER_ACCOUNT)
        _, known = await accounts.people.get(person.id)
        if not await accounts.passwords.matches(known, password):
            raise Wrong("The current password is wrong.")
        await accounts.attempts.forget("account", person.email)
        purpose = Purpose(return_to="/settings", person_id=person.id, session_id=principal.session_id)
        return await self._begin(purpose, redirect, sender)

    async def unlink(self, principal: Principal) -> None:
        """Sign in with the password only from now on; `Conflict` for somebody who has none."""
        await self.accounts.people.unlink((await self.accounts.person(principal)).id)

    async def finish(
        self, token: str | None, *, state: str, code: str | None, issuer: str | None, sender: From
    ) -> Returned:
        """Let somebody in who comes back from the provider. token: what the browser has kept; code: None where the provider said no."""
        read = self._read(token)
        if read is None or not hmac.compare_digest(read[0].state.encode(), state.encode("utf-8", "replace")):
            return Returned(return_to="/", problem=SignInProblem.EXPIRED)
        flow, purpose = read
        # Each state counts once, on all servers of the database together.
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
        # Only where there is a provider: the libraries are large.
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
        """Another key than that of access tokens: neither passes for the other."""
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
            if purpose.invitation is not None:  # to a project; one that is not valid any more keeps nobody out
                with contextlib.suppress(CitewellError):
                    await self.accounts.invitations.accept(person.owner_id, person.email, purpose.invitation)
        if person.state is not PersonState.ACTIVE:
            raise _NotLetInError(SignInProblem.SUSPENDED)
        return await self.accounts.enter(person, sender)

    async def _link(self, identity: Identity, purpose: Purpose) -> None:
        """Put the identity to the account of who began, who is still signed in there."""
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
        """The person of an identity that is seen for the first time: a new one, or who signed in with an earlier provider."""
        if identity.email is None or not identity.is_verified:
            raise _NotLetInError(SignInProblem.UNVERIFIED)
        email, accounts = checked_email(identity.email), self.accounts
        self._check_domain(email)
        found = await accounts.people.by_email(email)
        if found is not None:
            person, password = found
            # The same provider knows another subject: the address has been given to somebody else.
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
    """The path, where it is one of this server; the start page for anything else."""
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
