"""A model or a store that is newly configured never starts empty: the old index answers until the new one is complete."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citewell.adapters import registry
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.client import connect
from citewell.composition import Services, open_services
from citewell.composition.recorded import settings_of
from citewell.errors import ConfigurationError, Unavailable
from citewell.ports import Capability, Embedder, Fingerprint, VectorIndex
from citewell.ports.remote_vectors import OpenedVectors
from citewell.settings import EmbeddingSettings, PgvectorStore, RemoteEmbedding, Settings, StoreSettings, load_settings
from citewell.storage.vectors.indexes import IndexState
from citewell.testing.embedder import HashEmbedder
from citewell.types import SearchRequest

pytestmark = pytest.mark.full

RECORDS = [{"id": str(n), "text": f"Lamp number{n} is kept in room {n}."} for n in range(40)]


class ElsewhereStores:
    """Stands in for a server of vectors: each address is a folder, which can be taken away."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.is_up = True
        self._edge = registry.open_index
        monkeypatch.setattr(registry, "open_index", self._open)

    async def _open(self, settings: StoreSettings, fingerprint: Fingerprint) -> VectorIndex | OpenedVectors:
        if not isinstance(settings, PgvectorStore):
            return await self._edge(settings, fingerprint)
        if not self.is_up:
            raise Unavailable("The server of vectors does not answer.")
        edge = load_settings(data=self.folder / str(hash(settings.dsn))).store
        return await self._edge(edge, fingerprint)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ElsewhereStores:
    return ElsewhereStores(tmp_path / "elsewhere", monkeypatch)


def _settings(tmp_path: Path, **values: Any) -> Settings:
    return load_settings(data=tmp_path / "data", workers=0, **values)


def _moved(tmp_path: Path, **values: Any) -> Settings:
    url = "postgresql://citewell:secret@elsewhere/vectors"
    return _settings(tmp_path, vector_store="pgvector", pgvector_url=url, **values)


async def _fill(settings: Settings) -> None:
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, RECORDS)


async def _found(services: Services, number: int) -> bool:
    request = SearchRequest(owner_id=services.local_owner, query=f"lamp number{number}", top_k=5)
    return str(number) in {hit.record_id for hit in (await services.search.search(request)).hits}


async def _until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - as a user would look
            await asyncio.sleep(0.01)


def _active(services: Services) -> tuple[str, str]:
    record = services.search.indexes.active.record
    return record.fingerprint, record.store


async def test_a_new_store_is_filled_beside_the_old_one_which_answers_until_it_is_complete(
    tmp_path: Path, elsewhere: ElsewhereStores
) -> None:
    await _fill(_settings(tmp_path))
    async with open_services(_moved(tmp_path)) as services:
        assert _active(services) == ("hash/default/64", "edge")
        assert await _found(services, 7)
        await services.resources.add_records(services.local_owner, [{"id": "99", "text": "lamp number99 is new"}])
        await _until(lambda: _active(services)[1] == "pgvector")
        assert all([await _found(services, number) for number in range(0, 40, 7)])
        assert await services.search.indexes.active.store.count() == 41
        # The former one takes writes, so it is the way back.
        before, after = await services.indexes.list(services.local_owner)
        assert (before.state, after.state) == (IndexState.RETIRED, IndexState.ACTIVE)
        assert "secret" not in json.dumps(after.settings) + after.place
        await services.resources.add_records(services.local_owner, [{"id": "100", "text": "lamp number100 is later"}])
        await services.indexes.switch(services.local_owner, before.id)
        assert await _found(services, 99)
    # Configured again after that: the old store is whole, and answers from the start.
    async with open_services(_settings(tmp_path)) as services:
        assert _active(services)[1] == "edge"
        assert not services.search.indexes.changes
        assert await services.search.indexes.active.store.count() == 42


