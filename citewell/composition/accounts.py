"""People and who is asking: the services of accounts over the database, for the server and for the command line."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from citewell.composition.configured import jwt_rules
from citewell.composition.stores import Stores, open_stores
from citewell.features.accounts.passwords import Passwords
from citewell.features.accounts.service import AccountService
from citewell.features.auth.access_tokens import AccessTokens
from citewell.features.auth.service import AuthService
from citewell.features.shared_answers.service import SharedAnswerService
from citewell.folder import DataFolder
from citewell.settings import Settings
from citewell.storage.attempts import AttemptRepository
from citewell.storage.database import Database
from citewell.storage.members import InvitationRepository, MemberRepository
from citewell.storage.people import PersonRepository
from citewell.storage.sessions import SessionRepository
from citewell.storage.shared_answers import SharedAnswerRepository

LOCAL_OWNER = "local"
_DAY = 86_400.0


def auth_service(settings: Settings, folder: DataFolder, stores: Stores, local_owner: str) -> AuthService:
    """Who is asking: tokens, JWTs, and sessions where there are accounts."""
    return AuthService(
        owners=stores.owners,
        projects=stores.projects,
        sessions=SessionRepository(stores.database),
        members=MemberRepository(stores.database),
        local_owner=local_owner,
        access=_access_tokens(settings, folder) if settings.accounts.is_on else None,
        jwt_rules=jwt_rules(settings),
        requests_per_minute=settings.auth.requests_per_minute,
        has_accounts=settings.accounts.is_on,
        sign_up=settings.accounts.sign_up if settings.accounts.is_on else None,
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
        passwords=Passwords(),
        is_on=accounts.is_on,
        is_private=settings.server.is_loopback,
        is_open=accounts.sign_up == "open",
        session_seconds=accounts.session_days * _DAY,
        access_seconds=accounts.access_minutes * 60,
    )


def shared_answer_service(database: Database) -> SharedAnswerService:
    """Links to single answers."""
    return SharedAnswerService(shared=SharedAnswerRepository(database), attempts=AttemptRepository(database))


@contextlib.asynccontextmanager
async def open_accounts(settings: Settings) -> AsyncGenerator[AccountService]:
    """The accounts alone, while a server may run; closes the database at the end. Raises `ConfigurationError` when it cannot be opened."""
    async with contextlib.AsyncExitStack() as stack:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        stores = await open_stores(settings, stack)
        local_owner = await stores.owners.ensure(LOCAL_OWNER)
        yield account_service(
            settings, stores.database, auth_service(settings, DataFolder(settings.data), stores, local_owner)
        )


def _access_tokens(settings: Settings, folder: DataFolder) -> AccessTokens:
    given = settings.accounts.session_secret
    secret = folder.session_secret() if given is None else given.get_secret_value()
    return AccessTokens(secret=secret.encode(), seconds=settings.accounts.access_minutes * 60)
