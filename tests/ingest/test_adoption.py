"""Files inside a file: adopted in batches, each once, whenever the process dies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from citewell.adapters.blob.local import LocalBlobStore
from citewell.errors import LeaseLost
from citewell.ingest.adoption import Adoption
from citewell.ingest.capture import Capture
from citewell.ingest.journal import BlobJournal
from citewell.storage.database import Database
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.storage.tables import resource_versions, resources
from citewell.storage.work.jobs import JobRepository
from citewell.system.disk import DiskReserve
from citewell.types import ChildFile, Job, Locator, Resource, ResourceFilter, Stage
from tests.storage.rows import add_resource

pytestmark = pytest.mark.full

COUNT = 450


class _PowerCut(BaseException):
    """Ends everything, as kill -9 does: nothing that is under way is tidied up."""


class _Blobs(LocalBlobStore):
    """Ends the process, so to speak, with its nth file."""

    def __init__(self, folder: Path, last: int | None = None) -> None:
        super().__init__(folder)
        self.left = last

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise _PowerCut
        await super().put_file(key, path, name)


class _Setting:
    """An archive that was read: its job, and children in a folder."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self.folder = database, folder
        self.quotas = QuotaRepository(database)
        self.resources, self.jobs = ResourceRepository(database), JobRepository(database)

    async def claim(self) -> tuple[Job, Resource]:
        job = await self.jobs.claim(Stage.EXTRACT, "w")
        assert job
        return job, await self.resources.get(job.owner_id, job.resource_id)

    def adoption(self, blobs: LocalBlobStore | None = None) -> Adoption:
        kept, journal = blobs or LocalBlobStore(self.folder / "blobs"), BlobJournal(self.folder / "journal")
        capture = Capture(
            resources=self.resources,
            quotas=self.quotas,
            blobs=kept,
            journal=journal,
            spool_folder=self.folder / "spool",
            max_bytes=1_000,
            space=DiskReserve(self.folder, 0),
        )
        return Adoption(
            resources=self.resources,
            jobs=self.jobs,
            blobs=kept,
            journal=journal,
            capture=capture,
            quotas=self.quotas,
        )

    def children(self) -> tuple[list[ChildFile], Path]:
        """As the parser leaves them, again and again."""
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        for number in range(COUNT):
            (scratch / f"child-{number}").write_text(f"Note {number} of the archive.")
        return [
            ChildFile(filename=f"note {n}.txt", path=f"child-{n}", locator=Locator()) for n in range(COUNT)
        ], scratch

    async def names(self, job: Job) -> list[str]:
        found, _ = await self.resources.page(job.owner_id, ResourceFilter(parent_id=job.resource_id), 1_000, None)
        return [resource.filename for resource in found][::-1]


@pytest.fixture
async def setting(tmp_path: Path) -> AsyncIterator[_Setting]:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}")
    await database.migrate()
    await add_resource(database, "ada")
    yield _Setting(database, tmp_path)
    await database.close()


async def test_children_are_committed_some_hundred_at_a_time_and_in_order(setting: _Setting) -> None:
    job, parent = await setting.claim()
    commits: list[object] = []
    count = commits.append
    event.listen(sa.Engine, "commit", count)
    try:
        assert await setting.adoption().run(job, parent, *setting.children()) == []
    finally:
        event.remove(sa.Engine, "commit", count)
    assert len(commits) == 3
    assert await setting.names(job) == [f"note {number}.txt" for number in range(COUNT)]


@pytest.mark.parametrize("last", [0, 150, 250, 449])
async def test_an_adoption_that_was_cut_off_is_finished_with_nothing_doubled_or_lost(
    setting: _Setting, last: int
) -> None:
    job, parent = await setting.claim()
    with pytest.raises(_PowerCut):
        await setting.adoption(_Blobs(setting.folder / "blobs", last)).run(job, parent, *setting.children())
    assert len(await setting.names(job)) == last // 200 * 200
    await setting.jobs.release_all()
    job, parent = await setting.claim()
    await setting.adoption().run(job, parent, *setting.children())
    assert await setting.names(job) == [f"note {number}.txt" for number in range(COUNT)]
    stored = set(await LocalBlobStore(setting.folder / "blobs").list(""))
    rows = await setting.database.rows(
        sa.select(resource_versions.c.blob_key)
        .join(resources, resources.c.id == resource_versions.c.resource_id)
        .where(resources.c.parent_id == job.resource_id)
    )
    assert {row["blob_key"] for row in rows} <= stored


async def test_a_job_that_was_taken_over_adopts_nothing_more(setting: _Setting) -> None:
    job, parent = await setting.claim()
    await setting.jobs.release_all()
    await setting.claim()
    with pytest.raises(LeaseLost):
        await setting.adoption().run(job, parent, *setting.children())
    assert await setting.names(job) == []
    assert await LocalBlobStore(setting.folder / "blobs").list("") == []


async def test_the_same_bytes_twice_are_one_resource_and_what_is_unfit_is_noted(setting: _Setting) -> None:
    job, parent = await setting.claim()
    children, scratch = setting.children()
    (scratch / "child-1").write_text("Note 0 of the archive.")
    (scratch / "child-2").write_text("")
    (scratch / "child-3").write_text("x" * 1_001)
    notes = await setting.adoption().run(job, parent, children[:5], scratch)
    assert await setting.names(job) == ["note 0.txt", "note 4.txt"]
    assert [note.partition(":")[0] for note in notes] == ["note 2.txt", "note 3.txt"]
    assert len(await LocalBlobStore(setting.folder / "blobs").list("")) == 2
