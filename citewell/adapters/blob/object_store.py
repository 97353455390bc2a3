"""Blobs in an object store: S3 and compatible services, Google Cloud Storage, or Azure Blob Storage.

Uses obstore, https://developmentseed.org/obstore/.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import AzureStore, GCSStore, S3Store
from pydantic import SecretStr

from citewell.adapters.blob.keys import checked_key, missing_blob
from citewell.adapters.blob.layers import LayeredBlobStore
from citewell.adapters.blob.local import LocalBlobStore
from citewell.errors import ConfigurationError, DamagedFile, Unavailable
from citewell.ports import BlobStore
from citewell.settings import AzureBlobs, GcsBlobs, S3Blobs
from citewell.system.disk import disk_errors
from citewell.types import BlobLink

if TYPE_CHECKING:
    from obstore import Attributes
    from obstore.store import ClientConfig, RetryConfig

_ATTACHMENT = "attachment"
# One request carries one piece, so that the request timeout suits files of any size.
_PIECE = 8 * 1024 * 1024
_CLIENT: ClientConfig = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=60)}
# Interactive requests must not take longer; workers wait out longer outages.
_RETRY: RetryConfig = {"max_retries": 4, "retry_timeout": timedelta(seconds=15)}


@dataclass(frozen=True, slots=True)
class _Place:
    """A bucket: its kind, its name in messages, the lifetime of links, and the folder for local copies."""

    backend: str
    name: str
    link_seconds: int
    scratch: Path


class ObjectBlobStore:
    """Implements `citewell.ports.BlobStore` on a bucket.

    Raises `Unavailable` if the store does not respond or rejects the credentials. Clients get bytes through the server,
    which checks ownership; direct links exist only if `link_seconds` is not 0.
    """

    def __init__(self, store: S3Store | GCSStore | AzureStore, place: _Place) -> None:
        self.backend = place.backend
        self._store = store
        self._where = place.name
        self._scratch = place.scratch
        self._link_seconds = place.link_seconds

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        """Upload the file (in parts if large), verify the stored size, and remove the local file."""
        key, size = checked_key(key), (await asyncio.to_thread(path.stat)).st_size
        with self._errors(key):
            await obstore.put_async(self._store, key, path, chunk_size=_PIECE, attributes=_saved_as(name))
            kept = (await obstore.head_async(self._store, key))["size"]
        if kept != size:
            raise Unavailable(f"{self._where} stored {kept} of {size} bytes. Nothing was lost; the upload is retried.")
        await asyncio.to_thread(path.unlink)

    @asynccontextmanager
    async def local_copy(self, key: str) -> AsyncGenerator[Path]:
        """A temporary copy, removed after the block."""
        self._scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy = self._scratch / f"{uuid.uuid4().hex}.blob"
        try:
            with disk_errors():
                with copy.open("wb") as file:
                    async for piece in self.get(key):
                        await asyncio.to_thread(file.write, piece)
                yield copy
        finally:
            copy.unlink(missing_ok=True)

    async def get(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes [start, end) in pieces of at most 8 MiB. Raises `DamagedFile` if the object is shorter."""
        key = checked_key(key)
        with self._errors(key):
            size = (await obstore.head_async(self._store, key))["size"]
        if end is not None and size < end:
            raise DamagedFile
        end = size if end is None else end
        for at in range(start, end, _PIECE):
            with self._errors(key):
                piece = await obstore.get_range_async(self._store, key, start=at, end=min(at + _PIECE, end))
            yield bytes(piece)

    async def link(self, key: str, size: int) -> BlobLink | None:
        """A URL signed with Citewell's credentials; None for older objects that lack the download headers."""
        if not self._link_seconds:
            return None
        key = checked_key(key)
        with self._errors(key):
            kept = await obstore.get_async(self._store, key, options={"head": True})
            if kept.meta["size"] != size:
                raise DamagedFile
            if not kept.attributes.get("Content-Disposition", "").startswith(_ATTACHMENT):
                return None
            expires_at = int(time.time()) + self._link_seconds
            url = await obstore.sign_async(self._store, "GET", key, timedelta(seconds=self._link_seconds))
        return BlobLink(url, expires_at)

    async def delete(self, key: str) -> None:
        """Delete the object, and verify that it is gone."""
        key = checked_key(key)
        with self._errors(key):
            try:
                await obstore.delete_async(self._store, key)
                await obstore.head_async(self._store, key)
            except FileNotFoundError:
                return
        raise Unavailable(f"{self._where} still has a deleted blob. The deletion is retried.")

    async def list(self, prefix: str) -> list[str]:
        """All keys that begin with `prefix`, sorted."""
        # The store's prefixes end at a slash.
        folder = prefix.rpartition("/")[0]
        with self._errors(prefix):
            pages = obstore.list(self._store, folder or None)
            found = [str(one["path"]) async for page in pages for one in page]
        return sorted(key for key in found if key.startswith(prefix))

    @contextmanager
    def _errors(self, key: str) -> Generator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise missing_blob(key) from error
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise Unavailable(
                f"{self._where} rejects Citewell's credentials. The server's administrator must renew them."
            ) from error
        except BaseError as error:
            raise Unavailable(f"{self._where} does not respond. Try again shortly.") from error


