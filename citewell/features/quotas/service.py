"""Quotas: owners see their own; administrators set them for individual people."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from citewell.errors import Forbidden
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.accounts.people import PersonRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.types.accounts import Principal
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditOutcome
from citewell.types.quotas import Quota, QuotaStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaService:
    """Shows and changes quotas. An owner's quota is a number, or None for no limit; if none is set, the default applies."""

    repository: QuotaRepository
    people: PersonRepository
    audit: AuditRepository

    async def of_person(self, principal: Principal, person_id: str) -> list[QuotaStanding]:
        """A person's limits and usage, for administrators. Raises `NotFound`."""
        return await self.repository.standings(await self._owner_of(principal, person_id))

    async def change(
        self, principal: Principal, person_id: str, own: Mapping[Quota, float | None]
    ) -> list[QuotaStanding]:
        """Set a person's quotas, for administrators; defaults apply to omitted ones. Raises `NotFound`."""
        owner_id = await self._owner_of(principal, person_id)
        await self.repository.change(owner_id, own)
        return await self.repository.standings(owner_id)

    async def change_on_server(
        self, name: str, own: Mapping[Quota, float | None], to_default: frozenset[Quota]
    ) -> list[QuotaStanding]:
        """Set some of an owner's quotas, and reset others to the defaults, for the command line. Raises `NotFound`."""
        owner_id = await self.repository.find_owner(name)
        kept = {quota: most for quota, most in (await self.repository.own(owner_id)).items() if quota not in to_default}
        await self.repository.change(owner_id, {**kept, **own})
        changed = AuditEntry(
            at=time.time(),
            owner_id=owner_id,
            actor=AuditActor.SYSTEM,
            action=AuditAction.QUOTA_CHANGED,
            subject=owner_id,
            outcome=AuditOutcome.DONE,
            request_id=str(uuid.uuid4()),
        )
        await self.audit.add([changed])
        return await self.repository.standings(owner_id)

    async def _owner_of(self, principal: Principal, person_id: str) -> str:
        if not principal.is_administrator:
            raise Forbidden("Only administrators can see and change other people's quotas.")
        return (await self.people.get(person_id))[0].owner_id
