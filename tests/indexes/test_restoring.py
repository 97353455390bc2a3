"""An index that has lost points, or what they hold: `/ready`, searches and answers say so until it is whole, and work meanwhile."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as qe

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.index.qdrant_edge_folder import ShardFolder
from citewell.client import connect
from citewell.composition import Services, open_services
from citewell.errors import ProviderUnavailable
from citewell.indexes import restoring
from citewell.settings import Settings, load_settings
from citewell.storage.vectors.indexes import IndexState
from citewell.types import SearchRequest
from tests.indexes.waiting import until_whole

pytestmark = pytest.mark.full

RECORDS = 600
TEXTS = [{"id": str(n), "text": f"Lamp number{n} is kept in room {n}."} for n in range(RECORDS)]
OTHER = {"provider": "builtin", "model": "other", "dimensions": 32}


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    """Those of a data folder with 600 records."""
    settings = load_settings(data=tmp_path / "data", workers=0)
    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, TEXTS)
    return settings


def _index(settings: Settings, name: str = "default") -> Path:
    return next(path for path in (settings.data / "indexes").iterdir() if name in path.name)


def _shard(settings: Settings) -> Path:
    current = ShardFolder(_index(settings)).current()
    assert current is not None
    return current


async def _everything(settings: Settings) -> None:
    shutil.rmtree(settings.data / "indexes")


async def _the_pointer(settings: Settings) -> None:
    (_index(settings) / "current").unlink()


async def _the_shard(settings: Settings) -> None:
    shutil.rmtree(_shard(settings))


def _ids(shard: qe.EdgeShard) -> list[str]:
    request = qe.ScrollRequest(limit=RECORDS, with_payload=False, with_vector=False)
    return [str(record.id) for record in shard.scroll(request)[0]]


async def _a_third_of_the_points(settings: Settings) -> None:
    store = await QdrantEdgeIndex.open(_index(settings), 64)
    ids = store._shard.shard.call(_ids)
    await store.delete_ids(ids[::3])
    await store.close()


def _part(*names: str) -> Callable[[Settings], Any]:
    async def lose(settings: Settings) -> None:
        shutil.rmtree(_shard(settings) / "wal")  # from which the engine would mend itself
        for name in names:
            found = list(_shard(settings).glob(f"segments/*/{name}"))
            assert found
            for path in found:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    return lose


LOSSES: dict[str, Callable[[Settings], Any]] = {
    "everything": _everything,
    "the pointer to the shard": _the_pointer,
    "the shard": _the_shard,
    "a third of the points": _a_third_of_the_points,
    "the vectors": _part("vector_storage-dense"),
    "the words": _part("vector_storage-lexical/deleted"),
    "a file without which the shard does not open": _part("payload_storage/page_0.dat"),
}


class Gate:
    """Lets so many batches be written, then makes the next ones wait until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, batches: int) -> None:
        self._left, self._open, self.reached = batches, asyncio.Event(), asyncio.Event()
        for name in ("write_indexed", "rebuild"):
            monkeypatch.setattr(restoring, name, self._held(getattr(restoring, name)))

    def open(self) -> None:
        self._open.set()

    def _held(self, write: Callable[..., Any]) -> Callable[..., Any]:
        async def held(*arguments: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                self.reached.set()
                await self._open.wait()
            return await write(*arguments)

        return held


async def _found(services: Services, number: int) -> bool:
    request = SearchRequest(owner_id=services.local_owner, query=f"lamp number{number}", top_k=3)
    return str(number) in {hit.record_id for hit in (await services.search.search(request)).hits}


@pytest.mark.parametrize("loss", LOSSES)
async def test_what_was_lost_is_told_and_comes_back_while_searches_go_on(
    loss: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await LOSSES[loss](settings)
    gate = Gate(monkeypatch, 0)
    async with connect(settings) as client:
        async with asyncio.timeout(60):
            await gate.reached.wait()
        ready = (await client.get("/ready")).json()
        assert ready["ready"]
        assert 0 <= ready["rebuilding"]["done"] < ready["rebuilding"]["total"] == RECORDS
        assert "being rebuilt" in ready["parts"]["index"]["note"]
        (finding,) = [f for f in (await client.get("/doctor")).json()["findings"] if f["part"] == "index"]
        assert finding["level"] == "note"
        found = await client.post("/search", json={"query": "lamp number7"})
        assert found.status_code == 200
        assert "being rebuilt" in found.json()["notice"]
        answer = (await client.post("/chat", json={"message": "Where is lamp number7 kept?"})).json()
        assert "being rebuilt" in answer["notice"]
        gate.open()
        async with asyncio.timeout(60):
            while (await client.get("/ready")).json()["rebuilding"] is not None:  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
        assert "note" not in (await client.get("/ready")).json()["parts"]["index"]
        assert "notice" not in (await client.post("/search", json={"query": "lamp number7"})).json()
        assert (await client.post("/chat", json={"message": "Where is lamp number7 kept?"})).json()["notice"] is None
    async with open_services(settings) as services:
        assert services.health.rebuilding is None
        assert await services.search.indexes.active.store.count() == RECORDS
        assert all([await _found(services, number) for number in range(0, RECORDS, 37)])


async def test_a_rebuild_that_a_stop_interrupts_goes_on_at_the_next_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _everything(settings)
    with pytest.MonkeyPatch.context() as patch:
        gate = Gate(patch, 1)
        async with open_services(settings) as services:
            await gate.reached.wait()
            there = await services.search.indexes.active.store.count()
            assert 0 < there < RECORDS
    async with open_services(settings) as services:
        assert services.health.rebuilding is not None
        await until_whole(services)
        assert await services.search.indexes.active.store.count() == RECORDS


async def test_only_what_is_lacking_is_written_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    await _a_third_of_the_points(settings)
    written: list[str] = []
    write = restoring.write_indexed

    async def noted(index: Any, batch: Any, limit: int) -> None:
        written.extend(one.chunk.id for one in batch)
        await write(index, batch, limit)

    monkeypatch.setattr(restoring, "write_indexed", noted)
    async with open_services(settings) as services:
        await until_whole(services)
    assert len(written) == len(set(written)) == RECORDS // 3


async def test_a_provider_that_is_away_is_told_of_and_asked_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _everything(settings)
    write, refusals = restoring.write_indexed, asyncio.Event()

    async def refused(*arguments: Any) -> None:
        if not refusals.is_set():
            raise ProviderUnavailable("The model is away.")
        await write(*arguments)

    monkeypatch.setattr(restoring, "write_indexed", refused)
    monkeypatch.setattr(restoring, "RETRY_SECONDS", 0.05)
    async with open_services(settings) as services:
        async with asyncio.timeout(60):
            while "The model is away." not in str(services.health.rebuilding):  # noqa: ASYNC110 - as a user would look
                await asyncio.sleep(0.02)
        refusals.set()
        await until_whole(services)
        assert await _found(services, 599)


async def test_an_index_beside_the_active_one_is_built_again_before_it_may_answer(settings: Settings) -> None:
    async with open_services(settings) as services:
        record = await services.indexes.build(services.local_owner, OTHER)
        await services.indexes.migration.wait(record.id)
    shutil.rmtree(_index(settings, "other"))
    async with open_services(settings) as services:
        assert services.health.rebuilding is None
        await services.indexes.migration.wait(record.id)
        states = {one.id: one.state for one in await services.indexes.list(services.local_owner)}
        assert states[record.id] is IndexState.READY
        other = services.search.indexes.find(record.id)
        assert other is not None
        assert await other.store.count() == RECORDS


async def test_a_folder_that_is_deleted_under_a_running_server_is_filled_at_the_next_start(settings: Settings) -> None:
    async with open_services(settings) as services:
        shutil.rmtree(settings.data / "indexes")
        assert await _found(services, 1)
    async with open_services(settings) as services:
        await until_whole(services)
        assert await services.search.indexes.active.store.count() == RECORDS
        assert await _found(services, 1)


async def test_an_empty_library_and_one_that_is_whole_are_not_rebuilt(settings: Settings, tmp_path: Path) -> None:
    for chosen in (settings, load_settings(data=tmp_path / "empty", workers=0)):
        async with open_services(chosen) as services:
            assert services.health.rebuilding is None
