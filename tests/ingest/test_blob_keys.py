"""Where bytes are kept: below their owner, resource and version, and nowhere else when an upload fails or comes second."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from citewell.adapters.blob.local import LocalBlobStore
from citewell.errors import Conflict, NotFound
from citewell.ingest.blob_keys import extracted_key, original_key, prefixes_of
from citewell.ingest.capture import Capture, Spooled, UploadRequest
from citewell.ingest.journal import BlobJournal
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.system.disk import DiskReserve
from citewell.testing.blob_store_suite import read

AT_ONCE = 5


class _Meeting(LocalBlobStore):
    """Keeps the first files only once all of them are there, so that none of their uploads has been committed before."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.left = 0
        self._all = asyncio.Barrier(AT_ONCE)

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        if self.left:
            self.left -= 1
            await self._all.wait()
        await super().put_file(key, path, name)


@dataclass
class _Desk:
    """Takes uploads of one owner."""

    owner: str
    project: str
    resources: ResourceRepository
    blobs: _Meeting
    capture: Capture

    def request(self, name: str = "note.txt") -> UploadRequest:
        return UploadRequest(owner_id=self.owner, filename=name, project_id=self.project)

    def spooled(self, data: bytes) -> Spooled:
        with self.capture.open_spool() as spool:
            spool.write(data)
            return spool.finish()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[_Desk]:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    owner = await OwnerRepository(database).ensure("../Ada Ü/%2e")
    project = await ProjectRepository(database).resolve(owner, None)
    resources, blobs = ResourceRepository(database), _Meeting(tmp_path / "blobs")
    capture = Capture(
        resources=resources,
        blobs=blobs,
        journal=BlobJournal(tmp_path / "journal"),
        spool_folder=tmp_path / "spool",
        max_bytes=1_000,
        space=DiskReserve(tmp_path, 0),
        quotas=QuotaRepository(database),
    )
    yield _Desk(owner, project, resources, blobs, capture)
    await database.close()


async def test_each_version_is_below_its_owner_its_resource_and_its_number(desk: _Desk) -> None:
    made, _ = await desk.capture.commit(desk.spooled(b"one"), desk.request())
    await desk.capture.replace(desk.spooled(b"two"), made.id, desk.request())
    for version, data in ((1, b"one"), (2, b"two")):
        key = (await desk.resources.original(desk.owner, made.id, version)).key
        assert re.fullmatch(rf"{desk.owner}/{made.id}/{version}/original-[0-9a-f]{{12}}", key)
        assert await read(desk.blobs, key) == data


async def test_versions_that_come_at_once_have_each_its_own_number(desk: _Desk, tmp_path: Path) -> None:
    made, _ = await desk.capture.commit(desk.spooled(b"first"), desk.request())
    desk.blobs.left = AT_ONCE
    sent = [f"version {number}".encode() for number in range(AT_ONCE)]
    await asyncio.gather(*(desk.capture.replace(desk.spooled(data), made.id, desk.request()) for data in sent))
    versions = range(2, AT_ONCE + 2)
    keys = [(await desk.resources.original(desk.owner, made.id, version)).key for version in versions]
    assert [key.split("/")[2] for key in keys] == [str(version) for version in versions]
    assert sorted([await read(desk.blobs, key) for key in keys]) == sent
    first = (await desk.resources.original(desk.owner, made.id, 1)).key
    assert await desk.blobs.list("") == sorted([first, *keys])
    assert not list((tmp_path / "spool").iterdir())


async def test_the_same_bytes_at_once_are_kept_once(desk: _Desk) -> None:
    desk.blobs.left = AT_ONCE
    done = await asyncio.gather(*(desk.capture.commit(desk.spooled(b"same"), desk.request()) for _ in range(AT_ONCE)))
    [resource_id] = {resource.id for resource, _ in done}
    assert await desk.blobs.list("") == [(await desk.resources.original(desk.owner, resource_id)).key]


async def test_a_version_that_is_refused_leaves_nothing(desk: _Desk) -> None:
    one, _ = await desk.capture.commit(desk.spooled(b"one"), desk.request())
    other, _ = await desk.capture.commit(desk.spooled(b"other"), desk.request())
    with pytest.raises(Conflict):
        await desk.capture.replace(desk.spooled(b"one"), other.id, desk.request())
    with pytest.raises(NotFound):
        await desk.capture.replace(desk.spooled(b"new"), "of-somebody-else", desk.request())
    kept = [(await desk.resources.original(desk.owner, found.id)).key for found in (one, other)]
    assert await desk.blobs.list("") == sorted(kept)


async def test_all_of_an_owner_is_found_by_how_its_keys_begin_today_and_before(desk: _Desk, tmp_path: Path) -> None:
    mine = [
        *(original_key("a1", "r", 1), extracted_key("a1", "r", 1, 0)),
        *("originals/a1/0f", "extracted/a1/r/1-1-0-ab"),
    ]
    theirs = [original_key("a12", "r", 1), "originals/a12/0f", "extracted/a/r/1-1-0-ab"]
    for key in (*mine, *theirs):
        (tmp_path / "file").write_bytes(b"-")
        await desk.blobs.put_file(key, tmp_path / "file")
    found = [key for prefix in prefixes_of("a1") for key in await desk.blobs.list(prefix)]
    assert sorted(found) == sorted(mine)
