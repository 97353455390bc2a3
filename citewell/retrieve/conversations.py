"""Searches a person's earlier conversations, as files are searched: by meaning and by words, within owner, projects and files asked about."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from citewell.ports import Embedder, FloatMatrix
from citewell.retrieve.fusion import hybrid
from citewell.storage.conversations.memory import MemoryRepository
from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.types import JsonObject, JsonValue, Scope, ScoredId
from citewell.types.conversations import Exchange

MAX_EMBEDDED = 64
"""Exchanges without a vector that one search embeds, the newest; the others are found by their words until they have one."""
MAX_CHARACTERS = 2_000
"""Of an exchange that are searched."""
_DENSE_WEIGHT = 0.5
_STEM = 4  # characters in which a word must agree with a term before it is analysed


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What to look for in earlier conversations. A turn's own thread is not among them.

    owner_id:    the person who asks, whose conversations they are
    projects:    ids of the projects that the person is limited to; None for no limit
    scope:       of the question: what was said about other files or projects is not found
    """

    owner_id: str
    query: str
    thread_id: str | None = None
    projects: tuple[str, ...] | None = None
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class FoundExchange:
    """An exchange that was found. near: cosine with the query, None without a vector; covered: the share, by weight, of its terms."""

    exchange: Exchange
    score: float
    near: float | None
    covered: float


class ConversationSearch:
    """Implements the agent's `Conversations`. Vectors are stored beside the messages and are deleted with them."""

    def __init__(self, repository: MemoryRepository, embedder: Embedder) -> None:
        self._repository = repository
        self._embedder = embedder

    async def is_on(self, owner_id: str) -> bool:
        """Whether the owner lets earlier conversations be searched."""
        return await self._repository.is_on(owner_id)

    async def recent(self, asked: Recollection) -> list[Exchange]:
        """All that the owner and the scope allow, newest first."""
        if not await self._repository.is_on(asked.owner_id):
            return []
        found = await self._repository.exchanges(asked.owner_id, asked.thread_id)
        return [one for one in found if _is_within(one, asked)]

    async def search(self, asked: Recollection, limit: int) -> list[FoundExchange]:
        """The best first; none if the owner does not let them be searched."""
        exchanges = await self.recent(asked)
        if not exchanges:
            return []
        near = await self._near(asked, exchanges)
        covered = await asyncio.to_thread(coverage, asked.query, exchanges)
        dense = sorted((ScoredId(key, value) for key, value in near.items()), key=lambda one: -one.score)
        lexical = sorted((ScoredId(key, value) for key, value in covered.items()), key=lambda one: -one.score)
        by_id = {one.message_id: one for one in exchanges}
        return [
            FoundExchange(by_id[one.id], one.score, near.get(one.id), covered.get(one.id, 0.0))
            for one in hybrid(dense, lexical, _DENSE_WEIGHT)[:limit]
        ]

    async def index(self, owner_id: str) -> None:
        """Embed the newest exchanges that have no vector yet."""
        if await self._repository.is_on(owner_id):
            await self._vectors(owner_id, await self._repository.exchanges(owner_id))

    async def _near(self, asked: Recollection, exchanges: Sequence[Exchange]) -> dict[str, float]:
        vectors = await self._vectors(asked.owner_id, exchanges)
        known = [one.message_id for one in exchanges if one.message_id in vectors]
        if not known:
            return {}
        query = (await self._embedder.embed([asked.query], "query"))[0]
        return dict(zip(known, (np.stack([vectors[one] for one in known]) @ query).tolist(), strict=True))

    async def _vectors(self, owner_id: str, exchanges: Sequence[Exchange]) -> Mapping[str, FloatMatrix]:
        fingerprint = str(self._embedder.fingerprint)
        known = await self._repository.vectors(fingerprint, owner_id)
        new = [one for one in exchanges if one.message_id not in known][:MAX_EMBEDDED]
        if new:
            # As queries, which no cache writes to disk: what is forgotten must be gone.
            made = await self._embedder.embed([one.text[:MAX_CHARACTERS] for one in new], "query")
            fresh = {one.message_id: vector for one, vector in zip(new, made, strict=True)}
            await self._repository.keep_vectors(fingerprint, fresh)
            known = {**known, **fresh}
        return known


def coverage(query: str, exchanges: Sequence[Exchange]) -> dict[str, float]:
    """The share of the query's terms, by their weight among these exchanges, in each that has any."""
    language = detect_language(query)
    terms = set(analyze(query, language, query=True))
    stems = {term[:_STEM] for term in terms}
    held: dict[str, set[str]] = {}
    for one in exchanges:
        text = one.text[:MAX_CHARACTERS]
        if any(stem in text.casefold() for stem in stems) and (found := terms & set(analyze(text, language))):
            held[one.message_id] = found
    counts = Counter(term for found in held.values() for term in found)
    weights = {term: math.log(1 + len(exchanges) / (1 + counts[term])) for term in terms}
    whole = sum(weights.values())
    return {one: sum(weights[term] for term in found) / whole for one, found in held.items()} if whole else {}


def _is_within(exchange: Exchange, asked: Recollection) -> bool:
    """Whether an exchange is about nothing but what the question may draw on."""
    allowed = asked.projects if asked.scope.project_ids is None else asked.scope.project_ids
    if asked.projects is not None and allowed is not None:
        allowed = tuple(one for one in allowed if one in asked.projects)
    if allowed is not None and not _is_in_projects(exchange.scope, allowed):
        return False
    named = asked.scope.resource_ids
    if named is None:
        return True
    about = exchange.cited or tuple(_texts(exchange.scope.get("resource_ids")))
    return bool(about) and set(about) <= set(named)


def _is_in_projects(scope: JsonObject, allowed: Sequence[str]) -> bool:
    asked_of = [*_texts(scope.get("projects")), *_texts(scope.get("project"))]
    return bool(asked_of) and set(asked_of) <= set(allowed)


def _texts(value: JsonValue) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value] if isinstance(value, list | tuple) else []
