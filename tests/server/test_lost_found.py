"""No start deletes a stored file that the database at hand does not name: a foreign database is refused, and stray files are kept."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from citewell.composition import Services, open_services
from citewell.composition.pairing import adopt
from citewell.composition.recovery import restore_lost
from citewell.doctor.examination import examine_configuration
from citewell.errors import ConfigurationError
from citewell.ingest.blob_keys import original_key
from citewell.ingest.journal import BlobJournal
from citewell.settings import load_settings
from citewell.system.lost_found import LostAndFound
from citewell.types import Resource, ResourceFilter
from citewell.types.accounts import ERASURE_CONFIRMATION
from tests.server.typed import citewell

pytestmark = pytest.mark.slow(40)
FILES = 3


@asynccontextmanager
async def _serving(data: Path, **values: object) -> AsyncGenerator[Services]:
    async with open_services(load_settings(data=data, workers=0, **values)) as services:
        yield services


async def _add(services: Services, folder: Path, *names: str) -> list[Resource]:
    added: list[Resource] = []
    for name in names:
        path = folder / name
        path.write_text(f"The keeper of {name} counts the ships.")
        added.append(await services.resources.add_file(services.local_owner, path))
    return added


async def _text(services: Services, resource_id: str) -> str:
    original = await services.resources.repository.original(services.local_owner, resource_id)
    return b"".join([piece async for piece in services.resources.blobs.get(original.key)]).decode()


async def _command(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
    return await asyncio.to_thread(citewell, (*arguments, "--data", str(data)), data.parent, environment)


def _stored(data: Path) -> set[str]:
    """The contents of the stored files."""
    return {path.read_text() for path in (data / "blobs").rglob("original-*")}


def _lost(data: Path) -> set[str]:
    return {(data / "lost+found" / one.key).read_text() for one in LostAndFound(data).files()}


def _texts(*names: str) -> set[str]:
    return {f"The keeper of {name} counts the ships." for name in names}


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """A data folder with files."""
    async with _serving(tmp_path / "data") as services:
        await _add(services, tmp_path, *(f"{n}.txt" for n in range(FILES)))
    return tmp_path / "data"


ALL = _texts(*(f"{n}.txt" for n in range(FILES)))


# A start with another database.


def _none(data: Path) -> dict[str, object]:
    (data / "citewell.db").unlink()
    return {}


def _empty(data: Path) -> dict[str, object]:
    (data / "citewell.db").write_bytes(b"")
    return {}


def _new_elsewhere(data: Path) -> dict[str, object]:
    return {"database_url": f"sqlite:///{data.parent / 'other.db'}"}


@pytest.mark.full
@pytest.mark.parametrize("damage", [_none, _empty, _new_elsewhere])
async def test_a_start_without_the_database_is_refused_and_changes_nothing(
    data: Path, damage: Callable[[Path], dict[str, object]]
) -> None:
    shutil.copy(data / "citewell.db", data.parent / "kept.db")
    (data / "citewell.db-wal").write_bytes(b"what was written last")
    values = damage(data)
    with pytest.raises(ConfigurationError, match=r"missing or empty.*`citewell folder adopt`"):
        async with _serving(data, **values):
            pass
    assert _stored(data) == ALL
    assert (data / "citewell.db-wal").read_bytes() == b"what was written last", "SQLite was asked, and removed it"
    assert not (data.parent / "other.db").exists()
    (data / "citewell.db-wal").unlink()
    shutil.copy(data.parent / "kept.db", data / "citewell.db")
    async with _serving(data) as services:
        page, _ = await services.resources.page(services.local_owner, ResourceFilter(), 10, None)
        assert {await _text(services, one.id) for one in page} == ALL
    assert not LostAndFound(data).files()


@pytest.mark.full
@pytest.mark.parametrize("has_files", [True, False])
async def test_a_start_with_the_database_of_another_folder_is_refused(
    data: Path, tmp_path: Path, has_files: bool
) -> None:
    async with _serving(tmp_path / "other") as services:
        await _add(services, tmp_path, *(["other.txt"] if has_files else []))
    wanted = "do not belong together" if has_files else "names none"
    with pytest.raises(ConfigurationError, match=wanted):
        async with _serving(data, database_url=f"sqlite:///{tmp_path / 'other' / 'citewell.db'}"):
            pass
    assert _stored(data) == ALL
    async with _serving(data):
        pass
    assert not LostAndFound(data).files()


@pytest.mark.parametrize("how", ["emptied", "not mounted"])
async def test_a_start_without_the_stored_files_is_refused_where_their_folder_is_another(data: Path, how: str) -> None:
    (data / "blobs").rename(data.parent / "blobs")
    if how == "emptied":
        (data / "blobs").mkdir()
    with pytest.raises(ConfigurationError, match=r"names stored files, but .*blobs holds none"):
        async with _serving(data):
            pass
    shutil.rmtree(data / "blobs", ignore_errors=True)
    (data.parent / "blobs").rename(data / "blobs")
    async with _serving(data):
        assert _stored(data) == ALL


@pytest.mark.parametrize("side", ["folder", "database", "both"])
async def test_a_folder_or_database_of_an_earlier_version_gets_the_id_of_the_other(data: Path, side: str) -> None:
    """As a backup that was made before there were ids; a file that both have proves that they belong together."""
    if side in ("folder", "both"):
        (data / "blobs" / ".id").unlink()
    if side in ("database", "both"):
        with closing(sqlite3.connect(data / "citewell.db")) as connection:
            connection.execute("DELETE FROM meta")
            connection.commit()
    async with _serving(data):
        assert _stored(data) == ALL
    with closing(sqlite3.connect(data / "citewell.db")) as connection:
        assert connection.execute("SELECT value FROM meta").fetchone()[0] == (data / "blobs" / ".id").read_text()


async def test_a_damaged_id_of_the_folder_is_written_again(data: Path) -> None:
    (data / "blobs" / ".id").write_bytes(b"\xff\x00")
    async with _serving(data):
        assert _stored(data) == ALL
    assert len((data / "blobs" / ".id").read_text()) == 32


async def test_without_an_id_files_of_another_database_are_refused(data: Path, tmp_path: Path) -> None:
    async with _serving(tmp_path / "other") as services:
        await _add(services, tmp_path, "other.txt")
    (data / "blobs" / ".id").unlink()
    shutil.copy(tmp_path / "other" / "citewell.db", data / "citewell.db")
    with pytest.raises(ConfigurationError, match="do not belong together"):
        async with _serving(data):
            pass
    assert _stored(data) == ALL


@pytest.mark.full
async def test_what_was_adopted_on_purpose_starts_and_keeps_the_files(data: Path, tmp_path: Path) -> None:
    (data / "citewell.db").rename(tmp_path / "kept.db")
    assert await adopt(load_settings(data=data)) == FILES
    async with _serving(data) as services:
        assert not (await services.resources.page(services.local_owner, ResourceFilter(), 10, None))[0]
    assert (_stored(data), _lost(data)) == (set(), ALL)
    shutil.copy(tmp_path / "kept.db", data / "citewell.db")
    await adopt(load_settings(data=data))
    async with _serving(data):
        assert (_stored(data), _lost(data)) == (ALL, set())


# Stray files.


async def _go_back(data: Path, tmp_path: Path) -> list[str]:
    """Put a backup of the database in the place of the one that names two files more; their names."""
    shutil.copy(data / "citewell.db", tmp_path / "backup.db")
    async with _serving(data) as services:
        await _add(services, tmp_path, "later.txt", "last.txt")
    (data / "citewell.db").rename(tmp_path / "newer.db")
    shutil.copy(tmp_path / "backup.db", data / "citewell.db")
    return ["later.txt", "last.txt"]


async def test_files_that_a_restored_database_does_not_name_are_kept_and_return_with_the_newer_one(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    later = await _go_back(data, tmp_path)
    async with _serving(data):
        pass
    assert (_stored(data), _lost(data)) == (ALL, _texts(*later))
    (line,) = [one.getMessage() for one in caplog.records if "lost+found" in one.getMessage()]
    assert line.startswith("2 stored files that the database does not name moved to ")
    found = {one.part: one for one in await examine_configuration(load_settings(data=data))}
    assert found["lost+found"].text.startswith("2 stored files")
    assert (data / "lost+found").stat().st_mode & 0o777 == 0o700
    async with _serving(data):  # another start leaves them there
        pass
    assert _lost(data) == _texts(*later)
    shutil.copy(tmp_path / "newer.db", data / "citewell.db")
    async with _serving(data) as services:
        page, _ = await services.resources.page(services.local_owner, ResourceFilter(), 10, None)
        assert {await _text(services, one.id) for one in page} == ALL | _texts(*later)
    assert not LostAndFound(data).files()


async def test_files_in_lost_found_are_added_again_by_a_command_and_stay_until_they_are_purged(
    data: Path, tmp_path: Path
) -> None:
    later = await _go_back(data, tmp_path)
    async with _serving(data):
        pass
    settings = load_settings(data=data)
    for _ in range(2):  # once more adds nothing
        done = await restore_lost(settings)
        assert [one.problem for one in done] == ["", ""]
        assert all(one.filename.endswith(".txt") for one in done)
        async with _serving(data) as services:
            page, _ = await services.resources.page(services.local_owner, ResourceFilter(), 10, None)
            assert sorted([await _text(services, one.id) for one in page]) == sorted(ALL | _texts(*later))
    assert _lost(data) == _texts(*later)
    stranger = data / "lost+found" / original_key("0f8fad5b-d9cb-469f-a165-70867728950e", "r", 1)
    stranger.parent.mkdir(parents=True)
    stranger.write_text("somebody else's")
    shown = await _command(data, "folder", "lost")
    assert len(shown.stdout.splitlines()) == 3
    done = await restore_lost(settings)
    assert [one.problem for one in done if one.resource_id is None] == [
        "the database does not know its owner 0f8fad5b-d9cb-469f-a165-70867728950e"
    ]
    key = stranger.relative_to(data / "lost+found").as_posix()
    wrong = await _command(data, "folder", "purge", "other", "--yes")
    assert (wrong.returncode, "other is not in lost+found" in wrong.stderr) == (2, True)
    await _command(data, "folder", "purge", key, "--yes")
    assert _lost(data) == _texts(*later)
    await _command(data, "folder", "purge", "--yes")
    assert not LostAndFound(data).files()


async def test_deleting_a_file_and_erasing_an_owner_reach_into_lost_found(data: Path, tmp_path: Path) -> None:
    async with _serving(data) as services:
        page, _ = await services.resources.page(services.local_owner, ResourceFilter(), 10, None)
        owner, lost = services.local_owner, LostAndFound(data)
        for resource_id in (page[0].id, "12345678-aaaa"):
            stray = tmp_path / "stray"
            stray.write_text("a picture of an attempt that died")
            lost.take_in(original_key(owner, resource_id, 1), stray)
        await services.resources.delete(owner, page[0].id)
        assert ["12345678-aaaa" in one.key for one in lost.files()] == [True]
        receipt = await services.owner_data.erase(owner, ERASURE_CONFIRMATION)
        assert ("lost+found", 1) in [(one.place, one.before) for one in receipt.removed]
        assert not lost.files()


@pytest.mark.full
async def test_what_the_journal_names_is_finished_and_nothing_is_left_of_it(data: Path, tmp_path: Path) -> None:
    """An upload that died after its bytes were stored, and before anybody was told that it was."""
    async with _serving(data) as services:
        page, _ = await services.resources.page(services.local_owner, ResourceFilter(), 1, None)
        known = (await services.resources.repository.original(services.local_owner, page[0].id)).key
        half = original_key(services.local_owner, "r", 1)
        (tmp_path / "half").write_text("half an upload")
        await services.resources.blobs.put_file(half, tmp_path / "half")
    with suppress(KeyboardInterrupt), BlobJournal(data / "journal").begun([known, half]):
        raise KeyboardInterrupt
    async with _serving(data):
        assert (_stored(data), _lost(data)) == (ALL, set())
    assert BlobJournal(data / "journal").left() == set()


async def test_blobs_of_an_unfinished_deletion_are_deleted_and_not_kept(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _serving(data) as services:
        page, _ = await services.resources.page(services.local_owner, ResourceFilter(), 1, None)
        gone = await _text(services, page[0].id)
        await services.resources.repository.delete(
            services.local_owner, page[0].id
        )  # dies before the bytes are removed
    async with _serving(data):
        assert (_stored(data), _lost(data)) == (ALL - {gone}, set())


async def test_other_files_of_the_folder_are_left_alone(data: Path) -> None:
    """A data folder may be given that other programs use, too."""
    kept = [data / name for name in ("uploads/mine.txt", "uploads/mine.part", "scratch/mine/a", "blobs/Notes.txt")]
    ours = [data / "uploads" / f"{'0' * 32}.part", data / "scratch" / f"view-{'0' * 32}" / "a"]
    for path in (*kept, *ours):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("here before")
    async with _serving(data):
        pass
    assert [path.exists() for path in kept] == [True] * len(kept)
    assert [path.exists() for path in ours] == [False] * len(ours)


async def test_files_that_cannot_be_moved_stay_where_they_are(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On the root of a disk the file system's own `lost+found` may be in the way, which only root may write to."""
    later = await _go_back(data, tmp_path)
    (data / "lost+found").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        async with _serving(data):
            assert _stored(data) == ALL | _texts(*later)
    assert "2 stored files cannot be moved" in caplog.text


