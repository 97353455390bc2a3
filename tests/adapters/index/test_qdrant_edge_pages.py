"""Pages that searches read are mapped before they ask for them: those of the shard only, and only as far as there is room."""

import mmap
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from citewell.adapters.index import qdrant_edge_pages
from citewell.adapters.index.qdrant_edge_pages import map_pages, read_ahead

SIZE = 5 << 20


@contextmanager
def _mapped(path: Path, advice: int = mmap.MADV_RANDOM) -> Generator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(SIZE))
    with path.open("rb") as file, mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ) as mapping:
        mapping.madvise(advice)
        yield


def _resident(path: Path) -> int:
    """How many bytes of a file this process has mapped."""
    found = False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if "-" in line.split()[0]:
            found = line.endswith(str(path))
        elif found and line.startswith("Rss:"):
            return int(line.split()[1]) << 10
    return 0


def test_what_searches_read_is_mapped(tmp_path: Path) -> None:
    vectors = tmp_path / "segments" / "1" / "vector_storage-dense" / "matrix.dat"
    with _mapped(vectors):
        assert _resident(vectors) == 0
        assert map_pages(tmp_path) == SIZE
        assert _resident(vectors) == SIZE


def test_another_file_another_folder_and_a_second_mapping_are_left_alone(tmp_path: Path) -> None:
    payload, elsewhere = tmp_path / "shard-1" / "payload.dat", tmp_path / "shard-12" / "matrix.dat"
    from_one_end = tmp_path / "shard-1" / "matrix.dat"
    with _mapped(payload), _mapped(elsewhere), _mapped(from_one_end, mmap.MADV_SEQUENTIAL):
        assert map_pages(tmp_path / "shard-1") == 0
        assert _resident(payload) == _resident(elsewhere) == _resident(from_one_end) == 0


def test_what_there_is_no_room_for_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = tmp_path / "matrix.dat"
    monkeypatch.setattr(qdrant_edge_pages, "_available_bytes", lambda: 2 * SIZE - 1)
    with _mapped(vectors):
        assert map_pages(tmp_path) == 0
        assert _resident(vectors) == 0


def test_a_kernel_that_cannot_leaves_them_to_the_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_edge_pages, "_POPULATE_READ", 9_999)
    with _mapped(tmp_path / "matrix.dat"):
        assert map_pages(tmp_path) == 0


def test_a_shard_that_is_not_there_is_for_the_engine_to_report(tmp_path: Path) -> None:
    read_ahead(tmp_path / "none")
    assert map_pages(tmp_path / "none") == 0
