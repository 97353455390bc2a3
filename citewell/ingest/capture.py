"""Stage 1, within the upload request: receive and hash the bytes, detect their type, and commit the row."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import shutil
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from citewell.errors import (
    CitewellError,
    EmptyFile,
    NotFound,
    RateLimited,
    TooLarge,
    UnsupportedType,
    VersionTaken,
)
from citewell.extract.detect import detect, named_type
from citewell.ingest.blob_keys import original_key
from citewell.ingest.journal import BlobJournal
from citewell.ingest.names import clean_filename
from citewell.ports import BlobStore
from citewell.storage.files.new_resources import NewResource
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import QuotaRepository, UploadBound
from citewell.system.disk import DiskReserve, disk_errors
from citewell.system.tracing import file_span
from citewell.types import DetectedType, Metadata, MetadataValue, Resource, UploadOptions

# Bytes of an upload between two checks of the free disk space.
_CHECK_EVERY = 4 * 1024 * 1024
# An upload of a few megabytes completes and frees its slot within this time; a slow one takes longer.
_RETRY_SECONDS = 5.0
_SPOOLED = re.compile(r"[0-9a-f]{32}\.part")
_TOO_MANY = "Too many files are being uploaded at the same time. Wait for the time given in `retry_after`, then send the file again."


@dataclass(frozen=True, slots=True)
class Spooled:
    """An upload received but not yet committed: a local file, its size, and its SHA-256."""

    path: Path
    size: int
    content_hash: str


class Spool:
    """An upload in progress: bytes are written to a local file and hashed until `finish` returns the file."""

    def __init__(self, path: Path, max_bytes: int, space: DiskReserve, bound: UploadBound | None = None) -> None:
        space.require()
        self._path = path
        self._max_bytes = max_bytes
        self._bound = bound
        self._space = space
        self._unchecked = 0
        with disk_errors():
            self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb", 0)
        self._digest = hashlib.sha256()
        self._size = 0
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if not self._finished:
            self._path.unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._size

    def write(self, data: bytes) -> None:
        """Add bytes. Raises `TooLarge` beyond the server's limit, `BytesQuotaReached` beyond the owner's, and `DiskFull`."""
        self._size += len(data)
        if self._size > self._max_bytes:
            raise TooLarge(f"The file is larger than the limit of {self._max_bytes:,} bytes.")
        if self._bound is not None and self._size > self._bound.most_bytes:
            raise self._bound.refusal
        self._digest.update(data)
        self._unchecked += len(data)
        if self._unchecked > _CHECK_EVERY:
            self._space.require()
            self._unchecked = 0
        left = memoryview(data)
        with disk_errors():
            while left:
                left = left[self._file.write(left) :]

    def finish(self) -> Spooled:
        """The complete file, which now belongs to the caller; raises `EmptyFile`."""
        if not self._size:
            raise EmptyFile
        self._file.close()
        self._finished = True
        return Spooled(self._path, self._size, self._digest.hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRequest:
    """The upload's details. `strict` refuses a type without a reader instead of storing it unread.

    item: the source's item that the file belongs to (two items are two resources even with the same bytes), or the
          key of a separate copy (`own_copy`)
    expires_at: the end of its lifetime, in seconds since 1970; None for no end
    """

    owner_id: str
    filename: str
    project_id: str
    identifier: str | None = None
    source: str = "upload"
    parent_id: str | None = None
    strict: bool = False
    options: UploadOptions = UploadOptions()
    metadata: Metadata = field(default_factory=dict[str, MetadataValue])
    thread: str | None = None
    item: str | None = None
    expires_at: float | None = None

    def identity(self, bytes_hash: str) -> str:
        """The content hash that identifies the owner's resource."""
        return bytes_hash if self.item is None else item_identity(self.item, bytes_hash)


def item_identity(item: str, bytes_hash: str) -> str:
    """The content hash of a source's item, instead of the hash of its bytes alone."""
    return hashlib.sha256(f"{item}\0{bytes_hash}".encode()).hexdigest()


def own_copy(place_id: str) -> str:
    """The item key of a separate copy in a project or resource whose users must not learn that the owner has these bytes elsewhere."""
    return f"own copy\0{place_id}"


