"""Search graphs are built beside the running index, and nothing that is written meanwhile is lost."""

import asyncio
from pathlib import Path

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.adapters.index.qdrant_edge_folder import ShardFolder, copy_sparsely
from citewell.errors import Unavailable
from citewell.testing.vector_index import ANN, BOB, DIMENSIONS, about, make_point, near, point_id
from citewell.types import Filter, Point

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]


async def _open(folder: Path, compact_from: int = 10_000) -> QdrantEdgeIndex:
    return await QdrantEdgeIndex.open(folder, DIMENSIONS, compact_from=compact_from)


def _points(numbers: range) -> list[Point]:
    return [make_point(n, owner="bob" if n % 2 else "ann", resource=f"r{n % 7}", terms=[n % 50]) for n in numbers]


def _shards(folder: Path) -> int:
    return sum(path.is_dir() for path in folder.iterdir())


def _current(folder: Path) -> str:
    return (folder / "current").read_text()


async def _same(index: QdrantEdgeIndex, reference: MemoryIndex) -> None:
    for scope in (ANN, BOB, Filter(owner_id="ann", resource_ids=("r3",))):
        assert await index.count(scope) == await reference.count(scope)
        for n in (3, 1_500, 2_999):
            # Deleted points count in the engine's document frequencies until they are vacuumed.
            for query, tolerance in ((near(n, filter=scope), 0.01), (about(n % 50, filter=scope, limit=500), 0.05)):
                found, expected = await index.search(query), await reference.search(query)
                scores = sorted(item.score for item in expected)
                assert sorted(item.score for item in found) == pytest.approx(scores, rel=tolerance)


async def test_writes_and_deletions_during_a_compaction_are_kept(tmp_path: Path) -> None:
    index, reference = await _open(tmp_path, compact_from=1_000), MemoryIndex()
    for store in (index, reference):
        await store.upsert(_points(range(1_000)))
    for step in range(10):
        numbers = range(1_000 + step * 200, 1_200 + step * 200)
        for store in (index, reference):
            await store.upsert(_points(numbers))
            await store.delete_ids([point_id(step), point_id(1_000 + step * 200)])
            if step == 4:
                await store.delete(Filter(owner_id="bob", resource_ids=("r5",)))
        assert (await index.search(near(500)))[0].id == point_id(500)
        await asyncio.sleep(0.02)
    await index.settled()
    assert _current(tmp_path) != "shard-1"
    await _same(index, reference)
    await index.close()
    again = await _open(tmp_path)
    await _same(again, reference)
    await again.close()
    assert _shards(tmp_path) == 1


async def test_what_was_written_during_a_compaction_is_compacted_after_it(tmp_path: Path) -> None:
    index = await _open(tmp_path, compact_from=1_000)
    await index.upsert(_points(range(1_000)))
    for start in range(1_000, 4_000, 500):
        await index.upsert(_points(range(start, start + 500)))
    assert _current(tmp_path) == "shard-1"
    await index.settled()
    assert int(_current(tmp_path).removeprefix("shard-")) > 2
    assert ShardFolder(tmp_path).unindexed() == 0
    assert await index.count() == 4_000
    await index.close()


async def test_graphs_are_built_again_and_again(tmp_path: Path) -> None:
    index, reference = await _open(tmp_path, compact_from=500), MemoryIndex()
    for start in range(0, 1_500, 500):
        before = _current(tmp_path)
        for store in (index, reference):
            await store.upsert(_points(range(start, start + 500)))
        await index.settled()
        assert _current(tmp_path) != before
    await _same(index, reference)
    await index.close()


async def test_what_has_no_graph_yet_is_known_after_a_restart(tmp_path: Path) -> None:
    index = await _open(tmp_path, compact_from=1_000)
    await index.upsert(_points(range(1_200)))
    assert ShardFolder(tmp_path).unindexed() == 1_200
    await index.close()  # ends the compaction that has just begun
    assert ShardFolder(tmp_path).unindexed() == 1_200
    again = await QdrantEdgeIndex.open(tmp_path, DIMENSIONS, compact_from=1_000, compact_after=0.0)
    await asyncio.sleep(0.05)
    await again.settled()
    assert ShardFolder(tmp_path).unindexed() == 0
    await again.close()


