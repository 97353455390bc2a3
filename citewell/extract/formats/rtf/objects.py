"""Objects embedded in RTF: an OLE 1 header ([MS-OLEDS] 2.2.4) around an OLE file or a packaged one."""

from __future__ import annotations

import struct

from citewell.extract.core.names import safe_name
from citewell.extract.formats.ooxml.embedded import native_file, unwrapped

_EXTENSIONS = {
    "word.document.8": "doc",
    "word.document.12": "docx",
    "excel.sheet.8": "xls",
    "excel.sheet.12": "xlsx",
    "powerpoint.show.8": "ppt",
    "powerpoint.show.12": "pptx",
    "acroexch.document": "pdf",
}
_EMBEDDED = 2


def embedded_file(data: bytes) -> tuple[str, bytes] | None:
    """Returns (file name, bytes) of the embedded file; None for links and damaged objects."""
    try:
        _, form = struct.unpack_from("<II", data)
        if form != _EMBEDDED:
            return None
        name, position = _string(data, 8)
        _, position = _string(data, position)
        _, position = _string(data, position)
        (size,) = struct.unpack_from("<I", data, position)
    except (struct.error, ValueError):
        return None
    content = data[position + 4 : position + 4 + size]
    if name.lower() == "package":
        return native_file(b"\x00\x00\x00\x00" + content)
    inner = unwrapped(content)
    extension = next((known for prefix, known in _EXTENSIONS.items() if name.lower().startswith(prefix)), "bin")
    if inner is not None:
        return safe_name(inner[0]) or f"object.{extension}", inner[1]
    return (f"object.{extension}", content) if content else None


def _string(data: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", data, position)
    if length > 1_000:
        raise ValueError("the name of an embedded object is too long")
    raw = data[position + 4 : position + 4 + length]
    return raw.rstrip(b"\x00").decode("cp1252", "replace"), position + 4 + length
