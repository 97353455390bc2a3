"""Anthropic's Files API, as its published contract has it: the beta header, uploads that expire, 404 for what is not there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY = "sk-ant-test"
BETA = "files-api-2025-04-14"
MAX_NAME = 255
_FORBIDDEN_IN_NAMES = frozenset('<>:"|?*\\/') | {chr(code) for code in range(32)}


@dataclass
class UploadedFile:
    """A file as the API keeps it."""

    filename: str
    mime_type: str
    content: bytes
    created_at: datetime
    expires_at: datetime | None


class AnthropicFiles:
    """`stored` by id; `calls` are methods with ids; the next calls get the status codes in `failing` first."""

    def __init__(self) -> None:
        self.stored: dict[str, UploadedFile] = {}
        self.calls: list[tuple[str, str]] = []
        self.failing: list[int] = []
        self._count = 0
        self.routes = [
            Route("/v1/files", self._upload, methods=["POST"]),
            Route("/v1/files/{file_id}", self._one, methods=["GET", "DELETE"]),
        ]

    def expire(self, file_id: str) -> None:
        """Let the time pass after which a file is gone."""
        self.stored[file_id].expires_at = datetime.now(UTC)

    async def _upload(self, request: Request) -> Response:
        self.calls.append(("POST", ""))
        if refused := self._refused(request):
            return refused
        async with request.form() as form:
            return await self._kept(form)

    async def _kept(self, form: FormData) -> Response:
        file, seconds = form.get("file"), form.get("expires_in_seconds")
        if not isinstance(file, UploadFile) or not file.filename or set(form) - {"file", "expires_in_seconds"}:
            return _error(400, "file: Field required")
        if len(file.filename) > MAX_NAME or _FORBIDDEN_IN_NAMES & set(file.filename):
            return _error(400, 'file: filename must be 1 to 255 characters without <>:"|?*\\/ or control characters')
        if seconds is not None and not (str(seconds).isdecimal() and 3_600 <= int(str(seconds)) <= 7_776_000):
            return _error(400, "expires_in_seconds: must be between 3600 and 7776000")
        now = datetime.now(UTC)
        self._count += 1
        file_id = f"file_{self._count:03}"
        expires = None if seconds is None else now + timedelta(seconds=int(str(seconds)))
        mime = file.content_type or "application/octet-stream"
        self.stored[file_id] = UploadedFile(file.filename, mime, await file.read(), now, expires)
        return JSONResponse(self._metadata(file_id))

    async def _one(self, request: Request) -> Response:
        file_id = request.path_params["file_id"]
        self.calls.append((request.method, file_id))
        if refused := self._refused(request):
            return refused
        if file_id not in self.stored:
            return _error(404, f"File not found: {file_id}")
        if request.method == "GET":
            return JSONResponse(self._metadata(file_id))
        del self.stored[file_id]
        return JSONResponse({"id": file_id, "type": "file_deleted"})

    def _refused(self, request: Request) -> Response | None:
        sent = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        if sent != KEY:
            return _error(401, "invalid x-api-key")
        if BETA not in request.headers.get("anthropic-beta", "").split(","):
            return _error(404, "Not found")
        if not self.failing:
            return None
        return _error(self.failing.pop(0), "scripted", {"retry-after-ms": "1"})

    def _metadata(self, file_id: str) -> dict[str, Any]:
        one = self.stored[file_id]
        return {
            "id": file_id, "type": "file", "filename": one.filename, "mime_type": one.mime_type,
            "size_bytes": len(one.content), "created_at": one.created_at.isoformat(), "downloadable": False,
            "expires_at": None if one.expires_at is None else one.expires_at.isoformat(),
        }  # fmt: skip


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 500: "api_error"}
    error = {"type": kinds.get(status, "invalid_request_error"), "message": message}
    return JSONResponse({"type": "error", "error": error, "request_id": "req_test"}, status, headers)
