"""Stored bytes as a response: whole or in part, checked against what was uploaded, and so that no browser runs what is in them.

Not Starlette's `FileResponse`: that reads files of this machine, without comparing them with a hash.
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
    """The bytes that the headers of a request ask for, as an attachment; raises `DamagedFile` when they are missing or too few.

    `If-None-Match` with the file's ETag is answered with 304. A single range is served (RFC 9110, section 14), unless `If-Range` names
    another ETag; `RangeNotSatisfiable` where there is nothing in it.
    Bytes that are there but are not those of the upload are noticed before anything is sent where a file has up to 1 MiB,
    else at its end, which is then held back, so that no client takes what it got for the file.
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
    """Breaks off, in place of ending, when the last bytes show that the file is damaged."""

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except DamagedFile as error:
            log.error("a file that was being sent is cut off: %s", error.message)


async def _checked(pieces: AsyncIterator[bytes], size: int, content_hash: str | None) -> AsyncIterator[bytes]:
    """Each piece once there is another one after it, or all are as they should be."""
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
    """(start, end, whether it is a part) of a single-range header; anything else gets the whole, as does an empty file's end."""
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
    """Whether an If-None-Match header names this ETag; weak ones count as strong."""
    named = {one.strip().removeprefix("W/") for one in header.split(",")}
    return tag in named or named == {"*"}
