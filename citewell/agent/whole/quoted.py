"""Answers about whole documents without a chat model: summaries, exhaustive search by words, and sentences set side by side."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.whole.listed import list_items
from citewell.agent.whole.reading import Quotable, Quoted, Quoter, WholeReader, matching
from citewell.agent.whole.request import WholeKind, WholeRequest, name_terms
from citewell.system.characters import cut
from citewell.text.analysis import analyze
from citewell.text.sentences import sentence_spans
from citewell.types import ChunkType, Hit, ResourceInfo, StoredChunk

MAX_FILES = 8
"""Files that one answer tells of."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCES_PER_FILE = 3
_SHARED_TOPICS = 4
_MIN_SENTENCE_CHARACTERS = 30
_MAX_ITEM_CHARACTERS = 300
_NEAR = 0.35
"""Cosine from which a passage is on a topic that none of its words name."""


async def quote(request: WholeRequest, owner_id: str, reader: WholeReader) -> Quoted | None:
    """The answer; None where the files hold nothing for it."""
    match request.kind:
        case WholeKind.SUMMARISE:
            return await _summaries(request, owner_id, reader)
        case WholeKind.FIND:
            return await _by_file(request, owner_id, reader)
        case WholeKind.LIST:
            return await list_items(request, owner_id, reader)
        case WholeKind.COMPARE:
            return await _side_by_side(request, owner_id, reader)


async def _summaries(request: WholeRequest, owner_id: str, reader: WholeReader) -> Quoted | None:
    quoter = Quoter()
    parts: list[str] = []
    alone = len(request.files) == 1
    for file in request.files[:MAX_FILES]:
        said = await reader.summary(owner_id, file)
        text = " ".join(quoter.cite(one) for one in said)
        if text:
            parts.append(text if alone else f"**{safe_text(file.filename)}**: {text}")
    parts += _rest(request.files)
    return Quoted("\n\n".join(parts), quoter.sources) if quoter.sources else None


async def _by_file(request: WholeRequest, owner_id: str, reader: WholeReader) -> Quoted | None:
    """Each file that holds the topic, the one with most about it first, with the sentences that say most."""
    found: list[tuple[int, ResourceInfo, list[Quotable]]] = []
    async for file, passages in reader.passages(owner_id, request.files):
        said, count = await asyncio.to_thread(_told, passages, request.terms)
        if said:
            found.append((count, file, said))
    found.sort(key=lambda item: -item[0])
    quoter = Quoter()
    parts = [
        f"**{safe_text(file.filename)}** ({count} {'passage' if count == 1 else 'passages'}): "
        + " ".join(quoter.cite(one) for one in said[:_SENTENCES_PER_FILE])
        for count, file, said in found[:MAX_FILES]
    ]
    parts += _rest([file for _, file, _ in found])
    return Quoted("\n\n".join(parts), quoter.sources) if parts else None


async def _side_by_side(request: WholeRequest, owner_id: str, reader: WholeReader) -> Quoted | None:
    """What each file says in short, then what they say on the topics that all of them have."""
    files = request.files[:MAX_FILES]
    quoter = Quoter()
    parts: list[str] = []
    read: list[tuple[ResourceInfo, Sequence[StoredChunk]]] = []
    async for file, passages in reader.passages(owner_id, files):
        said = await reader.summary(owner_id, file)
        parts.append(
            f"**{safe_text(file.filename)}**: " + " ".join(quoter.cite(one) for one in said[:_SENTENCES_PER_FILE])
        )
        read.append((file, passages))
    shared = await asyncio.to_thread(_shared, read)
    for term, said in shared:
        parts.append(f"On **{term}**:")
        parts += [
            f"- {safe_text(file.filename)}: {quoter.cite(_shortened(one))}"
            for (file, _), one in zip(read, said, strict=True)
        ]
    parts += _rest(request.files)
    return Quoted("\n\n".join(parts), quoter.sources) if quoter.sources else None


