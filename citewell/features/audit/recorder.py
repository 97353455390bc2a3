"""Records requests in the audit log before they are answered, for every endpoint. Plain ASGI."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.errors import CitewellError
from citewell.features.addresses import shortened
from citewell.features.audit.service import AuditLog
from citewell.features.audited import AuditRecord, keep_record, record_ended
from citewell.features.declared import AuditKind
from citewell.features.http import address_of, error_response
from citewell.types.audit import AuditActor, AuditOutcome

_TOO_MANY = 429


class AuditRecorder:
    """ASGI middleware: gives each request a record, logs it when the response starts, and adds `X-Request-ID` to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request. An unhandled error is logged as a failure."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        audit: AuditLog = scope["app"].state.services.audit
        record = AuditRecord(network=shortened(address_of(request)), begin=audit.repository.begin)
        keep_record(request, record)
        answer = _Answer(request, record, audit, send)
        try:
            await self._app(scope, receive, answer.send)
        except BaseException:
            await answer.failed()
            raise


class _Answer:
    """The response to one request. Its start is held back until the entry is written and, if the body names the subject, until the body."""

    def __init__(self, request: Request, record: AuditRecord, audit: AuditLog, send: Send) -> None:
        self._request, self._record, self._audit, self._send = request, record, audit, send
        self._held: Message | None = None
        self._entered = self._refused = False

    async def send(self, message: Message) -> None:
        """Pass the response on once its entry is in the log."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            message.setdefault("headers", []).append((b"x-request-id", self._record.request_id.encode()))
            ended = record_ended(self._request)
            if ended is not None and ended.audited is not None and ended.audited.answer and message["status"] < 300:
                self._held = message
                return
            await self._enter(message["status"])
        elif self._held is not None:
            held, self._held = self._held, None
            self._read_subject(held, message)
            await self._enter(held["status"])
            if not self._refused:
                await self._send(held)
        if not self._refused:
            await self._send(message)

    async def failed(self) -> None:
        """Log a request that ended without a response: an error, or a client that disconnected."""
        if not self._entered:
            record_ended(self._request)
            await self._enter(500)

    async def _enter(self, status: int) -> None:
        self._entered = True
        record = self._record
        if record.audited is None or (status == _TOO_MANY and not record.has_begun):
            return
        outcome = AuditOutcome.REFUSED if record.is_refused and status < 500 else _outcome(status)
        entry = record.entry(outcome, status)
        is_anonymous = record.actor is AuditActor.NOBODY and record.owner_id is None
        # Failed sign-ins and requested resets are logged whether or not the account exists, or the timing would reveal it.
        if is_anonymous and outcome is AuditOutcome.DONE and not record.is_limited:
            return
        may_repeat = (is_anonymous and not record.is_limited) or record.audited.kind is AuditKind.VIEW
        if may_repeat and self._audit.is_repeated(entry):
            return
        try:
            await self._audit.write(entry, is_noted=record.has_begun)
        except CitewellError as error:
            self._refused = True
            await error_response(error)(self._request.scope, self._request.receive, self._send)

    def _read_subject(self, start: Message, message: Message) -> None:
        """Take the id of the created object from the response, if it is JSON in one piece."""
        audited, kinds = self._record.audited, [value for name, value in start["headers"] if name == b"content-type"]
        if audited is None or message.get("more_body") or kinds != [b"application/json"]:
            return
        body = json.loads(message.get("body", b"") or b"null")
        subject = body.get(audited.answer) if isinstance(body, dict) else None
        if isinstance(subject, str):
            self._record.subject = subject


def _outcome(status: int) -> AuditOutcome:
    if status < 400:
        return AuditOutcome.DONE
    return AuditOutcome.REFUSED if status < 500 else AuditOutcome.FAILED
