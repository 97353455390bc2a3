"""People and who is asking: the services of accounts over the database, for the server and for the command line."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.adapters import registry
from citewell.adapters.webhook.guarded import GuardedSender
from citewell.composition.configured import jwt_rules
from citewell.composition.stores import Stores, open_stores
from citewell.features.accounts.passwords import Passwords
from citewell.features.accounts.resets import PasswordResetService
from citewell.features.accounts.service import AccountService
from citewell.features.auth.access_tokens import AccessTokens
from citewell.features.auth.service import AuthService
from citewell.features.identities.service import IdentityService
from citewell.features.service_accounts.service import ServiceAccountService
from citewell.features.shared_answers.service import SharedAnswerService
from citewell.settings import Settings
from citewell.settings.groups import ServerSettings
from citewell.storage.accounts.attempts import AttemptRepository
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.accounts.members import InvitationRepository, MemberRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.password_resets import PasswordResetRepository
from citewell.storage.accounts.people import PersonRepository
from citewell.storage.accounts.service_accounts import ServiceAccountRepository
from citewell.storage.accounts.sessions import SessionRepository
from citewell.storage.conversations.shared_answers import SharedAnswerRepository
from citewell.storage.database import Database
from citewell.system.folder import DataFolder

if TYPE_CHECKING:
    from citewell.features.identities.openid import OpenIdProvider

LOCAL_OWNER = "local"
UNKNOWN_ADDRESS = "https://YOUR-SERVER"
_DAY = 86_400.0


def auth_service(settings: Settings, folder: DataFolder, stores: Stores, local_owner: str) -> AuthService:
    """Who is asking: tokens, JWTs, and sessions where there are accounts."""
    return AuthService(
        repository=stores.owners,
        projects=stores.projects,
        sessions=SessionRepository(stores.database),
        members=MemberRepository(stores.database),
        local_owner=local_owner,
        access=_access_tokens(settings, folder) if settings.accounts.is_on else None,
        jwt_rules=jwt_rules(settings),
        requests_per_minute=settings.auth.requests_per_minute,
        has_accounts=settings.accounts.is_on,
        sign_up=settings.accounts.sign_up if settings.accounts.is_on else None,
        provider=_provider_name(settings),
        sends_mail=settings.mail.smtp_url is not None,
    )


def account_service(settings: Settings, database: Database, auth: AuthService) -> AccountService:
    """Signing up, in and out."""
    accounts = settings.accounts
    return AccountService(
        people=PersonRepository(database),
        sessions=SessionRepository(database),
        attempts=AttemptRepository(database),
        members=MemberRepository(database),
        invitations=InvitationRepository(database),
        auth=auth,
        audit=AuditRepository(database),
        passwords=Passwords(),
        is_on=accounts.is_on,
        is_private=settings.server.is_loopback,
        is_open=accounts.sign_up == "open",
        session_seconds=accounts.session_days * _DAY,
        access_seconds=accounts.access_minutes * 60,
    )


def password_reset_service(
    settings: Settings, database: Database, accounts: AccountService, stack: contextlib.AsyncExitStack
) -> PasswordResetService:
    """Resetting forgotten passwords, by e-mail where there is a mail server, until the stack ends."""
    service = PasswordResetService(
        accounts=accounts,
        resets=PasswordResetRepository(database),
        public_url=settings.mail.public_url or _own_address(settings.server),
        mailer=registry.build_mailer(settings.mail),
    )
    stack.push_async_callback(service.close)
    return service


def _own_address(server: ServerSettings) -> str:
    """What a link begins with where nobody has said how this server is reached: its address, if it is reached from this machine only."""
    return server.address(server.port) if server.is_loopback else UNKNOWN_ADDRESS


def service_account_service(
    stores: Stores, auth: AuthService, erase: Callable[[str, str], Awaitable[object]]
) -> ServiceAccountService:
    """Accounts of programs. erase: removes everything of an owner."""
    return ServiceAccountService(
        accounts=ServiceAccountRepository(stores.database), owners=stores.owners, auth=auth, erase=erase
    )


def shared_answer_service(database: Database) -> SharedAnswerService:
    """Links to single answers."""
    return SharedAnswerService(repository=SharedAnswerRepository(database), attempts=AttemptRepository(database))


def identity_service(settings: Settings, folder: DataFolder, accounts: AccountService) -> IdentityService:
    """Signing in with an identity provider, where one is configured."""
    openid = settings.openid
    return IdentityService(
        accounts=accounts,
        provider=_provider(settings),
        secret=_secret(settings, folder) if settings.accounts.is_on else b"",
        domains=openid.domains,
        redirect_url=openid.redirect_url,
    )


def _provider(settings: Settings) -> OpenIdProvider | None:
    openid, name = settings.openid, _provider_name(settings)
    if openid.issuer is None or openid.client_id is None or name is None:
        return None
    from citewell.features.identities.openid import OpenIdProvider  # whose libraries are large

    return OpenIdProvider(
        issuer=openid.issuer,
        client_id=openid.client_id,
        secret=None if openid.client_secret is None else openid.client_secret.get_secret_value(),
        name=name,
        dial=GuardedSender(private=True).exchange,
        guarded=GuardedSender(private=False).exchange,
    )


def _provider_name(settings: Settings) -> str | None:
    openid = settings.openid
    if openid.issuer is None or not settings.accounts.is_on:
        return None
    return openid.name or urlsplit(openid.issuer).hostname


@contextlib.asynccontextmanager
async def open_accounts(settings: Settings) -> AsyncGenerator[AccountService]:
    """The accounts alone, while a server may run; closes the database at the end. Raises `ConfigurationError` when it cannot be opened."""
    async with contextlib.AsyncExitStack() as stack:
        yield (await _accounts_alone(settings, stack))[0]


@contextlib.asynccontextmanager
async def open_password_resets(settings: Settings) -> AsyncGenerator[PasswordResetService]:
    """The same, for forgotten passwords."""
    async with contextlib.AsyncExitStack() as stack:
        accounts, database = await _accounts_alone(settings, stack)
        yield password_reset_service(settings, database, accounts, stack)


async def _accounts_alone(settings: Settings, stack: contextlib.AsyncExitStack) -> tuple[AccountService, Database]:
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    stores = await open_stores(settings, stack)
    local_owner = await stores.owners.ensure(LOCAL_OWNER)
    auth = auth_service(settings, DataFolder(settings.data), stores, local_owner)
    return account_service(settings, stores.database, auth), stores.database


def _access_tokens(settings: Settings, folder: DataFolder) -> AccessTokens:
    return AccessTokens(secret=_secret(settings, folder), seconds=settings.accounts.access_minutes * 60)


def _secret(settings: Settings, folder: DataFolder) -> bytes:
    given = settings.accounts.session_secret
    return (folder.session_secret() if given is None else given.get_secret_value()).encode()


async def own_machine(owners: OwnerRepository, folder: DataFolder) -> str:
    """The id of the owner of this machine, for whom the folder's token speaks."""
    owner_id = await owners.ensure(LOCAL_OWNER)
    await owners.adopt_token(owner_id, "this machine", folder.token())
    return owner_id
