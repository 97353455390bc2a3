"""Runs one query through both legs, dense and lexical, concurrently; fuses them; and repeats with feedback."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

import numpy as np

from citewell.errors import ConfigurationError, ProviderError, Unavailable
from citewell.ports import Capability, Embedder, FloatMatrix, VectorIndex
from citewell.ports.second_pass import TwoPassIndex
from citewell.retrieve.fusion import led_by
from citewell.retrieve.joining import Joining
from citewell.retrieve.options import EmbedderTraits, RetrievalOptions, traits_of
from citewell.retrieve.trace import timed
from citewell.text.analysis import analyze
from citewell.text.language import LANGUAGES, detect_language
from citewell.text.sparse import code_terms, sparse_query, term_id
from citewell.types import Condition, Filter, Operator, ScoredId, SparseVector, Trace, VectorQuery, scored
from citewell.types.search import EMBED_ERROR, STORE_ERROR

log = logging.getLogger(__name__)

FOREIGN_DENSE_WEIGHT = 0.5
# If words are stored separately, as with Pinecone, the search continues with them alone after this time: vendors' clients retry for minutes.
_SLOWEST_SECONDS = 10.0
# A model server with a different model under the same name returns vectors of another length, which is a configuration error.
_EMBEDDER_FAILED = (ProviderError, ConfigurationError)
# How many of the best hits are embedded next if they have no vectors yet.
_PREFERRED = 20
# A code in more chunks than this does not identify one.
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one query: the scores of each leg (cosines, BM25) and the fused list, best first.

    vector: the query's, before feedback moved it; None if only words were searched, or the store embeds the query itself
    named:  the chunks with a code of the query, which come first
    similar: the cosines on the built-in English model's scale; none of a model for which it is not known
    """

    language: str | None
    vector: FloatMatrix | None
    dense: tuple[ScoredId, ...]
    lexical: tuple[ScoredId, ...]
    fused: tuple[ScoredId, ...]
    named: frozenset[str] = frozenset()
    similar: Mapping[str, float] = field(default_factory=dict[str, float])


_Joined: TypeAlias = tuple[FloatMatrix | None, list[ScoredId], Joining, list[ScoredId]]
"""A query's vector, its dense hits, how they were joined with the lexical hits, and the resulting list."""


