"""Changing the model: the old index answers until the switch, nothing is lost, and one can go back; also across restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.composition import Services, open_services
from citewell.errors import Conflict, NotFound
from citewell.settings import load_settings
from citewell.storage.indexes import IndexState
from citewell.types import SearchRequest
from tests.indexes.waiting import until_whole

RECORDS = [
    {"id": str(n), "text": f"The {word} is kept in room {n}."} for n, word in enumerate(["lamp", "globe", "harp"])
]
OTHER = {"provider": "builtin", "model": "other", "dimensions": 32}


async def _found(services: Services, query: str) -> str | None:
    found = await services.search.search(SearchRequest(owner_id=services.local_owner, query=query, top_k=1))
    return found.hits[0].record_id if found.hits else None


async def _migrated(services: Services) -> str:
    record = await services.indexes.build(services.local_owner, OTHER, 0.0)
    await services.indexes.migration.wait(record.id)
    return record.id


async def test_build_compare_switch_and_roll_back(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
        before = services.search.indexes.active
        other = await _migrated(services)
        assert services.search.indexes.active is before
        compared = await services.indexes.compare(services.local_owner, other, ["lamp", "harp"], 1)
        assert [c.overlap for c in compared] == [1.0, 1.0]

        judging = services.search.indexes.embedder
        assert judging.fingerprint.model == "default"
        await services.indexes.switch(services.local_owner, other)
        assert services.search.indexes.active.embedder.fingerprint.model == judging.fingerprint.model == "other"
        await services.resources.add_records(
            services.local_owner, [{"id": "new", "text": "The violin is in the hall."}]
        )
        assert await _found(services, "violin") == "new"
        assert await _found(services, "globe") == "1"

        await services.indexes.switch(services.local_owner, before.record.id)
        assert services.search.indexes.active is before
        assert await _found(services, "violin") == "new"


async def test_the_switch_survives_a_restart_and_the_other_index_stays_up_to_date(tmp_path: Path) -> None:
    settings = load_settings(data=tmp_path, workers=0)
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
        await services.indexes.switch(services.local_owner, await _migrated(services))
    async with open_services(settings) as services:
        assert services.search.indexes.active.embedder.fingerprint.model == "other"
        assert len(services.search.indexes.all) == 2
        assert await _found(services, "lamp") == "0"


async def test_a_changed_setting_builds_beside_instead_of_destroying(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
    changed = load_settings(data=tmp_path, workers=0, embedding_model="newer")
    async with open_services(changed) as services:
        assert services.search.indexes.active.embedder.fingerprint.model == "default"
        assert await _found(services, "harp") == "2"
        newer = next(i for i in services.search.indexes.all if i.embedder.fingerprint.model == "newer")
        await services.indexes.migration.wait(newer.record.id)
        records = await services.indexes.list(services.local_owner)
        assert {r.state for r in records} == {IndexState.ACTIVE, IndexState.READY}
        assert await newer.store.count() == 3


async def test_a_damaged_index_is_set_aside_and_filled_again_from_sql(tmp_path: Path) -> None:
    settings = load_settings(data=tmp_path, workers=0)
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
    folder = next((tmp_path / "indexes").iterdir())
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    async with open_services(settings) as services:
        await until_whole(services)
        assert await _found(services, "lamp") == "0"
        assert await services.search.indexes.active.store.count() == 3
        assert folder.with_name(folder.name + ".damaged").exists()


async def test_only_a_finished_index_can_answer_and_the_active_one_stays(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
        active = services.search.indexes.active.record.id
        with pytest.raises(Conflict):
            await services.indexes.delete(services.local_owner, active)
        slow = await services.indexes.build(services.local_owner, OTHER, 30.0)
        with pytest.raises(Conflict, match="being built"):
            await services.indexes.switch(services.local_owner, slow.id)
        await services.indexes.delete(services.local_owner, slow.id)
        assert len(await services.indexes.list(services.local_owner)) == 1
        with pytest.raises(NotFound):
            await services.indexes.list("somebody else")
