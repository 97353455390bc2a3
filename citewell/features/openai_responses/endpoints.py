"""HTTP for OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from citewell.agent.interface import AgentEvent, Failed
from citewell.errors import from_code
from citewell.features.audited import record_of
from citewell.features.declared import ASK, READ, WRITE, changes, everything
from citewell.features.http import AnswerSlot, CurrentPrincipal, Owner, while_admitted
from citewell.features.json_bodies import dumped
from citewell.features.openai_format import OPENAI_ERRORS, OpenAIRoute
from citewell.features.openai_responses.schemas import RESULTS, ResponseIn, input_items, stored_response
from citewell.features.openai_responses.service import ResponseService
from citewell.features.openai_responses.streaming import ResponseEvents
from citewell.features.routing import Router
from citewell.features.waiting import CLIENT_LEFT, last_event
from citewell.types.audit import AuditAction

router = Router(prefix="/v1", tags=["openai"], responses=OPENAI_ERRORS, route_class=OpenAIRoute, is_lenient=True)


def _service(request: Request) -> ResponseService:
    return request.app.state.services.openai_responses


@router.post("/responses", access=everything(ASK), audit=changes(AuditAction.ASKED), response_model=None)
async def create_response(
    request: Request, body: ResponseIn, owner: Owner, principal: CurrentPrincipal, _slot: AnswerSlot
) -> Response:
    """Answer from vector stores, or from everything without the tool `file_search`. Citations are `file_citation` annotations."""
    asked = body.read()
    answer_id, begun = await _service(request).begin(owner, asked)
    record_of(request).subject = answer_id
    turn = ResponseEvents(
        id=answer_id,
        echoed=asked.echoed,
        base=str(request.base_url),
        queries=None if asked.stores is None else [asked.messages[-1][1]],
        shows_results=RESULTS in (body.include or ()),
    )
    events = while_admitted(request, principal, begun)
    if body.stream:
        lines = _lines(turn.stream(events))
        return StreamingResponse(lines, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
    last = await last_event(request, _noted(turn, events))
    if isinstance(last, Failed):
        raise from_code(last.code, last.message, last.details)
    return Response(status_code=CLIENT_LEFT) if last is None else JSONResponse(turn.whole(last))


@router.get("/responses/{response_id}", access=everything(READ), response_model=None)
async def get_response(request: Request, response_id: str, owner: Owner) -> Response:
    """A stored response."""
    found = await _service(request).stored(owner, response_id)
    return JSONResponse(stored_response(found, str(request.base_url)))


@router.get("/responses/{response_id}/input_items", access=everything(READ), response_model=None)
async def list_response_input(request: Request, response_id: str, owner: Owner) -> Response:
    """The question of a stored response."""
    return JSONResponse(input_items(await _service(request).stored(owner, response_id)))


@router.delete(
    "/responses/{response_id}", access=everything(WRITE), audit=changes(AuditAction.THREAD_CHANGED), response_model=None
)
async def delete_response(request: Request, response_id: str, owner: Owner) -> Response:
    """Delete a stored response with its question, and what followed it."""
    await _service(request).delete(owner, response_id)
    return JSONResponse({"id": response_id, "object": "response", "deleted": True})


async def _noted(turn: ResponseEvents, events: AsyncGenerator[AgentEvent]) -> AsyncGenerator[AgentEvent]:
    async with aclosing(events):
        async for event in events:
            turn.note(event)
            yield event


async def _lines(events: AsyncGenerator[dict[str, Any]]) -> AsyncIterator[bytes]:
    async with aclosing(events):
        async for event in events:
            yield b"event: " + event["type"].encode() + b"\ndata: " + dumped(event) + b"\n\n"
