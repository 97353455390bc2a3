"""A large shard is used from a process of its own: the same results, and nothing is lost when that process or this one dies."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from citewell.adapters.index import qdrant_edge_engine as engine
from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.index.qdrant_edge_folder import ShardFolder
from citewell.adapters.index.qdrant_edge_shards import LocalShard, RemoteShard, open_shard
from citewell.errors import Unavailable
from citewell.testing.vector_index import (
    ANN,
    BOB,
    DIMENSIONS,
    FilterConformance,
    PersistenceConformance,
    SparseConformance,
    VectorIndexConformance,
    about,
    make_point,
    near,
    point_id,
)
from citewell.types import VectorQuery

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]


async def _open(folder: Path) -> QdrantEdgeIndex:
    """An index whose shard is in a process of its own, whatever its size."""
    await (await QdrantEdgeIndex.open(folder, DIMENSIONS)).close()
    index = await QdrantEdgeIndex.open(folder, DIMENSIONS, own_process_from=0)
    assert isinstance(index._shard.shard, RemoteShard)
    return index


class TestInAProcessOfItsOwn(VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance):
    @pytest.fixture
    def open_index(self, tmp_path: Path) -> Callable[[], Awaitable[QdrantEdgeIndex]]:
        return lambda: _open(tmp_path / "index")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[QdrantEdgeIndex]:
    opened = await _open(tmp_path / "index")
    await opened.upsert([make_point(n, terms=[7]) for n in range(20)])
    yield opened
    await opened.close()


def _pid(index: QdrantEdgeIndex) -> int:
    remote = index._shard.shard
    assert isinstance(remote, RemoteShard)
    return remote._process.pid


async def test_searches_at_once_get_each_its_own_results(index: QdrantEdgeIndex) -> None:
    await index.upsert([make_point(n, "bob", terms=[7]) for n in range(20, 40)])
    asked = [near(n, BOB if n >= 20 else ANN, limit=3) for n in range(40)] + [about(7, filter=BOB, limit=100)] * 8
    alone = [await index.search(query) for query in asked]
    assert await asyncio.gather(*(index.search(query) for query in asked)) == alone
    assert [found[0].id for found in alone[:40]] == [point_id(n) for n in range(40)]


async def test_a_search_that_fails_fails_alone(index: QdrantEdgeIndex) -> None:
    short = VectorQuery(dense=(1.0,), filter=ANN, limit=3)
    found = await asyncio.gather(*(index.search(query) for query in (near(1), short, near(2))), return_exceptions=True)
    assert isinstance(found[1], Unavailable)
    assert [one[0].id for one in (found[0], found[2]) if isinstance(one, list)] == [point_id(1), point_id(2)]


async def test_the_next_request_starts_it_again_with_all_that_was_written(index: QdrantEdgeIndex) -> None:
    os.kill(_pid(index), signal.SIGKILL)
    with suppress(Unavailable):  # unless it was dead before
        await index.search(near(3))
    assert [hit.id for hit in await index.search(near(3, limit=1))] == [point_id(3)]
    assert await index.count() == 20


async def test_signals_to_the_whole_group_do_not_end_it_before_its_server(index: QdrantEdgeIndex) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(_pid(index), number)
    assert await index.count() == 20


async def test_it_ends_when_the_index_is_closed(tmp_path: Path) -> None:
    index = await _open(tmp_path / "index")
    pid, remote = _pid(index), index._shard.shard
    await index.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(Unavailable, match="closed"):
        remote.call(engine.points_count)


_SERVER = """
import asyncio, sys, time
from pathlib import Path
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.testing.vector_index import DIMENSIONS, make_point

async def main():
    index = await QdrantEdgeIndex.open(Path(sys.argv[1]), DIMENSIONS, own_process_from=0)
    await index.upsert([make_point(n) for n in range(50)])
    print(index._shard.shard._process.pid, flush=True)
    time.sleep(60)

asyncio.run(main())
"""


def _has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_it_ends_with_a_server_that_is_killed_and_lets_the_next_one_open(tmp_path: Path) -> None:
    await (await QdrantEdgeIndex.open(tmp_path, DIMENSIONS)).close()
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    pid = int(await server.stdout.readline())
    server.kill()
    await server.wait()
    again = await QdrantEdgeIndex.open(tmp_path, DIMENSIONS, own_process_from=0)
    assert await again.count() == 50
    await again.close()
    for _ in range(200):
        if _has_ended(pid):
            break
        await asyncio.sleep(0.05)
    assert _has_ended(pid)


async def test_compactions_go_on_in_a_process_of_its_own(tmp_path: Path) -> None:
    await (await QdrantEdgeIndex.open(tmp_path, DIMENSIONS)).close()
    index = await QdrantEdgeIndex.open(tmp_path, DIMENSIONS, compact_from=500, own_process_from=400)
    assert isinstance(index._shard.shard, LocalShard)
    reference = MemoryIndex()
    for start in range(0, 1_500, 500):
        for store in (index, reference):
            await store.upsert([make_point(n, terms=[n % 9]) for n in range(start, start + 500)])
            await store.delete_ids([point_id(start + 3)])
        await index.settled()
    assert isinstance(index._shard.shard, RemoteShard)
    for query in (near(700, limit=20), about(4, limit=500)):
        assert {hit.id for hit in await index.search(query)} == {hit.id for hit in await reference.search(query)}
    await index.close()


def test_a_damaged_shard_says_so_from_its_process(tmp_path: Path) -> None:
    path = tmp_path / "shard-1"
    shard = engine.create_shard(path, DIMENSIONS)
    shard.close()
    for file in path.rglob("*.json"):
        file.write_bytes(b"\x00damaged")
    with pytest.raises(Unavailable, match="cannot be opened"):
        RemoteShard(path)
    with pytest.raises(Unavailable, match="cannot be opened"):
        open_shard(path, DIMENSIONS)


def test_the_size_of_a_shard_is_told_by_its_files(tmp_path: Path) -> None:
    path = ShardFolder(tmp_path).next()
    shard = engine.create_shard(path, DIMENSIONS)
    engine.upsert_points(shard, [make_point(n) for n in range(3_000)])
    shard.flush()
    shard.close()
    assert 2_000 < engine.points_on_disk(path, DIMENSIONS) < 6_000
