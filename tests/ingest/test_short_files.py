"""Short texts that wait together: the same result as read alone, and what happens to one does not happen to another."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.adapters import registry
from citewell.composition import Services, open_services
from citewell.errors import ProviderUnavailable
from citewell.extract.catalogue import FORMATS
from citewell.ingest.parsers import ParserPool
from citewell.ingest.short_files import READERS, ShortFiles
from citewell.ingest.workers import Workers
from citewell.ports import Embedder, FloatMatrix, TextKind
from citewell.settings import load_settings
from citewell.storage.tables import chunks, elements, resource_events, resources
from citewell.storage.work.jobs import SHORT_TYPES
from citewell.testing.embedder import HashEmbedder
from citewell.types import Filter, Job, Stage

Folder = Callable[[str], AbstractAsyncContextManager[Services]]
_SAME = ("status", "mime_type", "type", "detected_category", "language", "coverage", "extraction_metadata", "summary")
_SAME_TOO = ("chunk_count", "searchable", "options", "error_code", "error_stage", "attempt", "lease_worker")


class _Embedder(HashEmbedder):
    """Fails as often as `failures` says, and counts calls for documents."""

    failures = 0
    calls = 0

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        if texts and kind == "document":
            type(self).calls += 1
            if type(self).failures:
                type(self).failures -= 1
                raise ProviderUnavailable
        return await super().embed(texts, kind)


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> type[_Embedder]:
    class Fresh(_Embedder):
        pass

    def build(settings: object) -> Embedder:
        return Fresh("default", 64)

    monkeypatch.setattr(registry, "build_embedder", build)
    return Fresh


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    @asynccontextmanager
    async def opened(name: str) -> AsyncGenerator[Services]:
        async with open_services(load_settings(data=tmp_path / name)) as services:
            await services.workers.stop()
            yield services

    return opened


def _notes(place: Path, count: int = 9) -> list[Path]:
    """Texts and Markdown with front matter, headings, tables and several passages; one is empty but for spaces."""
    place.mkdir(exist_ok=True)
    paths = [place / f"note {number}.{'md' if number % 3 else 'txt'}" for number in range(count)]
    for number, path in enumerate(paths):
        fact = f"The locker of group {number} is opened with the code {7919 * number + 12}, which the treasurer keeps."
        table = f"| month | paid |\n|---|---|\n| May | {number} |\n"
        front = f"---\ntitle: Lockers of {number}\ndate: 2025-0{1 + number}-03\ntags: [keys, group]\n---\n"
        long = "\n\n".join(
            f"## Meeting {n}\n\nThe group met and paid {n} cedis for the lock. {fact}" for n in range(40)
        )
        bodies = (fact, f"{front}# Lockers\n\n{fact}\n\n{table}", f"{fact}\n\n{long}" if number < 6 else " \n")
        path.write_text(bodies[number % 3], "utf-8")
    if count > 6:
        paths += [place / "open.py", place / "meeting.vtt"]
        paths[-2].write_text("def open(locker: int) -> int:\n    return 7919 * locker\n")
        paths[-1].write_text("WEBVTT\n\n00:01.000 --> 00:04.000\nAma: The group met about the locker in Tema.\n")
    return paths


async def _processed(services: Services, paths: Sequence[Path]) -> dict[str, str]:
    """Upload the files while nobody works, then have all of them processed; their ids by name."""
    added = {path.name: (await services.resources.add_file(services.local_owner, path)).id for path in paths}
    services.workers.start()
    await services.workers.drain()
    await services.workers.stop()
    return added


async def _stored(services: Services, ids: dict[str, str]) -> dict[str, Any]:
    """What SQL and the index hold of the files, without ids and times."""
    found: dict[str, Any] = {}
    database, names = services.resources.repository._database, [*_SAME, *_SAME_TOO]  # pyright: ignore[reportPrivateUsage]
    for name, one in ids.items():
        row = (await database.rows(sa.select(resources).where(resources.c.id == one)))[0]
        passages = sa.select(chunks).where(chunks.c.resource_id == one).order_by(chunks.c.ordinal)
        read = sa.select(elements.c.data).where(elements.c.resource_id == one).order_by(elements.c.ordinal)
        timeline = sa.select(resource_events).where(resource_events.c.resource_id == one).order_by(resource_events.c.id)
        mine = Filter(owner_id=services.local_owner, resource_ids=(one,))
        found[name] = {
            "row": {column: row[column] for column in names},
            "elements": [element["data"] for element in await database.rows(read)],
            "chunks": [
                {key: value for key, value in dict(chunk).items() if key not in ("id", "resource_id", "owner_id")}
                for chunk in await database.rows(passages)
            ],
            "events": [(event["status"], event["details"]) for event in await database.rows(timeline)],
            "points": await services.resources.indexes.active.store.count(mine),
            "facts": (await services.resources.repository.get(services.local_owner, one)).metadata,
        }
    return found


async def test_texts_read_together_become_what_each_becomes_alone(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: type[_Embedder]
) -> None:
    paths, groups = _notes(tmp_path / "notes"), list[int]()
    run = ShortFiles.run

    async def counted(self: ShortFiles, jobs: Sequence[Job]) -> list[Job]:
        groups.append(len(jobs))
        return await run(self, jobs)

    monkeypatch.setattr(ShortFiles, "run", counted)
    async with folder("together") as services:
        together = await _stored(services, await _processed(services, paths))
    calls = embedder.calls
    assert max(groups) > len(paths) // 2

    async def alone(self: Workers, first: Job, _: ShortFiles) -> Sequence[Stage]:
        return await self._attempt(first)  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(Workers, "_together", alone)
    async with folder("alone") as services:
        assert together == await _stored(services, await _processed(services, paths))
    assert calls < embedder.calls - calls  # one batch for many files


async def test_one_text_that_ends_the_parser_takes_no_other_with_it(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ParserPool.__init__.__kwdefaults__ or {}, "entry", "tests.ingest.nasty:read_or_die")
    paths = _notes(tmp_path / "notes", 5)
    paths[2] = paths[2].rename(paths[2].with_name("die.md"))
    async with folder("data") as services:
        ids = await _processed(services, paths)
        stored = await _stored(services, ids)
    ended = {name: (one["row"]["status"], one["row"]["error_code"]) for name, one in stored.items()}
    assert ended.pop("die.md") == ("failed", "parser_crashed")
    assert set(ended.values()) == {("indexed", None)}


async def test_texts_whose_embedder_fails_once_are_all_indexed(
    folder: Folder, tmp_path: Path, embedder: type[_Embedder]
) -> None:
    embedder.failures = 1
    async with folder("data") as services:
        stored = await _stored(services, await _processed(services, _notes(tmp_path / "notes", 5)))
    assert {one["row"]["status"] for one in stored.values()} == {"indexed"}
    assert all(len(one["chunks"]) == one["points"] for one in stored.values())


async def test_a_text_deleted_among_others_leaves_no_point(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, deleted = ShortFiles._write, list[str]()  # pyright: ignore[reportPrivateUsage]

    async with folder("data") as services:

        async def written(self: ShortFiles, files: Sequence[Any], new: Sequence[Any]) -> None:
            await write(self, files, new)
            if not deleted:
                deleted.append(files[0].job.resource_id)
                await services.resources.delete(services.local_owner, deleted[0])
                await write(self, files, new)  # as if the deletion had come a moment earlier

        monkeypatch.setattr(ShortFiles, "_write", written)
        ids = await _processed(services, _notes(tmp_path / "notes", 5))
        left = {name: one for name, one in ids.items() if one != deleted[0]}
        mine = Filter(owner_id=services.local_owner, resource_ids=(deleted[0],))
        assert await services.resources.indexes.active.store.count(mine) == 0
        stored = await _stored(services, left)
    assert {one["row"]["status"] for one in stored.values()} == {"indexed"}


async def test_a_text_that_is_something_else_gets_its_own_reader(folder: Folder, tmp_path: Path) -> None:
    paths = _notes(tmp_path / "notes", 4)
    page = tmp_path / "notes" / "page.txt"
    page.write_text("<!doctype html><html><body><h1>Lockers</h1><p>The code is 4711.</p></body></html>")
    table = tmp_path / "notes" / "paid.csv"
    table.write_text("month,paid\n" + "\n".join(f"month {n},{n}" for n in range(20)))
    async with folder("data") as services:
        stored = await _stored(services, await _processed(services, [*paths, page, table]))
    assert stored["page.txt"]["row"]["type"] == "html"
    assert stored["paid.csv"]["row"]["status"] == "analyzed"
    assert {one["row"]["status"] for name, one in stored.items() if name != "paid.csv"} == {"indexed"}


async def test_html_inside_markdown_is_not_read_beside_other_files(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, run = list[Stage](), ShortFiles.run

    async def noted(self: ShortFiles, jobs: Sequence[Job]) -> list[Job]:
        remaining = await run(self, jobs)
        left.extend(job.stage for job in remaining)
        return remaining

    monkeypatch.setattr(ShortFiles, "run", noted)
    page = tmp_path / "page.md"
    page.write_text("# Lockers\n\n<div><p>The code of the locker is 4711.</p></div>\n")
    async with folder("data") as services:
        stored = await _stored(services, await _processed(services, [*_notes(tmp_path / "notes", 2), page]))
    assert left == [Stage.EXTRACT]
    assert stored["page.md"]["row"]["status"] == "indexed"
    assert "4711" in "".join(stored["page.md"]["elements"])


def test_the_types_leased_together_are_those_of_the_readers_that_may_run() -> None:
    types = {known.mime_type for known in FORMATS.values() if known.extractor in READERS}
    assert types == set(SHORT_TYPES)
