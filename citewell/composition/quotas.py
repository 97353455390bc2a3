"""Quotas over the database, for the server and for the command line."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from citewell.composition.stores import Stores, open_stores
from citewell.features.quotas.service import QuotaService
from citewell.settings import Settings
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.accounts.people import PersonRepository


def quota_service(stores: Stores) -> QuotaService:
    """Showing and changing quotas."""
    return QuotaService(
        repository=stores.quotas, people=PersonRepository(stores.database), audit=AuditRepository(stores.database)
    )


@contextlib.asynccontextmanager
async def open_quotas(settings: Settings) -> AsyncGenerator[QuotaService]:
    """The quotas alone, while a server may run; closes the database at the end. Raises `ConfigurationError` when it cannot be opened."""
    async with contextlib.AsyncExitStack() as stack:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        yield quota_service(await open_stores(settings, stack))
