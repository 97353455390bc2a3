"""Checks answers written elsewhere from passages found here, for example by a model that received them as search results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.agent.interface import Source
from citewell.agent.offload import offload
from citewell.agent.spoken import says_no_answer
from citewell.errors import InvalidInput
from citewell.features.usage.service import Ledger
from citewell.ports.metering import Tally, tallied
from citewell.storage.files.passages import SqlChunks
from citewell.types import Answer, AnswerPiece, Hit, Scores, StoredChunk

if TYPE_CHECKING:
    from citewell.agent.citations.check import CitationChecker

MAX_ANSWER_CHARACTERS = 100_000
MAX_CITED = 200
"""The most chunks an answer may cite."""
MAX_SEEN = 100
"""The most other chunks that a cited one is compared with; the last ones count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationService:
    """Turns attributed pieces of text into an answer with checked citations, using only the owner's files. checker: loads one on first use."""

    checker: Callable[[], CitationChecker]
    chunks: SqlChunks
    ledger: Ledger

    async def check(
        self,
        owner_id: str,
        pieces: Sequence[AnswerPiece],
        seen: Sequence[str] = (),
        *,
        projects: Sequence[str] | None = None,
    ) -> Answer:
        """The pieces as one text with `[n]` in order of citation, and each citation with its verdict.

        seen: ids of chunks the writer received, cited or not; projects: only files in these, by default all. A chunk that does not exist or
        belongs to another owner is not a citation; `trace["removed_citations"]` has its id. Raises `InvalidInput` for an answer that is too
        long or cites too much.
        """
        if sum(len(piece.text) for piece in pieces) > MAX_ANSWER_CHARACTERS:
            raise InvalidInput(f"The answer is longer than {MAX_ANSWER_CHARACTERS:,} characters.")
        cited = dict.fromkeys(one for piece in pieces for one in piece.chunk_ids)
        if len(cited) > MAX_CITED:
            raise InvalidInput(f"The answer cites more than {MAX_CITED} passages.")
        others = [one for one in dict.fromkeys(seen) if one not in cited][-MAX_SEEN:]
        stored = await self._stored(owner_id, [*cited, *others], projects)
        ids = [one for one in (*cited, *others) if one in stored]
        sources = [Source(n, _hit(stored[one])) for n, one in enumerate(ids, start=1)]
        numbers = {source.hit.chunk.id: source.n for source in sources}
        characters = sum(len(piece.text) for piece in pieces) + sum(len(s.hit.chunk.text) for s in sources)
        text = await offload(characters, _written, pieces, sources, numbers)
        with tallied(Tally(owner_id)) as tally:
            checked = await self.checker().check(owner_id, text, sources, settled=True)
        await self.ledger.record_paid(owner_id, tally.spent)
        return Answer(
            text=checked.text,
            citations=checked.citations,
            intent="document_query",
            answered=bool(checked.text) and not says_no_answer(checked.text),
            trace={"removed_citations": [one for one in cited if one not in stored]},
            confidence=round(checked.held, 4) if checked.citations else None,
        )

    async def _stored(
        self, owner_id: str, ids: Sequence[str], projects: Sequence[str] | None
    ) -> Mapping[str, StoredChunk]:
        stored = await self.chunks.load(owner_id, ids)
        if projects is None:
            return stored
        within = frozenset(await self.chunks.projects.resource_ids(owner_id, projects))
        return {one: found for one, found in stored.items() if found.chunk.resource_id in within}


def _written(pieces: Sequence[AnswerPiece], sources: Sequence[Source], numbers: Mapping[str, int]) -> str:
    """The text with a marker after each citing piece; bracketed numbers already in the pieces do not count."""
    from citewell.agent.citations.bracketed import escape_markers
    from citewell.agent.citations.writer import AnswerWriter

    writer = AnswerWriter(lambda _: None, lambda: sources)
    for piece in pieces:
        writer.write(escape_markers(piece.text))
        for one in dict.fromkeys(piece.chunk_ids):
            if one in numbers:
                writer.cite(numbers[one])
    return writer.finish()


def _hit(found: StoredChunk) -> Hit:
    return Hit(
        chunk=found.chunk,
        filename=found.filename,
        score=0.0,
        scores=Scores(),
        provenance=found.provenance,
        picture=found.picture,
    )
