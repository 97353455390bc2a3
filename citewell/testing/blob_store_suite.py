"""The conformance suite of the `BlobStore` port: subclass `BlobStoreConformance` and define the fixture `blobs`, an empty store."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from citewell.errors import DamagedFile, InvalidInput, NotFound
from citewell.ports import BlobStore

# More than one part of a multipart upload, and not a multiple of any usual size.
_LARGE = 17 * 1024 * 1024 + 11
_AT_ONCE = 20


def file_of(folder: Path, data: bytes) -> Path:
    """A new file with these bytes."""
    path = folder / hashlib.sha256(os.urandom(16)).hexdigest()
    path.write_bytes(data)
    return path


async def read(blobs: BlobStore, key: str, start: int = 0, end: int | None = None) -> bytes:
    """All bytes of a range."""
    return b"".join([piece async for piece in blobs.get(key, start, end)])


class BlobStoreConformance:
    """Tests that every blob store must pass."""

    @pytest.fixture
    def blobs(self) -> BlobStore:
        """Override: an empty store."""
        raise AssertionError("Define the fixture `blobs`.")

    @pytest.mark.parametrize("data", [b"", b"\x00", b"text\r\n", bytes(range(256)) * 8])
    async def test_bytes_come_back_as_they_were(self, blobs: BlobStore, tmp_path: Path, data: bytes) -> None:
        path = file_of(tmp_path, data)
        await blobs.put_file("originals/owner/a", path)
        assert not path.exists()
        assert await read(blobs, "originals/owner/a") == data
        async with blobs.local_copy("originals/owner/a") as copy:
            assert copy.read_bytes() == data

    async def test_a_large_file_is_kept_whole_and_read_in_pieces(self, blobs: BlobStore, tmp_path: Path) -> None:
        data = os.urandom(1024 * 1024) * (_LARGE // (1024 * 1024)) + b"-" * (_LARGE % (1024 * 1024))
        await blobs.put_file("large", file_of(tmp_path, data))
        pieces = [piece async for piece in blobs.get("large")]
        assert len(pieces) > 1
        assert hashlib.sha256(b"".join(pieces)).digest() == hashlib.sha256(data).digest()
        assert await read(blobs, "large", 8_388_600, 8_388_700) == data[8_388_600:8_388_700]

    @pytest.mark.parametrize(("start", "end"), [(0, 4), (3, 7), (9, 10), (4, 4), (2, None)])
    async def test_a_range_is_those_bytes(self, blobs: BlobStore, tmp_path: Path, start: int, end: int | None) -> None:
        await blobs.put_file("ten", file_of(tmp_path, b"0123456789"))
        assert await read(blobs, "ten", start, end) == b"0123456789"[start:end]

    async def test_more_than_there_is_is_damage(self, blobs: BlobStore, tmp_path: Path) -> None:
        await blobs.put_file("ten", file_of(tmp_path, b"0123456789"))
        with pytest.raises(DamagedFile):
            await read(blobs, "ten", 0, 11)

    async def test_what_is_not_there_is_not_found(self, blobs: BlobStore) -> None:
        with pytest.raises(NotFound):
            await read(blobs, "never")
        with pytest.raises(NotFound):
            async with blobs.local_copy("never"):
                pass

    @pytest.mark.parametrize("key", ["", "/etc/passwd", "../other", "a/../b", "a//b", "A", "a b", "a\n", "ü"])
    async def test_a_key_that_is_not_ours_is_refused(self, blobs: BlobStore, tmp_path: Path, key: str) -> None:
        path = file_of(tmp_path, b"1")
        with pytest.raises(InvalidInput):
            await blobs.put_file(key, path)
        with pytest.raises(InvalidInput):
            await read(blobs, key)
        with pytest.raises(InvalidInput):
            await blobs.delete(key)

    async def test_a_second_file_takes_the_place_of_the_first(self, blobs: BlobStore, tmp_path: Path) -> None:
        await blobs.put_file("one", file_of(tmp_path, b"first and longer"))
        await blobs.put_file("one", file_of(tmp_path, b"second"))
        assert await read(blobs, "one") == b"second"

    async def test_deleted_is_gone_and_deleting_again_is_harmless(self, blobs: BlobStore, tmp_path: Path) -> None:
        await blobs.put_file("a/one", file_of(tmp_path, b"1"))
        await blobs.put_file("a/two", file_of(tmp_path, b"2"))
        await blobs.delete("a/one")
        await blobs.delete("a/one")
        with pytest.raises(NotFound):
            await read(blobs, "a/one")
        assert await blobs.list("") == ["a/two"]

    async def test_keys_are_listed_by_how_they_begin(self, blobs: BlobStore, tmp_path: Path) -> None:
        keys = ["originals/ann/1", "originals/ann/2", "originals/anna/1", "extracted/ann/1"]
        for key in keys:
            await blobs.put_file(key, file_of(tmp_path, b"-"))
        assert await blobs.list("") == sorted(keys)
        assert await blobs.list("originals/ann/") == keys[:2]
        assert await blobs.list("originals/ann") == keys[:3]
        assert await blobs.list("nothing/") == []

    async def test_many_at_once_do_not_mix(self, blobs: BlobStore, tmp_path: Path) -> None:
        files = {f"many/{number}": f"file {number}".encode() * number for number in range(_AT_ONCE)}
        await asyncio.gather(*(blobs.put_file(key, file_of(tmp_path, data)) for key, data in files.items()))
        found = await asyncio.gather(*(read(blobs, key) for key in files))
        assert found == list(files.values())
