"""Azure Blob Storage's REST API: block blobs, ranges, lists and uploads in blocks, with requests signed by Shared Key.

Written from https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api and its page "Authorize with Shared Key" (read November 2026).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ACCOUNT = "files"
ACCOUNT_KEY = base64.b64encode(b"only for tests").decode()
_MODIFIED = "Sun, 01 Nov 2026 10:00:00 GMT"
_DELETION = re.compile(
    r"Content-ID: (\d+)\r\n\r\nDELETE (\S+) HTTP/1\.1\r\n(?=(?:.+\r\n)*authorization: SharedKey )", re.IGNORECASE
)
_KEY_HASH = "x-ms-encryption-key-sha256"
_SAID = ("x-ms-blob-content-type", "x-ms-blob-content-disposition", "x-ms-blob-cache-control", _KEY_HASH)
# A service SAS of version 2020-12-06 and later, as "Create a service SAS" orders its fields, around the resource's name.
_SHARED_BEFORE = ("sp", "st", "se")
_SHARED_AFTER = ("si", "sip", "spr", "sv", "sr", "snapshot", "ses", "rscc", "rscd", "rsce", "rscl", "rsct")
_SIGNED = (
    "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date", "if-modified-since",
    "if-match", "if-none-match", "if-unmodified-since", "range",
)  # fmt: skip


@dataclass
class AzureServer:
    """Containers in memory: `objects` by container and name, and what was `said` of them; `page` names at most in one list. now: its clock."""

    page: int = 3
    objects: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    blocks: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict[tuple[str, str], dict[str, bytes]])
    said: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict[tuple[str, str], dict[str, str]])
    now: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        methods = ["GET", "HEAD", "PUT", "DELETE"]
        self.app = Starlette(
            routes=[
                Route("/{container}", self._list),
                Route("/{container}", self._batch, methods=["POST"]),
                Route("/{container}/{name:path}", self._blob, methods=methods),
            ]
        )

    async def _list(self, request: Request) -> Response:
        kept = self.objects.get(request.path_params["container"])
        query = request.query_params
        if refused := _refused(request):
            return refused
        if kept is None or (query.get("restype"), query.get("comp")) != ("container", "list"):
            return _error(404, "ContainerNotFound")
        begin, after = query.get("prefix", ""), query.get("marker", "")
        names = sorted(name for name in kept if name.startswith(begin) and name > after)
        shown = names[: self.page]
        entries = "".join(
            f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>{_MODIFIED}</Last-Modified><Etag>{_tag(kept[name])}</Etag>"
            f"<Content-Length>{len(kept[name])}</Content-Length><Content-Type>application/octet-stream</Content-Type>"
            "<BlobType>BlockBlob</BlobType></Properties></Blob>"
            for name in shown
        )
        marker = escape(shown[-1]) if len(names) > self.page else ""
        body = f"<EnumerationResults><Blobs>{entries}</Blobs><NextMarker>{marker}</NextMarker></EnumerationResults>"
        return Response(f'<?xml version="1.0" encoding="utf-8"?>{body}', media_type="application/xml")

    async def _batch(self, request: Request) -> Response:
        """Deletions, as "Blob Batch" has them: a request in each part of a multipart body, an answer in each part of another."""
        if refused := _refused(request):
            return refused
        container, body = request.path_params["container"], (await request.body()).decode()
        if request.query_params.get("comp") != "batch" or container not in self.objects:
            return _error(404, "ContainerNotFound")
        boundary, answers = "batchresponse", list[str]()
        for number, path in _DELETION.findall(body):
            name = unquote(path).removeprefix(f"/{container}/")
            gone = self.objects[container].pop(name, None) is not None
            status = "202 Accepted" if gone else "404 The specified blob does not exist."
            code = "" if gone else "x-ms-error-code: BlobNotFound\r\n"
            answers.append(
                f"--{boundary}\r\nContent-Type: application/http\r\nContent-ID: {number}\r\n\r\nHTTP/1.1 {status}\r\n{code}x-ms-version: 2023-11-03\r\n\r\n"
            )
        if not answers:
            return _error(400, "InvalidInput")
        content = "".join(answers) + f"--{boundary}--\r\n"
        return Response(content, 202, headers={"Content-Type": f"multipart/mixed; boundary={boundary}"})

    async def _blob(self, request: Request) -> Response:
        container, name = request.path_params["container"], request.path_params["name"]
        kept = self.objects.get(container)
        if refused := _not_shared(request, self.now()) if "sig" in request.query_params else _refused(request):
            return refused
        if kept is None:
            return _error(404, "ContainerNotFound")
        if request.method == "PUT":
            return self._put(request, kept, (container, name), await request.body())
        if name not in kept:
            return _error(404, "BlobNotFound")
        if request.method == "DELETE":
            del kept[name]
            return Response(status_code=202)
        said = self.said.get((container, name), {})
        if said.get(_KEY_HASH) != request.headers.get(_KEY_HASH):
            return _error(409, "BlobUsesCustomerSpecifiedEncryption")
        answer = _ranged(kept[name], request.headers.get("x-ms-range") or request.headers.get("range"))
        shown = {name.removeprefix("x-ms-blob-"): value for name, value in said.items() if name != _KEY_HASH}
        answer.headers.update(shown)
        return answer

    def _put(self, request: Request, kept: dict[str, bytes], key: tuple[str, str], data: bytes) -> Response:
        part = request.query_params.get("comp")
        if part != "block":
            self.said[key] = {name: request.headers[name] for name in _SAID if name in request.headers}
        if part == "block":
            self.blocks.setdefault(key, {})[request.query_params["blockid"]] = data
        elif part == "blocklist":
            staged = self.blocks.pop(key, {})
            named = [one.text or "" for one in ElementTree.fromstring(data)]
            if any(block not in staged for block in named):
                return _error(400, "InvalidBlockList")
            kept[key[1]] = b"".join(staged[block] for block in named)
        elif request.headers.get("x-ms-blob-type") == "BlockBlob":
            kept[key[1]] = data
        else:
            return _error(400, "MissingRequiredHeader")
        return Response(status_code=201, headers=_headers(kept.get(key[1], b"")))


def _refused(request: Request) -> Response | None:
    """The answer to a request that does not carry the account's signature."""
    lines = [request.method]
    for name in _SIGNED:
        value = request.headers.get(name, "")
        lines.append("" if (name, value) == ("content-length", "0") else value)
    own = sorted((name, value.strip()) for name, value in request.headers.items() if name.startswith("x-ms-"))
    lines += [f"{name}:{value}" for name, value in own]
    path = request.scope["raw_path"].decode()
    lines.append(f"/{ACCOUNT}{path}")
    lines += [f"{name.lower()}:{value}" for name, value in sorted(request.query_params.items())]
    signature = hmac.digest(base64.b64decode(ACCOUNT_KEY), "\n".join(lines).encode(), hashlib.sha256)
    expected = f"SharedKey {ACCOUNT}:{base64.b64encode(signature).decode()}"
    if hmac.compare_digest(request.headers.get("authorization", ""), expected) and "x-ms-version" in request.headers:
        return None
    return _error(403, "AuthenticationFailed")


