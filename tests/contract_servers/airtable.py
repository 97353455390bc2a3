"""Airtable's Web API as https://airtable.com/developers/web/api publishes it (read in November 2026): lists by offset, formulas on
LAST_MODIFIED_TIME() and RECORD_ID(), five requests a second for a base, attachments whose addresses expire, and its errors."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_SINCE = re.compile(r"IS_AFTER\(LAST_MODIFIED_TIME\(\), DATETIME_PARSE\('([^']+)'\)\)")
_ONE = re.compile(r"RECORD_ID\(\) = '(rec[A-Za-z0-9]+)'")
_IDS = re.compile(rf"OR\({_ONE.pattern}(?:, {_ONE.pattern})*\)")
_PAGE = 100
_KNOWN = frozenset(
    {"pageSize", "offset", "filterByFormula", "view", "fields[]", "fields", "maxRecords", "returnFieldsByFieldId"}
)
START = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class AirtableRecord:
    """A record; `views` are those that show it beside the table's own."""

    id: str
    fields: dict[str, Any]
    modified: datetime
    views: set[str] = field(default_factory=set[str])


@dataclass
class AirtableServer:
    """A base with one table. `faults` answer requests before anything else does, in order."""

    token: str = "pat.secret"
    base: str = "appBASE"
    table: str = "Frames"
    columns: set[str] = field(default_factory=set[str])
    records: dict[str, AirtableRecord] = field(default_factory=dict[str, AirtableRecord])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    faults: list[Response | Callable[[], Response]] = field(default_factory=list[Any])
    download_faults: list[str] = field(default_factory=list[str])
    attachments_at: str | None = None
    """`half`, `500` or `expired`, for one download each."""
    per_second: int | None = None
    penalty: float = 30.0
    retry_after: str | None = None
    now: datetime = START
    requests: list[str] = field(default_factory=list[str])
    refused: int = 0
    forgets: bool = False
    """Whether the next offset is one that is no longer known."""
    _times: deque[float] = field(default_factory=deque[float])
    _blocked_until: float = 0.0
    _addresses: dict[str, str] = field(default_factory=dict[str, str])

    def put(self, record_id: str, fields: dict[str, Any], views: set[str] | None = None) -> AirtableRecord:
        """Create or change a record; the server's clock goes on by a minute."""
        self.now += timedelta(minutes=1)
        plain = {name: value for name, value in fields.items() if value not in (None, "", [], False)}
        self.columns |= set(fields)
        self.records[record_id] = AirtableRecord(record_id, plain, self.now, views or set())
        return self.records[record_id]

    def attach(self, name: str, data: bytes) -> dict[str, Any]:
        """An attachment as a field holds it."""
        number = f"att{len(self.files):014d}"
        self.files[number] = data
        return {"id": number, "filename": name, "size": len(data), "type": "image/png"}

    def app(self) -> Starlette:
        """The server."""
        return Starlette(
            routes=[
                Route("/v0/{base}/{table}/listRecords", self._list, methods=["POST"]),
                Route("/v0/{base}/{table}/{record}", self._get, methods=["GET"]),
                Route("/v0/{base}/{table}", self._list, methods=["GET"]),
                Route("/v5.airtableusercontent.com/{address}", self._file, methods=["GET"]),
            ]
        )

    def _before(self, request: Request) -> Response | None:
        """What is refused before the request is looked at."""
        now = time.monotonic()
        if self.per_second is not None:
            while self._times and now - self._times[0] > 1.0:
                self._times.popleft()
            self._times.append(now)
            if now < self._blocked_until or len(self._times) > self.per_second:
                self._blocked_until = max(self._blocked_until, now + self.penalty)
                self.refused += 1
                said = {
                    "errors": [
                        {"error": "RATE_LIMIT_REACHED", "message": "Rate limit exceeded. Please try again later"}
                    ]
                }
                return JSONResponse(said, 429, {"retry-after": self.retry_after} if self.retry_after else {})
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return _error(401, "AUTHENTICATION_REQUIRED", "Authentication required")
        if self.faults:
            fault = self.faults.pop(0)
            return fault() if callable(fault) and not isinstance(fault, Response) else fault  # pyright: ignore[reportReturnType, reportCallIssue]
        if request.path_params["base"] != self.base:
            return _error(404, "NOT_FOUND", "NOT_FOUND")
        if request.path_params["table"] != self.table:
            return _error(
                403,
                "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND",
                "Invalid permissions, or the requested model was not found.",
            )
        return None

    async def _list(self, request: Request) -> Response:
        self.requests.append(f"{request.method} list")
        refused = self._before(request)
        if refused is not None:
            return refused
        asked: dict[str, Any] = dict(await request.json()) if request.method == "POST" else dict(request.query_params)
        columns = asked.get("fields") if request.method == "POST" else request.query_params.getlist("fields[]")
        if unknown := set(asked) - _KNOWN:
            return _error(422, "INVALID_REQUEST_UNKNOWN", f"Invalid request: {sorted(unknown)}")
        for column in columns or []:
            if column not in self.columns:
                return _error(422, "UNKNOWN_FIELD_NAME", f'Unknown field name: "{column}"')
        size = int(asked.get("pageSize", _PAGE))
        if not 1 <= size <= _PAGE:
            return _error(422, "INVALID_PAGE_SIZE", "pageSize must be between 1 and 100")
        try:
            found = self._found(asked.get("filterByFormula"), asked.get("view"))
        except ValueError as error:
            return _error(422, "INVALID_FILTER_BY_FORMULA", f"The formula for filtering records is invalid: {error}")
        begin = 0
        if asked.get("offset"):
            known = re.fullmatch(r"itr[A-Za-z0-9]{14}/(\d+)", str(asked["offset"]))
            if known is None or self.forgets:
                self.forgets = False
                return _error(422, "LIST_RECORDS_ITERATOR_NOT_AVAILABLE", "Iterator not available")
            begin = int(known[1])
        page = {"records": [self._shown(one, columns, request) for one in found[begin : begin + size]]}
        if begin + size < len(found):
            page["offset"] = f"itrABCDEFGHIJKLMN/{begin + size}"  # pyright: ignore[reportArgumentType]
        return JSONResponse(page)

    async def _get(self, request: Request) -> Response:
        self.requests.append("GET record")
        refused = self._before(request)
        if refused is not None:
            return refused
        record = self.records.get(request.path_params["record"])
        return (
            _error(404, "NOT_FOUND", "NOT_FOUND")
            if record is None
            else JSONResponse(self._shown(record, None, request))
        )

    async def _file(self, request: Request) -> Response:
        self.requests.append("GET file")
        number = self._addresses.get(request.path_params["address"])
        fault = self.download_faults.pop(0) if self.download_faults else ""
        if number is None or fault == "expired":
            return Response("Gone", 410)
        data = self.files[number]
        if fault == "500":
            return Response("error", 500)
        if fault == "half":
            return Response(data[: len(data) // 2], headers={"content-type": "application/octet-stream"})
        return Response(data, headers={"content-type": "application/octet-stream"})

    def _found(self, formula: str | None, view: str | None) -> list[AirtableRecord]:
        found = [one for one in self.records.values() if view is None or view in one.views]
        if not formula:
            return found
        if since := _SINCE.fullmatch(formula):
            begin = datetime.fromisoformat(since[1])
            return [one for one in found if one.modified > begin]
        if _IDS.fullmatch(formula):
            wanted = set(_ONE.findall(formula))
            return [one for one in found if one.id in wanted]
        raise ValueError(formula)

    def _shown(self, record: AirtableRecord, columns: list[str] | None, request: Request) -> dict[str, Any]:
        shown = {name: value for name, value in record.fields.items() if not columns or name in columns}
        return {
            "id": record.id,
            "createdTime": START.isoformat().replace("+00:00", "Z"),
            "fields": {name: self._addressed(value, request) for name, value in shown.items()},
        }

    def _addressed(self, value: Any, request: Request) -> Any:
        """Attachments with addresses that are new each time, and serve until the next is given out."""
        if not isinstance(value, list) or not value or not isinstance(value[0], dict) or "filename" not in value[0]:
            return value
        shown: list[Any] = []
        for one in value:
            address = f"{one['id']}-{len(self._addresses)}"
            self._addresses = {old: number for old, number in self._addresses.items() if number != one["id"]}
            self._addresses[address] = one["id"]
            shown.append(
                {**one, "url": self.attachments_at or f"{request.base_url}v5.airtableusercontent.com/{address}"}
            )
        return shown


def _error(status: int, kind: str, message: str) -> Response:
    return JSONResponse({"error": {"type": kind, "message": message}}, status)
