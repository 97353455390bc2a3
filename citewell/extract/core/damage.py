"""Exceptions raised when reading damaged files, for code that turns them into `CorruptFile` or a warning."""

from __future__ import annotations

import lzma
import struct
import zlib

RECORD_DAMAGE = (ValueError, IndexError, struct.error)
"""Raised by our parsers of binary records. Kept narrow, so that a bug in a parser still surfaces."""

LIBRARY_DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, OSError, RecursionError),
    *(SyntaxError, TypeError, ValueError, lzma.LZMAError, struct.error, zlib.error),
)
"""Raised by libraries that follow a file's own pointers and sizes (Pillow, olefile, msoffcrypto, zipfile, tarfile),
besides their own exceptions. Catch only around calls of such a library: elsewhere it would hide bugs.
"""
