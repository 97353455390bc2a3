"""The suite on the store that the environment configures, for whoever has one; in a folder of its own, which it empties.

CITEWELL_BLOB_BACKEND=azure CITEWELL_BLOB_BUCKET=… AZURE_STORAGE_ACCOUNT_NAME=… AZURE_STORAGE_ACCOUNT_KEY=… pytest tests/adapters/blob/live.py
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest

from citewell.adapters.registry import build_blob_store
from citewell.ports import BlobStore
from citewell.settings import load_settings
from citewell.testing.blob_store_suite import BlobStoreConformance


class TestConfiguredStore(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> Generator[BlobStore]:
        store = build_blob_store(load_settings(data=tmp_path, blob_prefix=f"citewell-{uuid.uuid4().hex}").blobs)
        yield store
        asyncio.run(_empty(store))


async def _empty(store: BlobStore) -> None:
    for key in await store.list(""):
        await store.delete(key)
