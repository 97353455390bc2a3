"""What a process that died has left, undone before anything begins."""

from __future__ import annotations

import asyncio
import shutil

from citewell.composition.stores import Stores
from citewell.ingest.capture import clear_folder
from citewell.ports import BlobStore
from citewell.settings import Settings
from citewell.storage.indexes import IndexRepository


async def sweep(settings: Settings, stores: Stores, blobs: BlobStore) -> None:
    """Undo what a process that died has left: temporary files, leases of its own, and local blobs that no row knows."""
    await asyncio.to_thread(clear_folder, settings.data / "uploads")
    await asyncio.to_thread(shutil.rmtree, settings.data / "scratch", ignore_errors=True)
    if stores.database.is_sqlite:
        await stores.jobs.release_all()
        await stores.payloads.release()
        await IndexRepository(stores.database).release()
    if blobs.backend == "local":
        for key in set(await blobs.list("")) - await stores.resources.known_blob_keys():
            await blobs.delete(key)
