"""Changing the model: the old index answers until the switch, nothing is lost, and one can go back; also across restarts."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from citewell.client import connect
from citewell.composition import Services, open_services
from citewell.errors import Conflict, NotFound
from citewell.features.indexes.comparing import IndexComparison, IndexHits, QueryComparison, side_figures
from citewell.settings import load_settings
from citewell.storage.vectors.indexes import BuildOptions, IndexState
from citewell.types import Chunk, ChunkType, Hit, Locator, Scores, SearchRequest
from tests.indexes.waiting import until_whole

RECORDS = [
    {"id": str(n), "text": f"The {word} is kept in room {n}."} for n, word in enumerate(["lamp", "globe", "harp"])
]
OTHER = {"provider": "builtin", "model": "other", "dimensions": 32}


async def _found(services: Services, query: str) -> str | None:
    found = await services.search.search(SearchRequest(owner_id=services.local_owner, query=query, top_k=1))
    return found.hits[0].record_id if found.hits else None


async def _migrated(services: Services) -> str:
    record = await services.indexes.build(services.local_owner, OTHER)
    await services.indexes.migration.wait(record.id)
    return record.id


async def test_build_compare_switch_and_roll_back(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
        before = services.search.indexes.active
        other = await _migrated(services)
        assert services.search.indexes.active is before
        compared = await services.indexes.compare(services.local_owner, other, ["lamp", "harp"], 1)
        assert [c.overlap for c in compared.queries] == [1.0, 1.0]

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


@pytest.mark.full
async def test_two_indexes_are_compared_over_what_was_asked_and_cited(tmp_path: Path) -> None:
    async with connect(load_settings(data=tmp_path, workers=0)) as client:
        (await client.post("/records", json={"records": RECORDS})).raise_for_status()
        cited = []
        for question in ("Where is the lamp kept?", "Where is the harp kept?", "Where is the harp kept?"):
            answer = (await client.post("/chat", json={"message": question})).json()
            cited.append({citation["chunk_id"] for citation in answer["citations"]})
        made = (await client.post("/indexes", json=OTHER)).json()
        async with asyncio.timeout(60):
            while (await client.get(f"/indexes/{made['id']}")).json()["state"] != "ready":  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
        found = (await client.post(f"/indexes/{made['id']}/compare", json={})).json()
        assert [one["query"] for one in found["queries"]] == ["Where is the harp kept?", "Where is the lamp kept?"]
        assert [set(one["cited"]) for one in found["queries"]] == [cited[2], cited[0]]
        assert all(cited)
        assert found["judged"] == 2
        for side in (found["active"], found["candidate"]):
            assert 0 < side["ndcg"] <= 1
            assert side["milliseconds"] > 0
            assert side["dollars"] == 0  # both models are on this machine
        for changed in found["changed"]:
            assert any(passage["is_cited"] for passage in changed["active"])
        # What is deleted can be cited no more.
        for resource in (await client.get("/resources")).json()["resources"]:
            await client.delete(f"/resources/{resource['id']}")
        empty = (await client.post(f"/indexes/{made['id']}/compare", json={})).json()
        assert (empty["queries"], empty["active"]["ndcg"]) == ([], None)


def _hit(key: str) -> Hit:
    chunk = Chunk(
        id=key, owner_id="ada", resource_id="r", version=1, ordinal=0, type=ChunkType.TEXT, text=key, context="",
        locator=Locator(), pieces=(), token_count=1, metadata={},
    )  # fmt: skip
    return Hit(chunk=chunk, filename="a.txt", score=1.0, scores=Scores())


def test_the_questions_that_change_most_come_first() -> None:
    def compared(name: str, ours: str, theirs: str, cited: str = "") -> QueryComparison:
        sides = [IndexHits(tuple(map(_hit, side)), 1.0) for side in (ours, theirs)]
        return QueryComparison(query=name, ours=sides[0], theirs=sides[1], cited=tuple(cited))

    queries = (
        compared("same", "abc", "abc", "a"),
        compared("below", "abcd", "abdc", "b"),
        compared("top", "abcd", "bacd"),
        compared("all", "abc", "xyz", "a"),
    )
    ours = side_figures(queries, [one.ours for one in queries], 10, 0.0)
    theirs = side_figures(queries, [one.theirs for one in queries], 10, 0.0)
    found = IndexComparison(queries=queries, ours=ours, theirs=theirs, cutoff=10)
    assert [one.query for one in found.changed] == ["all", "top", "below"]
    assert [one.change for one in (queries[0], queries[3])] == [0.0, 1.0]
    assert (found.judged, found.overlap) == (3, 0.75)
    second = 1 / math.log2(3)
    assert ours.ndcg == pytest.approx((1 + second + 1) / 3, abs=1e-4)
    assert theirs.ndcg == pytest.approx((1 + second + 0) / 3, abs=1e-4)


async def test_the_switch_survives_a_restart_and_the_other_index_stays_up_to_date(tmp_path: Path) -> None:
    settings = load_settings(data=tmp_path, workers=0)
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
        await services.indexes.switch(services.local_owner, await _migrated(services))
    async with open_services(settings) as services:
        assert services.search.indexes.active.embedder.fingerprint.model == "other"
        assert len(services.search.indexes.all) == 2
        assert await _found(services, "lamp") == "0"


@pytest.mark.full
async def test_a_changed_setting_builds_beside_and_switches_when_the_new_index_is_complete(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
    changed = load_settings(data=tmp_path, workers=0, embedding_model="newer")
    async with open_services(changed) as services:
        assert services.search.indexes.active.embedder.fingerprint.model == "default"
        assert await _found(services, "harp") == "2"
        newer = next(i for i in services.search.indexes.all if i.embedder.fingerprint.model == "newer")
        await services.indexes.migration.wait(newer.record.id)
        records = await services.indexes.list(services.local_owner)
        assert {r.fingerprint: r.state for r in records} == {
            "hash/default/64": IndexState.RETIRED,
            "hash/newer/64": IndexState.ACTIVE,
        }
        assert await newer.store.count() == 3
        assert await _found(services, "harp") == "2"
        # Rolled back by hand: the next start does not switch again, as nothing has been configured since.
        await services.indexes.switch(services.local_owner, records[0].id)
    async with open_services(changed) as services:
        assert services.search.indexes.active.embedder.fingerprint.model == "default"
    # Configured again: what has stayed open is whole, so it answers at once.
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        await services.indexes.switch(services.local_owner, newer.record.id)
    async with open_services(changed) as services:
        assert services.search.indexes.active.embedder.fingerprint.model == "newer"


@pytest.mark.full
@pytest.mark.parametrize("damaged", ["*", "current"])
async def test_a_damaged_index_is_set_aside_and_filled_again_from_sql(tmp_path: Path, damaged: str) -> None:
    settings = load_settings(data=tmp_path, workers=0)
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
    folder = next((tmp_path / "indexes").iterdir())
    for path in folder.rglob(damaged):
        if path.is_file():
            path.write_bytes(b"\xffdamaged")
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
        slow = await services.indexes.build(services.local_owner, OTHER, BuildOptions(pause_seconds=30.0))
        with pytest.raises(Conflict, match="being built"):
            await services.indexes.switch(services.local_owner, slow.id)
        await services.indexes.delete(services.local_owner, slow.id)
        assert len(await services.indexes.list(services.local_owner)) == 1
        with pytest.raises(NotFound):
            await services.indexes.list("somebody else")
