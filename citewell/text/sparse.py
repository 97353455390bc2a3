"""BM25 as sparse vectors: documents carry saturated term frequencies, queries carry 1 per term, the store adds the IDF.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache

from citewell.text.analysis import term_groups
from citewell.text.language import detect_language
from citewell.types import SparseVector

# Chunks have a bounded length, so their mean is a constant of the chunker and not of the collection.
AVERAGE_LENGTH = 100.0
K1 = 1.2
B = 0.5
CONTEXT_WEIGHT = 1.0
_ALTERNATIVE_WEIGHT = 1.0


def sparse_document(text: str, context: str = "", language: str | None = None) -> SparseVector:
    """The BM25 term weights of a chunk, without IDF. `context` (title, heading path) counts as words of the text, weighted."""
    language = language or detect_language(text)
    frequencies: Counter[str] = Counter()
    length = _count(frequencies, text, language, 1.0)
    if context:
        length += CONTEXT_WEIGHT * _count(frequencies, context, language, CONTEXT_WEIGHT)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return _vector({term: tf * (K1 + 1) / (tf + norm) for term, tf in frequencies.items()})


def sparse_query(text: str, language: str | None = None) -> SparseVector:
    """The terms of a query, each weighted by how often it is asked for."""
    language = language or detect_language(text)
    weights: Counter[str] = Counter()
    for group in term_groups(text, language, query=True):
        for term in group:
            weights[term] += 1
    return _vector(dict(weights))


@lru_cache(maxsize=500_000)
def term_id(term: str) -> int:
    """A stable 32-bit id of a term."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "little")


def _count(frequencies: Counter[str], text: str, language: str | None, weight: float) -> int:
    """Add the terms of `text`; returns how many tokens it has."""
    length = 0
    for group in term_groups(text, language):
        length += 1
        for term in group:
            frequencies[term] += weight  # type: ignore[assignment]
    return length


def _vector(weights: dict[str, float]) -> SparseVector:
    by_id: dict[int, float] = {}
    for term, weight in weights.items():
        key = term_id(term)
        by_id[key] = by_id.get(key, 0.0) + weight
    return SparseVector(tuple(by_id), tuple(by_id.values()))
