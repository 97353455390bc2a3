"""A library in other languages than English gets an index whose model reads them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from citewell.client import connect
from citewell.composition import Services, languages, open_services
from citewell.settings import load_settings
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.vectors.indexes import IndexState
from citewell.types import SearchRequest
from tests.indexes.waiting import until_whole

RECORDS = [{"id": str(n), "text": f"Die {word} steht im Raum {n}."} for n, word in enumerate(["Lampe", "Truhe"])]
OTHER = "multilingual-e5-small"


class Library:
    """A server that is started again and again; `files` by language are those that it then finds."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.files: dict[str, int] = {}
        self.looks = 0
        look = languages.LanguageWatch.look

        async def watched(watch: languages.LanguageWatch) -> None:
            await look(watch)
            self.looks += 1

        async def counted(_: ResourceRepository) -> dict[str, int]:
            return self.files

        monkeypatch.setattr(languages, "MODEL_NAME", "default")
        monkeypatch.setattr(languages.LanguageWatch, "look", watched)
        monkeypatch.setattr(ResourceRepository, "languages", counted)

    async def models(self, files: dict[str, int], **settings: str) -> dict[str, IndexState]:
        """The state of each model's index after a start with these files."""
        self.files, self.looks = files, 0
        async with open_services(load_settings(data=self.folder, workers=0, **settings)) as services:
            await services.resources.add_records(services.local_owner, RECORDS)
            async with asyncio.timeout(60):
                while not self.looks:  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0.02)
            await until_whole(services)
            assert await _found(services, "Lampe") == "0"
            return {
                one.fingerprint.split("/")[1]: one.state for one in await services.indexes.list(services.local_owner)
            }


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    return Library(tmp_path, monkeypatch)


async def _found(services: Services, query: str) -> str | None:
    found = await services.search.search(SearchRequest(owner_id=services.local_owner, query=query, top_k=1))
    return found.hits[0].record_id if found.hits else None


async def test_a_new_library_in_another_language_starts_with_it_and_keeps_it(library: Library) -> None:
    assert await library.models({}) == {"default": IndexState.ACTIVE}
    assert await library.models({"de": 1}) == {OTHER: IndexState.ACTIVE}
    assert await library.models({"de": 1, "en": 9}) == {OTHER: IndexState.ACTIVE}


async def test_one_file_in_ten_is_enough(library: Library) -> None:
    assert await library.models({"en": 19, "de": 1}) == {"default": IndexState.ACTIVE}
    assert await library.models({"en": 2, "de": 1}) == {"default": IndexState.ACTIVE}
    assert await library.models({"en": 18, "de": 2}) == {OTHER: IndexState.ACTIVE}


async def test_a_large_library_keeps_its_model(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "MAX_UNASKED_CHUNKS", -1)
    assert await library.models({"en": 1, "de": 5}) == {"default": IndexState.ACTIVE}


@pytest.mark.parametrize(("files", "policy"), [({"en": 90, "de": 4, "th": 2}, "free"), ({"de": 6}, "ask")])
async def test_from_six_files_on_it_is_offered_with_its_reason(
    library: Library, files: dict[str, int], policy: str
) -> None:
    offered = {"default": IndexState.ACTIVE, OTHER: IndexState.OFFERED}
    assert await library.models(files, index_build=policy) == offered
    async with open_services(load_settings(data=library.folder, workers=0, index_build=policy)) as services:
        async with asyncio.timeout(60):
            while not services.health.changes:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
        (change,) = services.health.changes
        assert str(change).startswith("6 files are in languages that default does not read (de")
        record = await services.indexes.get(services.local_owner, change.index_id)
        estimate = await services.indexes.estimate(services.local_owner, record.settings)
        assert estimate.seconds > 0
        assert estimate.megabytes > 0
        await services.indexes.change(services.local_owner, record.id, {}, paused=False)
        await services.indexes.migration.wait(record.id)
        assert services.search.indexes.active.record.id == record.id


async def test_an_index_that_the_settings_name_is_left_alone(library: Library) -> None:
    assert await library.models({"de": 9}, embedding_model="default") == {"default": IndexState.ACTIVE}


@pytest.mark.full
async def test_an_uploaded_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "MODEL_NAME", "default")
    german = b"Die Lampe steht in der Halle und wird nicht ohne den Hausmeister eingeschaltet."
    async with connect(load_settings(data=tmp_path)) as client:
        (await client.post("/ingest", files={"file": ("lampe.txt", german)})).raise_for_status()
        async with asyncio.timeout(120):
            while OTHER not in (await client.get("/indexes")).text:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.1)