def _not_shared(request: Request, now: float) -> Response | None:
    """The answer to a request whose address is not one that the account has signed for reading this blob now."""
    query, named = request.query_params, request.path_params
    fields = [query.get(name, "") for name in _SHARED_BEFORE]
    fields += [
        f"/blob/{ACCOUNT}/{named['container']}/{named['name']}",
        *(query.get(name, "") for name in _SHARED_AFTER),
    ]
    signature = base64.b64encode(hmac.digest(base64.b64decode(ACCOUNT_KEY), "\n".join(fields).encode(), "sha256"))
    if not hmac.compare_digest(query["sig"].encode(), signature):
        return _error(403, "AuthenticationFailed")
    begin, end = (datetime.fromisoformat(query[name]).timestamp() for name in ("st", "se"))
    if not begin <= now < end:
        return _error(403, "AuthenticationFailed")
    is_reading = request.method in ("GET", "HEAD") and "r" in query["sp"]
    return None if is_reading else _error(403, "AuthorizationPermissionMismatch")


def _ranged(data: bytes, asked: str | None) -> Response:
    if asked is None:
        return Response(data, headers=_headers(data))
    first, _, last = asked.removeprefix("bytes=").partition("-")
    start, end = int(first), min(int(last) + 1 if last else len(data), len(data))
    if start >= len(data):
        return _error(416, "InvalidRange")
    return Response(data[start:end], 206, _headers(data) | {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"})


def _headers(data: bytes) -> dict[str, str]:
    return {"ETag": _tag(data), "Last-Modified": _MODIFIED, "x-ms-blob-type": "BlockBlob"}


def _tag(data: bytes) -> str:
    return f'"0x{hashlib.md5(data).hexdigest()[:16].upper()}"'


def _error(status: int, code: str) -> Response:
    body = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code></Error>'
    return Response(body, status, {"x-ms-error-code": code}, media_type="application/xml")
