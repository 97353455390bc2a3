"""Search for pictures: by an example, which finds copies, crops and scaled versions, or by the words in and around them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from citewell.errors import InvalidInput, NotFound
from citewell.features.search.service import MAX_HITS, SearchService
from citewell.ingest.capture import Capture, Spool
from citewell.ingest.examples import Example, ExampleReader
from citewell.ports import Pictured, multimodal
from citewell.ports.metering import reported
from citewell.storage.files.likenesses import LikenessRepository, PictureKey, PlacedPicture
from citewell.types import (
    ChunkType,
    FoundBy,
    FoundPicture,
    FoundPictures,
    OriginalPicture,
    Piece,
    ResourceFilter,
    SearchRequest,
    VectorQuery,
)

MAX_EXAMPLE_BYTES = 32 * 1024 * 1024
_SECONDS = 10.0
"""How long an example may be compared with stored pictures."""
_AT_ONCE = 50
"""Pictures compared before the time is looked at."""
_PASSAGES = 100
"""Passages whose pictures a search by words looks at."""
_ONLY_COPIES = (
    "Only copies, details and scaled versions of the picture are found. Pictures that show something similar need a multimodal "
    "embedding model (docs/providers.md)."
)
_NO_TIME = (
    "Not all pictures could be compared in time; the newest files were. Narrow the search to a project or to files."
)
_NONE_KEPT = (
    "This picture cannot be compared: it is blank, or its file was added before this version or without pictures. "
    "Read the file again, or search with the picture itself."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSearch:
    """Searches the pictures of the files that a request may use."""

    search: SearchService
    likenesses: LikenessRepository
    examples: ExampleReader
    capture: Capture
    _comparing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    @property
    def top_k(self) -> int:
        """The default number of pictures."""
        return self.search.top_k

    @asynccontextmanager
    async def receiving(self, least: int) -> AsyncGenerator[Spool]:
        """A spool for an example, which counts toward no quota."""
        with self.capture.open_spool() as spool:
            yield spool

    async def like_file(self, payer: str, request: SearchRequest, file: Path, filename: str) -> FoundPictures:
        """Pictures like the one in a file. Raises as `ExampleReader.read`."""
        _require(request)
        return await self._like(payer, request, await self.examples.read(file, filename))

    async def like_stored(self, request: SearchRequest, resource_id: str, blob: str | None) -> FoundPictures:
        """Other pictures like a stored one: a blob of a file in the request's scope or, without `blob`, the file. Raises `NotFound`."""
        _require(request)
        admitted = (
            await self.search.chunks.resolve_scope(replace(request, resource_ids=None, projects=None))
        ).resource_ids
        found = None
        if admitted is None or resource_id in admitted:
            found = await self.likenesses.of(request.owner_id, resource_id, blob)
        if found is None:
            raise NotFound(_NONE_KEPT)
        like = await self._like(request.owner_id, request, Example(found))
        itself = OriginalPicture(resource_id, blob)
        return replace(like, pictures=tuple(one for one in like.pictures if one.original != itself))

    async def with_words(self, payer: str, request: SearchRequest) -> FoundPictures:
        """Pictures whose text, caption, description or surroundings match the request's query."""
        _require(request)
        found = await self.search.search_for(payer, replace(request, top_k=_PASSAGES))
        pictures: dict[OriginalPicture, FoundPicture] = {}
        places = {hit.chunk.id: _place(hit.chunk.resource_id, hit.chunk.pieces) for hit in found.hits}
        beside = await self.likenesses.beside(request.owner_id, {place for place in places.values() if place})
        for hit in found.hits:
            if hit.picture is not None:
                one = FoundPicture(
                    hit.picture, hit.filename, hit.chunk.locator, hit.chunk.text, hit.score, FoundBy.WORDS
                )
                pictures.setdefault(one.original, one)
            place = places[hit.chunk.id]
            for picture in beside.get(place, ()) if place else ():
                pictures.setdefault(picture.original, _found(picture, hit.score, FoundBy.WORDS))
        return FoundPictures(tuple(pictures.values())[: request.top_k], found.notice)

    async def _like(self, payer: str, request: SearchRequest, example: Example) -> FoundPictures:
        admitted = (await self.search.chunks.resolve_scope(request)).resource_ids
        narrowed = ResourceFilter(ids=admitted, conditions=request.conditions)
        scores, is_whole = await self._compared(request.owner_id, narrowed, example.likeness)
        best = sorted(scores, key=lambda key: (-scores[key], key.resource_id, key.name))[: request.top_k]
        placed = await self.likenesses.placed(request.owner_id, best)
        found = [_found(placed[key], scores[key], FoundBy.DETAILS) for key in best if key in placed]
        meant = await self._meaning(payer, request, admitted, example)
        known = {one.original for one in found}
        found += [one for one in meant or () if one.original not in known]
        notices = [_ONLY_COPIES] * (meant is None) + [_NO_TIME] * (not is_whole)
        return FoundPictures(tuple(found[: request.top_k]), " ".join(notices) or None)

    async def _compared(
        self, owner_id: str, narrowed: ResourceFilter, example: bytes
    ) -> tuple[dict[PictureKey, float], bool]:
        """The score of each picture that is like the example, and whether all were compared."""
        from citewell.retrieve.likeness import MIN_SCORE, Likeness, alike

        asked, scores, until = Likeness.read(example), dict[PictureKey, float](), time.monotonic() + _SECONDS

        def compare(some: Sequence[tuple[PictureKey, bytes]]) -> None:
            found = {key: alike(asked, Likeness.read(data)) for key, data in some}
            scores.update({key: score for key, score in found.items() if score >= MIN_SCORE})

        async with self._comparing:
            async for some in self.likenesses.newest(owner_id, narrowed):
                for start in range(0, len(some), _AT_ONCE):
                    if time.monotonic() > until:
                        return scores, False
                    await asyncio.to_thread(compare, some[start : start + _AT_ONCE])
        return scores, True

    async def _meaning(
        self, payer: str, request: SearchRequest, admitted: tuple[str, ...] | None, example: Example
    ) -> list[FoundPicture] | None:
        """Pictures that show something similar; None if no model says so, or there is nothing to show it."""
        index = self.search.indexes.active
        seeing = multimodal(index.embedder)
        if seeing is None or example.preview is None:
            return None
        async with reported(payer, self.search.on_spent):
            vectors = await seeing.embed_pictures([Pictured(example.preview)])
        scope = await self.search.chunks.resolve_scope(request)
        asked = VectorQuery(
            dense=tuple(vectors[0].tolist()),
            filter=replace(scope, resource_ids=admitted, types=(ChunkType.IMAGE,), conditions=request.conditions),
            limit=request.top_k,
        )
        scores = dict(await index.store.search(asked))
        loaded = await self.search.chunks.load(request.owner_id, list(scores))
        best = sorted(loaded.values(), key=lambda one: -scores[one.chunk.id])
        return [
            FoundPicture(
                one.picture, one.filename, one.chunk.locator, one.chunk.text, scores[one.chunk.id], FoundBy.MEANING
            )
            for one in best
            if one.picture is not None
        ]


def _require(request: SearchRequest) -> None:
    if isinstance(request.top_k, bool) or not 1 <= request.top_k <= MAX_HITS:
        raise InvalidInput(f"`top_k` must be from 1 to {MAX_HITS}.")


def _place(resource_id: str, pieces: tuple[Piece, ...]) -> tuple[str, int, int] | None:
    """The first and last element that a passage was made from; None for a passage of none."""
    numbers = [int(piece.element_id[1:]) for piece in pieces if piece.element_id[1:].isdigit()]
    return (resource_id, min(numbers), max(numbers)) if numbers else None


def _found(picture: PlacedPicture, score: float, by: FoundBy) -> FoundPicture:
    element = picture.element
    text = element.text or str(element.metadata.get("alt") or "")
    return FoundPicture(picture.original, picture.filename, element.locator, text, score, by)
