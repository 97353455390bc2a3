"""Puts together what hands over and erases an owner's data."""

from __future__ import annotations

from pathlib import Path

from citewell.adapters.embedder.wrappers import text_key
from citewell.composition.stores import Stores
from citewell.features.auth.service import AuthService
from citewell.features.owner_data.service import OwnerDataService
from citewell.features.resources.service import ResourceService
from citewell.indexes.index_set import IndexSet
from citewell.ports import BlobStore
from citewell.storage.accounts.owner_data import OwnerDataRepository
from citewell.storage.channels.claude_files import ClaudeFileRepository
from citewell.system.lost_found import LostAndFound


def owner_data_service(
    folder: Path,
    stores: Stores,
    blobs: BlobStore,
    indexes: IndexSet,
    resources: ResourceService,
    local_owner: str,
    auth: AuthService,
) -> OwnerDataService:
    """The service over what is open in a data folder."""
    return OwnerDataService(
        data=OwnerDataRepository(stores.database),
        content=stores.content,
        blobs=blobs,
        indexes=indexes,
        delete_file=resources.delete,
        uploads=ClaudeFileRepository(stores.database).all,
        text_key=text_key,
        backups=folder / "backups",
        cache=folder / "cache",
        lost=LostAndFound(folder),
        local_owner=local_owner,
        forget_credentials=auth.forget,
    )
