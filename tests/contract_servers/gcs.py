"""Google Cloud Storage's XML API: objects, ranges, lists and multipart uploads.

Written from https://docs.cloud.google.com/storage/docs/xml-api/reference-methods (read November 2026).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.contract_servers.signed_addresses import refused

MIN_PART = 5 * 1024 * 1024
_SAID = ("content-type", "content-disposition", "cache-control")
_MODIFIED = "Sun, 01 Nov 2026 10:00:00 GMT"
_LISTED = "2026-11-01T10:00:00.000Z"


@dataclass
class GCSServer:
    """Buckets in memory: `objects` by bucket and name, and what was `said` of them; `page` names at most in one list.

    account: by which signed addresses are checked; others then need a token. now: its clock
    """

    page: int = 3
    objects: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    said: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict[tuple[str, str], dict[str, str]])
    account: RSAPublicKey | None = None
    now: Callable[[], float] = time.time
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict[str, dict[int, bytes]])

    def __post_init__(self) -> None:
        methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
        routes = [Route("/{bucket}", self._bucket), Route("/{bucket}/{name:path}", self._object, methods=methods)]
        self.app = Starlette(routes=routes)

    def _refused(self, request: Request) -> Response | None:
        if self.account is None:
            return None
        if "X-Goog-Signature" in request.query_params:
            code = refused(request, "Goog", self._is_signed, self.now(), "storage.googleapis.com")
        else:
            code = None if request.headers.get("authorization", "").startswith("Bearer ") else "AccessDenied"
        return None if code is None else _error(403, code)

    def _is_signed(self, text: bytes, signature: str, scope: list[str]) -> bool:
        assert self.account is not None
        try:
            self.account.verify(bytes.fromhex(signature), text, PKCS1v15(), SHA256())
        except (InvalidSignature, ValueError):
            return False
        return scope[2:] == ["storage", "goog4_request"]

    async def _bucket(self, request: Request) -> Response:
        if answer := self._refused(request):
            return answer
        kept = self.objects.get(request.path_params["bucket"])
        if kept is None:
            return _error(404, "NoSuchBucket")
        begin, after = request.query_params.get("prefix", ""), request.query_params.get("continuation-token", "")
        names = sorted(name for name in kept if name.startswith(begin) and name > after)
        shown, more = names[: self.page], len(names) > self.page
        entries = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>{_LISTED}</LastModified>"
            f"<ETag>{_tag(kept[name])}</ETag><Size>{len(kept[name])}</Size></Contents>"
            for name in shown
        )
        token = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if more else ""
        return _xml(
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{entries}</ListBucketResult>"
        )

    async def _object(self, request: Request) -> Response:
        if answer := self._refused(request):
            return answer
        kept = self.objects.get(request.path_params["bucket"])
        if kept is None:
            return _error(404, "NoSuchBucket")
        name, query = request.path_params["name"], request.query_params
        place = request.path_params["bucket"], name
        if "uploads" in query:
            self.said[place] = _described(request)
            number = f"upload-{len(self.uploads) + 1}"
            self.uploads[number] = {}
            return _xml(f"<InitiateMultipartUploadResult><UploadId>{number}</UploadId></InitiateMultipartUploadResult>")
        if "uploadId" in query:
            return await self._part(request, kept, name, query["uploadId"])
        if request.method == "PUT":
            kept[name], self.said[place] = await request.body(), _described(request)
            return Response(headers=_headers(kept[name]))
        if name not in kept:
            return _error(404, "NoSuchKey")
        if request.method == "DELETE":
            del kept[name]
            return Response(status_code=204)
        answer = _ranged(kept[name], request.headers.get("range"))
        answer.headers.update(self.said.get(place, {}))
        return answer

    async def _part(self, request: Request, kept: dict[str, bytes], name: str, upload: str) -> Response:
        parts = self.uploads.get(upload)
        if parts is None:
            return _error(404, "NoSuchUpload")
        if request.method == "PUT":
            data = await request.body()
            parts[int(request.query_params["partNumber"])] = data
            return Response(headers={"ETag": _tag(data)})
        del self.uploads[upload]
        if request.method == "DELETE":
            return Response(status_code=204)
        ordered = [parts[number] for number in sorted(parts)]
        if any(len(part) < MIN_PART for part in ordered[:-1]):
            return _error(400, "EntityTooSmall")
        kept[name] = b"".join(ordered)
        return _xml(f"<CompleteMultipartUploadResult><ETag>{_tag(kept[name])}</ETag></CompleteMultipartUploadResult>")


def _described(request: Request) -> dict[str, str]:
    return {name: request.headers[name] for name in _SAID if name in request.headers}


def _ranged(data: bytes, asked: str | None) -> Response:
    if asked is None:
        return Response(data, headers=_headers(data))
    first, _, last = asked.removeprefix("bytes=").partition("-")
    start, end = int(first), min(int(last) + 1 if last else len(data), len(data))
    if start >= len(data):
        return _error(416, "InvalidRange")
    headers = _headers(data) | {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
    return Response(data[start:end], 206, headers)


def _headers(data: bytes) -> dict[str, str]:
    return {"ETag": _tag(data), "Last-Modified": _MODIFIED, "x-goog-generation": "1"}


def _tag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _xml(body: str) -> Response:
    return Response(f'<?xml version="1.0" encoding="UTF-8"?>{body}', media_type="application/xml")


def _error(status: int, code: str) -> Response:
    return Response(f"<Error><Code>{code}</Code></Error>", status, media_type="application/xml")