class Capture:
    """Receives files. `spool_folder` must be on the file system of a local blob store.

    at_once: how many requests may upload at the same time; one owner may use half of them, so that no owner can block the others
    """

    def __init__(
        self,
        *,
        resources: ResourceRepository,
        quotas: QuotaRepository,
        blobs: BlobStore,
        journal: BlobJournal,
        spool_folder: Path,
        max_bytes: int,
        space: DiskReserve,
        at_once: int = 256,
    ) -> None:
        self._at_once = at_once
        self._receiving = Counter[str]()
        self._resources = resources
        self._quotas = quotas
        self._blobs = blobs
        self._journal = journal
        self._folder = spool_folder
        self.max_bytes = max_bytes
        self._space = space

    @asynccontextmanager
    async def receiving(self, owner_id: str, least: int = 0) -> AsyncGenerator[Spool]:
        """A spool for a request of this owner, like `spool_of`. Raises `RateLimited` while too many uploads are in progress."""
        share = max(1, self._at_once // 2)
        if self._receiving.total() >= self._at_once or self._receiving[owner_id] >= share:
            raise RateLimited(_TOO_MANY, retry_after=_RETRY_SECONDS)
        self._receiving[owner_id] += 1
        try:
            async with self.spool_of(owner_id, least) as spool:
                yield spool
        finally:
            self._receiving -= Counter({owner_id: 1})  # drop owners without uploads

    @asynccontextmanager
    async def spool_of(self, owner_id: str, least: int = 0) -> AsyncGenerator[Spool]:
        """A spool for one file of this owner, of at least `least` bytes. Leaving the block without calling `finish` removes everything.

        Raises `BytesQuotaReached` at once, or as soon as too much is written.
        """
        bound = await self._quotas.upload_bound(owner_id)
        if bound is not None and least > bound.most_bytes:
            raise bound.refusal
        with self.open_spool(bound) as spool:
            yield spool

    def open_spool(self, bound: UploadBound | None = None) -> Spool:
        """A spool for one file. Leaving its block without calling `finish` removes everything."""
        with disk_errors():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Spool(self._folder / f"{uuid.uuid4().hex}.part", self.max_bytes, self._space, bound)

    async def spool(self, chunks: AsyncIterator[bytes]) -> Spooled:
        """Receive all chunks. Raises `TooLarge` as soon as the limit is exceeded, and `EmptyFile`."""
        with self.open_spool() as spool:
            async for chunk in chunks:
                spool.write(chunk)
            return spool.finish()

    async def commit(self, spooled: Spooled, request: UploadRequest) -> tuple[Resource, bool]:
        """Make a resource from a spooled file, or link the owner's existing one with the same content. True if it is new.

        Raises `FilesQuotaReached` or `BytesQuotaReached` if a new one exceeds a quota; then nothing is stored.
        """
        with _removed_at_the_end(spooled.path):
            if await self._resources.find_by_content(request.owner_id, request.identity(spooled.content_hash)):
                # The row first: if the known resource was deleted meanwhile, this is a new one that needs the bytes.
                linked, created = await self._resources.create(await self._new(spooled, request), request.project_id)
                await self._restore(request.owner_id, linked.id, spooled)
                return linked, created
            await self._quotas.require_room(request.owner_id, 1, spooled.size)
            new = await self._new(spooled, request)
            with file_span((new.id, 1), {"citewell.resource.id": new.id, "citewell.bytes": spooled.size}):
                return await self._store_new(new, spooled, request)

    async def _store_new(self, new: NewResource, spooled: Spooled, request: UploadRequest) -> tuple[Resource, bool]:
        async with self._storing(new, spooled.path):
            resource, created = await self._resources.create(new, request.project_id)
            if not created:
                await self._blobs.delete(new.blob_key)
        return resource, created

    async def replace(self, spooled: Spooled, resource_id: str, request: UploadRequest) -> Resource:
        """Make a spooled file the next version of the owner's resource. Raises `BytesQuotaReached`."""
        with _removed_at_the_end(spooled.path):
            current = await self._resources.get(request.owner_id, resource_id)
            await self._quotas.require_room(request.owner_id, 0, spooled.size)
            new, path = await self._new(spooled, request, of=current), spooled.path
            while True:
                try:
                    async with self._storing(new, path):
                        return await self._resources.add_version(request.owner_id, resource_id, new)
                except VersionTaken:
                    new, path = await self._renumbered(new)

    @asynccontextmanager
    async def _storing(self, new: NewResource, path: Path) -> AsyncGenerator[None]:
        """Store the bytes for a row committed in the block. An error that rolls it back removes them; `VersionTaken` leaves them to the caller."""
        with self._journal.begun([new.blob_key]):
            await self._blobs.put_file(new.blob_key, path, new.filename)
            try:
                yield
            except VersionTaken:
                raise
            except CitewellError:
                await self._blobs.delete(new.blob_key)
                self._journal.end([new.blob_key])
                raise
            except BaseException:  # it may have been committed nevertheless: the next start checks
                self._journal.end([new.blob_key])
                raise

    async def _renumbered(self, new: NewResource) -> tuple[NewResource, Path]:
        """The next number for a version, after another upload took its number, and a file with its bytes."""
        current = await self._resources.get(new.owner_id, new.id)
        version = current.version + 1
        copy = self._folder / f"{uuid.uuid4().hex}.part"
        async with self._blobs.local_copy(new.blob_key) as kept:
            with disk_errors():
                await asyncio.to_thread(shutil.copyfile, kept, copy)
        await self._blobs.delete(new.blob_key)
        self._journal.end([new.blob_key])
        return replace(new, version=version, blob_key=original_key(new.owner_id, new.id, version)), copy

    async def _restore(self, owner_id: str, resource_id: str, spooled: Spooled) -> None:
        """Rewrite the bytes of a known resource, which may be damaged or lost."""
        with contextlib.suppress(NotFound):  # deleted in the meantime
            original = await self._resources.original(owner_id, resource_id)
            await self._blobs.put_file(original.key, spooled.path, original.filename)

    async def _new(self, spooled: Spooled, request: UploadRequest, of: Resource | None = None) -> NewResource:
        """The draft for a file: a new resource, or the next version `of` one."""
        filename = clean_filename(request.filename)
        detected = await asyncio.to_thread(detect, spooled.path, filename)
        if request.strict and detected.extractor is None:
            raise UnsupportedType(mime_type=detected.mime_type)
        return self._described(spooled, request, filename, detected, of)

    def describe(self, spooled: Spooled, request: UploadRequest) -> NewResource:
        """The draft for a file, with the type expected from its name until stage 2 examines its content. Stores nothing."""
        filename = clean_filename(request.filename)
        return self._described(spooled, request, filename, named_type(filename))

    def _described(
        self,
        spooled: Spooled,
        request: UploadRequest,
        filename: str,
        detected: DetectedType,
        of: Resource | None = None,
    ) -> NewResource:
        resource_id, version = (str(uuid.uuid4()), 1) if of is None else (of.id, of.version + 1)
        return NewResource(
            id=resource_id,
            owner_id=request.owner_id,
            filename=filename,
            identifier=request.identifier,
            file_size_bytes=spooled.size,
            mime_type=detected.mime_type,
            content_hash=request.identity(spooled.content_hash),
            bytes_hash=spooled.content_hash,
            detected_category=detected.category,
            type=detected.label,
            source=request.source,
            storage_backend=self._blobs.backend,
            blob_key=original_key(request.owner_id, resource_id, version),
            version=version,
            options=request.options,
            parent_id=request.parent_id,
            metadata=request.metadata,
            thread=request.thread,
            expires_at=request.expires_at,
        )

    def measure(self, path: Path) -> Spooled:
        """A file on this machine, with its size and hash. Raises `EmptyFile` and `TooLarge`."""
        size = path.stat().st_size
        if not size:
            raise EmptyFile
        if size > self.max_bytes:
            raise TooLarge(f"The file is larger than the limit of {self.max_bytes:,} bytes.")
        return Spooled(path, size, content_hash(path))


def content_hash(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def clear_spool(folder: Path) -> None:
    """Delete uploads that an earlier process did not finish or acknowledge; other files in the folder stay."""
    for path in folder.glob("*.part"):
        if _SPOOLED.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)


@contextmanager
def _removed_at_the_end(path: Path) -> Generator[None]:
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
