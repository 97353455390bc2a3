"""An owner's webhooks: registering them, publishing events to them, listing deliveries, and resending them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from citewell.errors import InvalidRequest
from citewell.features.requests import invalid_request
from citewell.features.webhooks.signing import new_secret
from citewell.storage.channels.webhooks import WebhookRepository
from citewell.types import (
    SUBSCRIBED,
    Delivery,
    EventType,
    OutgoingEvent,
    Webhook,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookService:
    """Owners' webhooks. private: whether addresses of this machine and its networks are allowed; wake: triggers sending."""

    repository: WebhookRepository
    private: bool
    wake: Callable[[], None]

    async def register(
        self,
        owner_id: str,
        url: str,
        events: Sequence[EventType] | None = None,
        description: str = "",
        made_with: str | None = None,
    ) -> tuple[Webhook, str]:
        """A new webhook and its signing secret, shown only once.

        It ends with the token `made_with`, if given. Raises `InvalidRequest` for an invalid address; whether it may be called is checked with each delivery.
        """
        self._check(url)
        secret = new_secret()
        wanted = tuple(dict.fromkeys(events)) if events else SUBSCRIBED
        return await self.repository.create(owner_id, url, wanted, description, secret, made_with), secret

    async def change(
        self, owner_id: str, webhook_id: str, changes: Mapping[str, Any], made_with: str | None = None
    ) -> Webhook:
        """Change `url`, `events`, `description` or `enabled`; pending deliveries go to the new address. An enabled webhook ends with the token `made_with`."""
        if "url" in changes:
            self._check(changes["url"])
        maker = {"made_with": made_with} if changes.get("enabled") else {}
        return await self.repository.change(owner_id, webhook_id, **changes, **maker)

    async def test(self, owner_id: str, webhook_id: str) -> Delivery:
        """Send a `webhook.test` event. Returns the delivery's id."""
        event = OutgoingEvent(type=EventType.TEST, key=str(uuid.uuid4()), data={"webhook_id": webhook_id})
        delivery = await self.repository.tell_one(owner_id, webhook_id, event)
        self.wake()
        return delivery

    async def replay(self, owner_id: str, delivery_id: str) -> Delivery:
        """Send a delivery again under the same id, whether it was accepted or given up."""
        if not await self.repository.replay(owner_id, delivery_id=delivery_id):
            await self.repository.delivery(owner_id, delivery_id)  # raises NotFound, unless it is already pending
        self.wake()
        return await self.repository.delivery(owner_id, delivery_id)

    async def replay_all(self, owner_id: str, webhook_id: str) -> int:
        """Send all of a webhook's given-up deliveries again. Returns their number."""
        await self.repository.get(owner_id, webhook_id)
        count = await self.repository.replay(owner_id, webhook_id=webhook_id)
        self.wake()
        return count

    def _check(self, url: str) -> None:
        """Raise `InvalidRequest` for an invalid address."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise _invalid("This is not a valid URL.") from None
        if not (parts.scheme == "https" or (parts.scheme == "http" and self.private)):
            raise _invalid(
                "It must begin with https://. With CITEWELL_WEBHOOK_PRIVATE_ADDRESSES, http:// is also allowed."
            )
        if not host or "@" in parts.netloc or not url.isascii() or not url.isprintable() or " " in url:
            raise _invalid("It must contain a host but no user or password, in ASCII without spaces.")


def _invalid(problem: str) -> InvalidRequest:
    return invalid_request([{"field": "body.url", "problem": problem}])
