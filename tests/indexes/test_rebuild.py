"""An index that is built again holds what it held: every payload field and vector of every point, of every kind of file and of records."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as qe

from citewell import Citewell
from citewell.adapters import registry
from citewell.adapters.index.qdrant_edge_engine import DENSE, LEXICAL, open_shard
from citewell.adapters.index.qdrant_edge_folder import ShardFolder
from citewell.ingest import indexing
from citewell.ports import Embedder
from citewell.settings import EmbeddingSettings
from citewell.storage.files.content import ContentRepository
from citewell.testing.embedder import HashEmbedder
from citewell.types import Condition, Filter, Operator, Status
from tests.extract.documents.seeds import seeds
from tests.extract.tabular.seeds import data_seeds

pytestmark = [pytest.mark.full, pytest.mark.slow(25)]
_DENSE_ROWS = 12
_GERMAN = "# Hafen\n\nDie Boote liegen am Kai, und wer sie nachts festmacht, zahlt eine Gebühr von vierzehn Kronen.\n"
_ROWS = "n,wer,was\n" + "\n".join(f"{n},Bootsführer {n},{'sehr ' * 60}lang" for n in range(40))

# Per point: its payload, its dense vector (None without one), its terms with their weights.
Points = dict[str, tuple[dict[str, Any], list[float] | None, dict[int, float]]]


def _hashes(_: EmbeddingSettings) -> Embedder:
    return HashEmbedder("default", 64)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with every kind of file, one with more rows than are embedded, a German one, and records."""
    folder = tmp_path_factory.mktemp("rebuild")
    files = folder / "files"
    files.mkdir()
    contents = seeds() | data_seeds() | {"Hafen.md": _GERMAN.encode(), "rows.csv": _ROWS.encode()}
    for name, content in contents.items():
        (files / name).write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "build_embedder", _hashes)
        with Citewell(folder / "data", max_dense_rows=_DENSE_ROWS) as cw:
            failed = [name for name in contents if cw.add(files / name).status is Status.FAILED]
            assert len(failed) < len(contents) // 4
            cw.add_texts(
                [
                    {
                        "id": "a",
                        "text": "Herons wade.",
                        "title": "Birds.txt",
                        "metadata": {"tags": ["b"], "date": "2024-05-01"},
                    },
                    {"id": "b", "text": "Die Reiher waten im Wasser und fangen die Fische. " * 40},
                ]
            )
    return folder / "data"


@pytest.fixture
def copy(library: Path, tmp_path: Path) -> Path:
    return shutil.copytree(library, tmp_path / "data")


def _open(data: Path, **settings: Any) -> Citewell:
    return Citewell(data, max_dense_rows=_DENSE_ROWS, **settings)


def _points(folder: Path) -> Points:
    current = ShardFolder(folder).current()
    assert current is not None
    shard = open_shard(current)
    records, offset = shard.scroll(qe.ScrollRequest(limit=100_000, with_payload=True, with_vector=True))
    assert offset is None
    found: Points = {}
    for record in records:
        vectors: Any = record.vector or {}
        terms = vectors.get(LEXICAL)
        weights = dict(zip(terms.indices, terms.values, strict=True)) if terms else {}
        found[str(record.id)] = (dict(record.payload or {}), vectors.get(DENSE), weights)
    shard.close()
    return found


def _index(data: Path, name: str = "default") -> Path:
    return next(path for path in (data / "indexes").iterdir() if name in path.name)


def _same(one: Points, other: Points) -> None:
    assert one.keys() == other.keys()
    for key, (payload, dense, terms) in one.items():
        assert other[key][0] == payload
        assert other[key][2] == pytest.approx(terms)
        assert (other[key][1] is None) == (dense is None)
        if dense is not None:
            assert np.allclose(dense, other[key][1] or [], atol=1e-6)


