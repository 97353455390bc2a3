"""What a process that died has left, finished before anything begins. What nothing explains is kept."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from citewell.composition.stores import Stores
from citewell.ingest.capture import clear_spool
from citewell.ingest.journal import BlobJournal
from citewell.ports import BlobStore
from citewell.settings import LocalBlobs, Settings
from citewell.storage.vectors.indexes import IndexRepository
from citewell.system.lost_found import LostAndFound

log = logging.getLogger(__name__)
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SCRATCH = re.compile(rf"{_UUID}-\d+|view-[0-9a-f]{{32}}")
"""Folders in which a parser wrote: of an attempt at a file, and of a page that somebody looked at."""


async def sweep(settings: Settings, stores: Stores, blobs: BlobStore, journal: BlobJournal) -> None:
    """Finish what a process that died has left: temporary files, leases of its own, and blobs that its journal names.

    Local blobs that neither a row nor the journal names are moved to `lost+found`; those that a row names return from there.
    """
    await asyncio.to_thread(clear_spool, settings.data / "uploads")
    await asyncio.to_thread(_clear_scratch, settings.data / "scratch")
    if stores.database.is_sqlite:
        await stores.jobs.release_all()
        await stores.payloads.release()
        await IndexRepository(stores.database).release()
    known = await stores.resources.known_blob_keys()
    for key in journal.left() - known:
        await blobs.delete(key)
    journal.restart()
    if isinstance(settings.blobs, LocalBlobs):
        deleted = {key for one in await stores.resources.unfinished_deletions() for key in one.blob_keys}
        unknown = set(await blobs.list("")) - known - deleted
        await asyncio.to_thread(_keep_lost, LostAndFound(settings.data), settings.blobs.folder, known, unknown)


def _clear_scratch(folder: Path) -> None:
    for path in folder.glob("*"):
        if _SCRATCH.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _keep_lost(lost: LostAndFound, folder: Path, known: Collection[str], unknown: Collection[str]) -> None:
    returning = [one.key for one in lost.files() if one.key in known and not (folder / one.key).exists()]
    returned = _moved(returning, lambda key: lost.give_back(key, folder / key))
    if returned:
        log.warning("%s returned from %s: the database names them again.", _files(returned), lost.folder)
    moved = _moved(unknown, lambda key: lost.take_in(key, folder / key))
    if moved:
        log.warning(
            "%s that the database does not name moved to %s. See `citewell folder lost`.", _files(moved), lost.folder
        )


def _moved(keys: Collection[str], move: Callable[[str], None]) -> int:
    """How many could be moved. Those that cannot stay where they are, where nothing deletes them either."""
    for done, key in enumerate(keys):
        try:
            move(key)
        except OSError as error:
            log.warning("%s cannot be moved: %s. They stay where they are.", _files(len(keys) - done), error)
            return done
    return len(keys)


def _files(count: int) -> str:
    return f"{count:,} stored {'file' if count == 1 else 'files'}"
