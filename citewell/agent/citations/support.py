"""Judges how far a passage supports a claim: by its words, its figures, its quotations, and the meaning of its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from citewell.agent.citations.matching import Match, find_match, quoted_spans, surrounding_sentences, words
from citewell.agent.citations.numbers import find_missing_figures
from citewell.agent.citations.provenance import provenance_words
from citewell.agent.citations.wording import Differences
from citewell.agent.statements import cut_statements
from citewell.ports import Embedder, FloatMatrix
from citewell.text.analysis import analyze
from citewell.text.sentences import sentence_spans
from citewell.types import ChunkType, Hit, Verdict

MAX_REASONS = 20  # for one claim and kind; an answer with more shows the pattern
REASON_CHARACTERS = 80  # of a claim's own words in a reason
_WITH_ROWS = frozenset({ChunkType.TABLE, ChunkType.TEXT, ChunkType.ROW})


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportThresholds:
    """Thresholds of judging citations, in 0..1; similarities are cosines of the built-in model.

    Set by hand on answers with planted errors; `benchmarks/citations.py` counts the errors caught and the false alarms that come of
    them. Another sentence model needs a `supported`, a `weak` and a `swap_margin` of its own.

    verbatim:    share of a claim's words, in order, from which a passage states it word by word; such a claim costs no embedding
    quote:       the same for what is between quotation marks, below which the quotation is not in the source
    placed:      the same from which the sentences around those words are the place that is cited, rather than the most similar ones
    match_weight: what a share of words in order counts as, against similarity: slightly less than itself
    similarity_weight, containment_weight: how much the similarity of the nearest sentence (or two) and the share of the claim's terms
                 in the passage count for a claim in other words
    supported:   score from which a claim is supported
    weak:        score from which it is weakly supported, and below which it is not
    doubted:     highest score of a claim that says something else, or more, than its source: a name which the source lacks, "only"
                 added, a noun for another one: below `supported`
    retold:      share of a claim's content, in the source's words or in others of the same meaning, from which one that says the
                 opposite is unsupported, not weak
    same_noun, same_word: similarity of a claim to itself with the source's words put back, from which nouns, and other words, that the
                 dictionary does not relate may mean the same
    objected:    highest score of a claim with a figure or quotation that no cited source has
    swap_margin: by how much another source of the turn must support a claim better for its citation to count as swapped
    """

    verbatim: float = 0.95
    quote: float = 0.9
    placed: float = 0.6
    match_weight: float = 0.95
    similarity_weight: float = 0.5
    containment_weight: float = 0.5
    supported: float = 0.62
    weak: float = 0.45
    doubted: float = 0.61
    retold: float = 0.7
    same_noun: float = 0.93
    same_word: float = 0.85
    objected: float = 0.3
    swap_margin: float = 0.15

    def least_similar(self, are_nouns: bool) -> float:
        """`same_noun` or `same_word`."""
        return self.same_noun if are_nouns else self.same_word


THRESHOLDS = SupportThresholds()


@dataclass(frozen=True, slots=True)
class Support:
    """`passage[start:end]` is what supports the claim best; score in 0..1; `reasons` say what speaks against it."""

    verdict: Verdict
    score: float
    start: int
    end: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitedText:
    """A cited text, its sentences and their vectors (shape (sentences, dimensions)). `evidence` also counts headings and file name."""

    text: str
    evidence: str
    spans: tuple[tuple[int, int], ...]
    vectors: FloatMatrix


async def read_passages(embedder: Embedder, hits: Sequence[Hit]) -> list[CitedText]:
    """Passages with their sentences embedded, all in one call."""
    spans = [tuple(sentence_spans(hit.chunk.text)) for hit in hits]
    texts = [hit.chunk.text[a:b] for hit, own in zip(hits, spans, strict=True) for a, b in own]
    vectors = (
        await embedder.embed(texts, "query") if texts else np.zeros((0, embedder.fingerprint.dimensions), np.float32)
    )
    passages: list[CitedText] = []
    start = 0
    for hit, own in zip(hits, spans, strict=True):
        passages.append(CitedText(hit.chunk.text, evidence_text(hit), own, vectors[start : start + len(own)]))
        start += len(own)
    return passages


def evidence_text(hit: Hit) -> str:
    """The passage with its headings, its file's name, and what a model was told of the file."""
    said = provenance_words(hit.provenance)
    known = (hit.filename, *((said,) if said else ()))
    return "\n".join((*known, hit.chunk.context, *hit.chunk.locator.headings, hit.chunk.text))