def _whole(cw: Citewell) -> None:
    for _ in range(600):
        if cw._services.health.rebuilding is None:
            return
        cw._call(_pause())
    raise AssertionError("the index is not whole after a minute")


async def _pause() -> None:
    import asyncio

    await asyncio.sleep(0.1)


def test_the_library_has_what_a_rebuild_could_lose(library: Path) -> None:
    points = _points(_index(library))
    fields = {field for payload, _, _ in points.values() for field in payload}
    assert fields == {
        "owner_id", "resource_id", "type", "filename", "extension", "language", "sheet", "page", "slide", "row", "date", "tag",
        "file_type", "category", "project", "uploaded_at", "metadata"
    }  # fmt: skip
    assert {payload["type"] for payload, _, _ in points.values()} == {"text", "table", "image", "row", "summary"}
    rows = [
        dense for payload, dense, _ in points.values() if payload["filename"] == "rows.csv" and payload["type"] == "row"
    ]
    assert sum(dense is not None for dense in rows) == _DENSE_ROWS < len(rows)
    assert "de" in {payload.get("language") for payload, _, _ in points.values()}


def test_a_deleted_index_is_built_again_as_it_was(copy: Path) -> None:
    before = _points(_index(copy))
    shutil.rmtree(copy / "indexes")
    with _open(copy) as cw:
        _whole(cw)
        german = Condition("language", Operator.EQ, "de")
        assert {hit.filename for hit in cw.search("Boote am Kai", conditions=[german])} >= {"Hafen.md"}
    _same(before, _points(_index(copy)))


def test_a_migrated_index_differs_in_its_vectors_alone(copy: Path) -> None:
    with _open(copy) as cw:
        services = cw._services
        model = {"provider": "builtin", "model": "other", "dimensions": 32}
        record = cw._call(services.indexes.build(services.local_owner, model))
        cw._call(services.indexes.migration.wait(record.id))
    before, after = _points(_index(copy)), _points(_index(copy, "other"))
    assert {len(dense) for _, dense, _ in after.values() if dense is not None} == {32}
    _same(
        {key: (payload, [] if dense is not None else None, terms) for key, (payload, dense, terms) in before.items()},
        {key: (payload, [] if dense is not None else None, terms) for key, (payload, dense, terms) in after.items()},
    )


def test_a_resource_whose_points_do_not_add_up_is_written_again_as_it_was(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an attempt that died half-way: indexing settles what the store and SQL do not agree on."""
    before = _points(_index(copy))

    write = indexing.write_points

    async def half(index: Any, batch: Any, dense: Any, *rest: Any) -> None:
        monkeypatch.setattr(indexing, "write_points", write)
        await write(index, batch[::2], dense[::2], *rest)

    with _open(copy) as cw:
        resource = next(r for r in cw.resources() if r.filename == "rows.csv")
        lost = Filter(owner_id=cw._services.local_owner, resource_ids=(resource.id,))
        cw._call(cw._services.search.indexes.active.store.delete(lost))
        monkeypatch.setattr(indexing, "write_points", half)
        cw._call(cw._services.resources.reindex(cw._services.local_owner, resource.id))
        assert cw._call(cw._services.resources.wait(cw._services.local_owner, resource.id)).chunk_count > _DENSE_ROWS
    _same(before, _points(_index(copy)))


def test_chunks_come_resource_by_resource_with_the_rows_before_them(copy: Path) -> None:
    with _open(copy) as cw:
        content: ContentRepository = cw._services.health.content

        async def walk(batch: int) -> list[tuple[str, int, int]]:
            pages = [page async for page in content.iterate_chunks(batch)]
            return [(one.chunk.resource_id, one.chunk.ordinal, one.rows_before) for page in pages for one in page]

        found = cw._call(walk(7))
        assert found == cw._call(walk(1000))
        assert len(found) == cw._call(content.count_chunks())
        assert found == sorted(found)
        assert max(rows for _, _, rows in found) == 39