def quote_found(hits: Sequence[Hit]) -> Quoted | None:
    """Each file that a search for the topic has found, with the beginning of its nearest passage; those that are near it by meaning."""
    quoter = Quoter()
    nearest: dict[str, Hit] = {}
    for hit in hits:
        similarity = hit.scores.dense if hit.scores.similarity is None else hit.scores.similarity
        if (similarity or 0.0) >= _NEAR:
            nearest.setdefault(hit.chunk.resource_id, hit)
    parts: list[str] = []
    for hit in list(nearest.values())[:MAX_FILES]:
        start, end = (sentence_spans(hit.chunk.text) or [(0, len(hit.chunk.text))])[0]
        said = Quotable(cut(hit.chunk.text[start:end], _MAX_ITEM_CHARACTERS), StoredChunk(hit.chunk, hit.filename))
        parts.append(f"**{safe_text(hit.filename)}**: {quoter.cite(said)}")
    return Quoted("\n\n".join(parts), quoter.sources) if parts else None


def _told(passages: Sequence[StoredChunk], terms: Sequence[str]) -> tuple[list[Quotable], int]:
    """The sentences on the topic, those under a heading that names it first; and how many passages hold one."""
    said: list[tuple[int, int, Quotable]] = []
    count = 0
    for number, stored in enumerate(passages):
        found = matching(stored, terms)
        count += bool(found)
        headed = bool(set(analyze(stored.chunk.context, "en")) & set(terms))
        said += [(-(headed + _is_prose(one)), number, one) for one in found]
    return [one for _, _, one in sorted(said, key=lambda item: item[:2])], count


def _shared(read: Sequence[tuple[ResourceInfo, Sequence[StoredChunk]]]) -> list[tuple[str, list[Quotable]]]:
    """The words that headings of all files have in common, beyond the files' names, each with a sentence of every file from below such a heading."""
    names = frozenset[str]().union(*(name_terms(file.filename) for file, _ in read))
    written: dict[str, str] = {}
    below: list[dict[str, list[StoredChunk]]] = []
    for _, passages in read:
        held: dict[str, list[StoredChunk]] = {}
        for stored in passages:
            words = {word for heading in stored.chunk.locator.headings for word in _WORD.findall(heading.lower())}
            for word in words:
                for stem in analyze(word, "en")[:1]:
                    written.setdefault(stem, word)
                    held.setdefault(stem, []).append(stored)
        below.append(held)
    common = [stem for stem in below[0] if stem not in names and all(stem in held for held in below[1:])]
    found: list[tuple[str, list[Quotable]]] = []
    used: set[str] = set()
    for stem in sorted(common, key=lambda stem: -min(len(held[stem]) for held in below)):
        best = [_best(held[stem], stem, used) for held in below]
        said = [one for one in best if one is not None]
        if len(said) == len(read):
            used.update(one.text for one in said)
            found.append((written[stem], said))
        if len(found) == _SHARED_TOPICS:
            break
    return found


def _best(passages: Sequence[StoredChunk], stem: str, used: set[str]) -> Quotable | None:
    """A whole sentence that was not said before: one with the word first, then one with figures, then the first."""
    prose = [
        said
        for stored in passages
        for start, end in sentence_spans(stored.chunk.text)
        if _is_prose(said := Quotable(stored.chunk.text[start:end], stored)) and said.text not in used
    ]
    return min(
        prose,
        key=lambda one: (stem not in analyze(one.text, "en"), not any(c.isdigit() for c in one.text)),
        default=None,
    )


def _is_prose(said: Quotable) -> bool:
    text = said.text.strip()
    is_text = said.stored.chunk.type is ChunkType.TEXT
    return is_text and len(text) >= _MIN_SENTENCE_CHARACTERS and text.endswith((".", "!", "?", "。"))


def _shortened(said: Quotable) -> Quotable:
    text = said.text
    return (
        said
        if len(text) <= _MAX_ITEM_CHARACTERS
        else Quotable(cut(text, _MAX_ITEM_CHARACTERS).rsplit(" ", 1)[0] + " …", said.stored)
    )


def _rest(files: Sequence[ResourceInfo]) -> list[str]:
    """A line that names what the limit left out."""
    left = files[MAX_FILES:]
    return [f"Not told here: {', '.join(safe_text(file.filename) for file in left)}."] if left else []
