"""Judges how far a passage supports a claim: by its words, its figures, its quotations, and the meaning of its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.agent.matching import find, quoted_spans, sentence_around
from citewell.agent.numbers import missing_figures
from citewell.ports import Embedder, FloatMatrix
from citewell.text.analysis import analyze
from citewell.text.sentences import sentence_spans
from citewell.types import Hit, Verdict

EXACT = 0.95
QUOTE_FOUND = 0.9


@dataclass(frozen=True, slots=True)
class Support:
    """`passage[start:end]` is what supports the claim best; score in 0..1; `reasons` say what speaks against it."""

    verdict: Verdict
    score: float
    start: int
    end: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A cited text, its sentences and their vectors (shape (sentences, dimensions)). `evidence` also counts headings and file name."""

    text: str
    evidence: str
    spans: tuple[tuple[int, int], ...]
    vectors: FloatMatrix


async def read_passages(embedder: Embedder, hits: Sequence[Hit]) -> list[Passage]:
    """Passages with their sentences embedded, all in one call."""
    spans = [tuple(sentence_spans(hit.chunk.text)) for hit in hits]
    texts = [hit.chunk.text[a:b] for hit, own in zip(hits, spans, strict=True) for a, b in own]
    vectors = (
        await embedder.embed(texts, "query") if texts else np.zeros((0, embedder.fingerprint.dimensions), np.float32)
    )
    passages: list[Passage] = []
    start = 0
    for hit, own in zip(hits, spans, strict=True):
        evidence = "\n".join((hit.filename, hit.chunk.context, *hit.chunk.locator.headings, hit.chunk.text))
        passages.append(Passage(hit.chunk.text, evidence, own, vectors[start : start + len(own)]))
        start += len(own)
    return passages


def judge(claim: str, vector: FloatMatrix, passage: Passage) -> Support:
    """The support that one passage gives to one claim."""
    match = find(claim, passage.text)
    similarity, start, end = _most_similar(vector, passage)
    contained = containment(claim, passage.evidence)
    if match.ratio >= 0.6:
        start, end = (
            (match.start, match.end) if match.ratio >= EXACT else sentence_around(passage.text, match.start, match.end)
        )
    score = 1.0 if match.ratio >= EXACT else max(match.ratio * 0.95, 0.5 * max(similarity, 0.0) + 0.5 * contained)
    reasons = [f"figure {figure} is not in the source" for figure in missing_figures(claim, passage.evidence)]
    reasons += [
        f"quotation is not in the source: {quote[:80]}"
        for quote in quoted_spans(claim)
        if find(quote, passage.text).ratio < QUOTE_FOUND
    ]
    return Support(_verdict(score, reasons), score if not reasons else min(score, 0.3), start, end, tuple(reasons))


def containment(claim: str, evidence: str) -> float:
    """Share of the claim's terms, 0..1, that occur in the evidence; 1 for a claim without terms."""
    terms = set(analyze(claim))
    return len(terms & set(analyze(evidence))) / len(terms) if terms else 1.0


def _verdict(score: float, reasons: Sequence[str]) -> Verdict:
    if reasons or score < 0.45:
        return Verdict.UNSUPPORTED
    return Verdict.SUPPORTED if score >= 0.65 else Verdict.WEAK


def _most_similar(vector: FloatMatrix, passage: Passage) -> tuple[float, int, int]:
    if not passage.spans:
        return 0.0, 0, len(passage.text)
    similarities = passage.vectors @ vector
    best = int(np.argmax(similarities))
    return float(similarities[best]), *passage.spans[best]
