"""Files embedded in office documents, emitted as child files."""

from __future__ import annotations

import posixpath
import struct

from citewell.errors import ExtractionError
from citewell.extract.core.compound import SIGNATURE, CompoundFile
from citewell.extract.core.sink import Sink
from citewell.extract.formats.ooxml.package import OfficePackage
from citewell.types import Locator

_MAX_NAME = 255
_WRAPPED_STREAMS = ("Package", "CONTENTS", "EmbeddedOdf")


def add_embedded(package: OfficePackage, part: str, place: Locator, sink: Sink) -> None:
    """Adds every file embedded in `part` as a child, unwrapping OLE objects."""
    for kind in ("package", "oleObject", "aFChunk"):
        for target in package.related(part, kind):
            add_part(package, target, place, sink)


def add_part(package: OfficePackage, target: str, place: Locator, sink: Sink) -> None:
    """Adds one embedded part as a child; one that cannot be unpacked is noted as skipped."""
    name = posixpath.basename(target)
    try:
        data = package.read(target)
    except ExtractionError as error:
        sink.skip(f"The embedded file {name} was left out: {error.message}")
        return
    inner, content = unwrapped(data) or ("", data)
    sink.add_child(inner or name, place).write_bytes(content)


def unwrapped(data: bytes) -> tuple[str, bytes] | None:
    """Returns (name, bytes) of the file wrapped in an OLE object; None if there is none. The name may be empty."""
    if not data.startswith(SIGNATURE):
        return None
    try:
        with CompoundFile(data) as compound:
            native = compound.read("\x01Ole10Native")
            if native is not None:
                return native_file(native)
            found = (compound.read(stream) for stream in _WRAPPED_STREAMS)
            return next((("", content) for content in found if content), None)
    except ExtractionError:
        return None


def native_file(data: bytes) -> tuple[str, bytes] | None:
    """Returns (name, bytes) of an `Ole10Native` stream as the Packager writes it: label, path, command, then the file's
    bytes.

    None if it is damaged or empty. Layout: [MS-OLEDS] 2.3.6, and the Packager's content inside.
    """
    try:
        label, position = _text(data, 6)
        _, position = _text(data, position)
        _, position = _text(data, position + 8)
        (size,) = struct.unpack_from("<I", data, position)
    except (struct.error, ValueError):
        return None
    content = data[position + 4 : position + 4 + size]
    return (posixpath.basename(label.replace("\\", "/"))[:_MAX_NAME], content) if content else None


def _text(data: bytes, position: int) -> tuple[str, int]:
    end = data.index(b"\x00", position)
    return data[position:end].decode("cp1252", "replace"), end + 1
