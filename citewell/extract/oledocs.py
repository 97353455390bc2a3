"""What Office 97 files share: their streams, and the summary that each carries."""

from __future__ import annotations

import olefile

from citewell.errors import LimitExceeded
from citewell.extract.sink import Sink

_MAX_STREAM = 256 * 1024 * 1024
_SUMMARY = {
    "title": "title",
    "subject": "subject",
    "author": "author",
    "keywords": "keywords",
    "last_saved_by": "last_modified_by",
    "create_time": "created",
    "last_saved_time": "modified",
}


def stream_bytes(ole: olefile.OleFileIO[str], name: str) -> bytes | None:
    """A stream's bytes; None when there is none. Raises `LimitExceeded` for one of more than 256 MiB."""
    if not name or not ole.exists(name):
        return None
    if ole.get_size(name) > _MAX_STREAM:
        raise LimitExceeded(f"A part of the file has more than {_MAX_STREAM:,} bytes.")
    return ole.openstream(name).read()


def read_summary(ole: olefile.OleFileIO[str], sink: Sink) -> None:
    """Title, author and dates into the sink's metadata."""
    found = ole.get_metadata()
    codepage = getattr(found, "codepage", None)
    encoding = f"cp{codepage}" if isinstance(codepage, int) and codepage > 0 else "cp1252"
    for name, key in _SUMMARY.items():
        value = getattr(found, name, None)
        if isinstance(value, bytes):
            value = _decoded(value, encoding)
        if value:
            sink.metadata[key] = str(value).strip("\x00 ")[:1000]


def _decoded(value: bytes, encoding: str) -> str:
    try:
        return value.decode(
            {"cp65001": "utf-8", "cp10000": "mac_roman", "cp1200": "utf-16-le"}.get(encoding, encoding), "replace"
        )
    except LookupError:
        return value.decode("cp1252", "replace")
