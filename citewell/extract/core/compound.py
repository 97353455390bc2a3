"""OLE compound files ([MS-CFB]), the containers of Office 97 and Outlook: streams by name, damage as `CorruptFile`."""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import olefile

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.extract.core.sink import Sink

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_STREAM = 256 * 1024 * 1024
_SUMMARY = {
    "title": "title",
    "subject": "subject",
    "author": "author",
    "keywords": "keywords",
    "last_saved_by": "last_modified_by",
    "create_time": "created",
    "last_saved_time": "modified",
}


@contextmanager
def _damage_named() -> Generator[None]:
    try:
        yield
    except LIBRARY_DAMAGE as error:
        raise CorruptFile("The OLE container is damaged.") from error


class CompoundFile:
    """An open compound file. Every method raises `CorruptFile` if the file is damaged."""

    def __init__(self, source: Path | bytes) -> None:
        with _damage_named():
            self._ole = olefile.OleFileIO(str(source) if isinstance(source, Path) else io.BytesIO(source))
            entries = self._ole.listdir(streams=True, storages=True)
            self._entries = {"/".join(entry).upper(): entry for entry in entries}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ole.close()

    def names(self) -> list[str]:
        """Returns stream and storage names in uppercase; a storage's members as `STORAGE/STREAM`."""
        return list(self._entries)

    def read(self, name: str) -> bytes | None:
        """Returns a stream's bytes, ignoring the name's case; None if it is missing. `LimitExceeded` above 256 MiB."""
        entry = self._entries.get(name.upper())
        if entry is None:
            return None
        with _damage_named():
            path = "/".join(entry)
            if self._ole.get_type(path) != olefile.STGTY_STREAM:
                return None
            if self._ole.get_size(path) > MAX_STREAM:
                raise LimitExceeded(f"A part of the file exceeds the limit of {MAX_STREAM:,} bytes.")
            return self._ole.openstream(path).read()

    def read_summary(self, sink: Sink) -> None:
        """Copies title, author and dates into the sink's metadata; skips a damaged summary with a warning."""
        try:
            with _damage_named():
                found = self._ole.get_metadata()
        except CorruptFile:
            sink.warn("The summary of the file (title, author, dates) is damaged.")
            return
        codepage = getattr(found, "codepage", None)
        for name, key in _SUMMARY.items():
            value = getattr(found, name, None)
            text = _decoded(value, codepage) if isinstance(value, bytes) else str(value or "")
            if text.strip("\x00 "):
                sink.metadata[key] = text.strip("\x00 ")[:1000]


def _decoded(value: bytes, codepage: object) -> str:
    name = {65001: "utf-8", 10000: "mac_roman", 1200: "utf-16-le"}.get(
        codepage if isinstance(codepage, int) else 0, f"cp{codepage}"
    )
    try:
        return value.decode(name, "replace")
    except LookupError:
        return value.decode("cp1252", "replace")


_BY_STREAM = (
    ("encryptedpackage", "encrypted"),
    ("worddocument", "doc"),
    ("powerpoint document", "ppt"),
    ("pp97_dualstorage", "ppt"),
    ("workbook", "xls"),
    ("book", "xls"),
    ("__properties_version1.0", "msg"),
    ("__nameid_version1.0", "msg"),
)


def ole_label(path: Path) -> str:
    """Returns the label of the format inside: `doc`, `xls`, `ppt`, `msg`, `encrypted` (wrapped OOXML), else `ole`."""
    try:
        with CompoundFile(path) as compound:
            names = {name.split("/", 1)[0].lower() for name in compound.names()}
    except CorruptFile:
        return "ole"
    for stream, label in _BY_STREAM:
        if stream in names:
            return label
    return "ole"
