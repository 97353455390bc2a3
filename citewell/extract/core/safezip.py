"""Reads ZIP containers (office files, e-books, archives) within limits on members, unpacked size and ratio."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.types import ExtractOptions

RATIO_FLOOR = 16 * 1024 * 1024
_PIECE = 256 * 1024
_END_OF_DIRECTORY = b"PK\x05\x06"
_DIRECTORY_ENTRY_MAX = 1024
_DAMAGE = (zipfile.BadZipFile, NotImplementedError, *LIBRARY_DAMAGE)


class SafeZip:
    """A ZIP file whose members are unpacked under a common budget.

    All reads of one `SafeZip` together may unpack at most `max_archive_ratio` times the file's size (small files: 16 MiB)
    and never more than `max_output_bytes`; overlapping or repeated members do not circumvent this.

    Raises `CorruptFile` for damage, `LimitExceeded` beyond a limit, `PasswordRequired`/`WrongPassword` for encrypted members.
    """

    def __init__(self, path: Path, options: ExtractOptions) -> None:
        size = path.stat().st_size
        self._password = options.password.encode() if options.password else None
        self.budget = min(options.max_output_bytes, max(RATIO_FLOOR, options.max_archive_ratio * size))
        self._left = self.budget
        _check_directory(path, size, options.max_archive_members)
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise CorruptFile("The ZIP container is damaged or truncated.") from error
        self._infos = {info.filename: info for info in self._zip.infolist()}
        if len(self._zip.infolist()) > options.max_archive_members:
            self._zip.close()
            raise LimitExceeded(f"The container exceeds the limit of {options.max_archive_members:,} members.")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    @property
    def infos(self) -> list[zipfile.ZipInfo]:
        """Returns all members in directory order, folders included."""
        return self._zip.infolist()

    def names(self) -> list[str]:
        """Returns the names of all members in directory order."""
        return list(self._infos)

    def pieces(self, name: str | zipfile.ZipInfo) -> Iterator[bytes]:
        """Yields a member's bytes in pieces of at most 256 KiB; `KeyError` for an unknown name."""
        info = self._infos[name] if isinstance(name, str) else name
        with self._open(info) as member:
            while piece := self._read_piece(member, info.filename):
                self._left -= len(piece)
                if self._left < 0:
                    raise LimitExceeded(
                        f"Unpacked, the container exceeds the limit of {self.budget:,} bytes.", member=info.filename
                    )
                yield piece

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Returns a whole member; `LimitExceeded` if it has more than `limit` bytes, `KeyError` for an unknown name."""
        if limit is not None and self._infos[name].file_size > limit:
            raise LimitExceeded(f"A part of the container exceeds the limit of {limit:,} bytes.", member=name)
        out = bytearray()
        for piece in self.pieces(name):
            out += piece
            if limit is not None and len(out) > limit:
                raise LimitExceeded(f"A part of the container exceeds the limit of {limit:,} bytes.", member=name)
        return bytes(out)

    def extract_to(self, name: str | zipfile.ZipInfo, target: Path) -> int:
        """Writes a member to `target` (never to the path it names); returns the size in bytes."""
        size = 0
        with target.open("wb") as file:
            for piece in self.pieces(name):
                size += file.write(piece)
        return size

    def _open(self, info: zipfile.ZipInfo) -> IO[bytes]:
        try:
            return self._zip.open(info, pwd=self._password)
        except NotImplementedError as error:
            raise CorruptFile(
                "A member of the ZIP container is compressed with an unsupported method.", member=info.filename
            ) from error
        except RuntimeError as error:
            if self._password:
                raise WrongPassword(member=info.filename) from error
            raise PasswordRequired(member=info.filename) from error
        except _DAMAGE as error:
            raise CorruptFile("A member of the ZIP container is damaged.", member=info.filename) from error

    def _read_piece(self, member: IO[bytes], name: str) -> bytes:
        try:
            return member.read(_PIECE)
        except _DAMAGE as error:
            raise CorruptFile("A member of the ZIP container is damaged.", member=name) from error


def _check_directory(path: Path, size: int, max_members: int) -> None:
    """Rejects an oversized directory before `zipfile` builds an object per entry."""
    with path.open("rb") as file:
        file.seek(max(0, size - 65_557))
        tail = file.read()
    at = tail.rfind(_END_OF_DIRECTORY)
    if at < 0 or len(tail) < at + 22:
        raise CorruptFile("The ZIP container is damaged or truncated.")
    length = int.from_bytes(tail[at + 12 : at + 16], "little")
    entries = int.from_bytes(tail[at + 10 : at + 12], "little")
    if (entries != 0xFFFF and entries > max_members) or min(length, size) > max(max_members, 64) * _DIRECTORY_ENTRY_MAX:
        raise LimitExceeded(f"The container exceeds the limit of {max_members:,} members.")
