"""Reads whole files for an answer: their summaries sentence by sentence, and every passage of a scope, within limits."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.interface import Source, WholeFiles
from citewell.text.analysis import analyze
from citewell.text.central import central_sentences
from citewell.text.sentences import sentence_spans, sentences
from citewell.types import QUOTES, SUMMARY_OF, ChunkPlace, ChunkType, Hit, ResourceInfo, Scores, StoredChunk

MAX_PASSAGES = 6_000
"""Passages read for one answer, over all files."""

MAX_LISTED_PASSAGES = 20_000
"""Passages read for one list, over all files."""

MAX_SUMMARY_SENTENCES = 6
"""Sentences that stand for one file."""

_CONTENT = (ChunkType.TEXT, ChunkType.TABLE, ChunkType.ROW, ChunkType.IMAGE)
_BULLET = re.compile(r"^(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+|#+\s+)")


@dataclass(frozen=True, slots=True)
class Quoted:
    """An answer's text and the passages that it cites."""

    text: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence of a file, and the passage that holds it."""

    text: str
    stored: StoredChunk


class Quoter:
    """Numbers the passages that an answer cites, in the order in which it cites them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sources: list[Source] = []

    @property
    def sources(self) -> tuple[Source, ...]:
        """The passages cited so far."""
        return tuple(self._sources)

    def cite(self, said: Quotable) -> str:
        """The sentence with its citation, safe to render."""
        chunk = said.stored.chunk
        if chunk.id not in self._numbers:
            self._numbers[chunk.id] = len(self._numbers) + 1
            hit = hit_of(said.stored)
            self._sources.append(Source(self._numbers[chunk.id], hit))
        text = " ".join(_BULLET.sub("", said.text).split())
        return f"{safe_text(text)} [{self._numbers[chunk.id]}]"


def hit_of(stored: StoredChunk) -> Hit:
    """A passage that was read rather than found."""
    return Hit(
        chunk=stored.chunk,
        filename=stored.filename,
        score=1.0,
        scores=Scores(fused=1.0),
        provenance=stored.provenance,
        picture=stored.picture,
    )


@dataclass(frozen=True, slots=True)
class WholeReader:
    """Reads files of an owner."""

    files: WholeFiles

    async def summary(self, owner_id: str, file: ResourceInfo) -> list[Quotable]:
        """What its summary says: quoted sentences with the passages they are from, else the summary's own."""
        chunks = await self.files.passages(owner_id, file.id, (ChunkType.SUMMARY,), MAX_SUMMARY_SENTENCES)
        whole = [one for one in chunks if one.chunk.metadata.get(SUMMARY_OF) == "file"]
        said = [sentence for one in whole for sentence in await self._sentences(owner_id, one)]
        said = said or [Quotable(one.chunk.text, one) for one in chunks if SUMMARY_OF not in one.chunk.metadata]
        return (said or await self._central(owner_id, file))[:MAX_SUMMARY_SENTENCES]

    async def passages(
        self, owner_id: str, files: Sequence[ResourceInfo]
    ) -> AsyncIterator[tuple[ResourceInfo, Sequence[StoredChunk]]]:
        """The content of each file in order; of more than the limit allows, passages spread evenly over each."""
        room = max(1, MAX_PASSAGES // max(1, len(files)))
        for file in files:
            yield file, await self.files.passages(owner_id, file.id, _CONTENT, room)

    async def everything(
        self, owner_id: str, files: Sequence[ResourceInfo]
    ) -> AsyncIterator[tuple[ResourceInfo, Sequence[StoredChunk] | None, bool]]:
        """The content of each file in order, and whether it is all of it; None for the files that the limit leaves nothing for."""
        room = MAX_LISTED_PASSAGES
        for file in files:
            if not room:
                yield file, None, False
                continue
            found = await self.files.passages(owner_id, file.id, _CONTENT, room + 1)
            yield file, found[:room], len(found) <= room
            room -= min(room, len(found))

    async def _sentences(self, owner_id: str, summary: StoredChunk) -> list[Quotable]:
        chunk = summary.chunk
        quotes = chunk.metadata.get(QUOTES)
        if not isinstance(quotes, list):
            return [Quotable(sentence, summary) for sentence in sentences(chunk.text)]
        spans = [[int(str(part)) for part in quote] for quote in quotes if isinstance(quote, list)]
        places = [ChunkPlace(chunk.resource_id, chunk.version, ordinal) for ordinal, _, _ in spans]
        found = await self.files.at(owner_id, places)
        return [
            Quotable(found[place].chunk.text[start:end], found[place])
            for place, (_, start, end) in zip(places, spans, strict=True)
            if place in found
        ]

    async def _central(self, owner_id: str, file: ResourceInfo) -> list[Quotable]:
        """For a file without a summary: records, and files indexed before there were summaries."""
        chunks = await self.files.passages(owner_id, file.id, _CONTENT, MAX_PASSAGES // 20)
        quotes = central_sentences([one.chunk.text for one in chunks], None, MAX_SUMMARY_SENTENCES)
        said = [Quotable(chunks[q.passage].chunk.text[q.start : q.end], chunks[q.passage]) for q in quotes]
        return said or [Quotable(one.chunk.text, one) for one in chunks[:1]]


def matching(stored: StoredChunk, terms: Sequence[str], language: str | None = "en") -> list[Quotable]:
    """The sentences (of a table or row: the passage) that hold all of `terms`; for more than two terms, most of them."""
    chunk = stored.chunk
    lowered = chunk.text.lower()
    if not any(term[: max(3, len(term) - 2)] in lowered for term in terms):
        return []
    spans = [(0, len(chunk.text))] if chunk.type in (ChunkType.ROW, ChunkType.TABLE) else sentence_spans(chunk.text)
    needed = len(terms) if len(terms) < 3 else -(-2 * len(terms) // 3)
    found: list[Quotable] = []
    for start, end in spans:
        held = set(analyze(chunk.text[start:end], language))
        if sum(term in held for term in terms) >= needed:
            found.append(Quotable(chunk.text[start:end], stored))
    return found