async def test_an_old_store_that_is_gone_leaves_answers_by_words_with_a_notice(
    tmp_path: Path, elsewhere: ElsewhereStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(_moved(tmp_path))
    elsewhere.is_up = False
    gate = asyncio.Event()
    embed = HashEmbedder.embed

    async def held(self: HashEmbedder, texts: Any, kind: Any = "document") -> Any:
        if kind == "document":
            await gate.wait()
        return await embed(self, texts, kind)

    monkeypatch.setattr(HashEmbedder, "embed", held)
    async with connect(_settings(tmp_path, embedding_model="other")) as client:
        async with asyncio.timeout(60):
            found: dict[str, Any] = {"hits": []}
            while not found["hits"]:
                await asyncio.sleep(0.02)
                found = (await client.post("/search", json={"query": "lamp number7", "top_k": 3})).json()
        assert "number7" in found["hits"][0]["text"]
        assert "pgvector cannot be opened (The server of vectors does not answer)" in found["notice"]
        assert "by keyword only" in found["notice"]
        ready = (await client.get("/ready")).json()
        assert (ready["ready"], ready["rebuilding"]["total"]) == (True, 40)
        gate.set()
        async with asyncio.timeout(60):
            while (await client.get("/ready")).json()["rebuilding"] is not None:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
        states = {index["store"]: index["state"] for index in (await client.get("/indexes")).json()["indexes"]}
        assert states == {"pgvector": "retired", "edge": "active"}
    # It is back, and has missed what was done meanwhile: it is filled again before it may answer.
    elsewhere.is_up = True
    async with open_services(_settings(tmp_path, embedding_model="other")) as services:
        await services.resources.add_records(services.local_owner, [{"id": "99", "text": "lamp number99 is new"}])
        old = next(index for index in services.search.indexes.all if index.record.store == "pgvector")
        await services.indexes.migration.wait(old.record.id)
        assert await old.store.count() == 41


async def test_a_model_whose_key_is_gone_is_searched_by_words_until_the_new_one_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(_settings(tmp_path, embedding_model="gone"))

    def build(settings: EmbeddingSettings) -> Embedder:
        if settings.model == "gone":
            raise ConfigurationError("There is no key.")
        return HashEmbedder(settings.model or "default", 32)

    monkeypatch.setattr(registry, "build_embedder", build)
    async with open_services(_settings(tmp_path, embedding_model="other", index_build="ask")) as services:
        (offered,) = services.search.indexes.changes
        assert offered.state is IndexState.OFFERED
        request = SearchRequest(owner_id=services.local_owner, query="lamp number7", top_k=3)
        found = await services.search.search(request)
        assert found.hits[0].record_id == "7"
        assert "by keyword only" in (found.notice or "")
        await services.resources.add_records(services.local_owner, [{"id": "99", "text": "lamp number99 is new"}])
        assert await _found(services, 99)
        await services.indexes.change(services.local_owner, offered.index_id, {}, False)
        await _until(lambda: _active(services) == ("hash/other/32", "edge"))
        assert (await services.search.search(request)).notice is None
        assert await _found(services, 99)


async def test_what_costs_money_is_offered_with_its_estimate_and_starts_when_somebody_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(_settings(tmp_path))
    paid = _settings(
        tmp_path, embedding_provider="openai", openai_api_key="sk-test", embedding_model="text-embedding-3-small"
    )
    async with connect(paid) as client:
        ready = (await client.get("/ready")).json()
        (offered,) = ready["changing"]
        assert (offered["state"], offered["done"]) == ("offered", 0)
        assert "costs money" in ready["parts"]["index"]["note"]
        assert (await client.post("/search", json={"query": "lamp number7"})).json()["hits"]
        asked = {"provider": "openai", "model": "text-embedding-3-small"}
        estimate = (await client.post("/indexes/estimate", json=asked)).json()
        assert (estimate["texts"], estimate["tokens"] > 40) == (40, True)
        started = await client.patch(f"/indexes/{offered['index_id']}", json={"paused": False})
        assert started.json()["state"] == "building"
        async with asyncio.timeout(60):
            while (await client.get("/ready")).json()["changing"]:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
        indexes = (await client.get("/indexes")).json()["indexes"]
        assert [(index["store"], index["state"]) for index in indexes] == [("edge", "retired"), ("edge", "active")]
    # Configured back before anything was built: the offer is withdrawn.
    other = _settings(tmp_path, embedding_model="third", index_build="ask")
    async with open_services(other) as services:
        assert len(services.search.indexes.changes) == 1
    async with open_services(paid) as services:
        assert not services.search.indexes.changes
        assert len(await services.indexes.list(services.local_owner)) == 2


async def test_a_build_whose_vectors_are_lost_between_two_starts_begins_again(tmp_path: Path) -> None:
    await _fill(_settings(tmp_path))
    slow = {"provider": "builtin", "model": "other"}
    async with connect(_settings(tmp_path)) as client:
        made = (await client.post("/indexes", json={**slow, "pause_seconds": 60})).json()
        async with asyncio.timeout(60):
            while not (await client.get(f"/indexes/{made['id']}")).json()["progress"]:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
    shutil.rmtree(next(path for path in (tmp_path / "data" / "indexes").iterdir() if "other" in path.name))
    async with open_services(_settings(tmp_path)) as services:
        await services.indexes.change(services.local_owner, made["id"], {"pause_seconds": 0.0}, None)
        index = services.search.indexes.find(made["id"])
        assert index is not None
        async with asyncio.timeout(60):
            while await index.store.count() < 40:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)


def test_an_address_that_is_set_belongs_to_the_model_that_is_asked_for_unless_it_is_another_vendors(
    tmp_path: Path,
) -> None:
    local = "http://127.0.0.1:11434/v1"
    asked = {"provider": "openai", "model": "nomic-embed-text", "dimensions": 768}

    def address(**values: Any) -> str | None:
        embedding = settings_of(_settings(tmp_path, embedding_base_url=local, **values), asked).embedding
        assert isinstance(embedding, RemoteEmbedding)
        return embedding.base_url

    assert address() == local
    assert address(embedding_provider="voyage", voyage_api_key="key") is None


@pytest.mark.parametrize("has_words", [True, False])
async def test_a_store_without_search_by_words_is_named_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, has_words: bool
) -> None:
    if not has_words:
        declared = frozenset({Capability.FILTERS, Capability.PERSISTENT})
        monkeypatch.setattr(QdrantEdgeIndex, "capabilities", declared)
    async with open_services(load_settings(data=tmp_path, workers=0)):
        pass
    said = [one.getMessage() for one in caplog.records if "no search by words" in one.getMessage()]
    assert [("edge" in one) for one in said] == ([] if has_words else [True])