async def test_a_compaction_that_fails_is_not_tried_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.executable", "false")
    index = await _open(tmp_path, compact_from=1_000)
    for start in range(0, 2_000, 500):
        await index.upsert(_points(range(start, start + 500)))
        await index.settled()
    assert caplog.text.count("the search graphs could not be built") == 2
    assert ShardFolder(tmp_path).unindexed() == 2_000
    assert await index.count() == 2_000
    await index.close()


async def test_closing_during_a_compaction_keeps_everything_and_leaves_no_copy(tmp_path: Path) -> None:
    index = await _open(tmp_path, compact_from=100)
    await index.upsert(_points(range(400)))
    await index.close()
    again = await _open(tmp_path)
    assert await again.count() == 400
    await again.close()
    assert _shards(tmp_path) == 1


async def test_graphs_that_an_earlier_process_left_unbuilt_are_built_after_a_while(tmp_path: Path) -> None:
    index, reference = await _open(tmp_path), MemoryIndex()
    for store in (index, reference):
        await store.upsert(_points(range(400)))
    await index.close()
    again = await QdrantEdgeIndex.open(tmp_path, DIMENSIONS, compact_from=100, compact_after=0.0)
    assert _current(tmp_path) == "shard-1"
    await asyncio.sleep(0.05)
    await again.settled()
    assert _current(tmp_path) != "shard-1"
    await _same(again, reference)
    await again.close()


async def test_a_small_index_is_never_compacted(tmp_path: Path) -> None:
    index = await _open(tmp_path)
    await index.upsert(_points(range(300)))
    await index.settled()
    assert _current(tmp_path) == "shard-1"
    await index.close()


async def test_a_copy_left_behind_by_a_crash_is_removed(tmp_path: Path) -> None:
    index = await _open(tmp_path)
    await index.upsert(_points(range(10)))
    await index.close()
    copy_sparsely(tmp_path / "shard-1", tmp_path / "shard-2")
    again = await _open(tmp_path)
    assert await again.count() == 10
    await again.close()
    assert not (tmp_path / "shard-2").exists()


def test_copies_of_files_with_holes_are_equal_and_as_small(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    with (source / "holes").open("wb") as file:
        file.truncate(64 << 20)
        file.seek(5 << 20)
        file.write(b"middle" * 1_000)
        file.seek(64 << 20)
        file.write(b"end")
    (source / "empty").touch()
    (source / "full").write_bytes(bytes(range(256)) * 5_000)
    copy_sparsely(source, tmp_path / "target")
    for name in ("holes", "empty", "full"):
        assert (tmp_path / "target" / name).read_bytes() == (source / name).read_bytes()
    assert (tmp_path / "target" / "holes").stat().st_blocks * 512 < 4 << 20


def test_the_pointer_names_the_current_shard(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path)
    assert folder.current() is None
    for _ in range(2):
        shard = folder.next()
        shard.mkdir()
        folder.make_current(shard)
        assert folder.current() == shard
    folder.remove_others()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["shard-2"]


@pytest.mark.parametrize("by_filter", [True, False])
async def test_many_deletions_are_followed_by_a_compaction(tmp_path: Path, by_filter: bool) -> None:
    index, reference = await _open(tmp_path, compact_from=500), MemoryIndex()
    for store in (index, reference):
        await store.upsert(_points(range(3_000)))
    await index.settled()
    before = _current(tmp_path)
    gone = Filter(owner_id="bob")
    for store in (index, reference):
        if by_filter:
            await store.delete(gone)
        else:
            await store.delete_ids([point_id(n) for n in range(1, 3_000, 2)])
    assert await index.count(gone) == 0
    assert (await index.search(near(500)))[0].id == point_id(500)
    await index.settled()
    assert _current(tmp_path) != before
    await _same(index, reference)
    assert _shards(tmp_path) == 1
    await index.close()


@pytest.mark.parametrize("content", [b"\xff\xfes", b"", b"shard-1\x00", b"../elsewhere", b"shard-9"])
async def test_a_damaged_pointer_is_an_index_that_does_not_open(tmp_path: Path, content: bytes) -> None:
    """Which the start sets aside, and builds again."""
    index = await _open(tmp_path)
    await index.close()
    (tmp_path / "current").write_bytes(content)
    with pytest.raises(Unavailable):
        await _open(tmp_path)
    assert (tmp_path / "shard-1").is_dir()
