"""Triggers: three actions for other programs, each with its own address and secret."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from citewell.errors import InvalidInput, Unauthorized, UnnamedProject
from citewell.storage.channels.triggers import TriggerRepository
from citewell.types import JsonObject, JsonValue, Trigger, TriggerKind

MAX_KEY_CHARACTERS = 255
_PREFIX = "trg_"
_SECRET_BYTES = 32
_REFUSED = "The trigger's secret is missing or incorrect. Send it as `Authorization: Bearer trg_…`; if it is lost, create a new trigger."
_NOBODY = hashlib.sha256(b"").hexdigest()
AddRecords: TypeAlias = Callable[[str, Sequence[Mapping[str, Any]], str | None], Awaitable[JsonObject]]
Describe: TypeAlias = Callable[[str, str, Mapping[str, JsonValue], str | None], Awaitable[JsonObject]]
Ask: TypeAlias = Callable[[str, str, str | None, str | None], Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerService:
    """Creates triggers, checks their secrets, and runs their calls once per key.

    add_records, describe, ask: store texts, set metadata on a file, and answer a question, for an owner, within a project if given
    admit: counts the owner's requests
    """

    repository: TriggerRepository
    add_records: AddRecords
    describe: Describe
    ask: Ask
    admit: Callable[[str], Awaitable[None]]

    async def create(
        self, owner_id: str, kind: TriggerKind, name: str, project: str | None, made_with: str | None = None
    ) -> tuple[Trigger, str]:
        """A new trigger and its secret, shown only once. It ends with the token `made_with`, if given."""
        UnnamedProject.check(project)
        secret = _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        return await self.repository.create(owner_id, kind, name, project, _hash(secret), made_with), secret

    async def open(self, trigger_id: str, kind: TriggerKind, secret: str | None) -> Trigger:
        """The trigger with this secret. Raises `Unauthorized` for a wrong secret, and for an unknown address."""
        found = await self.repository.find(trigger_id)
        known = _NOBODY if found is None else found[1]
        fits = hmac.compare_digest(_hash(secret or ""), known)
        if found is None or not fits or found[0].kind is not kind:
            raise Unauthorized(_REFUSED)
        await self.admit(found[0].owner_id)
        return found[0]

    async def fetch(self, trigger: Trigger, records: Sequence[Mapping[str, Any]], key: str | None) -> JsonObject:
        """Store records fetched by the other program; one with a known id replaces the earlier one."""
        body: JsonObject = {"records": list(records)}
        return await self._once(
            trigger, key, body, lambda: self.add_records(trigger.owner_id, records, trigger.project)
        )

    async def chunk(
        self, trigger: Trigger, resource_id: str, metadata: Mapping[str, JsonValue], key: str | None
    ) -> JsonObject:
        """Set the other program's metadata on the chunk's file; None removes a key."""
        body: JsonObject = {"resource_id": resource_id, "metadata": metadata}
        return await self._once(
            trigger, key, body, lambda: self.describe(trigger.owner_id, resource_id, metadata, trigger.project)
        )

    async def result(self, trigger: Trigger, message: str, thread_id: str | None, key: str | None) -> JsonObject:
        """Answer a question. Raises `InvalidInput` for a thread if the trigger has a project, because a thread may have used other files."""
        if thread_id is not None and trigger.project is not None:
            raise InvalidInput(
                "A trigger with a project starts a new thread with each question. Leave out `thread_id`."
            )
        body: JsonObject = {"message": message, "thread_id": thread_id}
        return await self._once(
            trigger, key, body, lambda: self.ask(trigger.owner_id, message, thread_id, trigger.project)
        )

    async def _once(
        self, trigger: Trigger, key: str | None, body: JsonObject, work: Callable[[], Awaitable[JsonObject]]
    ) -> JsonObject:
        """The work's result, or its earlier result under the same key; without a key it runs each time."""
        if key is None:
            return await work()
        call = await self.repository.begin(trigger.id, _hash(key), _hash(json.dumps(body, sort_keys=True)))
        if call.answer is not None:
            return call.answer
        try:
            answer = await work()
        except BaseException:
            # Shielded, so that the key is released even if the caller has left.
            await asyncio.shield(self.repository.abandon(call.lease))
            raise
        await self.repository.finish(call.lease, answer)
        return answer


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
