"""What an OLE compound file (Office 97, Outlook, encrypted Office) holds, told by the names of its streams."""

from __future__ import annotations

from pathlib import Path

import olefile

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
    """The label of the format inside: `doc`, `xls`, `ppt`, `msg`, `encrypted` (a wrapped OOXML file), or `ole` for others."""
    try:
        with olefile.OleFileIO(str(path), raise_defects=olefile.DEFECT_FATAL) as ole:
            names = {entry[0].lower() for entry in ole.listdir(streams=True, storages=True)}
    except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError):
        return "ole"
    for stream, label in _BY_STREAM:
        if stream in names:
            return label
    return "ole"
