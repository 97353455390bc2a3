"""What an OLE compound file (Office 97, Outlook, encrypted Office) holds, told by the names of its streams."""

from __future__ import annotations

from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.compound import CompoundFile

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
        with CompoundFile(path) as compound:
            names = {name.split("/", 1)[0].lower() for name in compound.names()}
    except CorruptFile:
        return "ole"
    for stream, label in _BY_STREAM:
        if stream in names:
            return label
    return "ole"
