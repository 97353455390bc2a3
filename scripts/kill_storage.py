"""kill -9 at random moments of uploads, replacements, extractions, deletions and the sweep at a start: nothing acknowledged is lost, doubled or left.

usage: .venv/bin/python scripts/kill_storage.py [--kills 1000] [--seed 7] [--folder FOLDER]
Each process opens the same data folder, finishes what the one before it left, works with some files at once, and is killed. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from citewell.adapters import registry
from citewell.chunk.config import ChunkConfig
from citewell.composition.accounts import LOCAL_OWNER
from citewell.composition.configured import capture
from citewell.composition.leftovers import sweep
from citewell.composition.pairing import pair
from citewell.composition.resources import resource_service
from citewell.composition.stores import Stores, open_stores
from citewell.errors import NotFound
from citewell.features.resources.service import ResourceService
from citewell.indexes.index_set import IndexSet
from citewell.ingest.capture import Spooled, UploadRequest
from citewell.ingest.extraction import ExtractionStage
from citewell.ingest.journal import BlobJournal
from citewell.ingest.payloads import PayloadWriter
from citewell.ports import BlobStore
from citewell.settings import Settings, load_settings
from citewell.storage.files.content import replace_blobs
from citewell.system.disk import DiskReserve
from citewell.system.folder import DataFolder
from citewell.system.lost_found import LostAndFound
from citewell.types import ExtractedBlob, ExtractionSummary, Job, Resource, ResourceFilter

AT_ONCE = 4
_NOTES = 24
"""How many files at most a process begins or ends to change before it is killed."""
_SECONDS = 0.02
"""The longest time from the last of them to the kill."""
_GIVEN_UP = 60.0
"""Seconds after which a process that does not reach that moment is stuck."""
_SHARED = 0.2
"""How often an upload has the bytes of one that another task sends at the same time."""


@dataclass
class Opened:
    """What a process works with, and the file in which it says what it began and what was acknowledged."""

    owner: str
    settings: Settings
    stores: Stores
    blobs: BlobStore
    journal: BlobJournal
    service: ResourceService
    diary: int
    told: int | None
    chance: random.Random
    read: set[str] = field(default_factory=set[str])
    shared: str = field(default_factory=lambda: uuid.uuid4().hex)

    def note(self, what: str, **of: object) -> None:
        """Written at once: it outlives the process."""
        os.write(self.diary, (json.dumps({"what": what, **of}) + "\n").encode())
        _tell(self.told)


@contextlib.asynccontextmanager
async def opened(data: Path, diary: Path, seed: int, told: int | None = None) -> AsyncGenerator[Opened]:
    """Open the folder as a start does, without an index. told: where a byte goes when the sweep begins, when it has ended, and with each note."""
    settings = load_settings(data=data, workers=0)
    async with contextlib.AsyncExitStack() as stack:
        folder = DataFolder(data)
        folder.hold()
        stack.callback(folder.release)
        stores = await open_stores(settings, stack)
        await pair(settings, stores)
        blobs, journal = registry.build_blob_store(settings.blobs), BlobJournal(data / "journal")
        stack.callback(journal.close)
        _tell(told)
        await sweep(settings, stores, blobs, journal)
        indexes = cast(IndexSet, SimpleNamespace(all=()))
        service = resource_service(
            settings,
            stores,
            blobs=blobs,
            indexes=indexes,
            capture=capture(settings, stores, blobs, journal, DiskReserve(data, 0)),
            payloads=PayloadWriter(name="kills", changes=stores.payloads, indexes=indexes),
            chunking=ChunkConfig(),
            wake=lambda *_: None,
            on_spent=cast(Any, None),
        )
        await service.finish_deletions()
        _tell(told)
        owner = await stores.owners.ensure(LOCAL_OWNER)
        written = os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        stack.callback(os.close, written)
        yield Opened(owner, settings, stores, blobs, journal, service, written, told, random.Random(seed))


def _tell(told: int | None) -> None:
    if told is not None:
        os.write(told, b".")


async def work(place: Opened) -> None:
    """Change files until the process is killed, some at once."""
    known, _ = await place.service.page(place.owner, ResourceFilter(), 200, None)
    ids = [one.id for one in known]
    place.chance.shuffle(ids)
    await asyncio.gather(*(_change_files(place, ids) for _ in range(AT_ONCE)))


async def _change_files(place: Opened, ids: list[str]) -> None:
    while True:
        mine = ids.pop() if ids and place.chance.random() < 0.6 else None
        if mine is None:
            mine = (await _add(place)).id
        for act in place.chance.choices([_replace, _extract, _delete], k=2):
            if not await act(place, mine):
                break


async def _add(place: Opened) -> Resource:
    text = place.shared if place.chance.random() < _SHARED else uuid.uuid4().hex
    place.note("add", text=text)
    request = UploadRequest(owner_id=place.owner, filename="file.txt", project_id="")
    resource, _ = await place.service.capture.commit(_spooled(place, text), request)
    place.note("added", text=text, id=resource.id)
    if text == place.shared:
        place.shared = uuid.uuid4().hex
    return resource


async def _replace(place: Opened, resource_id: str) -> bool:
    text = uuid.uuid4().hex
    place.note("replace", id=resource_id, text=text)
    request = UploadRequest(owner_id=place.owner, filename="file.txt", project_id="")
    try:
        await place.service.capture.replace(_spooled(place, text), resource_id, request)
    except NotFound:  # another task has deleted it
        return False
    place.note("replaced", id=resource_id, text=text)
    return True


async def _extract(place: Opened, resource_id: str) -> bool:
    """Two pictures in the place of those that the version had, as reading it does."""
    folder = place.settings.data / "scratch" / f"{resource_id}-1"
    folder.mkdir(parents=True, exist_ok=True)
    if resource_id in place.read:  # a lease keeps others away
        return True
    pictures = [
        ExtractedBlob(name=f"p{n}", path=uuid.uuid4().hex, mime_type="image/png", kind="image", metadata={})
        for n in range(2)
    ]
    for picture in pictures:
        (folder / picture.path).write_text("picture")
    stage = ExtractionStage(
        content=place.stores.content, blobs=place.blobs, journal=place.journal, **dict.fromkeys(_UNUSED)
    )  # pyright: ignore[reportArgumentType]
    place.read.add(resource_id)
    try:
        version = (await place.service.repository.get(place.owner, resource_id)).version
        job = cast(Job, SimpleNamespace(owner_id=place.owner, resource_id=resource_id, version=version))
        summary = cast(ExtractionSummary, SimpleNamespace(blobs=pictures))
        async with stage._storing(job, summary, folder) as blobs:  # pyright: ignore[reportPrivateUsage]
            await place.stores.database.change(partial(_commit, resource_id, version, blobs))
    except NotFound:
        return False
    finally:
        place.read.discard(resource_id)
    return True


_UNUSED = ("resources", "jobs", "parsers", "adoption", "scratch", "limits", "early")


def _commit(resource_id: str, version: int, blobs: Any, connection: Any) -> None:
    if not connection.exec_driver_sql("SELECT 1 FROM resources WHERE id = ?", (resource_id,)).first():
        raise NotFound
    replace_blobs(connection, resource_id, version, blobs)


async def _delete(place: Opened, resource_id: str) -> bool:
    place.note("delete", id=resource_id)
    with contextlib.suppress(NotFound):
        await place.service.delete(place.owner, resource_id)
        place.note("deleted", id=resource_id)
    return False


def _spooled(place: Opened, text: str) -> Spooled:
    with place.service.capture.open_spool() as spool:
        spool.write(text.encode())
        return spool.finish()


def killed(data: Path, diary: Path, chance: random.Random) -> str:
    """Start a process on the folder and kill it; during what."""
    reads, writes = os.pipe()
    seed, moments = chance.randrange(1 << 30), chance.choice([0, 1, 2, *range(3, 3 + _NOTES)])
    child = os.fork()
    if not child:
        try:
            asyncio.run(_run(data, diary, seed, writes))
        except BaseException:  # noqa: BLE001 - whatever it is, it is the end of this process
            sys.excepthook(*sys.exc_info())
        os._exit(1)
    os.close(writes)
    try:
        for _ in range(moments):
            ready, _, _ = select.select([reads], [], [], _GIVEN_UP)
            assert ready, "the process is stuck"
            assert os.read(reads, 1), "the process ended by itself"
        time.sleep(chance.uniform(0, _SECONDS))
    finally:
        os.close(reads)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the process ended by itself"
    return ("the start", "the sweep", "work")[min(moments, 2)]


async def _run(data: Path, diary: Path, seed: int, told: int) -> None:
    async with opened(data, diary, seed, told) as place:
        await work(place)


async def check(data: Path, diary: Path) -> Counter[str]:
    """Compare what is there after one more start with what was acknowledged; raises `AssertionError` for what differs."""
    async with opened(data, diary, 0) as place:
        notes = _read(diary)
        acknowledged, possible, deleted = _expected(notes)
        found = await _found(place)
        for resource_id, text in acknowledged.items():
            assert found.get(resource_id) in {text, *possible.get(resource_id, ())}, f"lost: {resource_id}"
        assert not deleted & found.keys(), "acknowledged as deleted, and there"
        texts = Counter(found.values())
        assert not [text for text, count in texts.items() if count > 1], "there twice"
        assert set(texts) <= {one["text"] for one in notes if "text" in one}, "nobody sent this"
        known = await place.stores.resources.known_blob_keys()
        assert known == set(await place.blobs.list("")), "rows and bytes differ"
        assert not LostAndFound(data).files(), "something is left that nobody explains"
        assert not list((data / "uploads").glob("*")), "a spool is left"
        counts = Counter(one["what"] for one in notes)
        return counts + Counter({"there": len(found), "stored blobs": len(known)})


def _read(diary: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in diary.read_text(encoding="utf-8").splitlines()]


def _expected(notes: list[dict[str, str]]) -> tuple[dict[str, str], dict[str, set[str]], set[str]]:
    """By id: the text that was acknowledged last, and others that may have come since; without files whose deletion may have begun. And
    the ids whose deletion was acknowledged."""
    texts, possible, leaving, deleted = dict[str, str](), dict[str, set[str]](), set[str](), set[str]()
    for note in notes:
        match note:
            case {"what": "added", "id": key, "text": text}:
                texts.setdefault(key, text)
                possible.setdefault(key, set()).add(text)
            case {"what": "replace", "id": key, "text": text}:
                possible.setdefault(key, set()).add(text)
            case {"what": "replaced", "id": key, "text": text}:
                texts[key] = text
            case {"what": "delete", "id": key}:
                leaving.add(key)
            case {"what": "deleted", "id": key}:
                deleted.add(key)
            case _:
                continue
    return {key: text for key, text in texts.items() if key not in leaving}, possible, deleted


async def _found(place: Opened) -> dict[str, str]:
    """The text of every file by id, read from its bytes."""
    found, cursor = dict[str, str](), None
    while True:
        page, cursor = await place.service.page(place.owner, ResourceFilter(), 200, cursor)
        for one in page:
            original = await place.stores.resources.original(place.owner, one.id)
            found[one.id] = b"".join([piece async for piece in place.blobs.get(original.key)]).decode()
        if cursor is None:
            return found


def run(folder: Path, kills: int, seed: int) -> dict[str, object]:
    """Kill as many processes on a new data folder, check now and then, and count."""
    data, diary, chance = folder / "data", folder / "diary", random.Random(seed)
    during = Counter[str]()
    for number in range(1, kills + 1):
        during[killed(data, diary, chance)] += 1
        if number % 100 == 0 or number == kills:
            counts = asyncio.run(check(data, diary))
    return {"kills": kills, "during": dict(during), "counts": dict(counts)}


def main() -> None:
    """Parse the command line, and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        sys.stdout.write(json.dumps(run(Path(folder), options.kills, options.seed), indent=1) + "\n")


if __name__ == "__main__":
    main()
