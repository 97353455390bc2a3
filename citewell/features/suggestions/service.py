"""Questions that an owner's files can answer, made from facts, headings and columns without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from citewell.agent.interface import Done, TurnRequest
from citewell.features.suggestions.candidates import Candidate, is_answered
from citewell.features.turns import LateAssistant
from citewell.ports.metering import OnSpent, Tally
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.types import FULLY_PROCESSED, Category, Citation, ElementType, Resource, ResourceFilter, Scope

_LOOKED_AT = 12
_TRIED = 8
_PER_FILE = 3
_READ = 200
_RUNNING = frozenset({ElementType.PARAGRAPH.value, ElementType.LIST_ITEM.value})
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the file it was made from."""

    question: str
    resource_id: str
    filename: str


Check = Callable[[str, str, str], Awaitable[Sequence[Citation]]]
"""(owner, question, resource) → the citations of the file's answer; none without an answer."""


def answered_by(assistant: LateAssistant, on_spent: OnSpent) -> Check:
    """A check that asks the assistant; without a chat model it costs no more than a search."""

    async def check(owner_id: str, question: str, resource_id: str) -> Sequence[Citation]:
        turn = TurnRequest(owner_id=owner_id, message=question, scope=Scope(resource_ids=(resource_id,)))
        tally = Tally(owner_id)
        ends = [event async for event in (await assistant.get()).run(turn, tally) if isinstance(event, Done)]
        await on_spent(owner_id, tally.spent)
        return ends[-1].answer.citations if ends and ends[-1].answer.answered else ()

    return check


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionService:
    """Reads the newest ready files, and remembers the results for each.

    With `check`, only questions that have an answer are offered.
    """

    resources: ResourceRepository
    content: ContentRepository
    check: Check | None = None
    _kept: dict[tuple[str, int], list[str]] = field(default_factory=dict[tuple[str, int], list[str]])

    async def suggest(self, owner_id: str, limit: int) -> list[Suggestion]:
        """Up to `limit` questions, each from a different file if there are enough; different kinds of files first."""
        found, _ = await self.resources.page(owner_id, ResourceFilter(status="ready"), _LOOKED_AT, None)
        ready = _mixed([r for r in found if r.status in FULLY_PROCESSED and r.record_id is None])
        by_resource: list[list[Suggestion]] = []
        for resource in ready:
            if sum(1 for questions in by_resource if questions) >= limit:
                break
            texts = await self._questions(owner_id, resource)
            by_resource.append([Suggestion(text, resource.id, resource.filename) for text in texts])
        turns = [questions[turn] for turn in range(_PER_FILE) for questions in by_resource if turn < len(questions)]
        return turns[:limit]

    async def _questions(self, owner_id: str, resource: Resource) -> list[str]:
        key = (resource.id, resource.version)
        if key not in self._kept:
            self._kept[key] = await self._answerable(owner_id, resource)
            while len(self._kept) > _REMEMBERED:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]

    async def _answerable(self, owner_id: str, resource: Resource) -> list[str]:
        candidates = await self._candidates(resource)
        if self.check is None:
            return [candidate.wordings[0] for candidate in candidates[:_PER_FILE]]
        answered: list[str] = []
        for candidate in candidates[:_TRIED]:
            wording = await self._answered_wording(owner_id, candidate, resource.id)
            if wording is not None:
                answered.append(wording)
            if len(answered) == _PER_FILE:
                break
        return answered

    async def _answered_wording(self, owner_id: str, candidate: Candidate, resource_id: str) -> str | None:
        assert self.check is not None
        for wording in candidate.wordings:
            if is_answered(candidate, await self.check(owner_id, wording, resource_id)):
                return wording
        return None

    async def _candidates(self, resource: Resource) -> list[Candidate]:
        # Loaded on first use, because many servers are never asked for suggestions.
        from citewell.features.suggestions.facts import fact_questions
        from citewell.features.suggestions.headings import heading_questions
        from citewell.features.suggestions.tables import table_questions

        tables = table_questions(resource.extraction_metadata.get("tables"))
        if tables or resource.detected_category == Category.DATA:
            return tables
        elements, _ = await self.content.elements_page(resource.id, resource.version, _READ)
        running = [str(element["text"]) for element in elements if element["type"] in _RUNNING]
        headings = [str(element["text"]) for element in elements if element["type"] == ElementType.TITLE]
        english = (resource.language or "").lower().startswith("en")
        facts = await asyncio.to_thread(fact_questions, running) if english else []
        named = await asyncio.to_thread(heading_questions, headings, resource.language)
        # Facts first, because they have the shortest answers; headings between, because they say what the file is about.
        return [*facts[:1], *named[:2], *facts[1:3], *named[2:]]


def _mixed(resources: Sequence[Resource]) -> list[Resource]:
    """One of each category and type first, then the rest, newest first within each."""
    firsts = list({(r.detected_category, r.type): r for r in reversed(resources)}.values())[::-1]
    return firsts + [r for r in resources if r not in firsts]
