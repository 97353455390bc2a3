"""HTTP for clients of OpenAI's chat completions: point them at `/v1` with a Citewell token as the key."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from citewell.agent.interface import AgentEvent, Done, Failed, TextDelta, TextRestarted
from citewell.errors import UnknownModel, from_code
from citewell.features.declared import ASK, READ, changes, everything
from citewell.features.http import (
    AnswerSlot,
    CurrentPrincipal,
    Owner,
    status_of,
    while_admitted,
)
from citewell.features.json_bodies import dumped
from citewell.features.openai_compatible.schemas import (
    CompletionIn,
    ModelList,
    ModelOut,
    chunk,
    citation_annotations,
    completion,
    usage,
)
from citewell.features.openai_compatible.service import CompletionService
from citewell.features.openai_format import OPENAI_ERRORS, OpenAIRoute, body_of
from citewell.features.routing import Router
from citewell.features.turns import RESTART, what_helps
from citewell.features.waiting import CLIENT_LEFT, last_event
from citewell.types.audit import AuditAction

router = Router(prefix="/v1", tags=["chat"], responses=OPENAI_ERRORS, route_class=OpenAIRoute, is_lenient=True)


def _service(request: Request) -> CompletionService:
    return request.app.state.services.completions


@router.get("/models", access=everything(READ))
async def list_models(request: Request, owner: Owner) -> ModelList:
    """The available model names: everything, or one of the projects."""
    return ModelList(data=[ModelOut(id=name, created=int(at)) for name, at in await _service(request).models(owner)])


@router.get("/models/{model:path}", access=everything(READ))
async def get_model(request: Request, model: str, owner: Owner) -> ModelOut:
    """One of the model names."""
    known = dict(await _service(request).models(owner))
    if model not in known:
        raise UnknownModel
    return ModelOut(id=model, created=int(known[model]))


@router.post(
    "/chat/completions", access=everything(ASK), audit=changes(AuditAction.ASKED, answer="id"), response_model=None
)
async def create_completion(
    request: Request, body: CompletionIn, owner: Owner, principal: CurrentPrincipal, _slot: AnswerSlot
) -> Response:
    """Ask, with the conversation in the request. Citations are annotations on the whole answer or the last piece."""
    service = _service(request)
    turn = await service.turn(
        owner,
        body.model,
        [(message.role, message.text()) for message in body.messages],
        tuple(body.resource_ids) if body.resource_ids is not None else None,
        references=body.references,
    )
    name, created, base = f"chatcmpl-{uuid.uuid4().hex}", int(time.time()), str(request.base_url)
    events = while_admitted(request, principal, service.run(turn))
    if body.stream:
        with_usage = body.stream_options is not None and body.stream_options.include_usage
        pieces = _pieces(events, name, created, body.model, base, with_usage=with_usage)
        return StreamingResponse(_lines(pieces), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
    last = await last_event(request, events)
    if isinstance(last, Failed):
        raise from_code(last.code, last.message, last.details)
    if last is None:
        return Response(status_code=CLIENT_LEFT)
    return JSONResponse(completion(name, created, body.model, last, base))


async def _pieces(
    events: AsyncGenerator[AgentEvent], id: str, created: int, model: str, base: str, *, with_usage: bool
) -> AsyncGenerator[dict[str, Any]]:
    yield chunk(id, created, model, {"role": "assistant", "content": "", "refusal": None})
    async with aclosing(events):
        async for event in events:
            match event:
                case TextDelta(text):
                    yield chunk(id, created, model, {"content": text})
                case TextRestarted():  # the protocol takes nothing back
                    yield chunk(id, created, model, {"content": RESTART})
                case Done(answer=answer):
                    if hint := what_helps(event):
                        yield chunk(id, created, model, {"content": hint})
                    cited = citation_annotations(answer.text, answer.citations, base)
                    yield chunk(id, created, model, {"annotations": cited} if cited else {}, "stop")
                    if with_usage:
                        yield {**chunk(id, created, model, {}), "choices": [], "usage": usage(event)}
                case Failed(code, message, details):
                    yield body_of(code, message, status_of(from_code(code, message, details)))
                case _:
                    pass


async def _lines(pieces: AsyncGenerator[dict[str, Any]]) -> AsyncIterator[bytes]:
    async with aclosing(pieces):
        async for piece in pieces:
            yield b"data: " + dumped(piece) + b"\n\n"
    yield b"data: [DONE]\n\n"
