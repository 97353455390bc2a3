"""Members of TAR files and of GZIP, BZIP2 and XZ streams, unpacked sequentially under one budget."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Protocol, cast

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.extract.core.safezip import RATIO_FLOOR
from citewell.extract.formats.archive.members import Member, nothing
from citewell.types import ExtractOptions

_PIECE = 256 * 1024
_MAX_HEADER_SIZE = 4 * 1024 * 1024
_LZMA_MEMORY = 256 * 1024 * 1024
_DAMAGE = (tarfile.TarError, *LIBRARY_DAMAGE)
_KINDS = ((tarfile.TarInfo.issym, "a link"), (tarfile.TarInfo.islnk, "a link"), (tarfile.TarInfo.isdir, "a folder"))


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def stream_members(path: Path, options: ExtractOptions) -> Iterator[Member]:
    """Yields the members of a TAR file, compressed or not, or the one file inside a compressed stream."""
    with path.open("rb") as file:
        head = file.read(512)
        file.seek(0)
        budget = min(options.max_output_bytes, max(RATIO_FLOOR, options.max_archive_ratio * path.stat().st_size))
        source = Budgeted(_unpacked(file, head), budget)
        if _is_tar(source.peek()):
            yield from _tar_members(source)
        elif source.packed is file:
            raise CorruptFile("The file is not a readable archive.")
        else:
            yield Member(_stored_name(head), None, partial(_write, source))


class Budgeted:
    """A stream that raises `LimitExceeded` after more than `budget` bytes, or too many for the next header."""

    def __init__(self, packed: _Readable, budget: int) -> None:
        self.packed = packed
        self._budget = self._left = budget
        self._header_left: int | None = None
        self._ahead = b""

    @property
    def given(self) -> int:
        """The number of bytes returned so far."""
        return self._budget - self._left

    def peek(self) -> bytes:
        """Returns the first 512 bytes without consuming them."""
        self._ahead = self.read(512)
        self._left += len(self._ahead)
        return self._ahead

    def read(self, size: int = _PIECE, /) -> bytes:
        """Returns at most `size` bytes; none at the end."""
        try:
            piece = self._ahead or self.packed.read(size)
        except _DAMAGE as error:
            raise CorruptFile("The compressed stream is damaged or truncated.") from error
        self._ahead = b""
        self._left -= len(piece)
        if self._left < 0:
            raise LimitExceeded(f"Unpacked, the archive exceeds the limit of {self._budget:,} bytes.")
        if self._header_left is not None:
            self._header_left -= len(piece)
            if self._header_left < 0:
                raise LimitExceeded("A member's header exceeds the size limit.")
        return piece

    def limit_header(self, size: int | None) -> None:
        """Allows at most `size` bytes until the next call; None allows the whole budget."""
        self._header_left = size


class _XzReader:
    """An XZ stream decompressed with bounded memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)

    def read(self, size: int, /) -> bytes:
        while True:
            packed = self._file.read(_PIECE) if self._decoder.needs_input and not self._decoder.eof else b""
            if self._decoder.eof:
                packed = self._decoder.unused_data.lstrip(b"\0") or self._file.read(_PIECE).lstrip(b"\0")
                if not packed:
                    return b""
                self._decoder = lzma.LZMADecompressor(memlimit=_LZMA_MEMORY)
            elif self._decoder.needs_input and not packed:
                raise EOFError
            if piece := self._decoder.decompress(packed, size):
                return piece


def _unpacked(file: IO[bytes], head: bytes) -> _Readable:
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    return _XzReader(file) if head.startswith(b"\xfd7zXZ\0") else file


def _is_tar(block: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "replace")
    except tarfile.TarError:
        return False
    return True


def _tar_members(source: Budgeted) -> Iterator[Member]:
    source.limit_header(_MAX_HEADER_SIZE)
    with _open_tar(source) as archive:
        while (info := _next(archive)) is not None:
            source.limit_header(None)
            before = source.given
            if info.isreg():
                yield Member(info.name, None, partial(_write_member, archive, info))
            else:
                reason = next((reason for matches, reason in _KINDS if matches(info)), "a device")
                yield Member(info.name, reason, nothing)
            unread = max(0, info.size - (source.given - before))
            source.limit_header(_MAX_HEADER_SIZE + unread)


def _open_tar(source: Budgeted) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=cast("IO[bytes]", source), mode="r|", errors="replace")
    except _DAMAGE as error:
        raise CorruptFile("The TAR archive is damaged or truncated.") from error


def _next(archive: tarfile.TarFile) -> tarfile.TarInfo | None:
    try:
        return archive.next()
    except _DAMAGE as error:
        raise CorruptFile("The TAR archive is damaged or truncated.") from error


def _write_member(archive: tarfile.TarFile, info: tarfile.TarInfo, target: Path) -> int:
    try:
        member = archive.extractfile(info)
        return 0 if member is None else _write(member, target)
    except _DAMAGE as error:
        raise CorruptFile("A member of the TAR archive is damaged or truncated.") from error


def _write(source: _Readable, target: Path) -> int:
    size = 0
    with target.open("wb") as file:
        while piece := source.read(_PIECE):
            size += file.write(piece)
    return size


def _stored_name(head: bytes) -> str:
    """Returns the name in a GZIP header; empty if there is none."""
    if not head.startswith(b"\x1f\x8b") or not head[3] & 0x08:
        return ""
    start = 10 + (2 + int.from_bytes(head[10:12], "little") if head[3] & 0x04 else 0)
    return head[start:].split(b"\0", 1)[0].decode("utf-8", "replace")