def locate_claim(claim: str, hit: Hit) -> Match:
    """Where the passage has the claim's words, and how many of them. A table row may be quoted with
    its header's words; a heading over the passage counts too, its first sentence stands for it."""
    text = hit.chunk.text
    found = find_match(claim, text)
    if found.ratio < THRESHOLDS.verbatim and hit.chunk.type in _WITH_ROWS:
        # So many words, and a space between each two, take so many characters.
        shortest = 2 * THRESHOLDS.verbatim * len(words(claim)) - 1
        for candidate in cut_statements([hit]):
            if (
                candidate.row
                and len(candidate.shown) >= shortest
                and find_match(claim, candidate.shown).ratio >= THRESHOLDS.verbatim
            ):
                return Match(candidate.start, candidate.end, 1.0, candidate.shown)
    if found.ratio < THRESHOLDS.verbatim:
        for heading in hit.chunk.locator.headings:
            if find_match(claim, heading).ratio >= THRESHOLDS.verbatim:
                first = next(iter(sentence_spans(text)), (0, len(text)))
                return Match(*first, 1.0, heading)
    return found


def find_objections(claim: str, evidence: Sequence[str]) -> tuple[str, ...]:
    """What speaks against a claim that rests on these texts together: figures and quotations that none of them contains."""
    if not words(claim):
        return ("no words stand before it",)
    together = "\n".join(evidence)
    missing = dict.fromkeys(find_missing_figures(claim, together))
    found = [f"figure {figure[:REASON_CHARACTERS]} is not in the source" for figure in islice(missing, MAX_REASONS)]
    found += [
        f"quotation is not in the source: {quote[:REASON_CHARACTERS]}"
        for quote in islice(dict.fromkeys(quoted_spans(claim)), MAX_REASONS)
        if max((find_match(quote, text).ratio for text in evidence), default=0.0) < THRESHOLDS.quote
    ]
    return tuple(found)


def judge_paraphrase(claim: str, vector: FloatMatrix, passage: CitedText, match: Match) -> Support:
    """The support that one passage gives to a claim which it does not state word by word.

    vector: the claim's embedding, shape (dimensions,); match: what `locate_claim` found.
    """
    similarity, start, end = _most_similar(vector, passage)
    if match.ratio >= THRESHOLDS.placed:
        start, end = surrounding_sentences(passage.text, match.start, match.end)
    contained = containment(claim, passage.evidence)
    meaning = THRESHOLDS.similarity_weight * max(similarity, 0.0) + THRESHOLDS.containment_weight * contained
    score = max(match.ratio * THRESHOLDS.match_weight, meaning)
    return Support(verdict_of(score), score, start, end)


def verdict_of(score: float) -> Verdict:
    """The verdict for a score without objections."""
    if score >= THRESHOLDS.supported:
        return Verdict.SUPPORTED
    return Verdict.WEAK if score >= THRESHOLDS.weak else Verdict.UNSUPPORTED


def with_objections(support: Support, reasons: tuple[str, ...]) -> Support:
    """The support in the light of objections: none."""
    score = min(support.score, THRESHOLDS.objected)
    return Support(Verdict.UNSUPPORTED, score, support.start, support.end, (*support.reasons, *reasons))


def with_differences(support: Support, differences: Differences, doubts: Sequence[str] = ()) -> Support:
    """The support in the light of how the claim differs from its sources, and of further doubts: a sentence that is the same but for what
    turns it round is not supported, one that is told freely is weakly supported at best."""
    reasons = (*differences.contradictions, *differences.doubts, *doubts)
    if differences.contradictions and differences.covered >= THRESHOLDS.retold:
        return with_objections(support, reasons)
    if not reasons:
        return support
    score = min(support.score, THRESHOLDS.doubted)
    return Support(verdict_of(score), score, support.start, support.end, (*support.reasons, *reasons))


def containment(claim: str, evidence: str) -> float:
    """Share of the claim's terms, 0..1, that occur in the evidence; 1 for a claim without terms."""
    terms = set(analyze(claim))
    return len(terms & _terms(evidence)) / len(terms) if terms else 1.0


# An answer's claims are all compared with the same few passages, so what was read of these is remembered.
@lru_cache(maxsize=64)
def _terms(evidence: str) -> frozenset[str]:
    return frozenset(analyze(evidence))


def _most_similar(vector: FloatMatrix, passage: CitedText) -> tuple[float, int, int]:
    """Similarity of the nearest sentence, or of the nearest two in a row, and its span."""
    if not passage.spans:
        return 0.0, 0, len(passage.text)
    similarities = passage.vectors @ vector
    best = int(np.argmax(similarities))
    found = float(similarities[best]), *passage.spans[best]
    if len(passage.spans) > 1:
        pairs = passage.vectors[:-1] + passage.vectors[1:]
        paired = (pairs @ vector) / np.maximum(np.linalg.norm(pairs, axis=1), 1e-9)
        first = int(np.argmax(paired))
        if float(paired[first]) > found[0]:
            return float(paired[first]), passage.spans[first][0], passage.spans[first + 1][1]
    return found
