"""Summaries without a chat model: central sentences of the whole file, verbatim, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from citewell.chunk.flow import Slice, locate
from citewell.ingest.summaries.passages import grouped
from citewell.ports import Embedder, FloatMatrix
from citewell.text.central import Quote, central_sentences, sums_up
from citewell.types import QUOTES, SUMMARY_OF, Chunk, ChunkDraft, ChunkType, Element, ElementType, Locator

MAX_SENTENCES = 5
"""Sentences of a quoted summary: those of the file's own summary, and at most one from each other fifth of the text."""

_MAX_SECTIONS_NAMED = 12
_END = tuple(".!?。！？…।")


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence of a file, its chunk (ordinal, start and end), and the part of its element, if it lies within one."""

    text: str
    origin: tuple[int, int, int]
    slice: Slice | None


def quoted_summary(
    chunks: Sequence[Chunk],
    vectors: FloatMatrix | None,
    elements: Mapping[str, Element],
    title: str,
    language: str | None,
) -> list[QuotedSentence]:
    """Central sentences of `chunks` (a file's text, in order); none if nothing reads like prose.

    vectors: of the chunks, shape (len(chunks), dimensions), or None
    """
    own = {n for n, chunk in enumerate(chunks) if any(map(sums_up, chunk.locator.headings))}
    quotes = central_sentences([chunk.text for chunk in chunks], vectors, MAX_SENTENCES, title, language, own)
    return [
        QuotedSentence(
            _text(chunks[quote.passage], quote),
            (chunks[quote.passage].ordinal, quote.start, quote.end),
            _slice(chunks[quote.passage], quote, elements),
        )
        for quote in quotes
    ]


def quoted_drafts(said: Sequence[QuotedSentence], title: str, embedder: Embedder) -> Iterator[ChunkDraft]:
    """The sentences as chunks, each with as many sentences as the embedder can read.

    `quotes` in a chunk's metadata gives the source of each sentence as [ordinal of the chunk, start, end].
    """
    for part, tokens in grouped([one.text for one in said], title, embedder):
        group = said[part]
        slices = [one.slice for one in group if one.slice is not None]
        yield ChunkDraft(
            type=ChunkType.SUMMARY,
            text=" ".join(one.text for one in group),
            locator=_located(slices),
            pieces=tuple(one.piece for one in slices),
            context=title,
            token_count=tokens,
            metadata={SUMMARY_OF: "file", QUOTES: [list(one.origin) for one in group]},
        )


def outline(elements: Sequence[Element]) -> str | None:
    """The headings of a file without prose, as one line; None if there are fewer than two."""
    names = dict.fromkeys(" ".join(e.text.split()) for e in elements if e.type is ElementType.TITLE)
    listed = [name for name in names if name]
    if len(listed) < 2:
        return None
    more = f"; and {len(listed) - _MAX_SECTIONS_NAMED} more" if len(listed) > _MAX_SECTIONS_NAMED else ""
    return f"Sections: {'; '.join(listed[:_MAX_SECTIONS_NAMED])}{more}."


def _text(chunk: Chunk, quote: Quote) -> str:
    text = " ".join(chunk.text[quote.start : quote.end].split())
    return text if text.rstrip("\"'”’)]»").endswith(_END) else f"{text}."


def _slice(chunk: Chunk, quote: Quote, elements: Mapping[str, Element]) -> Slice | None:
    """The part of an element that contains the sentence; None if it spans two elements."""
    sentence = chunk.text[quote.start : quote.end]
    for piece in chunk.pieces:
        element = elements.get(piece.element_id)
        start = -1 if element is None else element.text.find(sentence, piece.start, piece.end)
        if element is not None and start >= 0:
            return Slice(element, start, start + len(sentence))
    return None


def _located(slices: Sequence[Slice]) -> Locator:
    if not slices:
        return Locator()
    place = locate(slices, ())
    slides = {one.element.locator.slide for one in slices}
    single = len(slides) == 1
    return Locator(
        page=place.page, pages=place.pages, boxes=place.boxes, slide=place.slide if single else None, sheet=place.sheet
    )
