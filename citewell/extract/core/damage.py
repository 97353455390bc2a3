"""What reading a damaged file raises, for the places that turn it into `CorruptFile` or a warning."""

from __future__ import annotations

import lzma
import struct
import zlib

RECORD_DAMAGE = (ValueError, IndexError, struct.error)
"""In the parsers of binary records here. Narrow, so that an error of the parser itself still shows as what it is."""

LIBRARY_DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, OSError, RecursionError),
    *(SyntaxError, TypeError, ValueError, lzma.LZMAError, struct.error, zlib.error),
)
"""In libraries that follow a file's own pointers and sizes (Pillow, olefile, msoffcrypto, zipfile, tarfile) and raise
whatever that leads to. Their own exceptions come on top. Only around a library's calls: it would hide errors of other code."""