# Modes.


async def test_what_a_data_folder_holds_is_private_whatever_the_mode_of_the_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "indexes").mkdir(parents=True)
    for folder in (data, data / "indexes"):
        folder.chmod(0o755)
    before = os.umask(0o022)
    try:
        async with _serving(data) as services:
            await _add(services, tmp_path, "private.txt")
            modes = {path: path.stat().st_mode & 0o777 for path in data.rglob("*")}
            archive = tmp_path / "all.zip"
        done = await _command(data, "export", str(archive))
        assert done.returncode == 0, done.stderr
    finally:
        os.umask(before)
    for name in ("citewell.db", "citewell.db-wal", "citewell.db-shm", "token", "journal", "blobs/.id"):
        assert modes[data / name] == 0o600, name
    for name in ("backups", "blobs", "cache", "indexes", "scratch", "uploads"):
        assert modes[data / name] == 0o700, name
    (original,) = data.rglob("original-*")
    assert (modes[original], archive.stat().st_mode & 0o777) == (0o600, 0o600)


async def test_the_database_of_an_earlier_version_becomes_private(data: Path) -> None:
    (data / "citewell.db").chmod(0o644)
    (data / "blobs").chmod(0o755)
    async with _serving(data):
        pass
    assert [(data / name).stat().st_mode & 0o777 for name in ("citewell.db", "blobs")] == [0o600, 0o700]


def test_files_of_lost_found_are_shown_with_their_age(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("12345")
    os.utime(path, (time.time(), 1_700_000_000))
    lost = LostAndFound(tmp_path)
    lost.take_in("owner/resource/1/original-a", path)
    (tmp_path / "lost+found" / "#123").mkdir()
    (tmp_path / "lost+found" / "#123" / "fsck").write_text("not ours")
    ((key, size, at),) = [(one.key, one.size, one.stored_at) for one in lost.files()]
    assert (key, size, at) == ("owner/resource/1/original-a", 5, 1_700_000_000)
    assert lost.remove([key, key]) == 1
    assert (tmp_path / "lost+found" / "#123" / "fsck").exists()
