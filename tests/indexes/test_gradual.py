"""Moving while searches and uploads go on: gradually, paused, limited, and to an index that answers for one project alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from citewell import AsyncCitewell
from citewell.agent.interface import Done
from citewell.client import connect
from citewell.composition import Services, open_services
from citewell.errors import Conflict, NotFound, Unavailable
from citewell.features.chat.service import ChatRequest
from citewell.indexes import copying
from citewell.settings import load_settings
from citewell.storage.vectors.indexes import BuildMode, BuildOptions, IndexState
from citewell.testing.embedder import HashEmbedder
from citewell.types import ResourceFilter, SearchOptions, SearchRequest

RECORDS = [{"id": str(n), "text": f"Lamp number{n} is kept in room {n}."} for n in range(30)]
OTHER = {"provider": "builtin", "model": "other", "dimensions": 32}
GRADUAL = BuildOptions(mode=BuildMode.GRADUAL, switch=True)


@pytest.fixture
async def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Services]:
    """With 30 records, and builds that take four files at a time."""
    monkeypatch.setattr(copying, "_CHUNKS", 4)
    async with open_services(load_settings(data=tmp_path / "data", workers=0)) as opened:
        await opened.resources.add_records(opened.local_owner, RECORDS)
        yield opened


async def _found(services: Services, number: int) -> bool:
    request = SearchRequest(owner_id=services.local_owner, query=f"lamp number{number}", top_k=5)
    return str(number) in {hit.record_id for hit in (await services.search.search(request)).hits}


async def _progress(services: Services, index_id: str, least: int) -> None:
    async with asyncio.timeout(60):
        while (await services.indexes.get(services.local_owner, index_id)).progress < least:  # noqa: ASYNC110 - as a user would look
            await asyncio.sleep(0.01)


async def test_a_gradual_build_answers_from_both_until_the_last_file_has_moved(services: Services) -> None:
    owner = services.local_owner
    record = await services.indexes.build(owner, OTHER, BuildOptions(mode=BuildMode.GRADUAL, pause_seconds=60))
    await _progress(services, record.id, 4)
    async with asyncio.timeout(60):
        while services.search.indexes.gradual is None:  # noqa: ASYNC110 - it is noted right after the progress
            await asyncio.sleep(0.01)
    request = SearchRequest(owner_id=owner, query="lamp number3", top_k=5, options=SearchOptions(debug=True))
    details = (await services.search.search(request)).trace.details
    assert isinstance(details["indexes"], list)
    assert len(details["indexes"]) == 2
    assert all([await _found(services, number) for number in range(30)])
    await services.resources.add_records(owner, [{"id": "99", "text": "Lamp number99 is new."}])
    assert await _found(services, 99)
    with pytest.raises(Conflict):
        await services.indexes.switch(owner, record.id)
    paused = await services.indexes.change(owner, record.id, {"pause_seconds": 0.0, "switch": True}, True)
    assert (paused.paused, paused.state) == (True, IndexState.BUILDING)
    assert await _found(services, 17)
    await services.indexes.change(owner, record.id, {}, False)
    await services.indexes.migration.wait(record.id)
    assert services.search.indexes.active.record.id == record.id
    assert (services.search.indexes.gradual, services.search.indexes.changes) == (None, ())
    assert all([await _found(services, number) for number in [*range(30), 99]])
    assert {await index.store.count() for index in services.search.indexes.all} == {31}


@pytest.mark.full
async def test_what_is_deleted_or_replaced_while_it_is_copied_is_gone_from_both(services: Services) -> None:
    owner = services.local_owner
    write, changed = copying.write_indexed, asyncio.Event()

    async def late(*arguments: object, **more: object) -> None:
        if not changed.is_set():
            changed.set()
            page, _ = await services.resources.page(owner, ResourceFilter(), 5, None)
            for resource in page:
                await services.resources.delete(owner, resource.id)
            await services.resources.add_records(owner, [{"id": "7", "text": "Lamp number7 was moved to the cellar."}])
        await write(*arguments, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copying, "write_indexed", late)
        record = await services.indexes.build(owner, OTHER, GRADUAL)
        await services.indexes.migration.wait(record.id)
    counts = {await index.store.count() for index in services.search.indexes.all}
    assert counts == {await services.health.content.count_chunks()}


@pytest.mark.full
async def test_a_build_goes_on_where_it_was_and_embeds_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_CHUNKS", 4)
    settings = load_settings(data=tmp_path / "data", workers=0)
    embedded: list[str] = []
    embed = HashEmbedder.embed

    async def noted(self: HashEmbedder, texts: list[str], kind: str = "document") -> object:
        if self.fingerprint.model == "other" and kind == "document":
            embedded.extend(texts)
        return await embed(self, texts, kind)  # type: ignore[arg-type]

    monkeypatch.setattr(HashEmbedder, "embed", noted)
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, RECORDS)
        slow = BuildOptions(mode=BuildMode.GRADUAL, switch=True, pause_seconds=60)
        record = await services.indexes.build(services.local_owner, OTHER, slow)
        await _progress(services, record.id, 4)
    for least in (8, 12):
        async with open_services(settings) as services:
            await _progress(services, record.id, least)
            assert services.search.indexes.gradual is not None
    async with open_services(settings) as services:
        await _progress(services, record.id, 16)
        await services.indexes.change(services.local_owner, record.id, {"pause_seconds": 0.0}, True)
        await services.indexes.change(services.local_owner, record.id, {}, False)
        await services.indexes.migration.wait(record.id)
        assert services.search.indexes.active.record.id == record.id
        assert await services.search.indexes.active.store.count() == 30
    assert len(embedded) == len(set(embedded)) == 30


@pytest.mark.full
async def test_a_build_pauses_before_it_costs_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "_CHUNKS", 4)
    settings = load_settings(data=tmp_path / "data", workers=0, prices={"text-embedding-3-small": (1e6, 0.0)})
    async with open_services(settings) as services:
        owner = services.local_owner
        await services.resources.add_records(owner, RECORDS)
        paid = {"provider": "openai", "model": "text-embedding-3-small"}
        estimate = await services.indexes.estimate(owner, paid)
        assert estimate.dollars is not None
        limit = estimate.dollars / 2
        record = await services.indexes.build(owner, paid, BuildOptions(max_dollars=limit))
        await services.indexes.migration.wait(record.id)
        stopped = await services.indexes.get(owner, record.id)
        assert (stopped.paused, "its limit is" in stopped.problem) == (True, True)
        assert 0 < stopped.spent <= limit
        assert 0 < stopped.progress < 30
        await services.indexes.change(owner, record.id, {"max_dollars": None}, False)
        await services.indexes.migration.wait(record.id)
        done = await services.indexes.get(owner, record.id)
        assert (done.state, done.problem) == (IndexState.READY, "")
        assert done.spent == pytest.approx(estimate.dollars)


@pytest.mark.full
async def test_a_fresh_build_asks_first_then_answers_by_words_and_leaves_nothing_of_the_old_one(
    tmp_path: Path,
) -> None:
    async with connect(load_settings(data=tmp_path / "data", workers=0)) as client:
        await _add(client, RECORDS)
        refused = await client.post("/indexes", json={**OTHER, "mode": "fresh"})
        assert refused.status_code == 409
        assert "drops the index that answers" in refused.json()["error"]["message"]
        made = (await client.post("/indexes", json={**OTHER, "mode": "fresh", "confirm": True})).json()
        async with asyncio.timeout(60):
            while (index := (await client.get(f"/indexes/{made['id']}")).json())["state"] != "active":
                assert index["state"] == "filling"
                await asyncio.sleep(0.01)
        assert (await client.get("/ready")).json()["rebuilding"] is None
        assert len((await client.get("/indexes")).json()["indexes"]) == 1
        found = (await client.post("/search", json={"query": "lamp number7"})).json()["hits"]
        assert found[0]["record_id"] == "7"
    assert [path.name for path in (tmp_path / "data" / "indexes").iterdir() if "default" in path.name] == []


async def _add(client: httpx.AsyncClient, records: list[dict[str, str]], project: str | None = None) -> None:
    body = {"records": records} | ({} if project is None else {"project": project})
    (await client.post("/records", json=body)).raise_for_status()


@pytest.mark.full
async def test_an_answer_from_several_indexes_names_the_one_that_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncCitewell(tmp_path / "data", workers=0) as library:
        services = library._services  # pyright: ignore[reportPrivateUsage]
        await library.add_texts(RECORDS)
        record = await services.indexes.build(services.local_owner, OTHER)
        await services.indexes.migration.wait(record.id)
        both = [index.record.id for index in services.search.indexes.all]
        assert (await library.ask("Where is lamp number3 kept?", indexes=both)).answered

        async def away(query: object) -> list[object]:
            raise Unavailable("The store does not answer.")

        monkeypatch.setattr(services.search.indexes.all[1].store, "search", away)
        request = ChatRequest(
            owner_id=services.local_owner,
            message="Where is lamp number3 kept?",
            options=SearchOptions(indexes=tuple(both), debug=True),
        )
        done = [event async for event in (await services.chat.begin(request)).events][-1]
        assert isinstance(done, Done)
        assert "room 3" in done.answer.text
        assert record.fingerprint in (done.notice or "")
        assert '"skipped_indexes": ["' + record.fingerprint in json.dumps(dict(done.answer.trace))
        assert record.fingerprint in ((await library.search_result("lamp number3", indexes=both)).notice or "")
        with pytest.raises(Unavailable):
            await library.ask("Where is lamp number3 kept?", indexes=[record.id])
        with pytest.raises(NotFound):
            await library.ask("Where is lamp number3 kept?", indexes=["none"])


@pytest.mark.full
async def test_a_project_is_answered_from_the_index_that_it_has_chosen(tmp_path: Path) -> None:
    async with connect(load_settings(data=tmp_path / "data", workers=0)) as client:
        await _add(client, RECORDS[:10])
        project = (await client.post("/projects", json={"name": "Lights"})).json()
        await _add(client, RECORDS[10:20], "Lights")
        made = (await client.post("/indexes", json=OTHER)).json()
        async with asyncio.timeout(60):
            while (await client.get(f"/indexes/{made['id']}")).json()["state"] != "ready":  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.01)
        unknown = await client.patch(f"/projects/{project['id']}", json={"index": "none"})
        assert unknown.status_code == 422
        changed = await client.patch(f"/projects/{project['id']}", json={"index": made["id"]})
        assert changed.json()["settings"]["index"] == made["id"]

        async def search(query: str, **wishes: object) -> dict[str, object]:
            body = {"query": query, "debug": True, **wishes}
            return (await client.post("/search", json=body)).json()

        inside = await search("lamp number12", project="Lights")
        assert inside["hits"][0]["record_id"] == "12"  # type: ignore[index]
        assert "indexes" not in inside["trace"]["details"]  # type: ignore[index]
        for number in (3, 12):
            everywhere = await search(f"lamp number{number}")
            assert str(number) in [hit["record_id"] for hit in everywhere["hits"]][:2]  # type: ignore[union-attr, index]
            assert len(everywhere["trace"]["details"]["indexes"]) == 2  # type: ignore[index]
        both = [index["id"] for index in (await client.get("/indexes")).json()["indexes"]]
        asked = await search("lamp number3", indexes=both)
        assert [one["found"] > 0 for one in asked["trace"]["details"]["indexes"]] == [True, True]  # type: ignore[index]
        question = {"message": "Where is lamp number3 kept?", "debug": True}
        for wishes, named in (({}, 2), ({"indexes": both}, 2), ({"indexes": [made["id"]]}, 0)):
            answer = (await client.post("/chat", json=question | wishes)).json()
            assert "room 3" in answer["answer"]
            details = answer["trace"]["searches"][0]["details"]
            assert len(details.get("indexes", [])) == named
        for path, body in (("/search", {"query": "lamp"}), ("/chat", question), ("/chat", question | {"stream": True})):
            for indexes, status in (([], 400), ([made["id"]] * 9, 400), ([made["id"], "none"], 404), ("none", 422)):
                assert (await client.post(path, json=body | {"indexes": indexes})).status_code == status
        # An index that is dropped is still the one that the project has named, which changes nothing but what answers.
        (await client.delete(f"/indexes/{made['id']}")).raise_for_status()
        assert (await search("lamp number12", project="Lights"))["hits"][0]["record_id"] == "12"  # type: ignore[index]
        chunking = {"strategy": "tokens", "size": 200, "overlap": 20}
        rules = await client.patch(f"/projects/{project['id']}", json={"chunking": chunking})
        assert (rules.status_code, rules.json()["settings"]["chunking"]) == (200, chunking)
        assert (await client.patch(f"/projects/{project['id']}", json={"index": made["id"]})).status_code == 422
        back = await client.patch(f"/projects/{project['id']}", json={"index": None})
        assert "index" not in back.json()["settings"]
