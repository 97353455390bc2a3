"""Responses with stored bytes: whole or in part, verified against the upload, and with headers that keep browsers from running them.

Starlette's `FileResponse` only reads local files, and does not verify hashes.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncIterator, Mapping
from urllib.parse import quote

from fastapi.responses import Response, StreamingResponse
from starlette.types import Send

from citewell.errors import DamagedFile, NotFound, RangeNotSatisfiable
from citewell.features.resources.handed_out import StoredBytes

log = logging.getLogger(__name__)
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


async def stored_bytes(stored: StoredBytes, asked: Mapping[str, str]) -> Response:
    """The requested bytes as an attachment. Raises `DamagedFile` if bytes are missing.

    Responds 304 to `If-None-Match` with the file's ETag, and serves a single range (RFC 9110, section 14) unless `If-Range` has another
    ETag; raises `RangeNotSatisfiable` for an empty one. Bytes that differ from the upload are detected before anything is sent for files
    up to 1 MiB, and otherwise at the end, which is then withheld, so that no client mistakes what it got for the file.
    """
    tag = None if stored.content_hash is None else f'"{stored.content_hash}"'
    known = {} if tag is None else {"ETag": tag}
    if tag is not None and _names(asked.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=known)
    start, end, partial = _byte_range(asked.get("range") if asked.get("if-range", tag) == tag else None, stored.size)
    headers = known | {
        "Content-Length": str(max(0, end - start)),
        "Accept-Ranges": "bytes",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(stored.filename, safe='')}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    if partial:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{stored.size}"
    pieces = _checked(stored.read(start, end), end - start, None if partial else stored.content_hash)
    try:
        first = await anext(pieces, b"")
    except NotFound as error:
        raise DamagedFile from error
    return _Checked(_with(first, pieces), 206 if partial else 200, headers, stored.mime_type)


class _Checked(StreamingResponse):
    """Breaks off instead of ending if the last bytes show that the file is damaged."""

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except DamagedFile as error:
            log.error("cut off a file while sending it: %s", error.message)


async def _checked(pieces: AsyncIterator[bytes], size: int, content_hash: str | None) -> AsyncIterator[bytes]:
    """Each piece, delayed until the next one arrives, or until all are verified."""
    digest, received, held = hashlib.sha256(), 0, b""
    async for piece in pieces:
        if held:
            yield held
        digest.update(piece)
        received += len(piece)
        held = piece
    if received != size or (content_hash is not None and digest.hexdigest() != content_hash):
        raise DamagedFile
    yield held


async def _with(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


def _byte_range(asked: str | None, size: int) -> tuple[int, int, bool]:
    """(start, end, whether it is a part) for a single-range header; anything else gets the whole file, as does the end of an empty file."""
    match = _RANGE.fullmatch(asked or "")
    if match is None or not any(match.groups()):
        return 0, size, False
    first, last = match.groups()
    if first and last and int(last) < int(first):
        return 0, size, False
    if (first and int(first) >= size) or (not first and not int(last)):
        raise RangeNotSatisfiable(size=size)
    if not first:
        return max(0, size - int(last)), size, size > 0
    return int(first), min(size, int(last) + 1) if last else size, True


def _names(header: str, tag: str) -> bool:
    """Whether an If-None-Match header contains this ETag; weak ones count as strong."""
    named = {one.strip().removeprefix("W/") for one in header.split(",")}
    return tag in named or named == {"*"}
