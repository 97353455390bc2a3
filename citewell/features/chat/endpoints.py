"""HTTP for questions: one JSON answer, or streamed NDJSON lines."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from citewell.agent.interface import (
    AgentEvent,
    Done,
    Failed,
    FiltersInferred,
    ModelReads,
    PartsRead,
    TextDelta,
    TextRestarted,
    UsedDocs,
)
from citewell.errors import Forbidden, from_code
from citewell.features.audited import record_of
from citewell.features.chat.schemas import ChatIn, ChatOut, CitationOut, NoAnswerOut, nearest, used_doc
from citewell.features.chat.service import ChatRequest, ChatService, Turn
from citewell.features.chat.ui_messages import UI_HEADERS, ui_parts
from citewell.features.declared import ASK, changes, narrowed
from citewell.features.http import ERROR_RESPONSES, AnswerSlot, CurrentPrincipal, NarrowedGrant, while_admitted
from citewell.features.json_bodies import SoundRoute, dumped
from citewell.features.routing import Router
from citewell.features.schemas import AnsweredBeforeOut, InferredFilterOut, RememberedOut
from citewell.features.turns import projects_named
from citewell.features.waiting import CLIENT_LEFT, last_event
from citewell.filters.language import inferred_to_json, parse_filters
from citewell.retrieve.project_filters import seen_by
from citewell.types.audit import AuditAction

router = Router(tags=["chat"], responses=ERROR_RESPONSES, route_class=SoundRoute)


@router.post("/chat", access=narrowed(ASK), audit=changes(AuditAction.ASKED), response_model=ChatOut)
async def chat(
    request: Request, body: ChatIn, grant: NarrowedGrant, principal: CurrentPrincipal, slot: AnswerSlot
) -> ChatOut | Response:
    """Ask a question. With `stream`, the answer arrives as NDJSON lines `{"stream"}`, `{"progress"}`, `{"inferred_filters"}`, `{"used_docs"}`, then `{"done"}` or `{"error"}`."""
    service: ChatService = request.app.state.services.chat
    if principal.project_ids is not None and body.thread_id is not None:
        raise Forbidden(
            "This token is limited to some projects, and the conversation may be about others. Leave out `thread_id`."
        )
    turn = await service.begin(
        ChatRequest(
            owner_id=principal.owner_id,
            files_of=grant.owner_id,
            kept_to=grant.projects,
            message=body.message,
            thread_id=body.thread_id,
            projects=grant.narrowed(projects_named(body.project, body.projects)),
            resource_ids=tuple(body.resource_ids) if body.resource_ids is not None else None,
            filters=seen_by(grant, parse_filters(body.filters)),
            options=body.options(),
            references=body.references,
            repeats=body.repeat,
        )
    )
    record_of(request).subject = turn.thread.id
    turn = replace(turn, events=while_admitted(request, principal, turn.events))
    if body.stream and body.protocol == "ai-sdk":
        parts = ui_parts(turn, str(request.base_url), lambda done: chat_out(turn, done, body.debug))
        return StreamingResponse(_events(parts), media_type="text/event-stream", headers=UI_HEADERS)
    if body.stream:
        if body.detached:
            turn = service.detach(principal.owner_id, replace(turn, events=_with(slot, turn.events)))
        return StreamingResponse(_lines(turn, body.debug), media_type="application/x-ndjson")
    last = await last_event(request, turn.events)
    if isinstance(last, Failed):
        raise from_code(last.code, last.message, last.details)
    return chat_out(turn, last, body.debug) if last is not None else Response(status_code=CLIENT_LEFT)


async def _with(slot: AsyncExitStack, events: AsyncGenerator[AgentEvent]) -> AsyncGenerator[AgentEvent]:
    """The events; the slot is taken along from the first, and free after the last."""
    async with slot.pop_all(), aclosing(events):
        async for event in events:
            yield event


async def _lines(turn: Turn, debug: bool) -> AsyncIterator[bytes]:
    async with aclosing(turn.events) as events:
        async for event in events:
            yield dumped(_line(turn, event, debug)) + b"\n"


async def _events(parts: AsyncGenerator[dict[str, Any]]) -> AsyncIterator[bytes]:
    async with aclosing(parts):
        async for part in parts:
            yield b"data: " + dumped(part) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _line(turn: Turn, event: object, debug: bool) -> dict[str, Any]:
    match event:
        case TextDelta(text):
            return {"stream": text}
        case TextRestarted():
            return {"restart": True}
        case ModelReads(tokens, seconds):
            return {"reading": {"tokens": tokens, "seconds": seconds}}
        case PartsRead(done, total):
            return {"progress": {"done": done, "total": total}}
        case FiltersInferred(filters):
            return {"inferred_filters": [inferred_to_json(one) for one in filters]}
        case UsedDocs(sources):
            return {"used_docs": [used_doc(source) for source in sources]}
        case Done():
            return {"done": chat_out(turn, event, debug).model_dump(mode="json")}
        case Failed(code, message, details):
            return {"error": {"code": code, "message": message, "details": details}}
        case _:
            raise TypeError(f"Not an event of the agent: {event!r}")


def chat_out(turn: Turn, done: Done, debug: bool) -> ChatOut:
    """The complete answer as JSON, with the trace only if `debug` is set."""
    return ChatOut(
        answer=done.answer.text,
        citations=[CitationOut.of(c) for c in done.answer.citations],
        remembered=[RememberedOut.model_validate(one.to_json()) for one in done.answer.remembered],
        answered_before=None
        if done.answer.answered_before is None
        else AnsweredBeforeOut.model_validate(done.answer.answered_before.to_json()),
        thread_id=turn.thread.id,
        message_id=turn.message_id,
        answered=done.answer.answered,
        intent=done.answer.intent,
        picture=dict(done.answer.picture) if done.answer.picture is not None else None,
        nearest=[nearest(source) for source in done.nearest],
        confidence=done.answer.confidence,
        no_answer=None
        if done.answer.no_answer is None
        else NoAnswerOut.model_validate(done.answer.no_answer.to_json()),
        inferred_filters=[
            InferredFilterOut.model_validate(inferred_to_json(one)) for one in done.answer.inferred_filters
        ],
        usage=dict(done.usage.to_json()),
        timings_ms=_timings(done),
        trace=dict(done.answer.trace) if debug else None,
        notice=turn.noted(done),
    )


def _timings(done: Done) -> dict[str, float]:
    timings = done.answer.trace.get("timings_ms")
    found = timings.items() if isinstance(timings, dict) else ()
    return {step: float(spent) for step, spent in found if isinstance(spent, int | float)}
