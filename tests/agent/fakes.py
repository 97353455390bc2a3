"""Parts that discriminate, in place of the real embedder, index and storage."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from citewell.ports import Fingerprint, FloatMatrix, TextKind, Tokenizer
from citewell.text.analysis import analyze
from citewell.types import (
    Chunk,
    ChunkType,
    Element,
    Hit,
    Locator,
    Piece,
    Scores,
    SearchRequest,
    SearchResult,
    Trace,
)

DIMENSIONS = 512


class WordTokenizer:
    """White space tokens."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]


class WordEmbedder:
    """Unit vectors of hashed stems: texts are the nearer the more words they share. Counts what it is asked."""

    max_tokens = 256
    fingerprint = Fingerprint("test", "words", DIMENSIONS)
    tokenizer: Tokenizer = WordTokenizer()

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        self.texts.extend(texts)
        out = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(out, texts, strict=True):
            for term in analyze(text, "en"):
                row[int.from_bytes(hashlib.sha256(term.encode()).digest()[:4], "big") % DIMENSIONS] += 1.0
            row /= np.linalg.norm(row) or 1.0
        return out


def hit(
    text: str,
    *,
    id: str = "",
    owner: str = "ada",
    resource: str = "r1",
    filename: str = "Loan Policy.pdf",
    page: int = 1,
    headings: tuple[str, ...] = (),
    ordinal: int = 0,
    type: ChunkType = ChunkType.TEXT,
    locator: Locator | None = None,
    pieces: tuple[Piece, ...] = (),
    score: float = 1.0,
) -> Hit:
    place = locator or Locator(page=page, pages=(page,), headings=headings)
    chunk = Chunk(
        id=id or hashlib.sha256(f"{owner}{resource}{ordinal}{text}".encode()).hexdigest()[:12],
        owner_id=owner,
        resource_id=resource,
        version=1,
        ordinal=ordinal,
        type=type,
        text=text,
        locator=place,
        pieces=pieces,
    )
    return Hit(chunk=chunk, filename=filename, score=score, scores=Scores(fused=score))


@dataclass
class WordSearcher:
    """Ranks its hits by shared words, within the owner and the resources asked for. Keeps the requests."""

    hits: Sequence[Hit]
    requests: list[SearchRequest] = field(default_factory=list)

    async def search(self, request: SearchRequest) -> SearchResult:
        self.requests.append(request)
        wanted = set(analyze(request.query, "en"))
        scored = [
            (len(wanted & set(analyze(" ".join((*h.chunk.locator.headings, h.chunk.text)), "en"))), h)
            for h in self.hits
            if h.chunk.owner_id == request.owner_id
            and all(
                ids is None or h.chunk.resource_id in ids for ids in (request.resource_ids, request.scope.resource_ids)
            )
        ]
        found = [h for score, h in sorted(scored, key=lambda pair: -pair[0]) if score]
        return SearchResult(tuple(found[: request.top_k]), Trace())


@dataclass
class StoredElements:
    """An `ElementLookup` over a dict."""

    stored: Mapping[str, Element]

    async def elements(
        self, owner_id: str, resource_id: str, version: int, ids: Sequence[str]
    ) -> Mapping[str, Element]:
        return {wanted: self.stored[wanted] for wanted in ids if wanted in self.stored}