class Searching(Protocol):
    """What a `Retriever` needs from the legs of one index, or of several."""

    @property
    def compares(self) -> bool:
        """Whether query vectors are available to compare with chunk vectors; not if the store embeds both."""
        ...

    async def find(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found:
        """A query's hits in scope."""
        ...

    async def cosines(self, query: str, vector: FloatMatrix | None, ids: Sequence[str]) -> dict[str, float]:
        """How near the query each of these chunks is that has a vector: on the built-in English model's scale, if known, else the cosine."""
        ...

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """Vectors of these chunks that can be compared with each other."""
        ...

    async def holds_any(self, words: Sequence[str], scope: Filter) -> bool:
        """Whether a chunk in the scope has one of these words."""
        ...


class WaitingVectors(Protocol):
    """Knows the chunks that are searchable by words but have no vectors yet; storage implements it."""

    async def among(self, ids: Sequence[str]) -> set[str]:
        """The chunks among these that have no vector yet."""
        ...

    async def prefer(self, ids: Sequence[str]) -> None:
        """Embed these before others."""
        ...


class Legs:
    """Both legs over one index, with the embedder that made its vectors; `waiting` knows the chunks without vectors."""

    def __init__(
        self, embedder: Embedder, index: VectorIndex, options: RetrievalOptions, waiting: WaitingVectors | None = None
    ) -> None:
        self._waiting = waiting
        self._asked: set[asyncio.Task[None]] = set()
        self._embedder = embedder
        self._index = index
        self._twice = index if isinstance(index, TwoPassIndex) else None
        self._options = options
        self._traits: EmbedderTraits = traits_of(embedder.fingerprint)

    @property
    def compares(self) -> bool:
        """See `Searching.compares`."""
        return Capability.SERVER_SIDE_EMBEDDING not in self._index.capabilities

    async def find(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found:
        """Search with `query` in `scope`; each leg returns at most `limit`."""
        language = detect_language(query)
        weight = self._dense_weight(language)
        has_both = 0.0 < weight < 1.0 and limit > 0 and self._options.feedback_chunks > 0
        if self._twice is not None and has_both and self.compares:
            vector, dense, joining, fused = await self._in_two_steps(
                self._twice, query, language, weight, scope, limit, trace
            )
        else:
            vector, dense, joining, fused = await self._in_three_steps(query, language, weight, scope, limit, trace)
        lexical, unseen = joining.lexical, joining.unseen
        named = await self._named(query, language, scope, trace) if lexical else set[str]()
        if named:
            fused = led_by(fused, named)
        self._prefer([one.id for one in fused[:_PREFERRED] if one.id in unseen])
        return Found(
            language, vector, tuple(dense), tuple(lexical), tuple(fused), frozenset(named), self._similar(dense)
        )

    async def _in_two_steps(
        self,
        index: TwoPassIndex,
        query: str,
        language: str | None,
        weight: float,
        scope: Filter,
        limit: int,
        trace: Trace,
    ) -> _Joined:
        """Search words while embedding the query, then run both passes of the dense leg in one call to the index."""
        vector, (lexical, unseen) = await asyncio.gather(
            self._embedded(query, trace), self._by_words(query, language, scope, limit, trace)
        )
        joining = self._joining(lexical, unseen, weight)
        if vector is not None:
            joining = replace(joining, foreign=await self._foreign(vector, language, scope, limit, trace))
            asked = VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=limit)
            try:
                with timed(trace, "dense"):
                    dense, pulled = await index.search_twice(asked, joining)
                with timed(trace, "fuse"):
                    return vector, dense, joining, joining.fuse(pulled)
            except Unavailable as error:
                self._note(error, trace)
        return self._by_words_alone(vector, joining, trace)

    async def _in_three_steps(
        self, query: str, language: str | None, weight: float, scope: Filter, limit: int, trace: Trace
    ) -> _Joined:
        """Run both legs concurrently, then the dense one again, pulled by their hits."""
        (vector, near), (lexical, unseen) = await asyncio.gather(
            self._dense(query, scope, limit if weight > 0.0 else 0, trace),
            self._by_words(query, language, scope, limit if weight < 1.0 else 0, trace),
        )
        if weight > 0.0 and near is None:
            lexical = lexical or await self._lexical(query, language, scope, limit, trace)
            return self._by_words_alone(vector, self._joining(lexical, unseen, weight), trace)
        dense = near or []
        joining = self._joining(lexical, unseen, weight)
        if vector is None or near is None:
            with timed(trace, "fuse"):
                return vector, dense, joining, joining.fuse(dense)
        joining = replace(joining, foreign=await self._foreign(vector, language, scope, limit, trace))
        with timed(trace, "fuse"):
            pulls = joining.pulls(dense)
        pulled = dense
        if pulls:
            try:
                with timed(trace, "feedback"):
                    pulled = await self._near(vector, scope, limit, pulls)
            except Unavailable as error:
                log.warning("a search continues without feedback: %s", error.message)
        with timed(trace, "fuse"):
            return vector, dense, joining, joining.fuse(pulled)

    def _by_words_alone(self, vector: FloatMatrix | None, joining: Joining, trace: Trace) -> _Joined:
        reason = trace.details.get(EMBED_ERROR) or trace.details.get(STORE_ERROR)
        log.warning("a search continues by keyword only: %s", reason)
        alone = replace(joining, weight=0.0)
        return vector, [], alone, alone.fuse([])

    async def cosines(self, query: str, vector: FloatMatrix | None, ids: Sequence[str]) -> dict[str, float]:
        """See `Searching.cosines`; none if the store embeds. vector: the query's, if known."""
        if not self.compares:
            return {}
        asked = vector if vector is not None else await self.vector_of(query)
        found = {key: float(np.dot(one, asked)) for key, one in (await self._index.vectors(ids)).items()}
        return self._similar(scored(list(found.items()))) or found

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """The vectors of these chunks, shape (dimensions,) each."""
        return await self._index.vectors(ids)

    async def vector_of(self, query: str) -> FloatMatrix:
        """The query's vector, shape (dimensions,)."""
        vectors: FloatMatrix = await self._embedder.embed([query], "query")
        return vectors[0]

    async def holds_any(self, words: Sequence[str], scope: Filter) -> bool:
        """Whether a chunk in scope has one of these words; False if the index stores no words."""
        if Capability.SPARSE not in self._index.capabilities:
            return False
        text = " ".join(words)
        terms = {
            term_id(term) for language in {detect_language(text), "en"} for term in analyze(text, language, query=True)
        }
        if not terms:
            return False
        asked = SparseVector(tuple(terms), (1.0,) * len(terms))
        return bool(await self._index.search(VectorQuery(sparse=asked, filter=scope, limit=1)))

    def _dense_weight(self, language: str | None) -> float:
        """The dense leg's weight: lower for a language that the model was not trained on."""
        weight = self._options.dense_weight
        if Capability.SPARSE not in self._index.capabilities:
            return 1.0
        known = self._traits.languages is None or language is None or language in self._traits.languages
        return weight if known or weight == 1.0 else weight * FOREIGN_DENSE_WEIGHT

    async def _dense(
        self, query: str, scope: Filter, limit: int, trace: Trace
    ) -> tuple[FloatMatrix | None, list[ScoredId] | None]:
        """The query's vector, if computed here, and its dense hits; None if the embedder or the store fails."""
        if limit < 1:
            return None, []
        vector = None
        try:
            if self.compares:
                with timed(trace, "embed"):
                    vector = await self.vector_of(query)
            with timed(trace, "dense"):
                if vector is not None:
                    return vector, await self._near(vector, scope, limit)
                return None, await self._found(VectorQuery(text=query, filter=scope, limit=limit))
        except (*_EMBEDDER_FAILED, Unavailable) as error:
            self._note(error, trace)
            return vector, None

    async def _embedded(self, query: str, trace: Trace) -> FloatMatrix | None:
        """The query's vector; None if the embedder fails."""
        try:
            with timed(trace, "embed"):
                return await self.vector_of(query)
        except (*_EMBEDDER_FAILED, Unavailable) as error:
            self._note(error, trace)
            return None

    def _similar(self, dense: Sequence[ScoredId]) -> dict[str, float]:
        scaled = {one.id: self._traits.similarity(one.score) for one in dense}
        return {key: value for key, value in scaled.items() if value is not None}

    async def _foreign(
        self, vector: FloatMatrix, language: str | None, scope: Filter, limit: int, trace: Trace
    ) -> set[str]:
        """The dense hits in another language than the question's, if the model reads both; none where the store fails."""
        if language is None or self._traits.languages is not None or limit < 1:
            return set()
        other = Condition("language", Operator.IN, tuple(sorted(LANGUAGES - {language})))
        others = replace(scope, conditions=(*scope.conditions, other))
        try:
            with timed(trace, "foreign"):
                return {one.id for one in await self._near(vector, others, limit)}
        except Unavailable as error:
            log.warning("a search continues without the languages of its hits: %s", error.message)
            return set()

    def _note(self, error: ProviderError | ConfigurationError | Unavailable, trace: Trace) -> None:
        """Record why a search continues by keyword only. Raises the error if the index stores no words."""
        if Capability.SPARSE not in self._index.capabilities:
            raise error
        failed = EMBED_ERROR if isinstance(error, _EMBEDDER_FAILED) else STORE_ERROR
        trace.details[failed] = f"{error.code}: {error.message}"

    async def _near(
        self, vector: FloatMatrix, scope: Filter, limit: int, pulls: tuple[tuple[str, float], ...] = ()
    ) -> list[ScoredId]:
        return await self._found(VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=limit, pulls=pulls))

    async def _found(self, query: VectorQuery) -> list[ScoredId]:
        """The dense hits. Also raises `Unavailable` for a slow store if words are stored elsewhere."""
        seconds = _SLOWEST_SECONDS if Capability.EVENTUAL in self._index.capabilities else None
        try:
            async with asyncio.timeout(seconds):
                return await self._index.search(query)
        except TimeoutError:
            raise Unavailable(f"The vector store has not answered within {_SLOWEST_SECONDS:g} s.") from None

    async def _by_words(
        self, query: str, language: str | None, scope: Filter, limit: int, trace: Trace
    ) -> tuple[list[ScoredId], set[str]]:
        """The lexical hits, and those among them without vectors yet, before the query's vector is known."""
        lexical = await self._lexical(query, language, scope, limit, trace)
        return lexical, await self._waiting.among([one.id for one in lexical]) if self._waiting is not None else set()

    async def _named(self, query: str, language: str | None, scope: Filter, trace: Trace) -> set[str]:
        """Chunks with a rare code from the query: among hundreds of similar chunks, such as invoices, the query means these."""
        named: set[str] = set()
        if codes := code_terms(query, language):
            with timed(trace, "codes"):
                for code in codes:
                    found = await self._index.search(VectorQuery(sparse=code, filter=scope, limit=_MAX_NAMED + 1))
                    if len(found) <= _MAX_NAMED:
                        named |= {one.id for one in found}
        return named

    def _prefer(self, ids: Sequence[str]) -> None:
        """Embed a question's hits next, without making the search wait for that to be recorded."""
        if ids and self._waiting is not None:
            task = asyncio.create_task(self._note_preferred(self._waiting, ids))
            self._asked.add(task)
            task.add_done_callback(self._asked.discard)

    async def _note_preferred(self, waiting: WaitingVectors, ids: Sequence[str]) -> None:
        try:
            await waiting.prefer(ids)
        except Exception:  # only a preference, and nothing awaits this task
            log.warning("the order of embedding does not change", exc_info=True)

    async def _lexical(
        self, query: str, language: str | None, scope: Filter, limit: int, trace: Trace
    ) -> list[ScoredId]:
        if limit < 1:
            return []
        with timed(trace, "analyse"):
            terms = sparse_query(query, language)
        with timed(trace, "lexical"):
            return await self._index.search(VectorQuery(sparse=terms, filter=scope, limit=limit))

    def _joining(self, lexical: Sequence[ScoredId], unseen: AbstractSet[str], weight: float) -> Joining:
        options = self._options
        return Joining(
            options.fusion,
            weight,
            self._traits.typical_spread,
            options.feedback_chunks,
            options.feedback_weight,
            lexical,
            unseen,
        )
