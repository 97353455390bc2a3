"""Addresses that carry a signature and its end, in the form that Amazon S3 and Google Cloud Storage share; and a gate that checks Amazon's.

Written from https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html and
https://docs.cloud.google.com/storage/docs/authentication/canonical-requests (read November 2026).
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

MAX_SECONDS = 604_800
Check = Callable[[bytes, str, list[str]], bool]
"""(what was signed, the signature, the parts of the credential's scope) → whether it is right."""
_HOP_BY_HOP = frozenset({"connection", "content-encoding", "content-length", "date", "server", "transfer-encoding"})


def refused(request: Request, brand: str, check: Check, now: float, host: str | None = None) -> str | None:
    """Why a request whose address is signed is not answered.

    brand: what is between `X-` and the names of parameters; host: what the server is called, where a test reaches it under another name
    """
    said = dict(request.headers) | ({} if host is None else {"host": host})
    query = parse_qsl(request.url.query, keep_blank_values=True)
    values = {name.removeprefix(f"X-{brand}-"): value for name, value in query}
    began = datetime.strptime(values["Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    if not 1 <= int(values["Expires"]) <= MAX_SECONDS:
        return "AuthorizationQueryParametersError"
    if now > began + int(values["Expires"]):
        return "ExpiredToken"
    others = sorted((quote(n, safe="-_.~"), quote(v, safe="-_.~")) for n, v in query if n != f"X-{brand}-Signature")
    names = values["SignedHeaders"].split(";")
    canonical = [
        request.method,
        request.scope["raw_path"].decode(),
        "&".join(f"{name}={value}" for name, value in others),
        *(f"{name}:{said.get(name, '').strip()}" for name in names),
        "",
        values["SignedHeaders"],
        "UNSIGNED-PAYLOAD",
    ]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    scope = values["Credential"].split("/")[1:]
    text = "\n".join([values["Algorithm"], values["Date"], "/".join(scope), digest]).encode()
    return None if check(text, values["Signature"], scope) else "SignatureDoesNotMatch"


@dataclass
class S3Gate:
    """Lets a request through to an S3 server if its header or its address is signed; the latter is checked. `now` is its clock."""

    behind: str
    secret: str
    now: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
        self.app = Starlette(routes=[Route("/{path:path}", self._pass, methods=methods)])

    async def _pass(self, request: Request) -> Response:
        if "X-Amz-Signature" in request.query_params:
            code = refused(request, "Amz", self._is_signed, self.now())
        else:
            code = None if "authorization" in request.headers else "AccessDenied"
        if code is not None:
            return Response(f"<Error><Code>{code}</Code></Error>", 403, media_type="application/xml")
        path = request.scope["raw_path"].decode()
        async with httpx.AsyncClient(base_url=self.behind, timeout=60) as client:
            answer = await client.request(
                request.method,
                f"{path}?{request.url.query}" if request.url.query else path,
                headers=request.headers.raw,
                content=await request.body(),
            )
        headers = {name: value for name, value in answer.headers.items() if name not in _HOP_BY_HOP}
        if request.method == "HEAD":
            headers["content-length"] = answer.headers["content-length"]
        return Response(answer.content, answer.status_code, headers)

    def _is_signed(self, text: bytes, signature: str, scope: list[str]) -> bool:
        key = f"AWS4{self.secret}".encode()
        for part in scope:
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.compare_digest(hmac.digest(key, text, "sha256").hex(), signature)
