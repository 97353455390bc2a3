"""The database with its schema up to date, and the repositories over it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import make_url

from citewell.errors import ConfigurationError, MissingDependency, Unavailable
from citewell.settings import LocalBlobs, Settings
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database, DatabaseUnusable
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.metadata import MetadataRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.storage.vectors.waiting_vectors import WaitingVectorRepository
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.payload_changes import PayloadChangeRepository
from citewell.storage.work.reprocessing import ReprocessingRepository
from citewell.system.disk import MIN_FREE_BYTES, SpareSpace
from citewell.system.folder import DataFolder
from citewell.types.quotas import Quota


@dataclass(frozen=True, slots=True)
class Stores:
    """The repositories, over one database."""

    database: Database
    owners: OwnerRepository
    projects: ProjectRepository
    quotas: QuotaRepository
    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository
    metadata: MetadataRepository
    payloads: PayloadChangeRepository
    reprocessing: ReprocessingRepository
    waiting: WaitingVectorRepository


async def open_stores(settings: Settings, stack: contextlib.AsyncExitStack, *, is_new_allowed: bool = False) -> Stores:
    """Open the database, which `stack` closes; `ConfigurationError` when it cannot be opened, `Unavailable` when it cannot be reached.

    is_new_allowed: make a new SQLite database although files are stored, which none names then.
    """
    if not is_new_allowed:
        await asyncio.to_thread(_require_file, settings)
    database = await _open_database(settings, stack)
    quotas = QuotaRepository(database, quota_defaults(settings))
    return Stores(
        database,
        OwnerRepository(database),
        ProjectRepository(database),
        quotas,
        ResourceRepository(database, quotas),
        ContentRepository(database),
        JobRepository(database, settings.stages.lease_seconds),
        MetadataRepository(database),
        PayloadChangeRepository(database, settings.stages.lease_seconds),
        ReprocessingRepository(database),
        WaitingVectorRepository(database),
    )


async def migrate(settings: Settings) -> None:
    """Bring the schema up to date, and do nothing else. Raises what `open_stores` raises, and `DataFolderBusy`."""
    async with contextlib.AsyncExitStack() as stack:
        folder = DataFolder(settings.data)
        folder.hold()
        stack.callback(folder.release)
        await open_stores(settings, stack)


def quota_defaults(settings: Settings) -> dict[Quota, float]:
    """The limits of owners for whom nothing else is set."""
    most = settings.quotas
    named = {
        Quota.FILES: most.files,
        Quota.BYTES: most.bytes,
        Quota.QUESTIONS: most.questions,
        Quota.SPEND: most.spend,
    }
    return {quota: limit for quota, limit in named.items() if limit is not None}


def _require_file(settings: Settings) -> None:
    """Raise `ConfigurationError` where an SQLite database is missing or empty, and files are stored that it would have to name.

    Looked at before anything is opened: SQLite would make a new one, and delete the log of the last changes beside it.
    """
    address = make_url(settings.sql_url)
    if not address.drivername.startswith("sqlite") or not isinstance(settings.blobs, LocalBlobs):
        return
    path, folder = Path(address.database or ""), settings.blobs.folder
    if (path.is_file() and path.stat().st_size) or not any(one.is_file() for one in folder.rglob("[!.]*")):
        return
    raise ConfigurationError(
        f"The database {path} is missing or empty, and {folder} holds stored files. Put the database back, or run "
        "`citewell folder adopt` to begin with a new one: the files then move to lost+found."
    )


def _spare_space(settings: Settings) -> SpareSpace | None:
    """Beside an SQLite database; None for Postgres, whose disk is elsewhere."""
    address = make_url(settings.sql_url)
    if not address.drivername.startswith("sqlite") or not address.database:
        return None
    path = Path(address.database)
    return SpareSpace(path.with_name(f"{path.name}-spare"), reserved_bytes(settings))


def reserved_bytes(settings: Settings) -> int:
    """What stays free on the disk of the data folder: with less, no file is accepted or read."""
    return max(settings.uploads.reserved_disk_bytes, MIN_FREE_BYTES)


async def _open_database(settings: Settings, stack: contextlib.AsyncExitStack) -> Database:
    """The database with its schema up to date; `ConfigurationError` when it cannot be opened, `Unavailable` when it cannot be reached."""
    name = settings.name_of("database_url")
    try:
        database = Database(settings.sql_url, _spare_space(settings))
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"{name} is set, and Postgres needs the package {error.name!r}. Install it with: pip install 'citewell[postgres]'"
        ) from error
    stack.push_async_callback(database.close)
    try:
        await database.migrate(settings.data / "backups")
    except DatabaseUnusable as error:
        advice = f"Check {settings.data / 'citewell.db'}" if settings.database_url is None else f"Check {name}"
        kind = Unavailable if error.is_away else ConfigurationError
        raise kind(f"The database cannot be opened: {error}. {advice}.") from error
    return database
