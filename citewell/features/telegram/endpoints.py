"""HTTP for Telegram: codes and links, and the webhook that Telegram calls."""

from __future__ import annotations

import json
from typing import Annotated, cast

from fastapi import Path, Request, Response

from citewell.errors import InvalidInput
from citewell.features.bodies import allow_body
from citewell.features.declared import ADMIN, PUBLIC, changes, everything, not_audited
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.telegram.schemas import TelegramCodeOut, TelegramLinkOut, TelegramOut
from citewell.features.telegram.service import TelegramService
from citewell.types import JsonObject
from citewell.types.audit import AuditAction

router = Router(tags=["telegram"], responses=ERROR_RESPONSES, route_class=SoundRoute)
webhook_router = Router(include_in_schema=False)
MAX_UPDATE_BYTES = 1024 * 1024
"""Bytes of an update, which is text: the longest message has about 50 KB as JSON."""
_HEADER = "X-Telegram-Bot-Api-Secret-Token"
_UserId = Annotated[int, Path(ge=1, le=2**63 - 1)]


def _service(request: Request) -> TelegramService:
    return request.app.state.services.telegram


@router.get("/telegram", access=everything(ADMIN))
async def telegram(request: Request, owner: Owner) -> TelegramOut:
    """The bot on this server, and the Telegram accounts linked to this owner."""
    service = _service(request)
    links = [TelegramLinkOut.model_validate(link) for link in await service.repository.links(owner)]
    return TelegramOut(bot=service.username, everyone=service.everyone, links=links)


@router.post(
    "/telegram/codes", access=everything(ADMIN), audit=changes(AuditAction.TELEGRAM_CODE_CREATED), status_code=201
)
async def create_telegram_code(request: Request, owner: Owner) -> TelegramCodeOut:
    """Create a code that links the Telegram account that sends it to the bot. It works once, for 15 minutes, and replaces the previous one."""
    return TelegramCodeOut.model_validate(await _service(request).new_code(owner))


@router.delete(
    "/telegram/links/{user_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.TELEGRAM_UNLINKED, subject="user_id"),
    status_code=204,
)
async def unlink_telegram(request: Request, user_id: _UserId, owner: Owner) -> Response:
    """Unlink a Telegram account. Its files and conversations stay."""
    await _service(request).unlink(owner, user_id)
    return Response(status_code=204)


@webhook_router.post(
    "/telegram/webhook",
    access=PUBLIC,
    audit=not_audited("a message of Telegram's: what it asks for is entered when it is done"),
)
async def telegram_webhook(request: Request) -> Response:
    """Receive an update from Telegram. The secret is checked before the body is read."""
    service = _service(request)
    service.admit(request.headers.get(_HEADER, ""))
    allow_body(request, MAX_UPDATE_BYTES)
    try:
        update = json.loads((await request.body()).decode())
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The update is not JSON.") from error
    if not isinstance(update, dict):
        raise InvalidInput("The update must be a JSON object.")
    await service.receive(cast(JsonObject, update))
    return Response(status_code=200)
