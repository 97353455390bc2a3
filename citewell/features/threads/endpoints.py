"""HTTP for conversations: list, read, rename, export, delete."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.threads.schemas import (
    FeedbackIn,
    MessageOut,
    ThreadIn,
    ThreadList,
    ThreadOut,
    ThreadWithMessages,
)
from citewell.features.threads.service import ThreadService, markdown
from citewell.storage.threads import ThreadRepository

router = APIRouter(tags=["threads"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _threads(request: Request) -> ThreadRepository:
    return request.app.state.services.threads


def _service(request: Request) -> ThreadService:
    services = request.app.state.services
    return ThreadService(services.threads, services.chat.resources)


@router.get("/threads")
async def list_threads(
    request: Request,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[str | None, Query(max_length=512)] = None,
    q: str | None = None,
) -> ThreadList:
    """Threads, the most recently used first; `q` looks into titles and messages."""
    found, next_cursor = await _threads(request).page(owner, limit, cursor, q)
    return ThreadList(threads=[ThreadOut.of(thread) for thread in found], next_cursor=next_cursor)


@router.post("/threads", status_code=201)
async def create_thread(request: Request, body: ThreadIn, owner: Owner) -> ThreadOut:
    """Begin an empty thread."""
    return ThreadOut.of(await _threads(request).create(owner, body.title.replace("\x00", ""), {}))


@router.get("/threads/{thread_id}")
async def get_thread(request: Request, thread_id: str, owner: Owner) -> ThreadWithMessages:
    """A thread with its messages."""
    thread = await _threads(request).get(owner, thread_id)
    found = await _service(request).messages(owner, thread_id)
    return ThreadWithMessages(**ThreadOut.of(thread).model_dump(), messages=[MessageOut.of(m) for m in found])


@router.patch("/threads/{thread_id}")
async def rename_thread(request: Request, thread_id: str, body: ThreadIn, owner: Owner) -> ThreadOut:
    """Give a thread another title."""
    return ThreadOut.of(await _threads(request).update(owner, thread_id, title=body.title.replace("\x00", "")))


@router.delete("/threads/{thread_id}", status_code=204)
async def delete_thread(request: Request, thread_id: str, owner: Owner) -> Response:
    """Delete a thread with its messages."""
    await _threads(request).delete(owner, thread_id)
    return Response(status_code=204)


@router.delete("/threads/{thread_id}/messages/{message_id}", status_code=204)
async def cut_thread(request: Request, thread_id: str, message_id: str, owner: Owner) -> Response:
    """Remove a message and all that came after it, to ask again."""
    await _threads(request).cut(owner, thread_id, message_id)
    return Response(status_code=204)


@router.put("/threads/{thread_id}/messages/{message_id}/feedback", status_code=204)
async def rate_answer(request: Request, thread_id: str, message_id: str, body: FeedbackIn, owner: Owner) -> Response:
    """Say whether an answer was good; without a rating, take that back."""
    feedback = body.model_dump(exclude_none=True) if body.rating else None
    await _threads(request).rate(owner, thread_id, message_id, feedback)
    return Response(status_code=204)


@router.get("/threads/{thread_id}/export", response_model=None)
async def export_thread(
    request: Request, thread_id: str, owner: Owner, format: Literal["json", "markdown"] = "markdown"
) -> ThreadWithMessages | PlainTextResponse:
    """A thread as Markdown with its citations, or as JSON."""
    thread = await _threads(request).get(owner, thread_id)
    found = await _service(request).messages(owner, thread_id)
    if format == "json":
        return ThreadWithMessages(**ThreadOut.of(thread).model_dump(), messages=[MessageOut.of(m) for m in found])
    return PlainTextResponse(markdown(thread.title, found), media_type="text/markdown; charset=utf-8")
