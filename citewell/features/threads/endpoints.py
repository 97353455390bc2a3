"""HTTP for conversations: list, read, rename, export, delete."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request, Response
from fastapi.responses import PlainTextResponse

from citewell.features.declared import ASK, READ, changes, everything, not_audited
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.threads.schemas import FeedbackIn, ThreadIn, ThreadList, ThreadOut, ThreadWithMessages
from citewell.features.threads.service import ThreadService, markdown
from citewell.types.audit import AuditAction

router = Router(tags=["threads"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> ThreadService:
    return request.app.state.services.threads


@router.get("/threads", access=everything(READ))
async def list_threads(
    request: Request,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[str | None, Query(max_length=512)] = None,
    q: str | None = None,
) -> ThreadList:
    """Threads, most recently used first; `q` searches titles and messages."""
    found, next_cursor = await _service(request).repository.page(owner, limit, cursor, q)
    return ThreadList(threads=[ThreadOut.model_validate(thread) for thread in found], next_cursor=next_cursor)


@router.post(
    "/threads", access=everything(ASK), audit=changes(AuditAction.THREAD_CREATED, answer="id"), status_code=201
)
async def create_thread(request: Request, body: ThreadIn, owner: Owner) -> ThreadOut:
    """Create an empty thread."""
    return ThreadOut.model_validate(await _service(request).create(owner, body.title))


@router.get("/threads/{thread_id}", access=everything(READ))
async def get_thread(request: Request, thread_id: str, owner: Owner) -> ThreadWithMessages:
    """A thread with its messages."""
    return ThreadWithMessages.of_shown(await _service(request).get(owner, thread_id))


@router.patch(
    "/threads/{thread_id}", access=everything(ASK), audit=changes(AuditAction.THREAD_CHANGED, subject="thread_id")
)
async def rename_thread(request: Request, thread_id: str, body: ThreadIn, owner: Owner) -> ThreadOut:
    """Rename a thread."""
    return ThreadOut.model_validate(await _service(request).rename(owner, thread_id, body.title))


@router.delete(
    "/threads/{thread_id}",
    access=everything(ASK),
    audit=changes(AuditAction.THREAD_DELETED, subject="thread_id"),
    status_code=204,
)
async def delete_thread(request: Request, thread_id: str, owner: Owner) -> Response:
    """Delete a thread with its messages."""
    await _service(request).repository.delete(owner, thread_id)
    return Response(status_code=204)


@router.post(
    "/threads/{thread_id}/stop",
    access=everything(ASK),
    audit=not_audited("ends what the owner started; what was written stays"),
    status_code=204,
)
async def stop_answer(request: Request, thread_id: str, owner: Owner) -> Response:
    """End the detached answer under way in a thread, if this server process runs it. What was written stays in the thread."""
    await _service(request).stop(owner, thread_id)
    return Response(status_code=204)


@router.delete(
    "/threads/{thread_id}/messages/{message_id}",
    access=everything(ASK),
    audit=changes(AuditAction.MESSAGE_DELETED, subject="message_id"),
    status_code=204,
)
async def cut_thread(request: Request, thread_id: str, message_id: str, owner: Owner) -> Response:
    """Remove a message and all later ones, to ask again."""
    await _service(request).repository.cut(owner, thread_id, message_id)
    return Response(status_code=204)


@router.put(
    "/threads/{thread_id}/messages/{message_id}/feedback",
    access=everything(ASK),
    audit=changes(AuditAction.FEEDBACK_GIVEN, subject="message_id"),
    status_code=204,
)
async def rate_answer(request: Request, thread_id: str, message_id: str, body: FeedbackIn, owner: Owner) -> Response:
    """Rate an answer; without a rating, remove the earlier one."""
    feedback = body.model_dump(exclude_none=True) if body.rating else None
    await _service(request).repository.rate(owner, thread_id, message_id, feedback)
    return Response(status_code=204)


@router.get(
    "/threads/{thread_id}/export",
    access=everything(READ),
    audit=changes(AuditAction.THREAD_EXPORTED, subject="thread_id"),
    response_model=None,
)
async def export_thread(
    request: Request, thread_id: str, owner: Owner, format: Literal["json", "markdown"] = "markdown"
) -> ThreadWithMessages | PlainTextResponse:
    """A thread as Markdown with its citations, or as JSON."""
    shown = await _service(request).get(owner, thread_id)
    if format == "json":
        return ThreadWithMessages.of_shown(shown)
    return PlainTextResponse(markdown(shown), media_type="text/markdown; charset=utf-8")