def build_s3(settings: S3Blobs) -> BlobStore:
    """The blob store in a bucket of S3, MinIO, R2 or another S3-compatible service."""
    config: dict[str, Any] = _given(
        endpoint=settings.endpoint,
        region=settings.region,
        access_key_id=settings.access_key_id,
        secret_access_key=settings.secret_access_key,
        session_token=settings.session_token,
        server_side_encryption=settings.encryption,
        sse_kms_key_id=settings.kms_key_id,
    )
    bucket = _required(settings, settings.bucket)
    # The service verifies each part's hash before acknowledging it.
    store = S3Store(
        bucket,
        prefix=settings.prefix or None,
        config={**config, "checksum_algorithm": "sha256"},  # pyright: ignore[reportArgumentType]
        client_options=_client(settings.endpoint),
        retry_config=_RETRY,
    )
    return _over_local(settings, store, f"The S3 bucket {bucket}")


def build_gcs(settings: GcsBlobs) -> BlobStore:
    """The blob store in a bucket of Google Cloud Storage."""
    bucket = _required(settings, settings.bucket)
    config: dict[str, Any] = _given(base_url=settings.endpoint, application_credentials=settings.credentials)
    if settings.endpoint and settings.credentials is None:  # emulators have no accounts
        nobody = {"client_email": "", "private_key": "", "private_key_id": ""}
        config = {
            "service_account_key": json.dumps({"gcs_base_url": settings.endpoint, "disable_oauth": True, **nobody})
        }
    store = GCSStore(
        bucket,
        prefix=settings.prefix or None,
        config=config,  # pyright: ignore[reportArgumentType]
        client_options=_client(settings.endpoint),
        retry_config=_RETRY,
    )
    return _over_local(settings, store, f"The Google Cloud Storage bucket {bucket}")


def build_azure(settings: AzureBlobs) -> BlobStore:
    """The blob store in a container of Azure Blob Storage."""
    container = _required(settings, settings.bucket)
    config: dict[str, Any] = _given(
        account_name=settings.account,
        account_key=settings.account_key,
        endpoint=settings.endpoint,
        encryption_key=settings.encryption_key,
    )
    store = AzureStore(
        container,
        prefix=settings.prefix or None,
        config=config,  # pyright: ignore[reportArgumentType]
        client_options=_client(settings.endpoint),
        retry_config=_RETRY,
    )
    return _over_local(settings, store, f"The Azure container {container}")


def _over_local(
    settings: S3Blobs | GcsBlobs | AzureBlobs, store: S3Store | GCSStore | AzureStore, name: str
) -> BlobStore:
    """Wrap the store so that files uploaded before it was configured are still read from the data folder."""
    place = _Place(settings.provider, name, settings.link_seconds, settings.data / "cache" / "blobs")
    blobs, before = ObjectBlobStore(store, place), settings.data / "blobs"
    return LayeredBlobStore(blobs, LocalBlobStore(before)) if before.is_dir() else blobs


def _saved_as(name: str | None) -> Attributes:
    """Object headers for link downloads: browsers save the file and never execute it."""
    called = "" if name is None else f"; filename*=UTF-8''{quote(name, safe='')}"
    return {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": _ATTACHMENT + called,
        "Cache-Control": "private, no-store",
    }


def _required(settings: S3Blobs | GcsBlobs | AzureBlobs, bucket: str | None) -> str:
    if not bucket:
        raise ConfigurationError(
            f"{settings.name_of('provider')} is {settings.provider!r}, but no bucket is set. Set {settings.name_of('bucket')}."
        )
    return bucket


def _client(endpoint: str | None) -> ClientConfig:
    """Client options; plain HTTP only for http:// endpoints."""
    return {**_CLIENT, "allow_http": True} if endpoint and endpoint.startswith("http://") else _CLIENT


def _given(**values: object) -> dict[str, Any]:
    """The values that are not None, with secrets revealed."""
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        for name, value in values.items()
        if value is not None
    }
