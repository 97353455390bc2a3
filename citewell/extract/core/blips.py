"""Pictures in the streams of Office 97 files: PNG, JPEG and DIB preceded by the record header of [MS-ODRAW] 2.2.23."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

_SIGNATURES = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff")
_TYPES = {0xF01D, 0xF01E, 0xF02A}
_HEADERS = (25, 41)


def pictures(stream: bytes) -> Iterator[bytes]:
    """Yields the bytes of each picture, in stream order."""
    position = 0
    while match := _SIGNATURES.search(stream, position):
        position = match.end()
        for header in _HEADERS:
            start = match.start() - header
            if start < 0:
                continue
            _, kind, length = struct.unpack_from("<HHI", stream, start)
            if kind in _TYPES and header - 8 < length <= len(stream) - start - 8:
                end = start + 8 + length
                yield stream[match.start() : end]
                position = end
                break
