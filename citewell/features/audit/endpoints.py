"""HTTP for the audit log: pages, and exports as files."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.responses import StreamingResponse

from citewell.features.audit.schemas import AuditEntryOut, AuditFormat, AuditList
from citewell.features.audit.service import AuditLog
from citewell.features.declared import ADMIN, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, while_admitted
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.waiting import begun
from citewell.types.audit import AuditAction, AuditEntry, AuditFilter, AuditOutcome

router = Router(tags=["audit log"], responses=ERROR_RESPONSES, route_class=SoundRoute)
_Id = Annotated[str | None, Query(max_length=200)]
_Owner = Annotated[
    str | None,
    Query(max_length=200, description="for administrators: another owner's id, or `all`; default: your own log"),
]
_MEDIA_TYPES = {AuditFormat.NDJSON: "application/x-ndjson", AuditFormat.CSV: "text/csv; charset=utf-8"}


def _service(request: Request) -> AuditLog:
    return request.app.state.services.audit


def _wanted(
    action: AuditAction | None = None,
    outcome: AuditOutcome | None = None,
    actor_id: _Id = None,
    subject: _Id = None,
    since: Annotated[datetime | None, Query(description="from this time on; UTC unless it has an offset")] = None,
    until: Annotated[datetime | None, Query(description="before this time")] = None,
) -> AuditFilter:
    return AuditFilter(
        action=action,
        outcome=outcome,
        actor_id=actor_id,
        subject=subject,
        since=_seconds(since),
        until=_seconds(until),
    )


_Wanted = Annotated[AuditFilter, Depends(_wanted)]


@router.get("/audit", access=everything(ADMIN))
async def list_audit_entries(
    request: Request,
    principal: CurrentPrincipal,
    wanted: _Wanted,
    owner: _Owner = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Annotated[str | None, Query(max_length=512)] = None,
) -> AuditList:
    """A page of the audit log: who saw, changed and exported what of yours, newest first."""
    found, following = await _service(request).page(principal, owner, wanted, limit, cursor)
    return AuditList(entries=[AuditEntryOut.model_validate(one) for one in found], next_cursor=following)


@router.get("/audit/export", access=everything(ADMIN), audit=changes(AuditAction.AUDIT_EXPORTED))
async def export_audit_log(
    request: Request,
    principal: CurrentPrincipal,
    wanted: _Wanted,
    owner: _Owner = None,
    format: AuditFormat = AuditFormat.NDJSON,
) -> StreamingResponse:
    """All matching entries, newest first, as a file. The export is itself logged."""
    pages = while_admitted(request, principal, await begun(_service(request).export(principal, owner, wanted)))
    lines = _csv(pages) if format is AuditFormat.CSV else _ndjson(pages)
    headers = {"Content-Disposition": f'attachment; filename="audit.{format.value}"'}
    return StreamingResponse(lines, media_type=_MEDIA_TYPES[format], headers=headers)


async def _ndjson(pages: AsyncGenerator[list[AuditEntry]]) -> AsyncGenerator[str]:
    async for page in pages:
        yield await asyncio.to_thread(_as_ndjson, page)


async def _csv(pages: AsyncGenerator[list[AuditEntry]]) -> AsyncGenerator[str]:
    names = list(AuditEntryOut.model_fields)
    yield _lines([names])
    async for page in pages:
        yield await asyncio.to_thread(_as_csv, page, names)


def _as_ndjson(page: Sequence[AuditEntry]) -> str:
    return "".join(f"{AuditEntryOut.model_validate(one).model_dump_json()}\n" for one in page)


def _as_csv(page: Sequence[AuditEntry], names: Sequence[str]) -> str:
    shown = [AuditEntryOut.model_validate(one).model_dump(mode="json") for one in page]
    return _lines([[_cell(row[name]) for name in names] for row in shown])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def _cell(value: object) -> str:
    """A cell that no spreadsheet interprets as a formula, because people choose names freely."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _seconds(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
