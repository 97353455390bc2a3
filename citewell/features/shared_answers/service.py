"""Links to single answers: created, listed and revoked by their owner, opened by anybody who has them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from citewell.agent.citations.claims import keep_known
from citewell.features.addresses import network_of
from citewell.features.limits import Refusals
from citewell.storage.accounts.attempts import AttemptRepository
from citewell.storage.conversations.shared_answers import SharedAnswerRepository
from citewell.types.accounts import Principal
from citewell.types.sharing import OpenedAnswer, SharedAnswer

# How often one address may open links per minute. Guessing a 256-bit secret is hopeless anyway: this limits the work.
_SPAN_SECONDS, _MAX_OPENED = 60.0, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswerService:
    """Links that reveal one answer and its cited passages, but not the question, files, ids or names."""

    repository: SharedAnswerRepository
    attempts: AttemptRepository
    _refusals: Refusals = field(default_factory=Refusals)

    async def create(
        self, principal: Principal, thread_id: str, message_id: str, days: int
    ) -> tuple[SharedAnswer, str]:
        """A new link and its secret, shown only once. It expires no later than the credential that creates it."""
        seconds = principal.lifetime(days)
        return await self.repository.create(principal.owner_id, thread_id, message_id, seconds, principal.token_id)

    async def open(self, secret: str, address: str) -> OpenedAnswer:
        """A link's owner, and what it shows. Raises `RateLimited` for an address that opens too many, across all servers of the database."""
        await self._refusals.admit(network_of(address), _MAX_OPENED, self._opened)
        opened = await self.repository.open(secret)
        text, _ = keep_known(opened.shown.text, frozenset(one.n for one in opened.shown.passages))
        return replace(opened, shown=replace(opened.shown, text=text))

    async def _opened(self, network: str) -> tuple[int, float]:
        return await self.attempts.count("shared answers", network, _SPAN_SECONDS)
