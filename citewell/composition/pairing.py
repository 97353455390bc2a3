"""Whether a database and a folder of stored files belong together. A start with two that do not would take every file for a stray one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import uuid
from pathlib import Path

from sqlalchemy.engine import make_url

from citewell.adapters import registry
from citewell.composition.stores import Stores, open_stores
from citewell.errors import ConfigurationError
from citewell.settings import LocalBlobs, Settings
from citewell.storage.folder_id import FolderIdRepository
from citewell.system.folder import DataFolder, folder_errors

_ID_FILE = ".id"
_ID = re.compile(r"[0-9a-f]{32}")
_WAY_OUT = "run `citewell folder adopt` to use these two together from now on"


async def pair(settings: Settings, stores: Stores) -> None:
    """Give the folder of stored files and the database one id. Raises `ConfigurationError` where they do not belong together.

    Those that have no id yet, of an earlier version or from a backup, belong together when the database names a file that is in the folder.
    """
    if not isinstance(settings.blobs, LocalBlobs):
        return
    folder, ids = settings.blobs.folder, FolderIdRepository(stores.database)
    ours, theirs = _read_id(folder), await ids.get()
    if ours is not None and ours == theirs:
        return
    stored, is_named = set(await registry.build_blob_store(settings.blobs).list("")), await ids.has_local_files()
    if stored or is_named:
        is_known = None in (ours, theirs) and not stored.isdisjoint(await stores.resources.known_blob_keys())
        if not is_known:
            raise ConfigurationError(_refusal(settings, folder, is_stored=bool(stored), is_named=is_named))
    await _share_id(folder, ids, theirs or ours or uuid.uuid4().hex)


async def adopt(settings: Settings) -> int:
    """Have the database and the folder of stored files belong together from now on; how many stored files the database does not name.

    Raises what opening the services raises, and `ConfigurationError` where files are not stored in a folder.
    """
    if not isinstance(settings.blobs, LocalBlobs):
        raise ConfigurationError("Files are stored in an object store, so no folder belongs to the database.")
    async with contextlib.AsyncExitStack() as stack:
        held = DataFolder(settings.data)
        held.hold()
        stack.callback(held.release)
        stores = await open_stores(settings, stack, is_new_allowed=True)
        await _share_id(settings.blobs.folder, FolderIdRepository(stores.database), uuid.uuid4().hex)
        stored = await registry.build_blob_store(settings.blobs).list("")
        return len(set(stored) - await stores.resources.known_blob_keys())


async def _share_id(folder: Path, ids: FolderIdRepository, folder_id: str) -> None:
    await ids.set(folder_id)
    await asyncio.to_thread(_write_id, folder, folder_id)


def _read_id(folder: Path) -> str | None:
    """The folder's id; None where it has none, or a damaged one."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found = (folder / _ID_FILE).read_text(encoding="ascii").strip()
        return found if _ID.fullmatch(found) else None
    return None


def _write_id(folder: Path, folder_id: str) -> None:
    with folder_errors(folder.parent):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = folder / f"{_ID_FILE}.new"
        with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as file:
            file.write(folder_id)
            file.flush()
            os.fsync(file.fileno())
        written.replace(folder / _ID_FILE)


def _refusal(settings: Settings, folder: Path, *, is_stored: bool, is_named: bool) -> str:
    database = make_url(settings.sql_url).render_as_string(hide_password=True)
    if not is_named:
        return (
            f"{folder} holds stored files, but the database {database} names none. Start with the database that was used with them, or "
            f"{_WAY_OUT}: the files then move to lost+found."
        )
    if not is_stored:
        return (
            f"The database {database} names stored files, but {folder} holds none. Mount or restore that folder, start with the data "
            f"folder that was used with this database, or {_WAY_OUT}."
        )
    return (
        f"The database {database} and the stored files in {folder} do not belong together. Start with the database that was used with "
        f"these files, or {_WAY_OUT}: files that it does not name then move to lost+found."
    )
