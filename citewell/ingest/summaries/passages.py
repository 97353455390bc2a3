"""Helpers for all summary chunks: their locators, and splitting them to fit the embedder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from citewell.ports import Embedder
from citewell.text.sentences import sentences
from citewell.types import Chunk, ChunkDraft, ChunkType, JsonObject, Locator

_SPECIAL_TOKENS = 2  # that an embedder adds


def place_of(chunks: Iterable[Chunk]) -> Locator:
    """The pages of these chunks, and their slide or sheet if they are all on the same one."""
    places = [chunk.locator for chunk in chunks]
    pages = tuple(sorted({page for place in places for page in (place.pages or _page(place))}))
    slides, sheets = {place.slide for place in places}, {place.sheet for place in places}
    return Locator(
        page=pages[0] if pages else None,
        pages=pages,
        slide=slides.pop() if len(slides) == 1 else None,
        sheet=sheets.pop() if len(sheets) == 1 else None,
    )


def written_drafts(
    text: str, chunks: Sequence[Chunk], title: str, embedder: Embedder, metadata: JsonObject
) -> Iterator[ChunkDraft]:
    """A written summary of `chunks` as chunks of whole sentences, none longer than the embedder reads."""
    said = sentences(text)
    for part, tokens in grouped(said, title, embedder):
        yield ChunkDraft(
            type=ChunkType.SUMMARY,
            text=" ".join(said[part]),
            locator=place_of(chunks),
            context=title,
            token_count=tokens,
            metadata=metadata,
        )


def grouped(said: Sequence[str], title: str, embedder: Embedder) -> Iterator[tuple[slice, int]]:
    """Consecutive sentences that fit the embedder together with the title, with their tokens; a longer sentence stays alone."""
    if not said:
        return
    head, *counts = embedder.tokenizer.count([title, *said])
    head += _SPECIAL_TOKENS
    start, used = 0, head
    for index, count in enumerate(counts):
        if index > start and used + count > embedder.max_tokens:
            yield slice(start, index), used
            start, used = index, head
        used += count
    yield slice(start, len(said)), used


def _page(place: Locator) -> tuple[int, ...]:
    return (place.page,) if place.page is not None else ()
